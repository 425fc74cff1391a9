import { gzipSync } from 'node:zlib'

import { describe, expect, it } from 'vitest'

import { createRatesHandler } from 'ratesmith'
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
      'GET /api/v1/latest?base=USD&change=1D',
    ]
    expect(seen.toSorted()).toEqual(expected)
    expect(requests.filter((request) => !request.includes('data:')).sort()).toEqual(expected)
    await page.keyboard.press('Tab')
    await expect.poll(() => seen.slice(5)).toEqual(['GET /api/explorer-api.js'])
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
