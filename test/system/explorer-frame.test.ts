import type { Route } from 'playwright-core'
import { beforeEach, describe, expect, it } from 'vitest'

import { axeViolations, choose, expectText, openDemo, settled } from './explorer-page.ts'
import { IS_CHROMIUM } from './launch-browser.ts'
import { requireProgram, run } from './processes.ts'

describe('the frame of the page', () => {
  it('keeps the theme, against that of the system', async () => {
    const { page } = await openDemo()
    const scheme = () => page.evaluate(() => getComputedStyle(document.documentElement).colorScheme)
    for (const [theme, colorScheme] of [
      ['light', 'dark'],
      ['dark', 'light'],
    ] as const) {
      await page.emulateMedia({ colorScheme })
      await page.locator('#menu').click()
      await page.selectOption('#theme', theme)
      await expect.poll(scheme).toBe(theme)
      await page.reload()
      await settled(page)
      expect(await scheme()).toBe(theme)
    }
    expect(await axeViolations(page)).toEqual([])
  })

  it('retries after 1, 2, 4 … 60 s, or after Retry-After, and starts again after a success', async () => {
    const { page } = await openDemo()
    let response: Parameters<Route['fulfill']>[0] | undefined = { status: 503, body: '' }
    await page.clock.install()
    // Only `runFor` moves the clock, also on a busy machine.
    await page.clock.pauseAt(Date.now() + 1_000)
    await page.route(/convert/, (route) => (response ? route.fulfill(response) : route.continue()))
    const waits = async (amount: number) => {
      const sent = page.waitForResponse(/convert/)
      await page.clock.runFor(amount * 1_000)
      await sent
    }
    await page.locator('#amount').fill('7')
    await page.clock.runFor(1_000)
    for (const seconds of [1, 2, 4, 8, 16, 32, 60, 60]) {
      await expectText(page, '#converter .waiting', `Retrying in ${seconds} s`)
      await waits(seconds)
    }
    response = { status: 503, body: '', headers: { 'retry-after': '5' } }
    await waits(60)
    await expectText(page, '#converter .waiting', 'Retrying in 5 s')
    response = undefined
    await waits(5)
    await page.locator('#converter[data-state=loaded]').waitFor()
    response = { status: 503, body: '' }
    await page.locator('#amount').fill('8')
    await page.clock.runFor(1_000)
    await expectText(page, '#converter .waiting', 'Retrying in 1 s')
  })

  it('opens with the last pair that was chosen, unless the address has one', async () => {
    const { page, api } = await openDemo()
    await choose(page, '#to', 'JPY')
    await page.locator('#swap').click()
    await expectText(page, '#rate', / JPY = .* USD$/)
    for (const [fragment, selector, text] of [
      ['', '#rate', / JPY = .* USD$/],
      ['#from=CHF&to=XYZ', '#converter [role=alert]', /XYZ/],
      // A link of an earlier version.
      ['#from=CHF&to=GBP&tab=api', '#rate', /^1 CHF = .* GBP$/],
      ['', '#rate', / JPY = .* USD$/],
    ] as const) {
      await page.goto('about:blank')
      await page.goto(api + fragment)
      await expectText(page, selector, text)
    }
  })

  it.runIf(IS_CHROMIUM)('shows links to the API without scripts', async () => {
    const { page, api } = await openDemo()
    const context = await page.context().browser()?.newContext({ javaScriptEnabled: false })
    const plain = await context?.newPage()
    await plain?.goto(api)
    expect(await plain?.locator('noscript a').count()).toBe(3)
    expect(await plain?.locator(':is(section, #menu, #access):visible').count()).toBe(0)
    await context?.close()
  })
})

describe('a copied request', () => {
  const PYTHON = '/usr/bin/python3'

  beforeEach(({ skip }) => {
    requireProgram('curl', '/usr/bin/curl', skip)
    requireProgram('Python', PYTHON, skip)
  })

  it('is a command or a program that returns the same', async () => {
    const { page, api } = await openDemo()
    const print = (program: string) => run(process.execPath, ['--input-type=module', '-e', program])
    for (const [panel, fragment] of [
      ['#converter', "#from=x'y"],
      ['#converter', '#amount=2.5&to=JPY&reverse=true&date=2020-07-12'],
      ['#chart', '#compare=GBP&period=1W'],
      ['#table', '#base=EUR'],
    ] as const) {
      await page.goto('about:blank')
      await page.goto(`${api}${fragment}`)
      await settled(page)
      const section = page.locator(panel)
      await section.locator('.code summary').click()
      await expect.poll(() => section.locator('.facts').innerText()).toMatch(/^Status [24]00/)
      const url = await section.locator('.asked').getAttribute('href')
      const expected = await (await fetch(url ?? '')).json()
      const copy = async (form: string): Promise<string> => {
        await section.locator('.copies').getByText(form, { exact: true }).click()
        await expect.poll(() => section.locator('.copied').innerText()).not.toBe('')
        return section.locator('.snippet').innerText()
      }
      expect(await copy('URL')).toBe(url)
      const printed = [
        await run('sh', ['-c', await copy('curl')]),
        await print(`console.log(JSON.stringify(${await copy('fetch')}))`),
      ]
      // For a status of 400, the other programs throw.
      if (!('error' in expected)) {
        const client = await copy('client')
        const python = (await copy('Python')).replace(/print\((.*)\)$/, 'print(json.dumps($1))')
        printed.push(
          await print(client.replace(/await .*$/, 'console.log(JSON.stringify($&))')),
          await run(PYTHON, ['-c', python]),
        )
      }
      for (const { stdout } of printed) expect(JSON.parse(stdout)).toEqual(expected)
      // Otherwise the next page would open this card by itself.
      await page.evaluate(() => localStorage.clear())
    }
  })

  it('opens the same cards again, and shows the next response', async () => {
    const { page } = await openDemo()
    await page.locator('#converter .code summary').click()
    await page.reload()
    await expectText(page, '#converter .body', /"amount": 100,/)
    expect(await page.locator('.code[open]').count()).toBe(1)
    await page.locator('#amount').fill('7')
    await expectText(page, '#converter .body', /"amount": 7,/)
    await expectText(page, '#converter .asked', /amount=7$/)
    await page.locator('#converter .code summary').click()
    await page.reload()
    await settled(page)
    expect(await page.locator('.code[open]').count()).toBe(0)
  })
})
