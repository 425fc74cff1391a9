import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'

import {
  axeViolations,
  choose,
  expectText,
  expectValue,
  grouped,
  largestPaint,
  layoutShift,
  openDemo,
  openService,
  settled,
  tabTo,
  textOf,
} from './explorer-page.ts'
import { IS_CHROMIUM } from './launch-browser.ts'

const PHONE = {
  viewport: { width: 390, height: 844 },
  ...(IS_CHROMIUM && { hasTouch: true, isMobile: true }),
}
const DESKTOP = { viewport: { width: 1440, height: 900 }, colorScheme: 'dark' } as const

const said = (page: Page) => page.locator('#said').textContent()

/** Presses Tab through the whole page, and returns the names of what has the focus, in order. */
async function tabStops(page: Page): Promise<string[]> {
  const stops: string[] = []
  for (;;) {
    await page.keyboard.press('Tab')
    const name = await page.evaluate(() => {
      const { activeElement: focused, body } = document
      if (!focused || focused === body) return ''
      const label = focused instanceof HTMLInputElement && focused.labels?.[0]?.innerText
      return focused.ariaLabel || label || focused.textContent.trim()
    })
    if (name === '') return stops
    // A field for a day has several stops.
    if (name !== stops.at(-1)) stops.push(name.replace(/^(Copy|Show)( all)? \d.*/, '$1'))
  }
}

/** Presses as the device does. */
const press = (page: Page, device: object, selector: string) =>
  'hasTouch' in device ? page.locator(selector).tap() : page.locator(selector).click()

it.each([
  ['1000 jpy', '', DESKTOP],
  ['1,000', 'yen', PHONE],
])('converts %s into francs, for today and for a Sunday', async (typed, currency, device) => {
  const { page, fetchJson } = await openDemo('', device)
  await press(page, device, '#amount')
  await page.locator('#amount').fill(typed)
  if (currency) await choose(page, '#from', currency)
  await expectValue(page, '#from', 'JPY')
  await choose(page, '#to', 'franc')
  await expectValue(page, '#to', 'CHF')
  const { rate, result } = await fetchJson('convert?from=JPY&to=CHF&amount=1000')
  await expectText(page, '#exact', `${result}`)
  await expectValue(page, '#result', grouped(result))
  expect(await said(page)).toBe(`1,000 Japanese yen are ${grouped(result)} Swiss francs`)
  expect(await textOf(page, '#names')).toBe('Japanese yen to Swiss francs')
  expect(await textOf(page, '#rate')).toMatch(/^100 JPY = 0\.\d{5,6} CHF$/)
  expect(await page.locator('#rate').getAttribute('title')).toBe(String(rate))
  expect(await textOf(page, '#reciprocal')).toMatch(/^1 CHF = \d{3}(\.\d+)? JPY$/)
  const rounds = page.locator('#rounds div')
  expect((await rounds.locator('dt').allInnerTexts()).join(' ')).toBe(
    '500 JPY 1,000 2,000 5,000 10,000 50,000',
  )
  expect(await rounds.nth(4).locator('dd').innerText()).toBe(grouped(10_000 * rate))
  await expectText(page, '#since', /^[▲▼] [+−]\d+\.\d\d % since \d+ \w{3} \d{4}$/)
  expect(await axeViolations(page)).toEqual([])

  expect(await textOf(page, '#converter .day')).toBe('today ▾')
  await page.locator('#date').fill('2020-07-12')
  await expectText(page, '#rule', 'Rate of Friday 10 Jul 2020, the last before Sunday')
  const past = await fetchJson('convert?from=JPY&to=CHF&amount=1000&date=2020-07-12')
  expect(past.date).toBe('2020-07-10')
  await expectValue(page, '#result', grouped(past.result))
  expect(await textOf(page, '#converter time')).toBe('Reference rate of 10 Jul 2020')
  await expect.poll(() => new URL(page.url()).hash).toContain('date=2020-07-12')
  await choose(page, '#to', 'GBP')
  await expectText(page, '#reciprocal', /^1 GBP = /)
  expect(await textOf(page, '#rule')).toContain('10 Jul 2020')
  await press(page, device, '#today')
  await expectText(page, '#converter time', /^Published \d+ \w{3} \d{4}, \d\d:\d\d UTC$/)
  expect(await textOf(page, '#rule')).toBe('')
  expect(await page.locator('#today').isVisible()).toBe(false)
  await page.locator('#date').fill('2020-07-13')
  await expectText(page, '#rule', /^Rate of Monday 13 Jul 2020$/)
})

it('shares a view, and goes back and forward between pairs', async () => {
  const { page } = await openDemo('', PHONE)
  await page.locator('#amount').fill('250')
  await choose(page, '#to', 'JPY')
  await press(page, PHONE, '#swap')
  await expectText(page, '#rate', / JPY = .* USD$/)
  await page.locator('[value="1Y"]').check()
  await press(page, PHONE, '#menu')
  await press(page, PHONE, '#copy-link')
  await expectText(page, '#link-state', 'Link copied')
  const shown = await page.locator('#result').inputValue()
  const other = await page.context().newPage()
  await other.goto(page.url())
  await settled(other)
  expect(await other.locator('#result').inputValue()).toBe(shown)
  expect(await textOf(other, '#pair')).toBe('JPY in USD')
  expect(await other.locator('[value="1Y"]').isChecked()).toBe(true)
  await other.close()
  for (const rate of [/^1 USD = .* JPY$/, /^1 USD = .* EUR$/]) {
    await page.goBack()
    await expectText(page, '#rate', rate)
    await expectValue(page, '#amount', '250')
  }
  await page.goForward()
  await expectText(page, '#rate', /^1 USD = .* JPY$/)
  expect(await page.title()).toBe('USD to JPY – ratesmith')
})

it.runIf(IS_CHROMIUM).each([
  ['', DESKTOP],
  ['#date=2020-07-12', PHONE],
  ['#from=USD&to=IDR&amount=123456789', PHONE],
])(
  'moves nothing while %j loads slowly, and has its largest text before the history',
  async (fragment, device) => {
    const { page } = await openDemo(fragment, device)
    const cdp = await page.context().newCDPSession(page)
    const speed = { latency: 400, downloadThroughput: 50_000, uploadThroughput: 50_000 }
    await cdp.send('Network.setCacheDisabled', { cacheDisabled: true })
    await cdp.send('Network.emulateNetworkConditions', { offline: false, ...speed })
    await cdp.send('Emulation.setCPUThrottlingRate', { rate: 4 })
    await page.reload()
    await settled(page)
    expect(await layoutShift(page)).toBeLessThan(0.002)
    expect(await largestPaint(page)).not.toMatch(/^(trend|since|chart|reading.*|days|stats|plot)?$/)
  },
)

it.runIf(IS_CHROMIUM)('works with the keyboard alone', async () => {
  const permissions = ['clipboard-read', 'clipboard-write']
  const { page, fetchJson, requests } = await openDemo('', { ...PHONE, permissions })
  const { keyboard } = page
  const copied = () => page.evaluate(() => navigator.clipboard.readText())
  const foot = 'Synthetic rates (ratesmith), Request and response'
  expect((await tabStops(page)).join(', ')).toBe(
    [
      'Rates, OpenAPI, More, Amount, From currency, Swap currencies, Day of the rate, Result',
      `To currency, Copy, ${foot}, Base, Search, Currency, 1 USD =, 1 day, EUR, Show, ${foot}`,
      `3M, First day, Last day, Compare with, in %, CSV, Selected day, Show, ${foot}`,
    ].join(', '),
  )
  await tabTo(page, '#menu')
  await keyboard.press('Enter')
  await tabTo(page, '#theme')
  await keyboard.press('ArrowDown')
  await expect
    .poll(() => page.evaluate(() => document.documentElement.dataset['theme']))
    .toBe('light')
  await tabTo(page, '#copy-link')
  await keyboard.press('Enter')
  await expectText(page, '#link-state', 'Link copied')
  expect(await copied()).toBe(page.url())
  await keyboard.press('Escape')
  expect(await page.locator('#menu:focus').count()).toBe(1)
  await tabTo(page, '#amount')
  await keyboard.type('12')
  await tabTo(page, '#from')
  await keyboard.type('pound')
  await page.locator('#from-GBP[aria-selected=true]').waitFor()
  expect(await axeViolations(page)).toEqual([])
  await tabTo(page, '#swap')
  await keyboard.press('Enter')
  await expectText(page, '#rate', /^1 EUR = .* GBP$/)
  await tabTo(page, '#date')
  await keyboard.type('07122020')
  await expectText(page, '#rule', 'Rate of Friday 10 Jul 2020, the last before Sunday')
  expect(requests.filter((request) => request.includes('date=')).join()).toMatch(
    /^[^,]*&date=2020-07-12$/,
  )
  const past = await fetchJson('convert?from=EUR&to=GBP&amount=12&date=2020-07-12')
  expect(await said(page)).toBe(`12 euros are ${grouped(past.result)} British pounds`)
  const { promise: untilReleased, resolve: release } = Promise.withResolvers<void>()
  await page.route('**/v1/convert?*', async (route) => {
    await untilReleased
    await route.continue()
  })
  await tabTo(page, '#today')
  await keyboard.press('Enter')
  expect(await page.locator('#date:focus').count()).toBe(1)
  await tabTo(page, '#result')
  // A response that arrives in the selected field.
  release()
  await expectText(page, '#converter time', 'Published')
  await keyboard.type('50')
  const { result } = await fetchJson('convert?from=EUR&to=GBP&amount=50&reverse=true')
  await expectText(page, '#exact', String(result))
  expect(await page.locator('#amount').inputValue()).toBe(grouped(result))
  expect(await said(page)).toBe(`${grouped(result)} euros are 50 British pounds`)
  await tabTo(page, '#copy-exact')
  await keyboard.press('Enter')
  await expectText(page, '#exact-state', 'Copied')
  expect(await copied()).toBe(String(result))
  await tabTo(page, '#converter summary')
  await keyboard.press('Enter')
  await expectText(page, '#converter .facts', /^Status 200 · \d+ ms · \d+ B · Cache-Status: rates/)
  await expectText(page, '#converter .body', /"reverse": true/)
  await tabTo(page, '#converter .copies button')
  await keyboard.press('Enter')
  await expectText(page, '#converter .copied', 'Copied')
  expect(await copied()).toMatch(/^curl 'http.*amount=50&reverse=true'$/)
  await tabTo(page, '#rows th button')
  await keyboard.press('ArrowDown')
  const code = await page.locator('#rows button:focus').innerText()
  await keyboard.press('Enter')
  await expectText(page, '#pair', new RegExp(`^EUR in ${code}$`))
  await keyboard.press('ArrowLeft')
  const pressed = () => page.locator(`[data-code=${code}] .star`).getAttribute('aria-pressed')
  const before = await pressed()
  await keyboard.press('Enter')
  await expect.poll(pressed).not.toBe(before)
  // A row that leaves the favourites of a phone leaves the focus to the next one.
  expect(await page.locator('#rows .star:focus').count()).toBe(1)
  await tabTo(page, '[name=period]')
  await keyboard.press('ArrowRight')
  await tabTo(page, '#compare')
  await keyboard.type('franc')
  await page.locator('#compare-CHF[aria-selected=true]').waitFor()
  await keyboard.press('Enter')
  await expectText(page, '#pair', `EUR in ${code}, CHF`)
  await settled(page)
  expect(await axeViolations(page)).toEqual([])
})

it.runIf(IS_CHROMIUM)(
  'keeps the last rates while the service is down, and recovers by itself',
  async () => {
    const { page, url, server, close } = await openService({}, '', DESKTOP)
    const rate = Number(await page.locator('#rate').getAttribute('title'))
    const colour = () => page.locator('#result').evaluate((field) => getComputedStyle(field).color)
    const fresh = await colour()
    await close()
    await page.locator('#amount').fill('70')
    await expectText(
      page,
      '#converter [role=alert]',
      /cannot be reached\. Below are the last rates/,
    )
    await expectText(page, '#converter .waiting', /^Retrying in \d+ s$/)
    await expectValue(page, '#result', grouped(70 * rate))
    expect(Number(await textOf(page, '#exact'))).toBeCloseTo(70 * rate)
    expect(await said(page)).toBe(`70 US dollars are ${grouped(70 * rate)} euros`)
    expect(await colour()).not.toBe(fresh)
    expect(await axeViolations(page)).toEqual([])
    server.listen(Number(new URL(url).port), '127.0.0.1')
    await expect.poll(colour, { timeout: 60_000 }).toBe(fresh)
    expect(await page.locator('#converter .notice').isVisible()).toBe(false)
  },
)

it.runIf(IS_CHROMIUM)('prints the conversion, the chart and every rate on two sheets', async () => {
  const paper = { viewport: { width: 794, height: 1123 } }
  const { page } = await openDemo('#date=2020-07-12&compare=GBP', paper)
  const sheets = await page.pdf({ format: 'A4' })
  expect(sheets.toString('latin1').match(/\/Type\s*\/Page\b/g)).toHaveLength(2)
  await page.emulateMedia({ media: 'print' })
  expect(await page.locator('#rows tr:visible').count()).toBeGreaterThan(150)
  const row = await page.locator('#rows [data-code=HUF] th').boundingBox()
  expect(row?.width).toBeGreaterThan(80)
  expect(await page.locator('#unit').isVisible()).toBe(true)
  const controls = page.locator(':is(nav, select, button:not(#rows *)):visible')
  expect(await controls.allInnerTexts()).toEqual(['1 USD ='])
})
