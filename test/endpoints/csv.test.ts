import Papa from 'papaparse'
import { describe, expect, it } from 'vitest'

import type {
  Attribution,
  Conversion,
  ConversionList,
  LatestRates,
  RateHistory,
} from '../../src/index.ts'
import { market, openService } from '../fixtures/service.ts'

const service = openService()

function serviceOf(attribution: Attribution) {
  const { latest, history } = market
  const providers = { latest: { ...latest, attribution }, history: { ...history, attribution } }
  return openService({ providers })
}

function get(path: string, headers: Record<string, string> = {}, of = service) {
  return of.get(`/api/${path}`, { headers })
}

async function getJson<Body>(path: string, of = service): Promise<Body> {
  return of.json(`/api/${path}`)
}

/** Parses CSV whose lines end with CR LF. */
async function readCsv(response: Promise<Response>): Promise<string[][]> {
  const { data, errors } = Papa.parse<string[]>(await (await response).text(), { newline: '\r\n' })
  expect([errors, data.pop()]).toEqual([[], ['']])
  return data
}

describe('format=csv', () => {
  it.each([
    ['v1/latest?', 'v1/latest?', []],
    ['v1/latest?base=eur&symbols=usd,GBP&', 'v1/latest?base=EUR&symbols=GBP,USD&', []],
    ['v1/latest?date=2025-06-22&symbols=EUR&', 'v1/latest?date=2025-06-20&symbols=EUR&', ['date']],
    [
      'v1/latest?date=2025-06-22&rule=next&base=EUR&symbols=USD,JPY&',
      'v1/latest?date=2025-06-22&rule=next&base=EUR&symbols=USD,JPY&',
      ['date', 'asked', 'rule'],
    ],
    ['rates?base=idr&', 'v1/latest?base=IDR&', []],
  ])('writes the rates of %s', async (path, twin, days) => {
    const record = await getJson<LatestRates>(twin)
    const { base, rates, updatedAt, nextUpdateAt, source } = record
    const [head, ...lines] = await readCsv(get(`${path}format=csv`))
    const ends = ['updatedAt', 'nextUpdateAt', 'source', 'sourceUrl']
    expect(head).toEqual(['base', 'code', 'rate', ...days, ...ends])
    const chosen = days.map((name) => String(Object(record)[name]))
    const publication = [
      ...chosen,
      String(updatedAt),
      String(nextUpdateAt),
      source.name,
      source.url,
    ]
    const entries = Object.entries(rates)
    expect(lines).toEqual(entries.map(([code, rate]) => [base, code, `${rate}`, ...publication]))
    expect(lines).not.toEqual([])
  })

  it('has for each rate the time of its publication', async () => {
    let count = 0
    const {
      runtime,
      handler,
      json,
      get: send,
    } = openService({
      providers: {
        latest: {
          attribution: { name: 'Market', url: 'https://market.example' },
          // Loses the yen with the second publication: then it is carried over.
          async fetchLatest({ now }) {
            count += 1
            const rates = { USD: 1, EUR: 0.8, ...(count === 1 && { JPY: 150.25 }) }
            return { base: 'USD', updatedAt: now(), nextUpdateAt: now() + 86_400_000, rates }
          },
        },
      },
    })
    await handler.refresh()
    await runtime.advance(2 * 86_400_000)
    await handler.refresh()
    const { updatedAt, older } = await json('/api/v1/latest')
    const lines = await readCsv(send('/api/v1/latest?format=csv'))
    expect(lines.slice(1).map(([, code, , at]) => [code, Number(at)])).toEqual([
      ['USD', updatedAt],
      ['EUR', updatedAt],
      ['JPY', older.JPY],
    ])
    expect(older.JPY).toBe(updatedAt - 2 * 86_400_000)
  })

  const END = ['updatedAt', 'source', 'sourceUrl']

  it.each([
    ['', END],
    ['&reverse=true', ['reverse', ...END]],
    ['&reverse=true&date=2020-02-29', ['reverse', 'date', ...END]],
    ['&date=2020-02-29&rule=next', ['date', 'asked', 'rule', ...END]],
  ])('writes one line per target of a conversion with "%s"', async (more, end) => {
    for (const [to, codes] of [
      ['EUR', ['EUR']],
      ['EUR,', ['EUR']],
      // In the order of the request, each code once.
      ['jpy,EUR,USD,eur', ['JPY', 'EUR', 'USD']],
    ] as const) {
      const path = `v1/convert?from=usd&to=${to}&amount=1.5e21${more}`
      const { from, amount, source, ...record } = await getJson<
        Conversion & Partial<ConversionList>
      >(path)
      const [head, ...lines] = await readCsv(get(`${path}&format=csv`))
      expect(head).toEqual(['from', 'to', 'amount', 'rate', 'result', ...end])
      const named = { ...record, source: source.name, sourceUrl: source.url }
      const rest = end.map((column) => String(Object(named)[column]))
      const { results = { EUR: record } } = record
      const expected = codes.map((code) => {
        const { rate, result } = results[code] ?? {}
        return [from, code, ...[amount, rate, result].map(String), ...rest]
      })
      expect(lines).toEqual(expected)
    }
  })

  it.each(['', 'A', 'Banks', 'a,"b"\r\n', 'Zoë’s 💶', 'x'.repeat(301)])(
    'writes every byte of a history of %j',
    async (name) => {
      const source = { name, url: 'https://rates.example/?a=1,2' }
      const opened = serviceOf(source)
      for (const query of ['period=1W', 'period=5Y', 'start=2026-10-01&interval=month']) {
        const path = `v1/history?from=USD&to=idr&${query}`
        const { points } = await getJson<RateHistory>(path, opened)
        const quoted = /[",\r\n]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name
        const lines = points.map(({ d, r }) => `USD,IDR,${d},${r},${quoted},"${source.url}"`)
        const text = ['from,to,date,rate,source,sourceUrl', ...lines, ''].join('\r\n')
        const response = await get(`${path}&format=csv`, {}, opened)
        const length = new TextEncoder().encode(text).length
        expect(response.headers.get('content-length')).toBe(String(length))
        expect(await response.text()).toBe(text)
      }
    },
  )

  const PLAIN = 'https://rates.example'

  it.each([
    [
      'Zoë’s "rates",\r\nset-cookie: a=b \\ 100\u0000%',
      'https://rates.example/a b?c="d">,<e',
      '<https://rates.example/a%20b?c=%22d%22%3E,%3Ce>; rel="via"; ' +
        "title*=UTF-8''Zo%C3%AB%E2%80%99s%20%22rates%22%2C%0D%0Aset-cookie%3A%20a%3Db%20%5C%20100%00%25",
    ],
    ['The "A\\B" feed', PLAIN, `<${PLAIN}/>; rel="via"; title="The \\"A\\\\B\\" feed"`],
    ["'\ud800*'", PLAIN, `<${PLAIN}/>; rel="via"; title*=UTF-8''%27%EF%BF%BD%2A%27`],
  ])('escapes the source %j in cells and in the header', async (name, url, link) => {
    const response = await get('v1/latest?symbols=EUR&format=csv', {}, serviceOf({ name, url }))
    expect(response.headers.get('link')).toBe(link)
    const [, line] = await readCsv(Promise.resolve(response))
    expect(line?.slice(-2)).toEqual([name.toWellFormed(), url])
  })
})
