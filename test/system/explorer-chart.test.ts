import { readFileSync } from 'node:fs'

import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'

import type { CurrencyList, HistoryList } from 'ratesmith'
import { createAccess, createKey } from 'ratesmith/access'

import {
  axeViolations,
  chartRequests,
  choose,
  expectText,
  openDemo,
  openService,
  settled,
  textOf,
} from './explorer-page.ts'
import { IS_CHROMIUM } from './launch-browser.ts'

const requestsIn = (requests: readonly string[]): string[] =>
  chartRequests(requests).map(decodeURIComponent)

/** Returns the box of an element in the chart. */
async function boxOf(page: Page, selector: string) {
  const box = await page.locator(selector).first().boundingBox()
  if (!box) throw new Error(`${selector} is not visible`)
  return { ...box, right: box.x + box.width, bottom: box.y + box.height }
}

describe.each([
  [390, 'light'],
  [1440, 'dark'],
] as const)('the chart, %d px wide and %s', (width, colorScheme) => {
  const open = (fragment = '') =>
    openDemo(fragment, { viewport: { width, height: 900 }, colorScheme })

  it('keeps its height while data, an error or nothing arrives, and offers another pair', async () => {
    const { page, requests } = await open()
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
    requests.length = 0
    await page.goto(`${page.url().split('#')[0]}?#to=AED`)
    const peg = '1 USD = 3.6725 AED, official peg since 1997'
    await expectText(page, '#none', /^No daily history for AED\s+1 USD = 3\.6725 AED, official peg/)
    await expectText(page, '#since', peg)
    await settled(page)
    for (const part of ['.notice', '.code', '.source']) {
      expect(await page.locator(`#chart ${part}`).isVisible()).toBe(false)
    }
    expect(await page.locator('[name=period]:enabled').count()).toBe(0)
    expect(await axeViolations(page)).toEqual([])
    await page.getByRole('button', { name: 'Show USD in EUR instead' }).press('Enter')
    await settled(page)
    expect(await heights()).toEqual([Math.round(height)])
    expect(await textOf(page, '#pair')).toBe('USD in EUR')
    expect(await page.locator('#none').innerText()).toBe('')
    expect(await page.locator('#chart input:focus').count()).toBe(1)
    expect(await page.locator('.line').isVisible()).toBe(true)
    expect(requestsIn(requests).join()).not.toContain('AED')
  })

  it('compares several currencies, in percent or in units', async () => {
    const { page, fetchJson, requests } = await open('#period=1Y')
    for (const text of ['gbp', 'yen', 'swiss']) await choose(page, '#compare', text)
    await expectText(page, '#pair', 'USD in EUR, GBP, JPY, CHF')
    await expect.poll(() => page.locator('.line').count()).toBe(4)
    const path = 'history?from=USD&to=EUR,GBP,JPY,CHF&period=1Y'
    expect(requestsIn(requests)).toContain(`GET /api/v1/${path}`)
    const { series }: HistoryList = await fetchJson(path)
    const styles = await page.locator('.line').evaluateAll((lines) =>
      lines.map((line) => {
        const { stroke, strokeDasharray } = getComputedStyle(line)
        return [stroke, strokeDasharray]
      }),
    )
    for (const kind of [0, 1]) expect(new Set(styles.map((style) => style[kind])).size).toBe(4)
    const changes = Object.values(series).map(({ to, stats }) => [to, stats.changePct.toFixed(2)])
    const legend = await page.locator('#legend > span').allInnerTexts()
    expect(legend.map((text) => text.replace('−', '-').match(/[A-Z]+|-?\d+\.\d+/g))).toEqual(
      changes,
    )
    // Those of one series would be read as those of all.
    expect(await page.locator('#stats').isVisible()).toBe(false)
    expect(await page.locator('.marks circle').count()).toBe(0)
    expect((await page.locator('.axes text').allTextContents()).join()).toMatch(/-?\d+ %/)
    await page.locator('#plot').hover()
    const [card, box] = [await boxOf(page, '#chart'), await boxOf(page, '#plot')]
    for (const part of [0.02, 0.3, 0.6, 0.995]) {
      await page.mouse.move(box.x + box.width * part, box.y + box.height / 2)
      const rows = await page.locator('#tip span').allInnerTexts()
      expect(rows.map((row) => row.replace(/^[\d.,]+ /, ''))).toEqual(
        ['EUR', 'GBP', 'JPY', 'CHF'].map((code) =>
          expect.stringMatching(new RegExp(`^${code} \\([+−]?\\d+\\.\\d\\d %\\)$`)),
        ),
      )
      const tip = await boxOf(page, '#tip')
      expect(tip.x).toBeGreaterThanOrEqual(card.x)
      expect(tip.right).toBeLessThanOrEqual(card.right)
      expect(tip.y).toBeGreaterThanOrEqual(card.y)
      expect(tip.bottom).toBeLessThanOrEqual(card.bottom)
      // The readout is at the crosshair, not in a corner.
      const hair = box.x + Number(await page.locator('.hair').getAttribute('x1'))
      const distance = Math.min(Math.abs(tip.x - hair), Math.abs(tip.right - hair))
      expect(distance).toBeLessThan(Math.max(20, tip.width))
    }
    await page.locator('#percent').uncheck()
    expect((await page.locator('.axes text').allTextContents()).join()).not.toContain('%')
    await page.locator('#days summary').click()
    const newest = page.locator('#days tbody tr').first().locator('td')
    const rates = Object.values(series).map(({ points }) => String(points.at(-1)?.r))
    await expect.poll(() => newest.allInnerTexts()).toEqual(rates)
    expect(await axeViolations(page)).toEqual([])
    await expect.poll(() => page.url()).toContain('scale=units')
    const hidden = (root: HTMLElement) => root.scrollWidth - root.clientWidth
    expect(await page.locator('html').evaluate(hidden)).toBe(0)
    expect(await page.locator('#compare').isDisabled()).toBe(true)
    await page.getByRole('button', { name: 'Remove JPY' }).press('Enter')
    await expectText(page, '#pair', 'USD in EUR, GBP, CHF')
    expect(await page.locator('#compare:focus').count()).toBe(1)
  })
})

it('shows any days', async () => {
  const { page, requests } = await openDemo('#period=MAX')
  expect(await page.inputValue('#start')).toBe('1999-01-04')
  expect(await page.locator('#start').getAttribute('min')).toBe('1999-01-04')
  expect(await textOf(page, '#start + span')).toBe('4 Jan 1999 ▾')
  await page.locator('#start').fill('2020-02-03')
  await page.locator('#end').fill('2020-02-14')
  await expectText(page, '#days summary', 'Show 10 daily rates')
  expect(await page.locator('[name=period]:checked').count()).toBe(0)
  await expect.poll(() => page.url()).toContain('start=2020-02-03&end=2020-02-14')
  // The end before the start: the days change places.
  await page.locator('#end').fill('2020-01-20')
  await expect.poll(() => page.url()).toContain('start=2020-01-20&end=2020-02-03')
  await settled(page)
  expect(requestsIn(requests).at(-1)).toMatch(/&start=2020-01-20&end=2020-02-03$/)
  await page.reload()
  await settled(page)
  expect(await page.inputValue('#end')).toBe('2020-02-03')
  await page.locator('[value="1M"]').check()
  await settled(page)
  expect(requestsIn(requests).at(-1)).toMatch(/&period=1M$/)
})

it('compares at most three other currencies with a history, by week over long ranges', async () => {
  const { page, api, fetchJson, requests } = await openDemo('#compare=GBP,AED,EUR,GBP,JPY,CHF')
  expect(requestsIn(requests)).toEqual(['GET /api/v1/history?from=USD&to=EUR,GBP,JPY&period=3M'])
  await expectText(page, '#legend', /AED ?\(no daily history\)/)
  expect(await page.locator('#compare').getAttribute('placeholder')).toBe('At most 3')
  await page.goto(`${api}?#compare=GBP&period=MAX`)
  await expectText(page, '#days summary', /^Show \d{4} weekly rates$/)
  await expectText(page, '#reading-day', /one rate per week$/)
  expect(requestsIn(requests).at(-1)).toMatch(/&to=EUR,GBP&start=1999-01-04&interval=week$/)
  await page.locator('#compare').click()
  await page.locator('#compare').press('ArrowDown')
  const { currencies }: CurrencyList = await fetchJson('currencies')
  const covered = currencies.filter(({ history, withdrawn }) => history && !withdrawn)
  const others = covered.filter(({ code }) => !['USD', 'EUR', 'GBP'].includes(code))
  const offered = async () => (await page.locator('#compare-list b').allInnerTexts()).toSorted()
  await expect.poll(offered).toEqual(others.map(({ code }) => code).toSorted())
  await page.locator('#compare').fill('dirham')
  await expectText(page, '#chart .popup p', 'No currency matches “dirham”')
})

describe('the download', () => {
  async function download(page: Page) {
    // The second script of the page must be there, which the first move of a mouse loads.
    await page.mouse.move(1, 1)
    await page.locator('#from-list').waitFor({ state: 'attached' })
    const [file] = await Promise.all([page.waitForEvent('download'), page.locator('#csv').click()])
    return { name: file.suggestedFilename(), text: readFileSync(await file.path(), 'utf8') }
  }

  it.runIf(IS_CHROMIUM)('is the CSV of the API, or shows its error', async () => {
    const { page, api } = await openDemo()
    for (const [fragment, name, query] of [
      ['period=1Y', 'USD-EUR-1Y', 'to=EUR&period=1Y&format=csv'],
      ['period=MAX', 'USD-EUR-MAX', 'to=EUR&start=1999-01-04&format=csv'],
      [
        'compare=GBP&start=2020-01-01&end=2020-02-01',
        'USD-EUR-GBP-2020-01-01-2020-02-01',
        'to=EUR,GBP&start=2020-01-01&end=2020-02-01&format=csv&layout=wide',
      ],
    ] as const) {
      await page.goto(`${api}?${name}#${fragment}`)
      await settled(page)
      const text = await (await fetch(`${api}/v1/history?from=USD&${query}`)).text()
      expect(await download(page)).toEqual({ name: `${name}.csv`, text })
    }
    await page.route(/format=csv/, (route) => route.fulfill({ status: 429, body: 'no' }))
    await page.locator('#csv').click()
    await expectText(page, '#chart-state', 'The download failed: HTTP 429')
  })

  it.runIf(IS_CHROMIUM)('sends the key of the page', async () => {
    const { key, hash } = await createKey()
    const find = (given: string) => (given === hash ? { id: 'acme', plan: 'paid' } : undefined)
    const access = createAccess({ plans: { paid: '1000/min' }, keys: { find } })
    const { page } = await openService({ access })
    await page.fill('#key', key)
    await page.locator('#use-key').click()
    await expectText(page, '#days summary', /\d/)
    expect((await download(page)).text).toMatch(/^from,to,date,rate,.*\r\nUSD,EUR,2/)
  })
})
