import { gzipSync } from 'node:zlib'

import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'

import { createRatesHandler } from 'ratesmith'
import type { HistoryRecord, LatestRecord } from 'ratesmith'
import { toNodeHandler } from 'ratesmith/node'
import { fakeProviders } from 'ratesmith/testing'

import { CHROMIUM, launchChromium } from './chromium.ts'
import { findings, openExplorer, settled, tabTo, takePicture } from './explorer-page.ts'
import { listen, run } from './processes.ts'
import { requireProgram } from './require-program.ts'
import { rootOf, serve } from './serving.ts'

/** What the whole page may take, gzipped, in bytes. */
const BUDGET = 20_000

let launched: Promise<Browser> | undefined

beforeEach(({ skip }) => requireProgram('Chromium', CHROMIUM, skip))
afterAll(async () => (await launched)?.close())

function browser(): Promise<Browser> {
  launched ??= launchChromium()
  return launched
}

/** Opens the explorer of `ratesmith serve --demo`; `record` asks its API without the page. */
async function openDemo(fragment = '', options: Parameters<typeof openExplorer>[2] = {}) {
  const api = `${await rootOf(serve(['--demo']))}/api`
  const opened = await openExplorer(await browser(), `${api}${fragment}`, options)
  await settled(opened.page)
  const record = async (path: string) => (await fetch(`${api}/v1/${path}`)).json()
  return { ...opened, api, record }
}

/** The text of an element, once it has any. */
async function textOf(page: Page, selector: string): Promise<string> {
  return (await page.locator(selector).innerText()).trim()
}

async function expectText(page: Page, selector: string, text: string | RegExp): Promise<void> {
  await expect.poll(() => textOf(page, selector)).toMatch(text)
}

function exactly(text: string): RegExp {
  return new RegExp(`^${text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`)
}

describe('the converter', () => {
  it('converts as one types, with the digits of the API', async () => {
    const { page, record, requests } = await openDemo()
    await page.locator('#amount').fill('')
    await page.locator('#amount').pressSequentially('1234.56', { delay: 20 })
    const { rate, result } = await record('convert?from=USD&to=EUR&amount=1234.56')
    await expectText(page, '#result', exactly(`${result} EUR`))
    expect(await textOf(page, '#given')).toBe('1234.56 USD =')
    expect(await textOf(page, '#rate')).toBe(`1 USD = ${rate} EUR`)
    // Not one request for every key.
    expect(requests.filter((request) => request.includes('/convert')).length).toBeLessThan(5)
  })

  it('swaps', async () => {
    const { page, record } = await openDemo('#amount=7&from=CHF&to=JPY')
    await page.getByRole('button', { name: 'Swap the currencies' }).click()
    const { result } = await record('convert?from=JPY&to=CHF&amount=7')
    await expectText(page, '#result', exactly(`${result} CHF`))
    await expectText(page, '#pair', 'JPY in CHF')
    expect(await page.inputValue('#from')).toBe('JPY')
  })

  it('does not show an answer that comes after that to a newer question', async () => {
    const { page } = await openDemo()
    let release = (): void => {}
    const held = new Promise<void>((resolve) => (release = resolve))
    await page.route(/convert.*to=GBP/, async (route) => {
      await held
      await route.continue().catch(() => {})
    })
    await page.selectOption('#to', 'GBP')
    await page.selectOption('#to', 'JPY')
    await expectText(page, '#result', / JPY$/)
    release()
    await page.waitForTimeout(200)
    expect(await textOf(page, '#result')).toMatch(/ JPY$/)
  })

  it.each([
    ['#amount=12abc', '#converter', 'convert?from=USD&to=EUR&amount=12abc'],
    ['#from=XYZ', '#converter', 'convert?from=XYZ&to=EUR&amount=100'],
    ['#to=AED', '#chart', 'history?from=USD&to=AED&period=3M'],
    ['#period=2W', '#chart', 'history?from=USD&to=EUR&period=2W'],
    ['#base=HRK', '#table', 'latest?base=HRK'],
  ])('of %s tells in %s what the API says', async (fragment, panel, path) => {
    const { page, record } = await openDemo(fragment)
    const { error } = await record(path)
    expect(await textOf(page, `${panel} [role=alert]`)).toBe(error.message)
    expect(await page.locator(`${panel} .data`).isVisible()).toBe(false)
    expect(await page.locator(`${panel} .source`).isVisible()).toBe(false)
  })

  it('has its view in the address, which a reload shows again', async () => {
    const { page } = await openDemo()
    await page.locator('#amount').fill('5')
    await page.selectOption('#from', 'CHF')
    await page.selectOption('#base', 'GBP')
    await page.locator('[value="1W"]').check()
    await expect.poll(() => new URL(page.url()).hash).toContain('base=GBP&period=1W')
    const before = await textOf(page, '#result')
    await page.reload()
    await settled(page)
    expect(await textOf(page, '#result')).toBe(before)
    expect(await page.locator('[value="1W"]').isChecked()).toBe(true)
    expect(await page.inputValue('#base')).toBe('GBP')
  })
})

describe('the table', () => {
  it('has every rate of the base that is chosen, with its digits and its name', async () => {
    const { page, record } = await openDemo()
    await page.selectOption('#base', 'EUR')
    await expectText(page, '#unit', '1 EUR =')
    const { rates }: LatestRecord = await record('latest?base=EUR')
    const rows = await page
      .locator('#rows tr')
      .evaluateAll((rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent)))
    expect(rows.map(([code, , rate]) => [code, rate])).toEqual(
      Object.entries(rates).map(([code, rate]) => [code, String(rate)]),
    )
    expect(rows.find(([code]) => code === 'JPY')?.[1]).toBe('Japanese Yen')
  })

  it('is searched by code and by name', async () => {
    const { page } = await openDemo()
    const codes = () => page.locator('#rows tr:visible button').allInnerTexts()
    await page.fill('#search', 'chf')
    expect(await codes()).toEqual(['CHF'])
    await page.fill('#search', ' YEN ')
    expect(await codes()).toEqual(['JPY'])
    await page.fill('#search', 'zzz')
    expect(await codes()).toEqual([])
    expect(await textOf(page, '#count')).toBe('No currency matches “zzz”')
    await page.fill('#search', '')
    expect((await codes()).length).toBeGreaterThan(150)
  })

  it('gives a currency to the converter', async () => {
    const { page } = await openDemo('#base=GBP')
    await page.locator('#rows button', { hasText: 'SEK' }).click()
    await expectText(page, '#rate', /^1 GBP = [\d.]+ SEK$/)
  })
})

describe('the chart', () => {
  it.each(['1W', '1M', '3M', '6M', '1Y', '5Y'])('shows %s', async (period) => {
    const { page, record } = await openDemo(period === '3M' ? '#period=1W' : '')
    await page.locator(`[value="${period}"]`).check()
    const { points, stats }: HistoryRecord = await record(
      `history?from=USD&to=EUR&period=${period}`,
    )
    await expectText(page, '#days summary', `${points.length} days as a table`)
    for (const [id, value] of [
      ['high', stats.high],
      ['low', stats.low],
      ['average', stats.average],
      ['high-date', stats.highDate],
      ['low-date', stats.lowDate],
    ]) {
      expect(await textOf(page, `#${id}`)).toBe(String(value))
    }
    expect(await textOf(page, '#change')).toContain(`${Math.abs(stats.changePct)} %`)
    expect((await page.locator('.line').getAttribute('d'))?.split('L')).toHaveLength(points.length)
    await page.locator('#days summary').click()
    const rows = page.locator('#days tbody tr')
    await expect.poll(() => rows.count()).toBe(points.length)
    const newest = await rows.first().innerText()
    expect(newest.split(/\s+/)).toEqual([points.at(-1)?.d, String(points.at(-1)?.r)])
  })

  it.each(['mouse', 'finger'])('reads out date and rate where a %s points', async (pointer) => {
    const { page, record } = await openDemo('', { hasTouch: pointer === 'finger' })
    const { points }: HistoryRecord = await record('history?from=USD&to=EUR&period=3M')
    const box = await page.locator('#plot').boundingBox()
    if (!box) throw new Error('the chart is not seen')
    const [x, y] = [box.x + box.width / 2, box.y + 20]
    const newest = await textOf(page, '#reading-day')
    expect(newest).toBe(points.at(-1)?.d)
    if (pointer === 'finger') await page.touchscreen.tap(x, y)
    else await page.mouse.move(x, y)
    await expect.poll(() => textOf(page, '#reading-day')).not.toBe(newest)
    const day = await textOf(page, '#reading-day')
    const index = points.findIndex(({ d }) => d === day)
    expect(Math.abs(index / points.length - 0.5)).toBeLessThan(0.1)
    expect(await textOf(page, '#reading')).toBe(String(points[index]?.r))
    if (pointer === 'finger') return
    expect(await page.locator('.hair').getAttribute('class')).toBe('hair shown')
    await page.mouse.move(0, 0)
    await expectText(page, '#reading-day', newest)
  })

  it('reads out with the keys of a slider', async () => {
    const { page, record } = await openDemo()
    const { points }: HistoryRecord = await record('history?from=USD&to=EUR&period=3M')
    const slider = page.getByRole('slider', { name: 'Day of the history' })
    await slider.focus()
    for (const [key, index] of [
      ['Home', 0],
      ['ArrowRight', 1],
      ['End', points.length - 1],
      ['ArrowLeft', points.length - 2],
    ] as const) {
      await page.keyboard.press(key)
      const { d, r } = points[index] ?? { d: '', r: 0 }
      expect(await slider.getAttribute('aria-valuetext')).toBe(`${d}: ${r}`)
      expect(await textOf(page, '#reading')).toBe(String(r))
    }
  })

  it('is drawn anew where there is less room', async () => {
    const { page } = await openDemo('', { viewport: { width: 1280, height: 900 } })
    const wide = await page.locator('#plot svg').getAttribute('viewBox')
    await page.setViewportSize({ width: 390, height: 844 })
    await expect.poll(() => page.locator('#plot svg').getAttribute('viewBox')).not.toBe(wide)
    const { width = 0 } = (await page.locator('#plot').boundingBox()) ?? {}
    expect(await page.locator('#plot svg').getAttribute('viewBox')).toMatch(
      new RegExp(`^0 0 ${Math.round(width)} `),
    )
  })
})

it('is used from end to end with a keyboard alone', async () => {
  const { page } = await openDemo()
  const { keyboard } = page
  await tabTo(page, '#amount')
  await keyboard.press('ControlOrMeta+A')
  await keyboard.type('12')
  await tabTo(page, '#from')
  await keyboard.type('GBP')
  await tabTo(page, '#swap')
  await keyboard.press('Enter')
  await expectText(page, '#given', '12 EUR =')
  await expectText(page, '#result', / GBP$/)
  await tabTo(page, '[name=period]')
  await keyboard.press('ArrowRight')
  await expect.poll(() => page.locator('[value="6M"]').isChecked()).toBe(true)
  await tabTo(page, '#plot input')
  await keyboard.press('Home')
  expect(await textOf(page, '#reading-day')).toMatch(/^2\d{3}-/)
  await tabTo(page, '#days summary')
  await keyboard.press('Enter')
  await expect.poll(() => page.locator('#days tbody tr').count()).toBeGreaterThan(100)
  await tabTo(page, '#base')
  await keyboard.type('CHF')
  await expectText(page, '#unit', '1 CHF =')
  await tabTo(page, '#search')
  await keyboard.type('dollar')
  await tabTo(page, '#rows button')
  await keyboard.press('ArrowDown')
  await keyboard.press('End')
  const last = await page.evaluate(() => document.activeElement?.textContent)
  await keyboard.press('Enter')
  await expectText(page, '#rate', new RegExp(`^1 CHF = [\\d.]+ ${last}$`))
  // One stop for all rows.
  await tabTo(page, '#table [data-form=curl]')
  await keyboard.press('Enter')
  await expectText(page, '#table .copied', 'Copied')
})

describe('the request', () => {
  it('is what was asked, and is copied in three forms', async () => {
    const { page, api, requests, record } = await openDemo('#amount=7&to=JPY', {
      permissions: ['clipboard-read', 'clipboard-write'],
    })
    const asked = await textOf(page, '#converter .asked')
    expect(requests).toContain(asked)
    const copied = async (form: string): Promise<string> => {
      await page.locator(`#converter [data-form=${form}]`).click()
      await expectText(page, '#converter .copied', 'Copied')
      return page.evaluate(() => navigator.clipboard.readText())
    }
    const url = `${api}/v1/convert?from=USD&to=JPY&amount=7`
    expect(await copied('curl')).toBe(`curl '${url}'`)
    const script = await copied('fetch')
    const expected = await record('convert?from=USD&to=JPY&amount=7')
    expect(await page.evaluate(`(async () => ${script})()`)).toEqual(expected)
    const program = await copied('client')
    expect(program).toContain("convert({ from: 'USD', to: 'JPY', amount: 7 })")
    const telling = program.replace(/await .*$/, 'console.log(JSON.stringify($&))')
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', telling])
    expect(JSON.parse(stdout)).toEqual(expected)
    expect(await page.locator('#converter .copied').getAttribute('role')).toBe('status')
  })

  it('is selected where the page may not copy', async () => {
    const { page } = await openDemo()
    await page.evaluate(() => Object.defineProperty(navigator, 'clipboard', { value: undefined }))
    await page.locator('#chart [data-form=curl]').click()
    await expectText(page, '#chart .copied', 'Selected, to be copied by hand')
    const selected = await page.evaluate(() => getSelection()?.toString().trim())
    expect(selected).toBe(await textOf(page, '#chart .snippet'))
    expect(selected).toContain('/v1/history?from=USD&to=EUR&period=3M')
  })
})

describe('what is shown with the data', () => {
  it('is where they are from, how old they are and what they are not', async () => {
    const { page, record } = await openDemo()
    const { source, disclaimer }: LatestRecord = await record('latest')
    for (const panel of ['#converter', '#chart', '#table']) {
      const link = page.locator(`${panel} .source a`)
      expect(await link.innerText()).toBe(source.name)
      expect(await link.getAttribute('href')).toBe(source.url)
      expect(await link.getAttribute('rel')).toBe('noopener')
      expect(await textOf(page, `${panel} .origin`)).toContain(disclaimer)
    }
    expect(await textOf(page, '#converter .age')).toMatch(/^Published .+ ago$/)
    expect(await textOf(page, '#table .age')).toMatch(
      /^Published .+ ago, next update (expected in .+|due now)$/,
    )
    expect(await textOf(page, '#chart .age')).toMatch(/^Newest day: \w+day,? \d+ \w+ 20\d\d$/)
  })

  it('says that an update is overdue, and looks for it', async () => {
    const { page, requests } = await openDemo()
    await page.clock.install()
    await page.reload()
    await settled(page)
    const before = requests.filter((request) => request.includes('/latest')).length
    await page.clock.runFor(1000)
    await page.clock.fastForward(72 * 3_600_000)
    await expectText(page, '#table .age', /^Published 3 days ago, next update overdue for .+$/)
    await expect
      .poll(() => requests.filter((request) => request.includes('/latest')).length)
      .toBeGreaterThan(before)
  })
})

describe('while the upstream is down', () => {
  const DEAD = {
    RATESMITH_LATEST_URL: 'http://127.0.0.1:9',
    RATESMITH_HISTORY_URL: 'http://127.0.0.1:9',
  }

  it('tells what the API says, and can be used', async () => {
    const api = `${await rootOf(serve([], DEAD))}/api`
    const { page, requests } = await openExplorer(await browser(), api, {
      viewport: { width: 1280, height: 900 },
    })
    await settled(page)
    const { error } = await (await fetch(`${api}/v1/latest`)).json()
    for (const panel of ['#converter', '#chart', '#table']) {
      expect(await page.locator(`${panel} [role=alert]`).innerText()).toMatch(/\w+ \w+/)
      expect(await textOf(page, `${panel} .waiting`)).toMatch(/^Asks again by itself in \d+ s\.$/)
    }
    expect(await textOf(page, '#table [role=alert]')).toBe(error.message)
    await page.selectOption('#to', 'JPY')
    const asked = 'GET /api/v1/convert?from=USD&to=JPY&amount=100'
    await expect.poll(() => requests).toContain(asked)
    const before = requests.filter((request) => request === asked).length
    await page.locator('#converter .retry button').click()
    await expect
      .poll(() => requests.filter((request) => request === asked).length)
      .toBeGreaterThan(before)
    await settled(page)
    expect(await findings(page)).toEqual([])
    await takePicture(page, 'upstream-down-1280-light')
    await page.emulateMedia({ colorScheme: 'dark' })
    await page.setViewportSize({ width: 390, height: 844 })
    expect(await findings(page)).toEqual([])
    await takePicture(page, 'upstream-down-390-dark')
  })

  it('shows the data as soon as they are there, when it was told to ask again', async () => {
    const { latest, history } = fakeProviders()
    let isDown = true
    const fetchLatest: typeof latest.fetchLatest = (context) =>
      isDown ? Promise.reject(new Error('down')) : latest.fetchLatest(context)
    const handler = createRatesHandler({
      providers: { latest: { ...latest, fetchLatest }, history },
      explorer: true,
    })
    const { url } = await listen(toNodeHandler(handler))
    const { page } = await openExplorer(await browser(), `${url}/api`)
    await settled(page)
    expect(await page.locator('#table .notice').isVisible()).toBe(true)
    expect(await textOf(page, '#chart #reading')).toMatch(/^0\.\d+$/)
    isDown = false
    await expect.poll(() => textOf(page, '#result'), { timeout: 15_000 }).toMatch(/^[\d.]+ EUR$/)
    await expect.poll(() => page.locator('#table .notice').isVisible()).toBe(false)
  })

  it('says that the server cannot be reached', async () => {
    const running = serve(['--demo'])
    const { page } = await openExplorer(await browser(), `${await rootOf(running)}/api`)
    await settled(page)
    running.process.kill('SIGKILL')
    await running.exited
    await page.fill('#amount', '3')
    await expectText(page, '#converter [role=alert]', /^The server cannot be reached$/)
  })

  it('says so where what answers is not the API', async () => {
    const { page } = await openDemo()
    await page.route(/convert/, (route) => route.fulfill({ status: 504, body: '<h1>Sorry' }))
    await page.fill('#amount', '3')
    await expectText(page, '#converter [role=alert]', /^The server answered 504, /)
  })
})

describe('the page', () => {
  it('is one small file that asks for nothing but rates', async () => {
    const seen: string[] = []
    const answer = toNodeHandler(createRatesHandler({ providers: fakeProviders(), explorer: true }))
    const { url } = await listen((request, response) => {
      seen.push(`${request.method} ${request.url}`)
      answer(request, response)
    })
    const { page, requests } = await openExplorer(await browser(), `${url}/api/`)
    await settled(page)
    await page.waitForTimeout(300)
    const expected = [
      'GET /api/',
      'GET /api/v1/convert?from=USD&to=EUR&amount=100',
      'GET /api/v1/currencies',
      'GET /api/v1/history?from=USD&to=EUR&period=3M',
      'GET /api/v1/latest?base=USD',
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
  ])('at %s finds the API beside it', async (path, basePath, stripped) => {
    const providers = fakeProviders()
    const answer = toNodeHandler(createRatesHandler({ providers, explorer: true, basePath }))
    const { url } = await listen((request, response) => {
      request.url = request.url?.slice(stripped.length) ?? ''
      answer(request, response)
    })
    const { page } = await openExplorer(await browser(), url + path)
    await settled(page)
    expect(await textOf(page, '#result')).toMatch(/^[\d.]+ EUR$/)
    const root = `${url}${path}`.replace(/\/$/, '')
    expect(await textOf(page, '#root')).toBe(root)
    const link = page.getByRole('link', { name: 'OpenAPI' })
    expect(await link.getAttribute('href')).toBe(`${root.slice(url.length)}/v1/openapi.json`)
  })

  it.each([
    ['script-src-elem inline', '<script>document.title = "planted"</script>'],
    ['script-src-elem http://127.0.0.1:9/a.js', '<script src="http://127.0.0.1:9/a.js"></script>'],
    ['script-src-attr inline', '<b onclick="document.title = `planted`"></b>'],
    ['style-src-elem inline', '<style>body { color: red }</style>'],
    ['style-src-attr inline', '<b style="color: red"></b>'],
    ['img-src http://127.0.0.1:9/a.png', '<img alt="" src="http://127.0.0.1:9/a.png">'],
    ['base-uri http://127.0.0.1:9', '<base href="http://127.0.0.1:9/">'],
  ])('heeds nothing that others write into it: %s', async (violation, markup) => {
    const { page, api, complaints } = await openDemo()
    await page.route(`${api}/`, async (route) => {
      const response = await route.fetch()
      const body = (await response.text()).replace('<main>', () => `${markup}<main>`)
      await route.fulfill({ response, body })
    })
    await page.goto(`${api}/`)
    await settled(page)
    await expect.poll(() => complaints.join('\n')).toContain(`violation: ${violation}`)
    expect(await page.title()).not.toBe('planted')
    complaints.length = 0
  })

  it('takes no text for markup', async () => {
    const { page, complaints } = await openDemo()
    const writing = page.evaluate(() => (document.body.innerHTML = '<b>planted</b>'))
    await expect(writing).rejects.toThrow(/TrustedHTML/)
    expect(await page.locator('main').isVisible()).toBe(true)
    complaints.length = 0
  })

  it('lets nobody ask elsewhere', async () => {
    const { page, complaints } = await openDemo()
    await page.evaluate(() => fetch('http://127.0.0.1:9/').catch(() => {}))
    await expect.poll(() => complaints.join('\n')).toContain('violation: connect-src')
    complaints.length = 0
  })

  it.each([
    [390, 'light'],
    [390, 'dark'],
    [1280, 'light'],
    [1280, 'dark'],
  ] as const)('has no barrier that axe finds, %d px wide and %s', async (width, colorScheme) => {
    const viewport = { width, height: width === 390 ? 844 : 900 }
    const { page } = await openDemo('', { viewport, colorScheme })
    expect(await findings(page)).toEqual([])
    await takePicture(page, `data-${width}-${colorScheme}`)
    await page.locator('#days summary').click()
    await page.locator('#chart [data-form=client]').click()
    await page.locator('#plot').hover()
    await page.fill('#search', 'dollar')
    expect(await findings(page)).toEqual([])
    await takePicture(page, `open-${width}-${colorScheme}`)
    await page.fill('#amount', '12abc')
    await page.selectOption('#to', 'AED')
    await page.fill('#search', 'zzz')
    await expectText(page, '#chart [role=alert]', /AED/)
    await settled(page)
    expect(await findings(page)).toEqual([])
    await takePicture(page, `errors-${width}-${colorScheme}`)
  })

  it.each([320, 640])('needs no scrolling sideways at %d px', async (width) => {
    const { page } = await openDemo('#amount=123456789.123&from=USD&to=IDR&base=IDR&period=5Y', {
      viewport: { width, height: 500 },
    })
    await page.locator('#days summary').click()
    await page.locator('#table [data-form=client]').click()
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width)
    await takePicture(page, `narrow-${width}-light`)
  })
})
