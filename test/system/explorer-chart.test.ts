import { readFileSync } from 'node:fs'

import type { BrowserContextOptions, Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'

import type { HistoryList, RateHistory } from 'ratesmith'
import { createAccess, createKey } from 'ratesmith/access'

import {
  axeViolations,
  chartRequests,
  expectText,
  openDemo,
  openService,
  settled,
  textOf,
} from './explorer-page.ts'
import { IS_CHROMIUM } from './launch-browser.ts'

const SIZES = [
  [390, 'light'],
  [1440, 'dark'],
] as const

function sized(width: number, options: BrowserContextOptions = {}): BrowserContextOptions {
  return { viewport: { width, height: 900 }, ...options }
}

const requestsIn = (requests: readonly string[]): string[] =>
  chartRequests(requests).map(decodeURIComponent)

/** Returns the box of an element in the chart. */
async function boxOf(page: Page, selector: string) {
  const box = await page.locator(selector).first().boundingBox()
  if (!box) throw new Error(`${selector} is not visible`)
  return { ...box, right: box.x + box.width, bottom: box.y + box.height }
}

describe.each(SIZES)('the chart, %d px wide and %s', (width, colorScheme) => {
  const open = (fragment = '') => openDemo(fragment, sized(width, { colorScheme }))

  it('keeps its place without a history, and offers another pair', async () => {
    const { page, requests } = await open()
    const before = await boxOf(page, '#chart')
    await page.goto(`${page.url().split('#')[0]}#to=AED`)
    await expectText(page, '#none', 'No daily history for AED')
    const after = await boxOf(page, '#chart')
    expect(after.height).toBe(before.height)
    expect(await page.locator('#chart .notice').isVisible()).toBe(false)
    expect(await axeViolations(page)).toEqual([])
    requests.length = 0
    await page.getByRole('button', { name: 'Show USD in EUR instead' }).press('Enter')
    await settled(page)
    expect(await textOf(page, '#pair')).toBe('USD in EUR')
    expect(await page.locator('.line').isVisible()).toBe(true)
    expect(await page.locator('#chart input:focus').count()).toBe(1)
    expect(requestsIn(requests).join()).not.toContain('AED')
  })

  it('keeps its height while data, an error and the source arrive', async () => {
    const { page } = await open()
    const { height } = await boxOf(page, '#chart')
    await page.addInitScript(() => {
      const heights = new Set<number>()
      Reflect.set(globalThis, 'heights', heights)
      addEventListener('DOMContentLoaded', () => {
        const section = document.querySelector('#chart')
        if (!section) return
        new ResizeObserver(([entry]) => {
          if (entry) heights.add(Math.round(entry.target.getBoundingClientRect().height))
        }).observe(section)
      })
    })
    await page.route(/v1\/(history|currencies)/, async (route) => {
      await page.waitForFunction(() => Reflect.get(globalThis, 'heights')?.size > 0)
      await route.continue()
    })
    await page.reload()
    await settled(page)
    const heights = () => page.evaluate(() => [...Reflect.get(globalThis, 'heights')])
    expect(await heights()).toEqual([Math.round(height)])
    await page.goto(`${page.url().split('#')[0]}#period=2W`)
    await page.locator('#chart [role=alert]').filter({ hasText: /\w/ }).waitFor()
    expect(await page.locator('#chart .data').isVisible()).toBe(false)
    expect(await heights()).toEqual([Math.round(height)])
    expect(await axeViolations(page)).toEqual([])
  })

  it('shows all years, and any days', async () => {
    const { page, fetchJson, requests } = await open()
    await page.locator('[value=MAX]').check()
    const path = 'history?from=USD&to=EUR&start=1999-01-04'
    await expect.poll(() => requests).toContain(`GET /api/v1/${path}`)
    const { points }: RateHistory = await fetchJson(path)
    await expectText(page, '#days summary', `Show ${points.length} daily rates`)
    expect(points.length).toBeGreaterThan(6_900)
    expect(await page.locator('#start').inputValue()).toBe(points[0]?.d)
    expect(await page.locator('#start').getAttribute('min')).toBe('1999-01-04')
    const labels = await page.locator('.axes text').allTextContents()
    expect(labels).toContain('2010')
    await page.locator('#start').fill('2020-02-03')
    await page.locator('#end').fill('2020-02-14')
    await expectText(page, '#days summary', 'Show 10 daily rates')
    expect(await page.locator('[name=period]:checked').count()).toBe(0)
    await expect.poll(() => page.url()).toContain('start=2020-02-03&end=2020-02-14')
    // The end before the start: the days change places.
    await page.locator('#end').fill('2020-01-20')
    await expectText(page, '#chart .asked', /start=2020-01-20&end=2020-02-03/)
    await expect.poll(() => page.url()).toContain('start=2020-01-20&end=2020-02-03')
    await page.reload()
    await settled(page)
    expect(await page.locator('#end').inputValue()).toBe('2020-02-03')
    await page.locator('[value="1M"]').check()
    await expectText(page, '#chart .asked', /period=1M/)
    expect(await axeViolations(page)).toEqual([])
  })

  it('compares several currencies, in percent or in units', async () => {
    const { page, fetchJson, requests } = await open('#period=1Y')
    const typed = Promise.withResolvers<void>()
    await page.route(/explorer-api\.js/, async (route) => {
      await typed.promise
      await route.continue()
    })
    for (const text of ['gbp', ' jpy', 'CHF']) {
      await page.locator('#compare').fill(text)
      await page.locator('#compare').press('Enter')
    }
    typed.resolve()
    await expectText(page, '#pair', 'USD in EUR, GBP, JPY, CHF')
    await expect.poll(() => page.locator('.line').count()).toBe(4)
    const path = 'history?from=USD&to=EUR,GBP,JPY,CHF&period=1Y'
    expect(requestsIn(requests)).toContain(`GET /api/v1/${path}`)
    const { series }: HistoryList = await fetchJson(path)
    const styles = await page
      .locator('.line')
      .evaluateAll((lines) =>
        lines.map((line) => [
          getComputedStyle(line).stroke,
          getComputedStyle(line).strokeDasharray,
        ]),
      )
    for (const kind of [0, 1]) expect(new Set(styles.map((style) => style[kind])).size).toBe(4)
    expect((await page.locator('.axes text').allTextContents()).join()).toMatch(/-?\d+ %/)
    await page.locator('#plot').hover()
    const rows = await page.locator('#tip span').allInnerTexts()
    expect(rows.map((row) => row.replace(/^[\d.,]+ /, ''))).toEqual(
      ['EUR', 'GBP', 'JPY', 'CHF'].map((code) =>
        expect.stringMatching(new RegExp(`^${code} \\([+−]?\\d+\\.\\d\\d %\\)$`)),
      ),
    )
    await page.locator('#percent').uncheck()
    expect((await page.locator('.axes text').allTextContents()).join()).not.toContain('%')
    await page.locator('#days summary').click()
    const newest = page.locator('#days tbody tr').first().locator('td')
    const rates = Object.values(series).map(({ points }) => String(points.at(-1)?.r))
    await expect.poll(() => newest.allInnerTexts()).toEqual(rates)
    expect(await axeViolations(page)).toEqual([])
    await expect.poll(() => page.url()).toContain('scale=units')
    const { scrollWidth } = await page.evaluate(() => document.documentElement)
    expect(scrollWidth ?? width).toBe(width)
    await page.getByRole('button', { name: 'Remove JPY' }).press('Enter')
    await expectText(page, '#pair', 'USD in EUR, GBP, CHF')
    expect(await page.locator('#compare:focus').count()).toBe(1)
  })

  it('reads out at the pointer, within its card', async () => {
    const { page } = await open('#compare=GBP,JPY,CHF&period=5Y')
    await page.locator('#plot').scrollIntoViewIfNeeded()
    const [card, box] = [await boxOf(page, '#chart'), await boxOf(page, '#plot')]
    for (const part of [0.02, 0.3, 0.6, 0.995]) {
      const x = box.x + box.width * part
      await page.mouse.move(x, box.y + box.height / 2)
      await page.locator('#tip').waitFor()
      const tip = await boxOf(page, '#tip')
      expect(tip.x).toBeGreaterThanOrEqual(card.x)
      expect(tip.right).toBeLessThanOrEqual(card.right)
      expect(tip.y).toBeGreaterThanOrEqual(card.y)
      expect(tip.bottom).toBeLessThanOrEqual(card.bottom)
      // The readout is at the crosshair, not in a corner.
      const hair = box.x + Number(await page.locator('.hair').getAttribute('x1'))
      expect(Math.min(Math.abs(tip.x - hair), Math.abs(tip.right - hair))).toBeLessThan(
        Math.max(20, tip.width),
      )
    }
    const [start, end] = await page
      .locator('#tip span')
      .evaluateAll((rows) => [
        rows.length,
        rows.filter((row) => row.scrollWidth > row.clientWidth + 1).length,
      ])
    expect([start, end]).toEqual([4, 0])
  })

  it('marks high and low, and keeps every label in the card', async () => {
    const { page } = await open()
    for (const period of ['1W', '1M', '3M', '6M', '1Y', '5Y', 'MAX']) {
      await page.locator(`[value="${period}"]`).check()
      await expectText(page, '#chart .asked', period === 'MAX' ? /start=/ : `period=${period}`)
      await settled(page)
      const card = await boxOf(page, '#chart')
      const marks = await page.locator('.marks text').allTextContents()
      expect(marks).toEqual([
        `High ${await textOf(page, '#high')}`,
        `Low ${await textOf(page, '#low')}`,
      ])
      const edges = await page
        .locator('#plot text')
        .evaluateAll((texts) =>
          texts
            .map((text) => text.getBoundingClientRect())
            .map(({ left, right }) => ({ left, right })),
        )
      for (const { left, right } of edges) {
        expect(left).toBeGreaterThanOrEqual(card.x)
        expect(right).toBeLessThanOrEqual(card.right)
      }
      const change = await textOf(page, '#change')
      expect(change).toMatch(/^(▲ \+|▼ −)\d+\.\d\d %$/)
      const colour = (selector: string) =>
        page.locator(selector).evaluate((element) => getComputedStyle(element).color)
      expect(await colour('#change')).not.toBe(await colour('#average'))
    }
  })
})

describe('the comparison', () => {
  it.each([
    ['AED', 'No daily history for AED'],
    ['EUR', 'EUR is in the chart'],
    ['usd', 'USD is in the chart'],
    ['qqq', 'No daily history for QQQ'],
  ])('refuses %s: %s', async (typed, text) => {
    const { page, requests } = await openDemo()
    requests.length = 0
    await page.locator('#compare').fill(typed)
    await page.locator('#compare').press('Enter')
    await expectText(page, '#chart-state', text)
    expect(requestsIn(requests)).toEqual([])
  })

  it('takes at most three, and leaves out those without a history', async () => {
    const { page, requests } = await openDemo('#compare=GBP,AED,EUR,GBP,JPY,CHF')
    expect(requestsIn(requests)).toEqual(['GET /api/v1/history?from=USD&to=EUR,GBP,JPY&period=3M'])
    await expectText(page, '#legend', /AED \(no daily history\)/)
    await page.locator('#compare').fill('NOK')
    await page.locator('#compare').press('Enter')
    await expectText(page, '#chart-state', 'At most 3 currencies')
  })

  it('has a rate per week over long ranges, and names it', async () => {
    const { page } = await openDemo('#compare=GBP&period=MAX')
    await expectText(page, '#chart .asked', /to=EUR,GBP&start=1999-01-04&interval=week$/)
    await expectText(page, '#days summary', /^Show \d{4} weekly rates$/)
    await expectText(page, '#reading-day', /one rate per week$/)
  })
})

describe('the download', () => {
  it.runIf(IS_CHROMIUM).each([
    ['#period=1Y', 'USD-EUR-1Y.csv', 'history?from=USD&to=EUR&period=1Y&format=csv'],
    ['#period=MAX', 'USD-EUR-MAX.csv', 'history?from=USD&to=EUR&start=1999-01-04&format=csv'],
    [
      '#compare=GBP&start=2020-01-01&end=2020-02-01',
      'USD-EUR-GBP-2020-01-01-2020-02-01.csv',
      'history?from=USD&to=EUR,GBP&start=2020-01-01&end=2020-02-01&format=csv&layout=wide',
    ],
  ])('of %s is %s', async (fragment, name, path) => {
    const { page, api } = await openDemo(fragment)
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.locator('#csv').click(),
    ])
    expect(download.suggestedFilename()).toBe(name)
    const expected = await (await fetch(`${api}/v1/${path}`)).text()
    expect(readFileSync(await download.path(), 'utf8')).toBe(expected)
  })

  it.runIf(IS_CHROMIUM)('sends the key of the page', async () => {
    const { key, hash } = await createKey()
    const find = (given: string) => (given === hash ? { id: 'acme', plan: 'paid' } : undefined)
    const access = createAccess({ plans: { paid: '1000/min' }, keys: { find } })
    const { page } = await openService({ access })
    await page.fill('#key', key)
    await page.locator('#use-key').click()
    await expectText(page, '#days summary', /\d/)
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.locator('#csv').click(),
    ])
    expect(readFileSync(await download.path(), 'utf8')).toMatch(
      /^from,to,date,rate,.*\r\nUSD,EUR,2/,
    )
  })

  it('shows an error of the API', async () => {
    const { page } = await openDemo()
    await page.route(/format=csv/, (route) => route.fulfill({ status: 429, body: 'no' }))
    await page.locator('#csv').click()
    await expectText(page, '#chart-state', 'The download failed: HTTP 429')
  })
})

it('greys old data while a request runs', async () => {
  const { page } = await openDemo()
  const { promise: isHeld, resolve: release } = Promise.withResolvers<void>()
  await page.route(/period=5Y/, async (route) => {
    await isHeld
    await route.continue()
  })
  const line = page.locator('.line')
  const before = await line.getAttribute('d')
  await page.locator('[value="5Y"]').check()
  const opacity = () =>
    page.locator('#chart .data').evaluate((data) => Number(getComputedStyle(data).opacity))
  await expect.poll(opacity).toBeLessThan(0.5)
  expect(await line.getAttribute('d')).toBe(before)
  release()
  await expect.poll(opacity).toBe(1)
  expect(await line.getAttribute('d')).not.toBe(before)
})

it.runIf(IS_CHROMIUM)('has targets of 44 px for fingers', async () => {
  const options = sized(390, { hasTouch: true, isMobile: true })
  const { page } = await openDemo('#compare=GBP', options)
  const targets = page.locator(
    '.periods label, .choices :is(input:not([type=checkbox]), button, a, label), #legend button, #days summary',
  )
  const sizes = await targets.evaluateAll((all) =>
    all.map((each) => each.getBoundingClientRect()).map(({ width, height }) => [width, height]),
  )
  expect(sizes.length).toBeGreaterThan(13)
  for (const size of sizes) expect(Math.min(...size)).toBeGreaterThanOrEqual(44)
  await page.goto(`${page.url().split('#')[0]}#to=AED`)
  expect((await boxOf(page, '#instead')).height).toBeGreaterThanOrEqual(44)
})
