import { gzipSync } from 'node:zlib'

import type { Route } from 'playwright-core'
import { describe, expect, it } from 'vitest'

import { createRatesHandler } from 'ratesmith'
import { toNodeHandler } from 'ratesmith/node'
import { fakeProviders } from 'ratesmith/testing'

import { BANK_DAYS, createBank } from '../fixtures/bank.ts'
import { rootOf, serve } from './commands.ts'
import {
  chartRequests,
  choose,
  axeViolations,
  expectText,
  openDemo,
  openExplorer,
  openService,
  settled,
  textOf,
} from './explorer-page.ts'
import { listen } from './processes.ts'

/** Size limit of the whole page, gzipped, in bytes. */
const BUDGET = 20_000

describe('while the upstream is down', () => {
  it('shows the error of the API, and stays usable', async () => {
    const dead = 'http://127.0.0.1:9'
    const env = { RATESMITH_LATEST_URL: dead, RATESMITH_HISTORY_URL: dead }
    const api = `${await rootOf(serve([], env))}/api`
    const viewport = { width: 1280, height: 900 }
    const { page, requests } = await openExplorer(api, { viewport })
    const { error } = await (await fetch(`${api}/v1/latest`)).json()
    for (const panel of ['#converter', '#chart', '#table']) {
      expect(await page.locator(`${panel} [role=alert]`).innerText()).toMatch(/\w+ \w+/)
      expect(await textOf(page, `${panel} .waiting`)).toMatch(/\b\d+ s\b/)
    }
    expect(await textOf(page, '#table [role=alert]')).toBe(error.message)
    await choose(page, '#to', 'JPY')
    const convertRequest = 'GET /api/v1/convert?from=USD&to=JPY&amount=100'
    await expect.poll(() => requests).toContain(convertRequest)
    const count = (): number => requests.filter((request) => request === convertRequest).length
    const before = count()
    await page.locator('#converter .retry button').click()
    await expect.poll(count).toBeGreaterThan(before)
    await settled(page)
    expect(await axeViolations(page)).toEqual([])
    await page.emulateMedia({ colorScheme: 'dark' })
    await page.setViewportSize({ width: 390, height: 844 })
    expect(await axeViolations(page)).toEqual([])
  })

  it.each<[string, (route: Route) => Promise<void>, RegExp]>([
    ['the service cannot be reached', (route) => route.abort(), /\bservice\b/],
    [
      'the response is not of the API',
      (route) => route.fulfill({ status: 504, body: '<h1>Sorry' }),
      /\b504\b/,
    ],
  ])('shows an error where %s', async (_, respond, message) => {
    const { page } = await openDemo()
    await page.route(/convert/, respond)
    await page.fill('#amount', '3')
    await expectText(page, '#converter [role=alert]', message)
  })
})

describe('the history', () => {
  it('comes from the first of several sources with both currencies, which the page names', async () => {
    const { latest, history } = fakeProviders()
    const bank = createBank({ codes: ['USD', 'KWD'], now: Date.now })
    const other = createBank({
      codes: ['AED'],
      now: Date.now,
      publication: { ...BANK_DAYS, id: 'other' },
    })
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
    await expectText(page, '#none', 'No source has a daily history for both KWD and AED')
    await choose(page, '#from', 'GBP')
    await expectText(page, '#none', 'No source has a daily history for both GBP and AED')
    await choose(page, '#to', 'AFN')
    await expectText(page, '#none', 'No daily history for AFN')
    await settled(page)
    expect(await axeViolations(page)).toEqual([])
    const asked = chartRequests(requests)
    expect(asked.map((request) => /from=(...)&to=(...)/.exec(request)?.slice(1).join())).toEqual([
      'USD,EUR',
      'USD,KWD',
      'EUR,KWD',
      'EUR,AED',
    ])
  })

  it('is not requested where the service has none', async () => {
    const { latest } = fakeProviders()
    const { page, requests } = await openService({ providers: { latest, history: false } })
    await choose(page, '#to', 'JPY')
    await expectText(page, '#result', / JPY$/)
    expect(await textOf(page, '#none')).toBe('This service has no history')
    expect(await textOf(page, '#count')).toMatch(/ currencies\. This service has no history$/)
    expect(requests.join()).not.toMatch(/\/history|change=/)
  })
})

describe('the page', () => {
  it('is one small file that requests only rates, and at last their changes', async () => {
    const seen: string[] = []
    const respond = toNodeHandler(
      createRatesHandler({ providers: fakeProviders(), explorer: true }),
    )
    const { url } = await listen((request, response) => {
      seen.push(`${request.method} ${request.url}`)
      respond(request, response)
    })
    const { page, requests } = await openExplorer(`${url}/api/`)
    await page.waitForLoadState('networkidle')
    const expected = [
      'GET /api/',
      'GET /api/v1/convert?from=USD&to=EUR&amount=100',
      'GET /api/v1/currencies',
      'GET /api/v1/history?from=USD&to=EUR&period=3M',
      'GET /api/v1/latest?base=USD',
      'GET /api/v1/latest?base=USD&change=1D',
    ]
    expect(seen.sort()).toEqual(expected)
    expect(requests.filter((request) => !request.includes('data:')).sort()).toEqual(
      expect.arrayContaining(expected),
    )
    const response = await fetch(`${url}/api/`)
    const html = Buffer.from(await response.arrayBuffer())
    expect(gzipSync(html, { level: 9 }).length).toBeLessThan(BUDGET)
    expect(html.equals(Buffer.from(await (await fetch(`${url}/api`)).arrayBuffer()))).toBe(true)
  })

  it.each([
    ['/', '', ''],
    ['/fx', '/fx', ''],
    ['/tools/api/', '/api', '/tools'],
  ])('finds the API at %s', async (path, basePath, stripped) => {
    const providers = fakeProviders()
    const respond = toNodeHandler(createRatesHandler({ providers, explorer: true, basePath }))
    const { url } = await listen((request, response) => {
      request.url = request.url?.slice(stripped.length) ?? ''
      respond(request, response)
    })
    const { page } = await openExplorer(url + path)
    expect(await textOf(page, '#result')).toMatch(/^[\d.,]+ EUR$/)
    const root = `${url}${path}`.replace(/\/$/, '')
    expect(await textOf(page, '#root')).toBe(root)
    const link = page.getByRole('link', { name: 'OpenAPI' })
    expect(await link.getAttribute('href')).toBe(`${root.slice(url.length)}/v1/openapi.json`)
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
    [1280, 'dark'],
  ] as const)('passes axe, %d px wide and %s', async (width, colorScheme) => {
    const { page } = await openDemo('', { viewport: { width, height: 900 }, colorScheme })
    await page.locator('#days summary').click()
    await page.locator('#chart [data-form=client]').click()
    await page.locator('#plot').hover()
    await page.fill('#search', 'dollar')
    expect(await axeViolations(page)).toEqual([])
    await page.emulateMedia({ colorScheme: colorScheme === 'dark' ? 'light' : 'dark' })
    expect(await axeViolations(page)).toEqual([])
    await choose(page, '#to', 'AED')
    await page.fill('#amount', '12abc')
    await page.fill('#search', 'zzz')
    await expectText(page, '#none', /AED/)
    await settled(page)
    expect(await axeViolations(page)).toEqual([])
  })

  it.each([320, 640])('needs no horizontal scrolling at %d px', async (width) => {
    const { page } = await openDemo('#amount=123456789.123&from=USD&to=IDR&base=IDR&period=5Y', {
      viewport: { width, height: 500 },
    })
    await page.locator('#days summary').click()
    await page.locator('#table [data-form=client]').click()
    const excess = await page.evaluate(() => {
      const { scrollWidth, clientWidth } = document.documentElement
      return scrollWidth - clientWidth
    })
    expect(excess).toBe(0)
  })
})
