import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'

import type { BrowserContextOptions, Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'

import { createRatesHandler } from 'ratesmith'
import type { CurrencyList, HistoryList } from 'ratesmith'
import { createAccess, createKey } from 'ratesmith/access'
import { toNodeHandler } from 'ratesmith/node'
import { fakeProviders } from 'ratesmith/testing'

import { BANK_DAYS, createBank } from '../fixtures/bank.ts'

import { rootOf, serve } from './commands.ts'
import {
  axeViolations,
  chartRequests,
  choose,
  expectText,
  expectValue,
  openDemo,
  openExplorer,
  openService,
  settled,
  tabTo,
  textOf,
} from './explorer-page.ts'
import { IS_CHROMIUM } from './launch-browser.ts'
import { listen } from './processes.ts'

/** Size limit of the whole page, gzipped, in bytes. */
const BUDGET = 20_000

it('shows the error of the API while the upstream is down, or of a gateway, and stays usable', async () => {
  const dead = 'http://127.0.0.1:9'
  const env = { RATESMITH_LATEST_URL: dead, RATESMITH_HISTORY_URL: dead }
  const api = `${await rootOf(serve([], env))}/api`
  const { page, requests } = await openExplorer(api)
  const { error } = await (await fetch(`${api}/v1/latest`)).json()
  for (const panel of ['#converter', '#chart', '#table']) {
    expect(await page.locator(`${panel} [role=alert]`).innerText()).toMatch(/\w+ \w+/)
    expect(await textOf(page, `${panel} .waiting`)).toMatch(/^Retrying in \d+ s$/)
  }
  expect(await textOf(page, '#table [role=alert]')).toBe(error.message)
  await choose(page, '#to', 'JPY')
  const convertRequest = 'GET /api/v1/convert?from=USD&to=JPY&amount=100'
  await expect.poll(() => requests).toContain(convertRequest)
  const count = (): number => requests.filter((request) => request === convertRequest).length
  const before = count()
  await page.locator('#converter .retry button').click()
  await expect.poll(count).toBeGreaterThan(before)
  expect(await axeViolations(page)).toEqual([])
  await page.route(/convert/, (route) => route.fulfill({ status: 504, body: '<h1>Sorry' }))
  await page.fill('#amount', '3')
  await expectText(page, '#converter [role=alert]', /\b504\b/)
})

describe('the history', () => {
  it('comes from the first of several sources with both currencies, which the page names', async () => {
    const { latest, history } = fakeProviders()
    const bank = createBank({ codes: ['USD', 'KWD'], now: Date.now })
    const publication = { ...BANK_DAYS, id: 'other' }
    const other = createBank({ codes: ['AED'], now: Date.now, publication })
    const otherSource = { name: 'Other bank', url: 'https://other.example' }
    const histories = [history, bank, { ...other, attribution: otherSource }]
    const providers = { latest, history: histories }
    const { page, requests } = await openService({ providers }, '#period=1W')
    const source = '#chart .source a'
    expect(await textOf(page, source)).toBe(history.attribution.name)
    await choose(page, '#to', 'KWD')
    await expectText(page, source, bank.attribution.name)
    await choose(page, '#from', 'EUR')
    await choose(page, '#to', 'AED')
    await expectText(page, source, 'Other bank')
    await choose(page, '#from', 'KWD')
    await expectText(page, '#chart [role=alert]', /KWD.*AED|no common source/)
    await choose(page, '#to', 'AFN')
    await expectText(page, '#none', 'No daily history for AFN')
    const asked = chartRequests(requests)
    expect(asked.map((request) => /from=(...)&to=(...)/.exec(request)?.slice(1).join())).toEqual([
      'USD,EUR',
      'USD,KWD',
      'EUR,KWD',
      'EUR,AED',
      'KWD,AED',
    ])
  })

  it('is not requested where the service has none', async () => {
    const { latest } = fakeProviders()
    const { page, requests } = await openService({ providers: { latest, history: false } })
    expect(await textOf(page, '#none')).toBe('This service has no history')
    expect(await textOf(page, '#since')).toBe('This service has no history')
    await expectText(page, '#count', / currencies\. This service has no history$/)
    expect(requests.join()).not.toContain('/history')
    expect(requests.filter((request) => request.includes('/latest')).at(-1)).toMatch(/base=USD$/)
  })
})

describe('the page', () => {
  it('is one small file that sends four requests, and loads a script with the first interaction', async () => {
    const { page, url, requests, seen } = await openService({}, '/')
    await page.waitForLoadState('networkidle')
    const expected = [
      '/api/',
      '/api/v1/convert?from=USD&to=EUR&amount=100',
      '/api/v1/currencies',
      '/api/v1/history?from=USD&to=EUR&period=3M',
      '/api/v1/latest?base=USD&change=1D',
    ]
    expect(seen.toSorted()).toEqual(expected.map((path) => `${path} `))
    const sent = requests.filter((request) => !request.includes('data:'))
    expect(sent.sort()).toEqual(expected.map((path) => `GET ${path}`))
    await page.keyboard.press('Tab')
    await expect.poll(() => seen.slice(5)).toEqual(['/api/explorer-api.js '])
    const response = await fetch(`${url}/api/`)
    const html = Buffer.from(await response.arrayBuffer())
    expect(gzipSync(html, { level: 9 }).length).toBeLessThanOrEqual(BUDGET)
    expect(html.equals(Buffer.from(await (await fetch(`${url}/api`)).arrayBuffer()))).toBe(true)
  })

  it.each([
    ['/', '', ''],
    ['/tools/api/', '/api', '/tools'],
  ])('finds the API at %s', async (path, basePath, stripped) => {
    const providers = fakeProviders()
    const respond = toNodeHandler(createRatesHandler({ providers, explorer: true, basePath }))
    const { url } = await listen((request, response) => {
      request.url = request.url?.slice(stripped.length) ?? ''
      respond(request, response)
    })
    const { page } = await openExplorer(url + path)
    expect(await page.locator('#result').inputValue()).toMatch(/^\d+\.\d\d$/)
    const root = path.replace(/\/$/, '')
    for (const [name, address] of [
      ['OpenAPI', 'v1/openapi.json'],
      ['Status of the service', 'v1/status'],
    ] as const) {
      const link = page.locator('a', { hasText: name })
      expect(await link.getAttribute('href')).toBe(`${root}/${address}`)
    }
    await choose(page, '#to', 'yen')
    await expectValue(page, '#to', 'JPY')
  })

  it('executes, loads and sends nothing that its policy forbids', async () => {
    const forbidden = {
      'script-src-elem inline': '<script>document.title = "planted"</script>',
      'script-src-elem http://127.0.0.1:9/a.js': '<script src="http://127.0.0.1:9/a.js"></script>',
      'script-src-attr inline': '<b onclick="document.title = `planted`"></b>',
      'style-src-elem inline': '<style>body { color: red }</style>',
      'style-src-attr inline': '<b style="color: red"></b>',
      'img-src http://127.0.0.1:9/a.png': '<img alt="" src="http://127.0.0.1:9/a.png">',
      'base-uri http://127.0.0.1:9': '<base href="http://127.0.0.1:9/">',
    }
    const { page, api, pageErrors } = await openDemo()
    await page.route(`${api}/`, async (route) => {
      const response = await route.fetch()
      const markup = Object.values(forbidden).join('')
      const body = (await response.text()).replace('<main>', () => `${markup}<main>`)
      await route.fulfill({ response, body })
    })
    await page.goto(`${api}/`)
    await settled(page)
    await page.evaluate(() => fetch('http://127.0.0.1:9/').catch(() => {}))
    for (const violation of [...Object.keys(forbidden), 'connect-src']) {
      await expect.poll(() => pageErrors.join('\n')).toContain(`violation: ${violation}`)
    }
    expect(await page.title()).not.toBe('planted')
    const writing = page.evaluate(() => (document.body.innerHTML = '<b>planted</b>'))
    await expect(writing).rejects.toThrow(/TrustedHTML|Sink type mismatch/)
    expect(await page.locator('main').isVisible()).toBe(true)
    pageErrors.length = 0
  })

  it.each([
    [390, 'light'],
    [1440, 'dark'],
  ] as const)('passes axe, %d px wide and %s', async (width, colorScheme) => {
    const { page } = await openDemo('', { viewport: { width, height: 900 }, colorScheme })
    const expectAccessible = async () => expect(await axeViolations(page)).toEqual([])
    await page.locator('#menu').click()
    await expectAccessible()
    await page.keyboard.press('Escape')
    for (const summary of await page.locator('summary').all()) await summary.click()
    await page.locator('.copies').first().getByText('client').click()
    await page.locator('#plot').hover()
    await page.locator('#to').click()
    await page.locator('#to-EUR[aria-selected=true]').waitFor()
    await expectAccessible()
    await choose(page, '#to', 'AED')
    await page.fill('#amount', '12abc')
    await page.fill('#search', 'zzz')
    await expectText(page, '#none', /AED/)
    await expectAccessible()
    await page.route(/v1\/(convert|history)/, (route) => route.abort())
    await page.fill('#amount', '12')
    await choose(page, '#to', 'GBP')
    await page.locator('#chart .retry').waitFor()
    await expectAccessible()
  })

  it('needs no horizontal scrolling from 320 px on', async () => {
    const fragment = '#amount=123456789.123&to=IDR&base=IDR&period=MAX&compare=GBP,JPY,CHF'
    const { page } = await openDemo(`${fragment}&date=2020-07-12`)
    for (const summary of await page.locator('summary').all()) await summary.click()
    await page.locator('#menu').click()
    for (const width of [768, 640, 360, 320]) {
      await page.setViewportSize({ width, height: 500 })
      const excess = await page.evaluate(() => {
        const { scrollWidth, clientWidth } = document.documentElement
        return scrollWidth - clientWidth
      })
      expect(excess, `${width} px`).toBe(0)
    }
  })

  it.runIf(IS_CHROMIUM)('has targets of 44 px for fingers, in their cards', async () => {
    const options = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }
    const { page } = await openDemo('#compare=GBP&date=2026-07-12', options)
    const targets =
      'button:not(.field *), summary, .periods label, .choices :is(input:not([type=checkbox]), a, label)'
    const sizes = await page.locator(`:is(${targets}):visible`).evaluateAll((all) =>
      all.map((each) => {
        const { width, height, right } = each.getBoundingClientRect()
        const card = each.closest('.card')?.getBoundingClientRect().right ?? innerWidth
        const name = each.id || each.className || each.textContent
        return { name, fits: width >= 44 && height >= 44 && right <= card }
      }),
    )
    expect(sizes.length).toBeGreaterThan(30)
    expect(sizes.filter(({ fits }) => !fits)).toEqual([])
    // The first tap opens the list.
    await page.locator('#to').tap()
    const option = page.locator('#to-GBP')
    await option.waitFor()
    expect((await option.boundingBox())?.height).toBeGreaterThanOrEqual(44)
    await option.tap()
    await expectText(page, '#rate', / GBP$/)
    await page.locator('#menu').tap()
    const heights = await page
      .locator('#more > *, #more select, header nav a, .money input, .day input')
      .evaluateAll((all) => all.map((each) => each.getBoundingClientRect().height))
    for (const height of heights.filter(Boolean)) expect(height).toBeGreaterThanOrEqual(44)
    await page.goto(`${page.url().split('#')[0]}?#to=AED&amount=1e999&base=HRK`)
    await expectText(page, '#table [role=alert]', /HRK/)
    expect((await page.locator('#instead').boundingBox())?.height).toBeGreaterThanOrEqual(44)
    for (const panel of ['#converter', '#table']) {
      const outside = await page.locator(panel).evaluate((card) => {
        const button = card.querySelector('.code summary')?.getBoundingClientRect()
        return (button?.bottom ?? Infinity) > card.getBoundingClientRect().bottom
      })
      expect(outside, panel).toBe(false)
    }
  })
})

const CARD = 'This service needs a key'
const PHONE = { width: 390, height: 844 }

const { key, hash } = await createKey()

/** Opens the explorer of a service with a key; `anonymous` is the plan of requests without one. */
async function openGuarded(anonymous?: string, options: BrowserContextOptions = {}) {
  const access = createAccess({
    plans: { paid: '1000/min', small: '1/h', monthly: '100/min, 1/month' },
    anonymous,
    keys: { find: (given) => (given === hash ? { id: 'acme', plan: 'paid' } : undefined) },
  })
  return openService({ access }, '', options)
}

async function enter(page: Page, text: string): Promise<void> {
  await page.fill('#key', text)
  await page.locator('#use-key').click()
}

/** Returns every text that a page shows, keeps or stores. */
async function textsOf(page: Page): Promise<string> {
  const inPage = await page.evaluate(async () => {
    const values = [...document.querySelectorAll('input')].map(({ value }) => value)
    const databases = await indexedDB.databases()
    return [
      document.documentElement.outerHTML,
      ...values,
      location.href,
      document.title,
      document.cookie,
      JSON.stringify(history.state),
      name,
      JSON.stringify(Object.entries(localStorage)),
      JSON.stringify(Object.entries(sessionStorage)),
      JSON.stringify(databases),
      JSON.stringify(await caches.keys().catch(() => [])),
      ...performance.getEntries().map((entry) => entry.name),
    ].join('\n')
  })
  return inPage + JSON.stringify(await page.context().storageState())
}

it('shows one card, sends the key with every request, and keeps it nowhere else', async () => {
  const { page, requests, seen } = await openGuarded(undefined, { viewport: PHONE })
  await expectText(page, '#access-title', CARD)
  expect(await textOf(page, '#key-reason')).toMatch(/\bkey\b/)
  expect(await page.locator(':is(section, [role=alert]):visible').count()).toBe(0)
  expect(await page.locator('#key').getAttribute('name')).toBeNull()
  expect(await axeViolations(page)).toEqual([])
  const before = seen.length
  await enter(page, 'two words')
  expect(await page.locator('#key').getAttribute('aria-invalid')).toBe('true')
  expect(await textOf(page, '#key-state')).toMatch(/^A key has /)
  expect(seen).toHaveLength(before)
  await enter(page, 'wrong')
  await expectText(page, '#key-state', 'The service refused the key')
  expect(await page.locator('#key').getAttribute('aria-invalid')).toBe('false')
  expect(await page.locator('section:visible').count()).toBe(0)
  seen.splice(0)
  await page.fill('#key', '')
  await page.locator('#key').focus()
  await page.keyboard.type(` ${key} `)
  await tabTo(page, '#use-key')
  await page.keyboard.press('Enter')
  await expectText(page, '#rate', / EUR$/)
  await settled(page)
  expect(await textOf(page, '#key-state')).toBe('Requests are sent with the key')
  expect(seen).toHaveLength(4)
  await choose(page, '#to', 'JPY')
  await expectText(page, '#rate', / JPY$/)
  for (const line of seen) expect(line).toMatch(/^\/api\/v1\/[^ ]+ Bearer rsk_\w+$/)
  await page.locator('#converter summary').click()
  for (const form of ['curl', 'fetch', 'Python', 'client']) {
    await page.locator('#converter .copies').getByText(form, { exact: true }).click()
    await expectText(page, '#converter .snippet', /YOUR_KEY/)
  }
  // A link would send no key.
  expect(await page.locator('#converter .asked').getAttribute('href')).toBeNull()
  expect(await axeViolations(page)).toEqual([])
  await expect.poll(() => new URL(page.url()).hash).toContain('to=JPY')
  expect(await textsOf(page)).not.toContain(key)
  expect(requests.join('\n')).not.toContain(key)
  await page.locator('#forget-key').click()
  await expectText(page, '#access-title', CARD)
  expect(await page.locator('#key:focus').count()).toBe(1)
  expect(await page.locator('#forget-key').isVisible()).toBe(false)
  await enter(page, key)
  await expectText(page, '#rate', / JPY$/)
  await page.reload()
  await expectText(page, '#access-title', CARD)
  expect(await textsOf(page)).not.toContain(key)
})

it.each([
  ['small', /^Retrying in \d+ s$/],
  // A timer of more than 24.8 days would end at once.
  ['monthly', /^(Possible again on \d+ \w{3} \d{4}, \d\d:\d\d UTC|Retrying in \d+ s)$/],
])('explains the limit of the plan %s, and takes a key from the menu', async (plan, waiting) => {
  const { page, seen } = await openGuarded(plan)
  const panel = page.locator('section[data-state=failed]').first()
  expect(await panel.locator('[role=alert]').innerText()).toMatch(
    /1 request per (hour|month) on plan .* Wait, or enter an API key .* in the menu ⋯ above\.$/,
  )
  expect(await panel.locator('.waiting').innerText()).toMatch(waiting)
  expect(await page.locator('#access').isVisible()).toBe(false)
  expect(seen.filter((line) => line.startsWith('/api/v1/'))).toHaveLength(4)
  await page.locator('#menu').click()
  await page.locator('#enter-key').click()
  expect(await page.locator('#key:focus').count()).toBe(1)
  await page.keyboard.type(key)
  await page.keyboard.press('Enter')
  await expectText(page, '#key-state', 'Requests are sent with the key')
  await expect.poll(() => seen.filter((line) => line.endsWith(key)).length).toBeGreaterThan(2)
})

it('offers a key in the menu only where the service has keys', async () => {
  const { page, requests } = await openDemo()
  const offered = page.getByRole('button', { name: 'API key' })
  await page.locator('#menu').click()
  await expect.poll(() => requests.join()).toContain('/api/v1/openapi.json')
  await page.getByRole('button', { name: 'Copy link' }).waitFor()
  expect(await offered.isVisible()).toBe(false)
  const guarded = await openGuarded('paid')
  await guarded.page.locator('#menu').click()
  await guarded.page.getByRole('button', { name: 'API key' }).click()
  expect(await textOf(guarded.page, '#access-title')).toBe('API key')
  expect(await guarded.page.locator('section:visible').count()).toBe(3)
})

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
    const { page } = await openGuarded()
    await enter(page, key)
    await expectText(page, '#days summary', /\d/)
    expect((await download(page)).text).toMatch(/^from,to,date,rate,.*\r\nUSD,EUR,2/)
  })
})
