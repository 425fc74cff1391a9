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
  await expectText(page, '#rate', / JPY$/)
  release()
  await ended
  await settled(page)
  expect(await textOf(page, '#rate')).toMatch(/ JPY$/)
})

it('shows the error of the API in the panel that asked', async () => {
  const { page, api, fetchJson } = await openDemo()
  for (const [fragment, panel, path] of [
    ['#amount=1e999', '#converter', 'convert?from=USD&to=EUR&amount=1e999'],
    ['#from=xyz', '#converter', 'convert?from=XYZ&to=EUR&amount=100'],
    ['#period=2W', '#chart', 'history?from=USD&to=EUR&period=2W'],
    ['#base=HRK', '#table', 'latest?base=HRK'],
  ] as const) {
    await page.goto('about:blank')
    await page.goto(api + fragment)
    await settled(page)
    const { error } = await fetchJson(path)
    expect(await textOf(page, `${panel} [role=alert]`)).toBe(`${error.message}.`)
    expect(await page.locator(`${panel} .data`).isVisible()).toBe(false)
    expect(await page.locator(`${panel} .origin`).isVisible()).toBe(false)
  }
})

describe('the table', () => {
  it('lists every rate and change of a base, with all digits as titles, by one request', async () => {
    const { page, fetchJson, requests } = await openDemo()
    requests.length = 0
    await choose(page, '#base', 'EUR')
    await expectText(page, '#unit', '1 EUR =')
    await settled(page)
    const latest = requests.filter((request) => request.includes('/v1/'))
    expect(latest).toEqual(['GET /api/v1/latest?base=EUR&change=1D'])
    const { rates, change }: LatestRates = await fetchJson('latest?base=EUR&change=1D')
    const rows = await page.locator('#rows tr').evaluateAll((rows) =>
      rows.map((row) => ({
        name: row.querySelector('th')?.textContent,
        code: row.querySelector('th button')?.textContent ?? '',
        rate: row.querySelector<HTMLElement>('.rate')?.title,
        change: row.querySelector('td:last-child')?.textContent,
      })),
    )
    expect(Object.fromEntries(rows.map(({ code, rate }) => [code, Number(rate)]))).toEqual(rates)
    for (const { code, change: shown } of rows) {
      const percent = change?.percent[code]
      expect(shown?.replace('−', '-')).toBe(percent === undefined ? '' : signed(percent))
    }
    expect(Object.keys(change?.percent ?? {}).length).toBeGreaterThan(20)
    expect(rows.slice(0, 4).map(({ code }) => code)).toEqual(['EUR', 'USD', 'GBP', 'JPY'])
    expect(rows.find(({ code }) => code === 'JPY')?.name).toBe('JPY Japanese Yen')
  })

  it('is one stop for Tab, and arrow keys move among the rows that are shown', async () => {
    const { page } = await openDemo('', { viewport: { width: 390, height: 844 } })
    const focused = () =>
      page.evaluate(() => document.activeElement?.closest('tr')?.getAttribute('data-code'))
    const press = async (...keys: string[]) => {
      for (const key of keys) await page.keyboard.press(key)
      return focused()
    }
    await tabTo(page, '#rows button')
    expect(await focused()).toBe('EUR')
    expect(await press('ArrowDown', 'ArrowDown')).toBe('GBP')
    expect(await press('End')).toBe('JPY')
    expect(await press('ArrowDown', 'ArrowLeft', 'Home')).toBe('EUR')
    expect(await page.locator('.star:focus').count()).toBe(1)
    await page.keyboard.press('Tab')
    expect(await page.locator('#all:focus').count()).toBe(1)
    expect(await page.locator('#rows tr:visible').count()).toBe(4)
    const count = Number(/\d+/.exec(await textOf(page, '#all')))
    expect(await press('Enter')).toBe('AED')
    expect(await page.locator('#rows tr:visible').count()).toBe(count)
    expect(await page.locator('#all').isVisible()).toBe(false)
    await page.fill('#search', 'dollar')
    await page.locator('#search').press('Tab')
    await tabTo(page, '#rows button')
    const last = await press('End')
    const found = await page
      .locator('#rows tr:visible')
      .evaluateAll((rows) => rows.map((row) => row.getAttribute('data-code')))
    expect(last).toBe(found.at(-1))
    expect(found.length).toBeLessThan(60)
    await page.keyboard.press('Enter')
    await expectText(page, '#rate', new RegExp(` ${last}$`))
    expect(await page.locator('#rows [aria-current]').getAttribute('data-code')).toBe(last)
  })
})

describe('the chart', () => {
  it('shows periods with the statistics of the API and every label in its card', async () => {
    const { page, fetchJson } = await openDemo('#period=MAX')
    const start = `${new Date().getUTCFullYear() - 10}`
    for (const period of ['1W', '3M', '1Y', '10Y', 'MAX']) {
      const asked = { '10Y': `start=${start}${today().slice(4)}`, MAX: 'start=1999-01-04' }[period]
      await page.locator(`[value="${period}"]`).check()
      const { points, stats }: RateHistory = await fetchJson(
        `history?from=USD&to=EUR&${asked ?? `period=${period}`}`,
      )
      await expectText(page, '#days summary', `Show ${points.length} daily rates`)
      await settled(page)
      const { high, low, average, changePct, highDate, lowDate } = stats
      const shown = await page
        .locator('#stats dd')
        .evaluateAll((all: HTMLElement[]) => all.map(({ title, innerText }) => title || innerText))
      const [first, last] = [inWords(highDate), inWords(lowDate)]
      expect(shown).toEqual([`${high}`, first, `${low}`, last, `${average}`, `${changePct} %`])
      expect((await page.locator('#stats dd').last().innerText()).replace('−', '-')).toBe(
        `${changePct > 0 ? '▲' : '▼'} ${signed(changePct)}`,
      )
      expect(await textOf(page, '#reading')).toBe(sixDigits(points.at(-1)?.r))
      const path = await page.locator('.line').getAttribute('d')
      expect(path?.split('L')).toHaveLength(points.length)
      expect(await page.locator('.marks circle').count()).toBe(2)
      const outside = await page.locator('#plot text').evaluateAll((texts) => {
        const card = document.querySelector('#chart')?.getBoundingClientRect()
        return texts.filter((text) => {
          const { left, right } = text.getBoundingClientRect()
          return left < (card?.left ?? 0) || right > (card?.right ?? 0)
        }).length
      })
      expect(outside).toBe(0)
    }
    await page.locator('#days summary').click()
    const { points }: RateHistory = await fetchJson('history?from=USD&to=EUR&start=1999-01-04')
    await expect.poll(() => page.locator('#days tbody tr').count()).toBe(points.length)
    const newest = page.locator('#days tbody tr').first()
    const { d = '', r } = points.at(-1) ?? {}
    expect((await newest.innerText()).split('\t')).toEqual([inWords(d), String(r)])
  })

  it('shows day and rate at the position of a mouse, of keys and of a finger', async () => {
    const { page, fetchJson } = await openDemo('', { hasTouch: IS_CHROMIUM })
    const { points }: RateHistory = await fetchJson('history?from=USD&to=EUR&period=3M')
    await page.locator('#plot').scrollIntoViewIfNeeded()
    const box = await page.locator('#plot').boundingBox()
    if (!box) throw new Error('the chart is not visible')
    const [x, y] = [box.x + box.width / 2, box.y + 20]
    expect(await page.locator('#tip').isVisible()).toBe(false)
    const expectTip = async (middle: number, most: number) => {
      await page.locator('#tip').waitFor()
      const day = await textOf(page, '#tip b')
      const index = points.findIndex(({ d }) => inWords(d) === day)
      expect(Math.abs(index - middle)).toBeLessThan(most)
      const rate = `${sixDigits(points[index]?.r)} EUR`
      expect(await textOf(page, '#tip .s0')).toBe(rate)
      expect(await page.getByRole('slider').getAttribute('aria-valuetext')).toBe(`${day}: ${rate}`)
      expect(await page.locator('.hair').getAttribute('class')).toBe('hair shown')
    }
    const expectNoTip = () => page.locator('#tip').waitFor({ state: 'hidden' })
    // Not before the first interaction.
    await page.mouse.move(x - 5, y)
    await page.locator('#from-list').waitFor({ state: 'attached' })
    await page.mouse.move(x, y)
    await expectTip(points.length / 2, points.length / 10)
    await page.mouse.move(0, 0)
    await expectNoTip()
    await tabTo(page, '#plot input')
    for (let count = 0; count < 30; count += 1) await page.keyboard.press('ArrowLeft')
    await expectTip(points.length - 31, 1)
    await page.keyboard.press('Tab')
    await expectNoTip()
    // Playwright has touch in Chromium only.
    if (IS_CHROMIUM) {
      await page.locator('#plot').scrollIntoViewIfNeeded()
      const { x: left = 0, y: top = 0 } = (await page.locator('#plot').boundingBox()) ?? {}
      await page.touchscreen.tap(left + box.width / 2, top + 20)
      await expectTip(points.length / 2, points.length / 10)
    }
    const viewBox = () => page.locator('#plot svg').getAttribute('viewBox')
    const wide = await viewBox()
    await page.setViewportSize({ width: 390, height: 844 })
    await expect.poll(viewBox).not.toBe(wide)
    const { width = 0 } = (await page.locator('#plot').boundingBox()) ?? {}
    expect(await viewBox()).toMatch(new RegExp(`^0 0 ${Math.round(width)} `))
  })

  it('waits for the list of currencies, and shows the error of the API without it', async () => {
    const { page, requests } = await openDemo()
    const { promise: isHeld, resolve: release } = Promise.withResolvers<void>()
    await page.route(/currencies/, async (route) => {
      await isHeld
      await route.abort()
    })
    requests.length = 0
    await page.goto(`${page.url().split('#')[0]}?#to=AED`)
    await expectText(page, '#rate', / AED$/)
    expect(chartRequests(requests)).toEqual([])
    release()
    await settled(page)
    expect(await textOf(page, '#chart [role=alert]')).toContain('AED')
    expect(chartRequests(requests)).toHaveLength(1)
  })
})

it('selects the text where the page may not copy', async () => {
  const { page } = await openDemo()
  await page.evaluate(() => Object.defineProperty(navigator, 'clipboard', { value: undefined }))
  await page.locator('#chart .code summary').click()
  for (const [button, outcome, text] of [
    ['#chart .copies button', '#chart .copied', '#chart .snippet'],
    ['#copy-exact', '#exact-state', '#exact'],
  ] as const) {
    await page.locator(button).first().click()
    await expectText(page, outcome, 'Selected; copy it manually')
    const selected = await page.evaluate(() => getSelection()?.toString().trim())
    expect(selected).toBe(await textOf(page, text))
  }
})

describe('the details of the data', () => {
  it('are source, times and disclaimer', async () => {
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
    await expectText(page, '#badge', 'Synthetic data')
    const time = String.raw`\d+ [A-Z][a-z]{2} 20\d\d, \d\d:\d\d UTC`
    expect(await textOf(page, '#converter time')).toMatch(new RegExp(`^Published ${time}$`))
    expect(await textOf(page, '#table time')).toMatch(
      new RegExp(`^Published ${time}; next expected ${time}$`),
    )
    expect(await textOf(page, '#chart time')).toMatch(/^Newest day: \d+ [A-Z][a-z]{2} 20\d\d$/)
  })

  it('link to the source only over http and https', async () => {
    const { page } = await openDemo()
    let url = ''
    await page.route(/\/convert/, async (route) => {
      const response = await route.fetch()
      const json = { ...(await response.json()), source: { name: `Another ${url}`, url } }
      await route.fulfill({ response, json })
    })
    for (const [amount, given, href] of [
      ['2', 'http://rates.example/', 'http://rates.example/'],
      ['3', ' JavaScript:alert(1)', null],
    ] as const) {
      url = given
      await page.locator('#amount').fill(amount)
      await expectText(page, '#converter .source a', given.trim())
      expect(await page.locator('#converter .source a').getAttribute('href')).toBe(href)
    }
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
    await expectText(page, '#table time', /; next overdue since \d/)
    await expect.poll(count).toBeGreaterThan(before)
  })
})

function today(): string {
  return new Date().toISOString().slice(0, 10)
}

/** Formats a day of the API as the page writes days. */
function inWords(day: string): string {
  const [, month] = new Date(day).toUTCString().split(' ').slice(1)
  return `${Number(day.slice(8))} ${month} ${day.slice(0, 4)}`
}

/** Formats a rate of the demo between 0.1 and 1, without zeros at its end beyond five digits. */
function sixDigits(rate = 0): string {
  return rate.toFixed(6).replace(/0$/, '')
}

function signed(percent: number): string {
  const digits = percent.toFixed(2)
  return `${Number(digits) > 0 ? '+' : ''}${Number(digits) === 0 ? '0.00' : digits} %`
}
