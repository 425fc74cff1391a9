import type { Page, Route } from 'playwright-core'
import { beforeEach, describe, expect, it } from 'vitest'

import {
  axeViolations,
  choose,
  expectText,
  expectValue,
  layoutShift,
  openDemo,
  settled,
  tabTo,
  textOf,
} from './explorer-page.ts'
import { IS_CHROMIUM } from './launch-browser.ts'
import { requireProgram, run } from './processes.ts'

const codesIn = (page: Page) => page.locator('#rows tr:visible th button').allInnerTexts()

async function expectSaid(page: Page, text: RegExp): Promise<void> {
  await expect.poll(() => page.locator('#said').textContent()).toMatch(text)
}

/** Returns the places of the sections and of the table on the page, which change when the names of currencies arrive. */
async function places(page: Page) {
  await expectText(page, '#rows tr:first-child th', /^[A-Z]{3}\s+\w/)
  return page
    .locator('main section, #rows, #table .rows')
    .evaluateAll((all: HTMLElement[]) =>
      all.map(({ offsetTop, offsetHeight }) => [offsetTop, offsetHeight]),
    )
}

describe('the field of a currency', () => {
  it('is a combobox with a list box, which has favourites and major currencies first', async () => {
    const { page } = await openDemo()
    const field = page.getByRole('combobox', { name: 'To currency' })
    const { keyboard } = page
    await page.getByRole('button', { name: 'Favourite HUF' }).click()
    expect(await field.getAttribute('aria-expanded')).toBe('false')
    await field.focus()
    await keyboard.press('ArrowDown')
    await page.locator('#to-EUR[aria-selected=true]').waitFor()
    expect(await field.getAttribute('aria-expanded')).toBe('true')
    expect(await field.getAttribute('aria-controls')).toBe('to-list')
    expect(await page.locator('#to-list').getAttribute('role')).toBe('listbox')
    const first = (await page.locator('#to-list b').allInnerTexts()).slice(0, 6)
    expect(first).toEqual(['EUR', 'USD', 'GBP', 'JPY', 'HUF', 'CHF'])
    const active = () => field.getAttribute('aria-activedescendant')
    expect(await active()).toBe('to-EUR')
    for (const [key, id] of [
      ['ArrowDown', 'to-USD'],
      ['ArrowUp', 'to-EUR'],
      ['End', 'to-ZWG'],
      ['ArrowDown', 'to-EUR'],
      ['ArrowUp', 'to-ZWG'],
      ['Home', 'to-EUR'],
      ['PageDown', 'to-CNY'],
    ] as const) {
      await keyboard.press(key)
      expect(await active()).toBe(id)
      expect(await page.locator(`#${id}`).isVisible()).toBe(true)
    }
    await keyboard.press('Escape')
    expect(await field.getAttribute('aria-expanded')).toBe('false')
    expect(await active()).toBeNull()
    expect(await field.inputValue()).toBe('EUR')
    await keyboard.type('dollar')
    await expectText(page, '.popup:visible [role=status]', /^\d\d currencies$/)
    expect(await axeViolations(page)).toEqual([])
    await keyboard.type('s of mars')
    await expectText(page, '.popup:visible [role=status]', 'No currency matches “dollars of mars”')
    await keyboard.press('Tab')
    expect(await field.inputValue()).toBe('EUR')
    expect(await page.locator('.popup:visible').count()).toBe(0)
    await page.getByRole('button', { name: 'Favourite ISK' }).click()
    await field.press('ArrowDown')
    expect(await page.locator('#to-list b').nth(5).innerText()).toBe('ISK')
  })

  it('takes the best match with Tab, and a text that names one currency with a click elsewhere', async () => {
    const { page } = await openDemo()
    await tabTo(page, '#to')
    await page.keyboard.type('norw')
    await page.locator('#to-NOK[aria-selected=true]').waitFor()
    await page.keyboard.press('Tab')
    await expectText(page, '#rate', / NOK$/)
    await page.locator('#to').fill('koruna')
    await page.locator('#to-CZK[aria-selected=true]').waitFor()
    await page.locator('#table-title').click()
    await expectText(page, '#rate', / CZK$/)
    await page.locator('#to').fill('swe')
    await page.locator('#table-title').click()
    await expectValue(page, '#to', 'CZK')
    // The same currency twice: both change places.
    await choose(page, '#from', 'CZK')
    await expectText(page, '#rate', /^1 CZK = [\d.]+ USD$/)
  })

  it('works with invalid values in the storage, and where the browser refuses storage', async () => {
    const { page, api } = await openDemo()
    const works = async () => {
      await page.goto(`${api}/?#`)
      await page.reload()
      await settled(page)
      await choose(page, '#to', 'GBP')
      await expectText(page, '#rate', / GBP$/)
      expect((await codesIn(page)).length).toBeGreaterThan(150)
    }
    for (const stored of ['{', '"EUR"', '["EUR",1,"nonsense"]']) {
      await page.evaluate((text) => {
        for (const name of ['favourites', 'pair', 'code', 'theme']) {
          localStorage.setItem(`ratesmith-${name}`, text)
        }
      }, stored)
      await works()
    }
    await page.addInitScript(() => {
      Object.defineProperty(globalThis, 'localStorage', {
        get: () => {
          throw new Error('refused')
        },
      })
    })
    await works()
    await page.getByRole('button', { name: 'Favourite AED' }).click()
    await expect.poll(async () => (await codesIn(page))[4]).toBe('AED')
  })

  it('takes a text that was typed before the second script, also where that failed at first', async () => {
    const { page } = await openDemo()
    let [isFirst, release] = [true, () => {}]
    const isHeld = new Promise<void>((resolve) => (release = resolve))
    await page.route(/explorer-api\.js/, async (route) => {
      if (isFirst) {
        isFirst = false
        return route.abort()
      }
      await isHeld
      return route.continue()
    })
    await page.locator('#search').fill('swiss')
    await page.locator('#copy-exact').click()
    await page.locator('#to').selectText()
    await page.keyboard.type('sterling')
    release()
    await page.locator('#to-GBP[aria-selected=true]').waitFor()
    await expectText(page, '#exact-state', /^(Copied|Selected)/)
    await page.locator('#to').press('Enter')
    await expectText(page, '#rate', / GBP$/)
    expect(await codesIn(page)).toEqual(['CHF'])
  })

  it.runIf(IS_CHROMIUM)('is visible and framed with forced colours', async () => {
    const { page } = await openDemo('', { forcedColors: 'active' })
    await page.locator('#base').focus()
    await page.keyboard.press('ArrowDown')
    await page.locator('#base-USD[aria-selected=true]').waitFor()
    const outlineOf = (selector: string) =>
      page.locator(selector).evaluate((element) => {
        const { outlineStyle, outlineWidth, borderStyle } = getComputedStyle(element)
        return { outlineStyle, isWide: Number.parseFloat(outlineWidth) >= 2, borderStyle }
      })
    const framed = { outlineStyle: 'solid', isWide: true }
    expect(await outlineOf('#base')).toMatchObject({ ...framed, borderStyle: 'solid' })
    expect(await outlineOf('#base-USD')).toMatchObject(framed)
    expect(await outlineOf('#base-GBP')).toMatchObject({ outlineStyle: 'none' })
    await page.keyboard.press('Escape')
    const periods = await page
      .locator('.periods label')
      .evaluateAll((all) => all.map((label) => getComputedStyle(label).outlineStyle))
    expect(periods.filter((style) => style === 'solid')).toHaveLength(1)
    const focusable =
      '#amount|#to|#swap|#date|#copy-exact|.code summary|#rows .star|[data-sort=rate]'
    for (const selector of focusable.split('|')) {
      await page.locator(selector).first().focus()
      await page.keyboard.press('Shift')
      const focused = page.locator(`${selector}:focus-visible`)
      const style = await focused.evaluate((element) => getComputedStyle(element).outlineStyle)
      expect(style).toBe('solid')
    }
    expect(await axeViolations(page)).toEqual([])
  })
})

describe('the amount', () => {
  it('may have a currency, which is then chosen', async () => {
    const { page, api } = await openDemo()
    for (const [field, typed, text] of [
      ['#amount', '€20', /^20 euros are .* Japanese yen$/],
      ['#amount', '£1.5k', /^1,500 British pounds are .* Japanese yen$/],
      ['#result', '20 chf', /US dollars are 20 Swiss francs$/],
      // Both change places.
      ['#result', '$20', /^[\d,]+ Japanese yen are 20 US dollars$/],
    ] as const) {
      await page.goto(`${api}?${encodeURIComponent(typed)}#to=JPY&from=USD`)
      await expectText(page, '#rate', /^1 USD = .* JPY$/)
      await page.locator(field).fill(typed)
      await expectSaid(page, text)
      expect(await page.locator(field).inputValue()).toBe(typed)
    }
    await choose(page, '#to', 'NOK')
    await expectSaid(page, /Norwegian kroner/)
    expect(await page.locator('#result').inputValue()).not.toBe('$20')
  })

  it('is read and shown with the separators of the user', async () => {
    const { page } = await openDemo('#amount=1234.5', { locale: 'de-DE' })
    expect(await page.locator('#amount').inputValue()).toBe('1.234,5')
    expect(await page.locator('#result').inputValue()).toMatch(/^1\.\d{3},\d\d$/)
    await page.locator('#amount').fill('1.500')
    await expectSaid(page, /^1,500 US dollars are /)
    expect(await page.locator('#amount').inputValue()).toBe('1.500')
    await expect.poll(() => new URL(page.url()).hash).toContain('#amount=1500&')
    await page.locator('#amount').fill('1,5')
    await expectSaid(page, /^1\.50 US dollars are /)
    await page.locator('#amount').fill('1,500')
    await expectText(page, '#hint', '1,500 has two meanings: write 1500 or 1,5')
  })

  it.runIf(IS_CHROMIUM)('may be pasted', async () => {
    const { page } = await openDemo('', { permissions: ['clipboard-read', 'clipboard-write'] })
    await page.evaluate(() => navigator.clipboard.writeText(' 1 234,50\u00a0CHF\n'))
    await page.locator('#amount').selectText()
    await page.keyboard.press('ControlOrMeta+V')
    await expectSaid(page, /^1,234\.50 Swiss francs are /)
  })

  it('asks nothing without a text, and explains what it accepts after another one', async () => {
    const { page, requests } = await openDemo()
    const before = await places(page)
    requests.length = 0
    await page.locator('#amount').fill('')
    await expectValue(page, '#result', '')
    expect(await page.locator('#amount').getAttribute('aria-invalid')).toBe('false')
    expect(await page.locator('#converter [role=alert]').isVisible()).toBe(false)
    expect(await textOf(page, '#hint')).toBe('')
    await expect.poll(() => new URL(page.url()).hash).toContain('#amount=&')
    for (const [typed, reason] of [
      ['12abc', 'Amount must be a number such as 1000.50, got 12abc'],
      ['400 GBp', 'Amount must be a number such as 1000.50, got 400 GBp'],
      ['-5', 'An amount must not be negative'],
      ['10.000', '10.000 has two meanings: write 10000 or 10'],
    ] as const) {
      for (const [field, other] of [
        ['#amount', '#result'],
        ['#result', '#amount'],
      ] as const) {
        await page.locator(field).fill(typed)
        await expectText(page, '#hint', reason)
        expect(await page.locator(field).getAttribute('aria-invalid')).toBe('true')
        expect(await page.locator(field).getAttribute('aria-describedby')).toContain('hint')
        expect(await page.locator(other).inputValue()).toBe('')
        expect(await page.locator(other).getAttribute('aria-invalid')).toBe('false')
      }
    }
    await settled(page)
    expect(requests.join()).not.toContain('/convert')
    expect(await places(page)).toEqual(before)
    expect(await axeViolations(page)).toEqual([])
    await page.locator('#result').fill('8')
    await expectSaid(page, / are 8 euros$/)
    expect(await textOf(page, '#hint')).toBe('')
    expect(await page.locator('#result').getAttribute('aria-invalid')).toBe('false')
  })
})

it.each([390, 1440])('moves nothing when a row is clicked, %d px wide', async (width) => {
  const { page } = await openDemo('', { viewport: { width, height: 900 } })
  await page.locator('[data-code=GBP]').scrollIntoViewIfNeeded()
  const before = await places(page)
  const scroll = () => page.evaluate(() => [scrollX, scrollY])
  const position = await scroll()
  await page.locator('[data-code=GBP] .rate').click()
  await expectText(page, '#rate', / GBP$/)
  await settled(page)
  expect(await places(page)).toEqual(before)
  expect(await scroll()).toEqual(position)
  expect(await textOf(page, '#chosen')).toBe('Converts USD to GBP')
  expect(await page.locator('[data-code=GBP]').getAttribute('aria-current')).toBe('true')
  expect(await layoutShift(page)).toBeLessThan(0.002)
})

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
