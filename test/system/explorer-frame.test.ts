import type { Route } from 'playwright-core'
import { beforeEach, describe, expect, it } from 'vitest'

import {
  axeViolations,
  choose,
  expectText,
  layoutShift,
  openDemo,
  openService,
  settled,
  tabTo,
  textOf,
} from './explorer-page.ts'
import { IS_CHROMIUM } from './launch-browser.ts'
import { requireProgram, run } from './processes.ts'

const FACTS = /^Status 200 · \d+ ms · \d+ B · Cache-Status: rates/

describe.each([
  { width: 390, colorScheme: 'light' },
  { width: 768, colorScheme: 'dark' },
  { width: 1440, colorScheme: 'light' },
] as const)('a journey with the keyboard alone, $width px wide and $colorScheme', (view) => {
  it('copies the link, sits out a failure, reads a response, and copies its request', async () => {
    const { page } = await openDemo('', {
      viewport: { width: view.width, height: 900 },
      colorScheme: view.colorScheme,
      permissions: ['clipboard-read', 'clipboard-write'],
    })
    const { keyboard } = page
    const press = async (selector: string, key?: 'Shift+Tab'): Promise<void> => {
      await tabTo(page, selector, key)
      await keyboard.press('Enter')
    }
    await press('#copy-link')
    await expectText(page, '#link-state', 'Link copied')
    // Before the failure, whose message takes its place as late as the machine lets it.
    expect(await layoutShift(page)).toBeLessThanOrEqual(0.02)
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(page.url())
    const headers = { 'retry-after': '600' }
    await page.route(/convert/, (route) => route.fulfill({ status: 503, body: '', headers }))
    await tabTo(page, '#amount')
    await keyboard.press('ControlOrMeta+A')
    await keyboard.type('7')
    await page.locator('#converter .retry button').waitFor()
    await settled(page)
    await expectText(page, '#converter .old', /amount=100, as of /)
    expect(await axeViolations(page)).toEqual([])
    await tabTo(page, '#converter .retry button')
    await page.unroute(/convert/)
    await keyboard.press('Enter')
    await expectText(page, '#given', /^7 /)
    await press('#converter .response summary')
    await expectText(page, '#converter .facts', FACTS)
    await expectText(page, '#converter .response pre', /"amount": 7,/)
    await press('#converter [data-form=curl]', 'Shift+Tab')
    await expectText(page, '#converter .copied', 'Copied')
    expect(await page.evaluate(() => navigator.clipboard.readText())).toMatch(/^curl 'http/)
    expect(await axeViolations(page)).toEqual([])
  })
})

describe('the frame of the page', () => {
  it.each(['light', 'dark'])('keeps the theme %s', async (theme) => {
    const { page } = await openDemo('', { colorScheme: theme === 'dark' ? 'light' : 'dark' })
    await page.selectOption('#theme', theme)
    await page.reload()
    await settled(page)
    const scheme = () => getComputedStyle(document.documentElement).colorScheme
    expect(await page.evaluate(scheme)).toBe(theme)
    expect(await axeViolations(page)).toEqual([])
  })

  it('recovers by itself after a restart of the server, and greys old data until then', async () => {
    const { page, url, server, close } = await openService()
    const colour = () =>
      page.locator('#result').evaluate((element) => getComputedStyle(element).color)
    const [before, result] = [await colour(), await textOf(page, '#result')]
    await close()
    await page.locator('#amount').fill('7')
    await expectText(page, '#converter .waiting', /^Retrying in \d+ s$/)
    expect(await textOf(page, '#result')).toBe(result)
    expect(await colour()).not.toBe(before)
    server.listen(Number(new URL(url).port), '127.0.0.1')
    await expect.poll(() => textOf(page, '#given'), { timeout: 60_000 }).toMatch(/^7 /)
    expect(await colour()).toBe(before)
    expect(await page.locator('#converter .notice').isVisible()).toBe(false)
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
    await expectText(page, '#given', /^7 /)
    response = { status: 503, body: '' }
    await page.locator('#amount').fill('8')
    await page.clock.runFor(1_000)
    await expectText(page, '#converter .waiting', 'Retrying in 1 s')
  })

  it('opens with the last pair that was chosen, unless the address has one', async () => {
    const { page, api } = await openDemo()
    await choose(page, '#to', 'JPY')
    await page.locator('#swap').click()
    await expectText(page, '#rate', /^1 JPY = .* USD$/)
    await page.goto('about:blank')
    await page.goto(api)
    await expectText(page, '#rate', /^1 JPY = .* USD$/)
    await page.goto('about:blank')
    await page.goto(`${api}#from=CHF&to=XYZ`)
    await expectText(page, '#converter [role=alert]', /XYZ/)
    await page.goto('about:blank')
    await page.goto(api)
    await expectText(page, '#rate', /^1 JPY = .* USD$/)
  })

  it('works where the name of the locale is not one that Intl accepts', async () => {
    const { page } = await openDemo()
    await page.addInitScript(() => {
      Object.defineProperty(navigator, 'language', { value: 'C' })
    })
    await page.reload()
    await expectText(page, '#result', / EUR$/)
  })

  it.runIf(IS_CHROMIUM)(
    'prints the conversion, the chart and every rate on two sheets',
    async () => {
      const { page } = await openDemo()
      const sheets = await page.pdf({ format: 'A4' })
      expect(sheets.toString('latin1').match(/\/Type\s*\/Page\b/g)).toHaveLength(2)
      await page.emulateMedia({ media: 'print' })
      expect(await page.locator('#rows tr:visible').count()).toBeGreaterThan(150)
      expect(await page.locator('#unit').isVisible()).toBe(true)
      expect(await page.locator(':is(nav, select, .copies):visible').count()).toBe(0)
    },
  )

  it.runIf(IS_CHROMIUM).each([390, 768, 1440])(
    'does not move while it loads, %d px wide',
    async (width) => {
      const { page } = await openDemo('', { viewport: { width, height: 900 } })
      const cdp = await page.context().newCDPSession(page)
      const slow = {
        offline: false,
        latency: 300,
        downloadThroughput: 50_000,
        uploadThroughput: 50_000,
      }
      await cdp.send('Network.emulateNetworkConditions', slow)
      await page.reload()
      await settled(page)
      expect(await layoutShift(page)).toBeLessThanOrEqual(0.02)
    },
  )
})

it.runIf(IS_CHROMIUM)('shows links to the API without scripts', async () => {
  const { page, api } = await openDemo()
  const browser = page.context().browser()
  const context = await browser?.newContext({ javaScriptEnabled: false })
  const plain = await context?.newPage()
  await plain?.goto(api)
  expect(await plain?.locator('noscript a').count()).toBe(3)
  expect(await plain?.locator('main section').first().isVisible()).toBe(false)
  await context?.close()
})

it.each(['#tab=api', '#from=CHF&to=JPY&tab=api'])(
  'opens links of earlier versions: %s',
  async (fragment) => {
    const { page, api } = await openDemo(fragment)
    await expectText(page, '#result', fragment.includes('JPY') ? / JPY$/ : / EUR$/)
    expect(new URL(page.url()).hash).not.toContain('tab')
    const link = page.getByRole('link', { name: 'OpenAPI' })
    const document = await page.request.get(
      new URL((await link.getAttribute('href')) ?? '', api).href,
    )
    expect(Object.keys((await document.json()).paths)).toContain('/v1/convert')
  },
)

describe('a copied request', () => {
  const PYTHON = '/usr/bin/python3'

  beforeEach(({ skip }) => {
    requireProgram('curl', '/usr/bin/curl', skip)
    requireProgram('Python', PYTHON, skip)
  })

  it.each([
    ['#converter', "#from=x'y"],
    ['#converter', '#amount=2.5&to=JPY'],
    ['#chart', '#compare=GBP&period=1W'],
    ['#table', '#base=EUR'],
  ])('of %s in %s is a command or a program that returns the same', async (panel, fragment) => {
    const { page } = await openDemo(fragment)
    const section = page.locator(panel)
    await section.locator('.response summary').click()
    await expect.poll(() => section.locator('.facts').innerText()).toMatch(/^Status [24]00/)
    const url = await section.locator('.asked').getAttribute('href')
    const expected = await (await fetch(url ?? '')).json()
    const copy = async (form: string): Promise<string> => {
      await section.locator(`[data-form=${form}]`).click()
      await expect.poll(() => section.locator('.copied').innerText()).not.toBe('')
      return section.locator('.snippet').innerText()
    }
    const curl = await run('sh', ['-c', await copy('curl')])
    expect(JSON.parse(curl.stdout)).toEqual(expected)
    const program = `console.log(JSON.stringify(${await copy('fetch')}))`
    const fetched = await run(process.execPath, ['--input-type=module', '-e', program])
    expect(JSON.parse(fetched.stdout)).toEqual(expected)
    // For a status of 400, the other programs throw.
    if ('error' in expected) return
    const client = (await copy('client')).replace(/await .*$/, 'console.log(JSON.stringify($&))')
    const called = await run(process.execPath, ['--input-type=module', '-e', client])
    expect(JSON.parse(called.stdout)).toEqual(expected)
    const python = await copy('python')
    const printed = await run(PYTHON, [
      '-c',
      python.replace(/print\((.*)\)$/, 'print(json.dumps($1))'),
    ])
    expect(JSON.parse(printed.stdout)).toEqual(expected)
  })
})
