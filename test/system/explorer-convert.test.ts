import type { BrowserContextOptions, Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'

import type { LatestRates } from 'ratesmith'

import {
  axeViolations,
  choose,
  expectText,
  layoutShift,
  openDemo,
  settled,
  tabTo,
  textOf,
} from './explorer-page.ts'
import { IS_CHROMIUM } from './launch-browser.ts'

const VIEWS = [
  { width: 390, colorScheme: 'light' },
  { width: 768, colorScheme: 'dark' },
  { width: 1440, colorScheme: 'light' },
] as const

const CLIPBOARD: BrowserContextOptions = { permissions: ['clipboard-read', 'clipboard-write'] }

const codesIn = (page: Page) => page.locator('#rows tr:visible th button').allInnerTexts()

/** Returns the places of the sections and of the table on the page, which change when the names of currencies arrive. */
async function places(page: Page) {
  await expectText(page, '#rows tr:first-child th', /^[A-Z]{3}\s+\w/)
  return page
    .locator('main section, #rows, #table .rows')
    .evaluateAll((all: HTMLElement[]) =>
      all.map(({ offsetTop, offsetHeight }) => [offsetTop, offsetHeight]),
    )
}

describe.each(VIEWS)(
  'a journey with the keyboard alone, $width px wide and $colorScheme',
  (view) => {
    const options = { viewport: { width: view.width, height: 900 }, colorScheme: view.colorScheme }

    it('converts a typed amount into a currency found by a word, and copies every digit', async () => {
      const { page, fetchJson } = await openDemo('', { ...options, ...CLIPBOARD })
      const { keyboard } = page
      await tabTo(page, '#amount')
      await keyboard.press('ControlOrMeta+A')
      await keyboard.type('1,000.5')
      await expectText(page, '#given', '1,000.50 US dollars =')
      await tabTo(page, '#to')
      await keyboard.type('yen')
      await page.locator('#to-JPY[aria-selected=true]').waitFor()
      expect(await axeViolations(page)).toEqual([])
      await keyboard.press('Enter')
      const { result } = await fetchJson('convert?from=USD&to=JPY&amount=1000.5')
      await expectText(page, '#result', `${Math.round(result).toLocaleString('en-US')} JPY`)
      await tabTo(page, '#copy-exact')
      await keyboard.press('Enter')
      await expectText(page, '#exact-state', 'Copied')
      expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(String(result))
      await settled(page)
      expect(await layoutShift(page)).toBeLessThanOrEqual(0.02)
      expect(await axeViolations(page)).toEqual([])
    })

    it('finds, stars and sorts rates, and converts to one of them', async () => {
      const { page } = await openDemo('', options)
      const { keyboard } = page
      await expect.poll(() => page.locator('#rows .up, #rows .down').count()).toBeGreaterThan(5)
      await tabTo(page, '#search')
      await keyboard.type('switzerland')
      await expect.poll(() => codesIn(page)).toEqual(['CHF'])
      await keyboard.press('ControlOrMeta+A')
      await keyboard.press('Backspace')
      await tabTo(page, '[data-sort=change]')
      await keyboard.press('Enter')
      await expect.poll(() => new URL(page.url()).hash).toContain('sort=change')
      await keyboard.press('Enter')
      await expect.poll(() => new URL(page.url()).hash).toContain('sort=-change')
      const head = page.locator('th', { has: page.locator('[data-sort=change]') })
      expect(await head.getAttribute('aria-sort')).toBe('descending')
      const [best = ''] = await codesIn(page)
      await tabTo(page, '#rows th button')
      const before = await places(page)
      await keyboard.press('Enter')
      await expectText(page, '#pair', new RegExp(` in ${best}$`))
      await settled(page)
      expect(await places(page)).toEqual(before)
      await keyboard.press('ArrowLeft')
      await keyboard.press('Enter')
      expect(await page.locator('#rows .star:focus').getAttribute('aria-pressed')).toMatch(
        /true|false/,
      )
      expect(await layoutShift(page)).toBeLessThanOrEqual(0.02)
      expect(await axeViolations(page)).toEqual([])
    })
  },
)

describe('the field of a currency', () => {
  it('is a combobox with a list box', async () => {
    const { page } = await openDemo()
    const field = page.getByRole('combobox', { name: 'To' })
    const { keyboard } = page
    expect(await field.getAttribute('aria-expanded')).toBe('false')
    await field.focus()
    await keyboard.press('ArrowDown')
    await page.locator('#to-EUR[aria-selected=true]').waitFor()
    expect(await field.getAttribute('aria-expanded')).toBe('true')
    expect(await field.getAttribute('aria-controls')).toBe('to-list')
    expect(await page.locator('#to-list').getAttribute('role')).toBe('listbox')
    const active = () => field.getAttribute('aria-activedescendant')
    expect(await active()).toBe('to-EUR')
    for (const [key, id] of [
      ['ArrowDown', 'to-GBP'],
      ['ArrowUp', 'to-EUR'],
      ['Home', 'to-USD'],
      ['ArrowUp', 'to-ZWG'],
      ['ArrowDown', 'to-USD'],
      ['End', 'to-ZWG'],
    ] as const) {
      await keyboard.press(key)
      expect(await active()).toBe(id)
    }
    expect(await page.locator('#to-ZWG').isVisible()).toBe(true)
    await keyboard.press('Escape')
    expect(await field.getAttribute('aria-expanded')).toBe('false')
    expect(await active()).toBeNull()
    expect(await field.inputValue()).toBe('EUR – Euro')
    await keyboard.type('dollar')
    await expectText(page, '.popup:visible [role=status]', /^\d\d currencies$/)
    await keyboard.type('s of mars')
    await expectText(page, '.popup:visible [role=status]', 'No currency matches “dollars of mars”')
    await keyboard.press('Tab')
    expect(await field.inputValue()).toBe('EUR – Euro')
    expect(await page.locator('.popup:visible').count()).toBe(0)
  })

  it('takes the best match with Tab, and a text that names one currency with a click elsewhere', async () => {
    const { page } = await openDemo()
    await tabTo(page, '#to')
    await page.keyboard.type('norw')
    await page.locator('#to-NOK[aria-selected=true]').waitFor()
    await page.keyboard.press('Tab')
    await expectText(page, '#result', / NOK$/)
    await page.locator('#to').fill('koruna')
    await page.locator('#to-CZK[aria-selected=true]').waitFor()
    await page.locator('#converter-title').click()
    await expectText(page, '#result', / CZK$/)
    await page.locator('#to').fill('swe')
    await page.locator('#converter-title').click()
    expect(await page.locator('#to').inputValue()).toMatch(/^CZK/)
  })

  it('changes the sides where the same currency is chosen twice', async () => {
    const { page } = await openDemo()
    await choose(page, '#from', 'EUR')
    await expectText(page, '#rate', /^1 EUR = [\d.]+ USD$/)
  })

  it('lists recent choices first, then the major currencies, also after a reload', async () => {
    const { page } = await openDemo()
    await choose(page, '#to', 'HUF')
    await choose(page, '#to', 'THB')
    await expect.poll(() => new URL(page.url()).hash).toContain('to=THB')
    await page.reload()
    await settled(page)
    await page.locator('#base').click()
    const first = page.locator('#base-list b')
    await expect
      .poll(async () => (await first.allInnerTexts()).slice(0, 4))
      .toEqual(['THB', 'HUF', 'USD', 'EUR'])
  })

  it('works with invalid values in the storage', async () => {
    const { page } = await openDemo()
    for (const stored of ['{', '[1]', '"EUR"', '["EUR","nonsense"]', '']) {
      await page.evaluate((text) => {
        localStorage.setItem('ratesmith-recent', text)
        localStorage.setItem('ratesmith-favourites', text)
      }, stored)
      await page.reload()
      await settled(page)
      await choose(page, '#to', 'GBP')
      await expectText(page, '#result', / GBP$/)
      expect((await codesIn(page)).length).toBeGreaterThan(150)
    }
  })

  it('works where the browser refuses storage', async () => {
    const { page } = await openDemo()
    await page.addInitScript(() => {
      Object.defineProperty(globalThis, 'localStorage', {
        get: () => {
          throw new Error('refused')
        },
      })
    })
    await page.reload()
    await settled(page)
    await choose(page, '#to', 'GBP')
    await expectText(page, '#result', / GBP$/)
    await page.getByRole('button', { name: 'Favourite AED' }).click()
    await expect.poll(async () => (await codesIn(page))[4]).toBe('AED')
  })

  it.runIf(IS_CHROMIUM)('can be used with a finger, 390 px wide', async () => {
    const { page } = await openDemo('', { viewport: { width: 390, height: 844 }, hasTouch: true })
    await page.locator('#from').tap()
    const option = page.locator('#from-GBP')
    await option.waitFor()
    const box = await option.boundingBox()
    expect(box?.height).toBeGreaterThanOrEqual(44)
    expect((box?.x ?? -1) >= 0 && (box?.x ?? 0) + (box?.width ?? 999) <= 390).toBe(true)
    await option.tap()
    await expectText(page, '#rate', /^1 GBP = /)
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
  })

  it('takes codes without the second script', async () => {
    const { page } = await openDemo()
    await page.route(/explorer-api\.js/, (route) => route.abort())
    await page.locator('#to').selectText()
    await page.keyboard.type('gbp')
    await page.keyboard.press('Enter')
    await expectText(page, '#result', / GBP$/)
    await page.locator('#to').selectText()
    await page.keyboard.type('sterling')
    await page.locator('#to').blur()
    await expect.poll(() => page.locator('#to').inputValue()).toMatch(/^GBP/)
    await page.locator('#search').fill('swiss')
    expect(await codesIn(page)).toEqual(['CHF'])
  })

  it.runIf(IS_CHROMIUM)('is visible and framed with forced colours', async () => {
    const { page } = await openDemo('', { forcedColors: 'active' })
    await page.locator('#to').focus()
    await page.keyboard.press('ArrowDown')
    await page.locator('#to-EUR[aria-selected=true]').waitFor()
    const outlineOf = (selector: string) =>
      page.locator(selector).evaluate((element) => {
        const { outlineStyle, outlineWidth, borderStyle } = getComputedStyle(element)
        return { outlineStyle, isWide: Number.parseFloat(outlineWidth) >= 2, borderStyle }
      })
    const framed = { outlineStyle: 'solid', isWide: true }
    expect(await outlineOf('#to')).toMatchObject({ ...framed, borderStyle: 'solid' })
    expect(await outlineOf('#to-EUR')).toMatchObject(framed)
    expect(await outlineOf('#to-GBP')).toMatchObject({ outlineStyle: 'none' })
    await page.keyboard.press('Escape')
    const periods = await page
      .locator('.periods label')
      .evaluateAll((all) => all.map((label) => getComputedStyle(label).outlineStyle))
    expect(periods.filter((style) => style === 'solid')).toHaveLength(1)
    for (const selector of ['#swap', '#copy-exact', '#rows .star', '[data-sort=rate]', '#amount']) {
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
  it.each([
    ['1.000,50', '1000.50', '1,000.50 US dollars ='],
    ['1k', '1e3', '1,000 US dollars ='],
  ])('may be typed as %s', async (typed, amount, given) => {
    const { page, requests } = await openDemo('#amount=7')
    await page.locator('#amount').fill(typed)
    await expectText(page, '#given', given)
    expect(requests).toContain(`GET /api/v1/convert?from=USD&to=EUR&amount=${amount}`)
    expect(await page.locator('#amount').inputValue()).toBe(typed)
    await expect.poll(() => new URL(page.url()).hash).toContain(`#amount=${amount}&`)
  })

  it.each([
    ['€20', '20 euros ='],
    ['£1.5k', '1,500 British pounds ='],
  ])('may have a currency, which is then chosen: %s', async (typed, given) => {
    const { page } = await openDemo('#to=JPY')
    await page.locator('#amount').fill(typed)
    await expectText(page, '#given', given)
    await choose(page, '#from', 'CHF')
    await expectText(page, '#given', /Swiss francs =$/)
    expect(await page.locator('#amount').inputValue()).not.toBe(typed)
  })

  it('keeps the currency that a shared sign may mean', async () => {
    const { page } = await openDemo('#from=CAD')
    await page.locator('#amount').fill('$30')
    await expectText(page, '#given', '30 Canadian dollars =')
  })

  it('is read with the separators of the user', async () => {
    const { page } = await openDemo('#amount=1.25', { locale: 'de-DE' })
    expect(await page.locator('#amount').inputValue()).toBe('1,25')
    await page.locator('#amount').fill('1.500')
    await expectText(page, '#given', '1,500 US dollars =')
    await page.locator('#amount').fill('1,500')
    await expectText(page, '#given', '1.50 US dollars =')
  })

  it('asks nothing without a text, and shows no error', async () => {
    const { page, requests } = await openDemo()
    const before = await places(page)
    await page.locator('#amount').fill('7')
    await expectText(page, '#given', /^7 /)
    requests.length = 0
    await page.locator('#amount').fill('')
    await expect.poll(() => page.locator('#result').isVisible()).toBe(false)
    expect(await page.locator('#amount').getAttribute('aria-invalid')).toBe('false')
    expect(await page.locator('#converter [role=alert]').isVisible()).toBe(false)
    expect(await textOf(page, '#amount-hint')).toBe('')
    await expect.poll(() => new URL(page.url()).hash).toContain('#amount=&')
    expect(requests.join()).not.toContain('/convert')
    expect(await places(page)).toEqual(before)
    await page.reload()
    await settled(page)
    expect(await page.locator('#amount').inputValue()).toBe('')
    expect(await axeViolations(page)).toEqual([])
  })

  it.each([
    ['12abc', 'Use digits and a point: 1000.50'],
    ['€5£', 'Use digits and a point: 1000.50'],
    ['10.000', '10.000 has two meanings: write 10000 or 10'],
  ])('explains what it accepts after %s', async (typed, reason) => {
    const { page, requests } = await openDemo()
    const before = await places(page)
    requests.length = 0
    const field = page.locator('#amount')
    await field.fill(typed)
    await expectText(page, '#amount-hint', reason)
    expect(await field.getAttribute('aria-invalid')).toBe('true')
    expect(await field.getAttribute('aria-describedby')).toContain('amount-hint')
    expect(await page.locator('#amount-hint').isVisible()).toBe(true)
    expect(await page.locator('#result').isVisible()).toBe(false)
    await settled(page)
    expect(requests.join()).not.toContain('/convert')
    expect(await places(page)).toEqual(before)
    await field.fill('8')
    await expectText(page, '#given', /^8 /)
    expect(await textOf(page, '#amount-hint')).toBe('')
    expect(await field.getAttribute('aria-invalid')).toBe('false')
  })
})

describe('the order of the table', () => {
  it('has favourites first, which a star adds and removes', async () => {
    const { page } = await openDemo()
    expect((await codesIn(page)).slice(0, 5)).toEqual(['EUR', 'USD', 'GBP', 'JPY', 'AED'])
    const star = page.getByRole('button', { name: 'Favourite HUF' })
    expect(await star.getAttribute('aria-pressed')).toBe('false')
    await star.click()
    await expect.poll(async () => (await codesIn(page))[4]).toBe('HUF')
    expect(await star.getAttribute('aria-pressed')).toBe('true')
    await page.getByRole('button', { name: 'Favourite USD' }).click()
    await page.reload()
    await settled(page)
    expect((await codesIn(page)).slice(0, 5)).toEqual(['EUR', 'GBP', 'JPY', 'HUF', 'AED'])
  })

  it('follows the address, and ends with a click on its head', async () => {
    const { page, fetchJson } = await openDemo('#sort=-rate')
    const { rates }: LatestRates = await fetchJson('latest')
    const falling = Object.entries(rates).toSorted(([, one], [, other]) => other - one)
    expect((await codesIn(page))[0]).toBe(falling[0]?.[0])
    const head = page.locator('th', { has: page.locator('[data-sort=rate]') })
    expect(await head.getAttribute('aria-sort')).toBe('descending')
    await page.locator('[data-sort=rate]').click()
    expect(await head.getAttribute('aria-sort')).toBe('none')
    expect((await codesIn(page))[0]).toBe('EUR')
  })

  it('shows the changes of the last day, where there are any', async () => {
    const { page, requests, fetchJson } = await openDemo()
    const { points } = await fetchJson('history?from=USD&to=HUF&period=1W')
    const [before, last] = points.slice(-2)
    const change = (last.r / before.r - 1) * 100
    const text = `${Math.abs(change).toFixed(2)} %`
    await expectText(page, '[data-code=HUF] td:last-child', new RegExp(`^[+−]?${text}$`))
    expect(await textOf(page, '[data-code=AED] td:last-child')).toBe('')
    await choose(page, '#base', 'AED')
    await expectText(page, '#unit', '1 AED =')
    await expectText(page, '#count', /\. No daily history for AED$/)
    expect(await page.locator('#rows :is(.up, .down)').count()).toBe(0)
    expect(requests.filter((request) => request.includes('change='))).toHaveLength(1)
  })

  it.each([390, 1440])('moves no row when the changes arrive, %d px wide', async (width) => {
    const { page } = await openDemo('', { viewport: { width, height: 900 } })
    const asked = Promise.withResolvers<void>()
    await page.route(/change=1D/, async (route) => {
      await asked.promise
      await route.continue()
    })
    await page.reload()
    await settled(page)
    const before = await places(page)
    asked.resolve()
    await page.locator('#rows :is(.up, .down)').first().waitFor()
    expect(await places(page)).toEqual(before)
  })

  it('stays complete without changes', async () => {
    const { page } = await openDemo()
    await page.route(/change=1D/, (route) => route.abort())
    await page.reload()
    await settled(page)
    await expectText(page, '#count', /\. No changes at the moment$/)
    expect((await codesIn(page)).length).toBeGreaterThan(150)
    expect(await page.locator('#rows :is(.up, .down)').count()).toBe(0)
  })

  it.each([390, 1440])('moves nothing when a row is clicked, %d px wide', async (width) => {
    const { page } = await openDemo('', { viewport: { width, height: 900 } })
    await page.locator('[data-code=GBP]').scrollIntoViewIfNeeded()
    const before = await places(page)
    const scroll = () => page.evaluate(() => [scrollX, scrollY])
    const position = await scroll()
    await page.locator('[data-code=GBP] .rate').click()
    await expectText(page, '#result', / GBP$/)
    await settled(page)
    expect(await places(page)).toEqual(before)
    expect(await scroll()).toEqual(position)
    expect(await textOf(page, '#chosen')).toBe('Converts USD to GBP')
    expect(await page.locator('[data-code=GBP]').getAttribute('aria-current')).toBe('true')
    expect(await page.locator('#from').inputValue()).toMatch(/^USD/)
    expect(await layoutShift(page)).toBeLessThanOrEqual(0.02)
  })
})

it('compares a currency that a word names', async () => {
  const { page } = await openDemo()
  await page.locator('#compare').fill('yen')
  await page.locator('#compare').press('Enter')
  await expectText(page, '#pair', 'USD in EUR, JPY')
  await expectText(page, '#legend', /JPY/)
})
