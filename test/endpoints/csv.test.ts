import { describe, expect, it } from 'vitest'

import type {
  Attribution,
  Conversion,
  ConversionList,
  LatestRates,
  RateHistory,
} from '../../src/index.ts'
import { market, openService } from '../fixtures/service.ts'

/** A conversion to one currency or several. */
type Converted = Conversion & Partial<ConversionList>

const service = openService()

/** Opens a service whose providers have this attribution. */
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

/** Parses CSV; throws if it violates RFC 4180. */
function readCsv(text: string): string[][] {
  const lines: string[][] = [[]]
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/y
  while (cell.lastIndex < text.length) {
    const [, quoted, plain, end] = cell.exec(text) ?? []
    if (end === undefined) throw new Error(`not CSV: ${text}`)
    lines.at(-1)?.push(quoted?.replaceAll('""', '"') ?? plain ?? '')
    if (end === '\r\n') lines.push([])
  }
  expect(lines.pop()).toEqual([])
  return lines
}

/** Returns the source in the CSV body and in the `Link` header, for a provider with this attribution. */
async function sourceOf(attribution: Attribution) {
  const response = await get('v1/latest?symbols=EUR&format=csv', {}, serviceOf(attribution))
  const [, line = []] = readCsv(await response.text())
  return { source: line.slice(-2), link: response.headers.get('link') }
}

describe('format=csv', () => {
  it.each([
    ['v1/latest?', 'v1/latest?'],
    ['v1/latest?base=eur&symbols=usd,GBP&', 'v1/latest?base=EUR&symbols=GBP,USD&'],
    [
      'v1/latest?date=2025-06-22&base=EUR&symbols=USD,JPY&',
      'v1/latest?date=2025-06-20&base=EUR&symbols=USD,JPY&',
    ],
    [
      'v1/latest?date=2025-06-22&rule=next&base=EUR&symbols=USD,JPY&',
      'v1/latest?date=2025-06-22&rule=next&base=EUR&symbols=USD,JPY&',
    ],
    ['rates?base=idr&', 'v1/latest?base=IDR&'],
  ])('writes the rates of %s', async (path, twin) => {
    const record = await getJson<LatestRates>(twin)
    const { base, date, asked, rule, rates, updatedAt, nextUpdateAt, source } = record
    const [head, ...lines] = readCsv(await (await get(`${path}format=csv`)).text())
    const days = Object.entries({ date, asked, rule }).filter(([, text]) => text !== undefined)
    const ends = ['updatedAt', 'nextUpdateAt', 'source', 'sourceUrl']
    expect(head).toEqual(['base', 'code', 'rate', ...days.map(([name]) => name), ...ends])
    const publication = [
      ...days.map(([, text]) => text),
      updatedAt,
      nextUpdateAt,
      source.name,
      source.url,
    ]
    const expected = Object.entries(rates).map(([code, rate]) => {
      return [base, code, rate, ...publication].map(String)
    })
    expect(expected.length).toBeGreaterThan(1)
    expect(lines).toEqual(expected)
  })

  const END = ['updatedAt', 'source', 'sourceUrl']

  it.each([
    ['', END],
    ['&reverse=true', ['reverse', ...END]],
    ['&date=2020-02-29', ['date', ...END]],
    ['&reverse=true&date=2020-02-29', ['reverse', 'date', ...END]],
    ['&date=2020-02-29&rule=next', ['date', 'asked', 'rule', ...END]],
  ])('writes one line per target of a conversion with "%s"', async (more, end) => {
    for (const to of ['EUR', 'EUR,', 'jpy,EUR,USD,eur']) {
      const path = `v1/convert?from=usd&to=${to}&amount=1.5e21${more}`
      const { from, amount, source, ...record } = await getJson<Converted>(path)
      const [head, ...lines] = readCsv(await (await get(`${path}&format=csv`)).text())
      expect(head).toEqual(['from', 'to', 'amount', 'rate', 'result', ...end])
      const named = { ...record, source: source.name, sourceUrl: source.url }
      const rest = end.map((column) => String(Object(named)[column]))
      const results = record.results ?? { EUR: { rate: record.rate, result: record.result } }
      const expected = Object.entries(results).map(([code, { rate, result }]) => {
        return [from, code, ...[amount, rate, result].map(String), ...rest]
      })
      expect(lines).toEqual(expected)
      // In the order of the request, each code once.
      const codes = to.includes('jpy') ? ['JPY', 'EUR', 'USD'] : ['EUR']
      expect(lines.map(([, code]) => code)).toEqual(codes)
    }
  })

  it.each(['', 'A', 'Bank', 'Banks', 'a,"b"\r\n', 'Zoë’s 💶', 'x'.repeat(301)])(
    'writes every byte of a history of %j',
    async (name) => {
      const source = { name, url: 'https://rates.example/?a=1,2' }
      const opened = serviceOf(source)
      for (const query of ['period=1W', 'period=5Y', 'start=2026-10-01&interval=month']) {
        const path = `v1/history?from=USD&to=idr&${query}`
        const { points } = await getJson<RateHistory>(path, opened)
        const quoted = /[",\r\n]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name
        const lines = points.map(({ d, r }) => `USD,IDR,${d},${r},${quoted},"${source.url}"`)
        const response = await get(`${path}&format=csv`, {}, opened)
        expect(response.headers.get('content-length')).toBe(
          String((await response.clone().arrayBuffer()).byteLength),
        )
        const head = 'from,to,date,rate,source,sourceUrl'
        expect(await response.text()).toBe([head, ...lines, ''].join('\r\n'))
      }
    },
  )

  it.each(['v1/latest', 'rates', 'v1/history?from=USD&to=EUR', 'v1/convert?from=USD&to=EUR'])(
    'has its own tag on %s, and a link to its source, also in a 304',
    async (path) => {
      const query = `${path}${path.includes('?') ? '&' : '?'}format=csv`
      const { headers } = await get(query)
      const etag = headers.get('etag') ?? ''
      expect(etag).not.toBe((await get(path)).headers.get('etag'))
      const again = await get(query, { 'if-none-match': etag })
      expect(again.status).toBe(304)
      for (const link of [headers, again.headers].map((each) => each.get('link'))) {
        expect(link).toBe(
          '<https://www.npmjs.com/package/ratesmith>; rel="via"; title="Synthetic rates (ratesmith)"',
        )
      }
    },
  )

  it('quotes cells with special characters, and escapes the header', async () => {
    const name = 'Zoë’s "rates",\r\nset-cookie: a=b \\ 100\u0000%'
    const url = 'https://rates.example/a b?c="d">,<e'
    const { source, link } = await sourceOf({ name, url })
    expect(source).toEqual([name, url])
    expect(link).toBe(
      '<https://rates.example/a%20b?c=%22d%22%3E,%3Ce>; rel="via"; ' +
        "title*=UTF-8''Zo%C3%AB%E2%80%99s%20%22rates%22%2C%0D%0Aset-cookie%3A%20a%3Db%20%5C%20100%00%25",
    )
    const plainUrl = 'https://rates.example'
    const quoted = await sourceOf({ name: 'The "A\\B" feed', url: plainUrl })
    expect(quoted.link).toContain('title="The \\"A\\\\B\\" feed"')
    const broken = await sourceOf({ name: "'\ud800*'", url: plainUrl })
    expect(broken.link).toContain("title*=UTF-8''%27%EF%BF%BD%2A%27")
  })
})

describe('format', () => {
  it.each<[path: string, status: number]>([
    ['v1/latest?base=XYZ', 400],
    ['rates?base=XYZ', 400],
    ['v1/history?from=EUR&to=XYZ', 400],
    ['v1/convert?from=EUR&to=XYZ', 400],
    ['v1/convert?from=EUR&to=USD,XYZ', 400],
    ['v1/convert?from=EUR&to=USD&date=1998-01-01', 404],
  ])('csv does not change the response to %s, %d', async (path, status) => {
    const formatted = await get(`${path}&format=csv`)
    const plain = await get(path)
    expect(formatted.status).toBe(status)
    expect(Object.fromEntries(formatted.headers)).toEqual(Object.fromEntries(plain.headers))
    expect(await formatted.text()).toBe(await plain.text())
  })
})
