import type { Request } from 'playwright-core'
import { describe, expect, it } from 'vitest'

import type { LatestRates, RateHistory } from 'ratesmith'

import {
  chartRequests,
  choose,
  expectText,
  openDemo,
  settled,
  tabTo,
  textOf,
} from './explorer-page.ts'
import { IS_CHROMIUM } from './launch-browser.ts'

describe('the converter', () => {
  it('converts while the user types, with the digits of the API', async () => {
    const { page, fetchJson, requests } = await openDemo()
    await page.locator('#amount').evaluate((input: HTMLInputElement) => {
      for (let length = 1; length <= 7; length += 1) {
        input.value = '1234.56'.slice(0, length)
        input.dispatchEvent(new Event('input', { bubbles: true }))
      }
    })
    const { rate, result } = await fetchJson('convert?from=USD&to=EUR&amount=1234.56')
    await expectText(page, '#result', exactly(`${grouped(result)} EUR`))
    expect(await textOf(page, '#exact')).toBe(String(result))
    expect(await textOf(page, '#given')).toBe('1,234.56 US dollars =')
    expect(await textOf(page, '#rate')).toBe(`1 USD = ${rate} EUR`)
    // Not one request per key.
    expect(requests.filter((request) => request.includes('/convert')).length).toBeLessThan(5)
  })

  it('ignores a response that arrives after a newer request', async () => {
    const { page } = await openDemo()
    const { promise: isHeld, resolve: release } = Promise.withResolvers<void>()
    await page.route(/convert.*to=GBP/, async (route) => {
      await isHeld
      await route.continue().catch(() => {})
    })
    const late = { predicate: (request: Request) => request.url().includes('to=GBP') }
    const ended = Promise.race([
      page.waitForEvent('requestfinished', late),
      page.waitForEvent('requestfailed', late),
    ])
    await choose(page, '#to', 'GBP')
    await choose(page, '#to', 'JPY')
    await expectText(page, '#result', / JPY$/)
    release()
    await ended
    await settled(page)
    expect(await textOf(page, '#result')).toMatch(/ JPY$/)
  })

  it.each([
    ['#amount=1e999', '#converter', 'convert?from=USD&to=EUR&amount=1e999'],
    ['#from=xyz', '#converter', 'convert?from=XYZ&to=EUR&amount=100'],
    ['#period=2W', '#chart', 'history?from=USD&to=EUR&period=2W'],
    ['#base=HRK', '#table', 'latest?base=HRK'],
  ])('of %s shows in %s the error of the API', async (fragment, panel, path) => {
    const { page, fetchJson } = await openDemo(fragment)
    const { error } = await fetchJson(path)
    expect(await textOf(page, `${panel} [role=alert]`)).toBe(error.message)
    expect(await page.locator(`${panel} .data`).isVisible()).toBe(false)
    expect(await page.locator(`${panel} .source`).isVisible()).toBe(false)
  })

  it('keeps its view in the address, and restores it after a reload', async () => {
    const { page } = await openDemo()
    await page.locator('#amount').fill('5')
    await choose(page, '#from', 'CHF')
    await choose(page, '#base', 'GBP')
    await page.locator('[value="1W"]').check()
    await expect.poll(() => new URL(page.url()).hash).toContain('base=GBP&period=1W')
    const before = await textOf(page, '#result')
    await page.reload()
    await settled(page)
    expect(await textOf(page, '#result')).toBe(before)
    expect(await page.locator('[value="1W"]').isChecked()).toBe(true)
    expect(await page.inputValue('#base')).toBe('GBP – Pound Sterling')
    await page.locator('#amount').fill('1 &2')
    await expect.poll(() => new URL(page.url()).hash).toContain('amount=1+%262&from=CHF')
  })
})

describe('the table', () => {
  it('lists every rate of the selected base, with its digits as title and its name', async () => {
    const { page, fetchJson } = await openDemo()
    await choose(page, '#base', 'EUR')
    await expectText(page, '#unit', '1 EUR =')
    const { rates }: LatestRates = await fetchJson('latest?base=EUR')
    const rows = await page.locator('#rows tr').evaluateAll((rows) =>
      rows.map((row) => ({
        name: row.querySelector('th')?.textContent,
        code: row.querySelector('th button')?.textContent ?? '',
        digits: row.querySelector<HTMLElement>('.rate')?.title,
      })),
    )
    const listed = Object.fromEntries(rows.map(({ code, digits }) => [code, Number(digits)]))
    expect(listed).toEqual(rates)
    expect(rows.slice(0, 4).map(({ code }) => code)).toEqual(['EUR', 'USD', 'GBP', 'JPY'])
    expect(rows.find(({ code }) => code === 'JPY')?.name).toBe('JPY Japanese Yen')
  })
})

describe('the chart', () => {
  it.each(['1W', '1M', '3M', '6M', '1Y', '5Y'])('shows %s', async (period) => {
    const { page, fetchJson } = await openDemo(period === '3M' ? '#period=1W' : '')
    await page.locator(`[value="${period}"]`).check()
    const path = `history?from=USD&to=EUR&period=${period}`
    const { points, stats }: RateHistory = await fetchJson(path)
    await expectText(page, '#days summary', new RegExp(`\\b${points.length}\\b`))
    const { high, low, average, highDate, lowDate } = stats
    const { r: newestRate = 0 } = points.at(-1) ?? {}
    for (const [id, rate] of Object.entries({ high, low, average, reading: newestRate })) {
      expect(await textOf(page, `#${id}`)).toBe(sixDigits(rate))
      expect(await page.locator(`#${id}`).getAttribute('title')).toBe(String(rate))
    }
    expect(await textOf(page, '#high-date')).toBe(highDate)
    expect(await textOf(page, '#low-date')).toBe(lowDate)
    expect(await textOf(page, '#change')).toContain(`${Math.abs(stats.changePct).toFixed(2)} %`)
    expect(await page.locator('#change').getAttribute('title')).toBe(`${stats.changePct} %`)
    expect((await page.locator('.line').getAttribute('d'))?.split('L')).toHaveLength(points.length)
    await page.locator('#days summary').click()
    const rows = page.locator('#days tbody tr')
    await expect.poll(() => rows.count()).toBe(points.length)
    const newest = await rows.first().innerText()
    expect(newest.split(/\s+/)).toEqual([points.at(-1)?.d, String(points.at(-1)?.r)])
  })

  it.for(['mouse', 'finger'])(
    'shows date and rate at the position of the %s',
    async (pointer, { skip }) => {
      skip(pointer === 'finger' && !IS_CHROMIUM, 'Playwright has touch in Chromium only')
      const { page, fetchJson } = await openDemo('', { hasTouch: pointer === 'finger' })
      const { points }: RateHistory = await fetchJson('history?from=USD&to=EUR&period=3M')
      await page.locator('#plot').scrollIntoViewIfNeeded()
      const box = await page.locator('#plot').boundingBox()
      if (!box) throw new Error('the chart is not visible')
      const [x, y] = [box.x + box.width / 2, box.y + 20]
      expect(await page.locator('#tip').isVisible()).toBe(false)
      if (pointer === 'finger') await page.touchscreen.tap(x, y)
      else await page.mouse.move(x, y)
      await page.locator('#tip').waitFor()
      const day = await textOf(page, '#tip b')
      const index = points.findIndex(({ d }) => d === day)
      expect(Math.abs(index / points.length - 0.5)).toBeLessThan(0.1)
      expect(await textOf(page, '#tip .s0')).toBe(`${sixDigits(points[index]?.r)} EUR`)
      if (pointer === 'finger') return
      expect(await page.locator('.hair').getAttribute('class')).toBe('hair shown')
      await page.mouse.move(0, 0)
      await expect.poll(() => page.locator('#tip').isVisible()).toBe(false)
    },
  )

  it('is redrawn when the window becomes narrower', async () => {
    const { page } = await openDemo('', { viewport: { width: 1280, height: 900 } })
    const viewBox = (): Promise<string | null> => page.locator('#plot svg').getAttribute('viewBox')
    const wide = await viewBox()
    await page.setViewportSize({ width: 390, height: 844 })
    await expect.poll(viewBox).not.toBe(wide)
    const { width = 0 } = (await page.locator('#plot').boundingBox()) ?? {}
    expect(await viewBox()).toMatch(new RegExp(`^0 0 ${Math.round(width)} `))
  })
})

describe('a pair without a history', () => {
  it('moves nothing on the page, and gives way to the next chart', async () => {
    // All sections are one below the other.
    const { page, requests } = await openDemo('', { viewport: { width: 390, height: 844 } })
    const layout = () =>
      page
        .locator('main section')
        .evaluateAll((all: HTMLElement[]) => all.map((each) => each.offsetTop))
    const before = await layout()
    await choose(page, '#to', 'AED')
    await expectText(page, '#none', 'No daily history for AED')
    await settled(page)
    expect(await layout()).toEqual(before)
    for (const part of ['.notice', '.asked', '.source']) {
      expect(await page.locator(`#chart ${part}`).isVisible()).toBe(false)
    }
    expect(await page.locator('[name=period]:enabled').count()).toBe(0)
    await choose(page, '#to', 'JPY')
    await expectText(page, '#days summary', /\d/)
    await settled(page)
    expect(await page.locator('#none').innerText()).toBe('')
    expect(await page.locator('#chart .source').isVisible()).toBe(true)
    await choose(page, '#to', 'AED')
    await choose(page, '#to', 'JPY')
    await settled(page)
    expect(await textOf(page, '#chart .asked')).toContain('to=JPY')
    expect(chartRequests(requests).some((request) => request.includes('AED'))).toBe(false)
  })

  it('waits for the list of currencies, and requests every history without it', async () => {
    const { page, requests } = await openDemo()
    const { promise: isHeld, resolve: release } = Promise.withResolvers<void>()
    await page.route(/currencies/, async (route) => {
      await isHeld
      await route.abort()
    })
    requests.length = 0
    await page.goto(`${page.url().split('#')[0]}?#to=AED`)
    await expectText(page, '#result', / AED$/)
    expect(chartRequests(requests)).toEqual([])
    release()
    await settled(page)
    expect(await textOf(page, '#chart [role=alert]')).toContain('AED')
    expect(chartRequests(requests)).toHaveLength(1)
  })
})

it('works from end to end with the keyboard alone', async () => {
  const { page, fetchJson } = await openDemo()
  const { keyboard } = page
  await tabTo(page, '#amount')
  await keyboard.press('ControlOrMeta+A')
  await keyboard.type('12')
  await tabTo(page, '#from')
  await keyboard.type('GBP')
  await page.locator('#from-GBP[aria-selected=true]').waitFor()
  await tabTo(page, '#swap')
  await keyboard.press('Enter')
  await expectText(page, '#given', '12 euros =')
  const { result } = await fetchJson('convert?from=EUR&to=GBP&amount=12')
  await expectText(page, '#result', exactly(`${grouped(result)} GBP`))
  await expectText(page, '#pair', 'EUR in GBP')
  expect(await page.inputValue('#from')).toBe('EUR – Euro')
  await tabTo(page, '[name=period]')
  await keyboard.press('ArrowRight')
  await expect.poll(() => page.locator('[value="6M"]').isChecked()).toBe(true)
  await tabTo(page, '#compare')
  await keyboard.type('JPY')
  await keyboard.press('Enter')
  await expectText(page, '#pair', 'EUR in GBP, JPY')
  await tabTo(page, '#percent')
  await keyboard.press('Space')
  await expect.poll(() => page.url()).toContain('scale=units')
  await settled(page)
  await tabTo(page, '#plot input')
  await keyboard.press('Home')
  const { points }: RateHistory = await fetchJson('history?from=EUR&to=GBP&period=6M')
  expect(await textOf(page, '#tip b')).toBe(points[0]?.d)
  await keyboard.press('ArrowRight')
  expect(await textOf(page, '#tip b')).toBe(points[1]?.d)
  expect(await page.getByRole('slider').getAttribute('aria-label')).toMatch(/\w/)
  expect(await page.getByRole('slider').getAttribute('aria-valuetext')).toMatch(
    /^\d{4}-\d\d-\d\d: 0\.\d+ GBP, \d+\.\d+ JPY$/,
  )
  await tabTo(page, '#days summary')
  await keyboard.press('Enter')
  await expect.poll(() => page.locator('#days tbody tr').count()).toBeGreaterThan(100)
  await tabTo(page, '#base')
  await keyboard.type('CHF')
  await page.locator('#base-CHF[aria-selected=true]').waitFor()
  await keyboard.press('Enter')
  await expectText(page, '#unit', '1 CHF =')
  await tabTo(page, '#search')
  await keyboard.type('dollar')
  await tabTo(page, '#rows button')
  await keyboard.press('ArrowDown')
  await keyboard.press('End')
  const last = await page.evaluate(() => document.activeElement?.textContent)
  await keyboard.press('Enter')
  await expectText(page, '#rate', new RegExp(`^1 EUR = [\\d.]+ ${last}$`))
  // All rows are one tab stop.
  await tabTo(page, '#table [data-form=curl]')
  await keyboard.press('Enter')
  await expectText(page, '#table .copied', 'Copied')
})

it('selects the text where the page may not copy', async () => {
  const { page } = await openDemo()
  await page.evaluate(() => Object.defineProperty(navigator, 'clipboard', { value: undefined }))
  for (const [button, outcome, text] of [
    ['#chart [data-form=curl]', '#chart .copied', '#chart .snippet'],
    ['#copy-exact', '#exact-state', '#exact'],
  ] as const) {
    await page.locator(button).click()
    await expectText(page, outcome, 'Selected; copy it manually')
    const selected = await page.evaluate(() => getSelection()?.toString().trim())
    expect(selected).toBe(await textOf(page, text))
  }
})

describe('the details of the data', () => {
  it('are source, age and disclaimer', async () => {
    const { page, fetchJson } = await openDemo()
    const { source, disclaimer }: LatestRates = await fetchJson('latest')
    for (const panel of ['#converter', '#chart', '#table']) {
      const link = page.locator(`${panel} .source a`)
      expect(await link.innerText()).toBe(source.name)
      expect(await link.getAttribute('href')).toBe(source.url)
      expect(await link.getAttribute('rel')).toBe('noopener')
    }
    // Once for the whole page.
    expect(await textOf(page, '.disclaimer')).toBe(disclaimer)
    expect(await textOf(page, '#converter .age')).toMatch(/ ago\b/)
    expect(await page.locator('#converter .age').getAttribute('title')).toMatch(/ GMT$/)
    await expectText(page, '#badge', 'Synthetic data')
    expect(await textOf(page, '#table .age')).toMatch(/ ago\b.*update.* (in .+|now)$/)
    expect(await textOf(page, '#chart .age')).toMatch(/\b\w+day,? \d+ \w+ 20\d\d\b/)
  })

  it.each([
    ['http://rates.example/', 'http://rates.example/'],
    [' JavaScript:alert(1)', null],
  ])('links to the source %j only over http and https', async (url, href) => {
    const { page } = await openDemo()
    await page.route(/\/convert/, async (route) => {
      const response = await route.fetch()
      const json = { ...(await response.json()), source: { name: 'Another', url } }
      await route.fulfill({ response, json })
    })
    await page.locator('#amount').fill('2')
    await expectText(page, '#converter .source a', 'Another')
    expect(await page.locator('#converter .source a').getAttribute('href')).toBe(href)
  })

  it('shows that an update is overdue, and fetches it', async () => {
    const { page, requests } = await openDemo()
    await page.clock.install()
    await page.reload()
    await settled(page)
    const count = (): number => requests.filter((each) => each.includes('/latest')).length
    const before = count()
    await page.clock.runFor(1000)
    await page.clock.fastForward(72 * 3_600_000)
    await expectText(page, '#table .age', /\b3 days ago\b.*\boverdue\b/)
    await expect.poll(count).toBeGreaterThan(before)
  })
})

/** Formats a rate of the demo between 0.1 and 1, without zeros at its end beyond five digits. */
function sixDigits(rate = 0): string {
  return rate.toFixed(6).replace(/0$/, '')
}

/** Formats an amount with two digits after the point, and groups of thousands. */
function grouped(amount: number): string {
  return amount.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })
}

function exactly(text: string): RegExp {
  return new RegExp(`^${text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`)
}
