import { readFileSync } from 'node:fs'

import { describe, expect, it } from 'vitest'

import { createExchangeRateApiProvider, createRatesHandler } from '../../src/index.ts'
import { LATEST_SOURCE } from '../fixtures/contract.ts'
import { rowsOf } from '../fixtures/rows.ts'
import { requestsTo } from '../fixtures/service.ts'
import { openErApiPayload } from '../fixtures/upstream-payloads.ts'
import { crossRate, multiply, nearestDouble, product, readRates, toExact } from '../oracle.ts'
import { HAS_RECORDINGS, NEEDS_RECORDINGS, recording } from '../recorded.ts'

const PROVIDER = `${LATEST_SOURCE.name} (${LATEST_SOURCE.url})`

const CONVERSIONS = 600

/** Raw amounts: whole, fractional, tiny, huge, beyond 2 ** 53, subnormal, and in unusual notations. */
const AMOUNTS = (
  '0 1 0.1 3 1e-7 123456789.987654321 1e21 9007199254740993 5e-324 2.5e-310 1e-300 1.7e300 ' +
  '.5 000.0 0012.50 1E%2B2 0.30000000000000004 19.99 1000000 2.675 1e16 99999999999999999999.5 7'
).split(' ')

const upstreams = [
  {
    name: 'a synthetic market, in USD',
    base: 'USD',
    payload: () => openErApiPayload({ now: Date.parse('2026-03-18T18:30:00Z') }),
    isMissing: false,
  },
  recorded('USD', 'v6-latest-USD-2025-11-02.json'),
  recorded('CZK', 'v6-latest-CZK-2026-02-18.raw.json'),
  recorded('RUB', 'v6-latest-RUB-2025-04-23.raw.json'),
]

/** The withdrawn currencies of the feed: code, successor, legal ratio and first day. */
const LAWFUL = rowsOf(`
  ANG XCG 1 2025-03-31    | BGN EUR 1.95583 2026-01-01 | HRK EUR 7.5345 2023-01-01
  SLL SLE 1000 2024-01-01 | ZWL ZWG 2498.7242 2024-04-05`)

/** A recording of the feed. */
function recorded(base: string, file: string) {
  return {
    name: `a recorded market, in ${base} ${NEEDS_RECORDINGS}`,
    base,
    payload: () => readFileSync(recording(`data/open-er-api/${file}`), 'utf8'),
    isMissing: !HAS_RECORDINGS,
  }
}

/** Creates a handler on `upstream` one minute after its publication, with the expected rates. */
function open({ base, payload }: ReturnType<typeof recorded>) {
  const text = payload()
  const rates = readRates(text)
  const fields: Record<string, number> = JSON.parse(text)
  const updatedAt = Number(fields['time_last_update_unix']) * 1000
  for (const [code = '', successor = '', ratio = '', day = ''] of LAWFUL) {
    const rate = rates.get(successor)
    if (!rate || !rates.has(code) || Date.parse(day) > updatedAt) continue
    rates.set(code, toExact(nearestDouble(multiply(rate, toExact(ratio)))))
  }
  const nextUpdateAt = Number(fields['time_next_update_unix']) * 1000
  const calls: string[] = []
  const handler = createRatesHandler({
    providers: { latest: createExchangeRateApiProvider({ base }), history: false },
    now: () => updatedAt + 60_000,
    fetch: async (input) => {
      calls.push(new Request(input).url)
      return new Response(text)
    },
  })
  return {
    calls,
    codes: [...rates.keys()],
    updatedAt,
    nextUpdateAt,
    rate: (from: string, to: string) => crossRate(rates, base, from, to),
    body: (target: string): Promise<string> => requestsTo(handler).text(`/api${target}`),
  }
}

function ratesOf({ rate }: ReturnType<typeof open>, base: string, codes: string[]) {
  return Object.fromEntries(codes.map((code) => [code, rate(base, code)]))
}

for (const upstream of upstreams) {
  describe.skipIf(upstream.isMissing)(`the table of ${upstream.name}`, () => {
    it('is served against every base with exact quotients, or the published digits, in its original order', async () => {
      const market = open(upstream)
      const { codes, updatedAt, nextUpdateAt } = market
      expect(codes.length).toBeGreaterThan(160)
      const sent = Object.keys(JSON.parse(upstream.payload()).rates)
      const published = ratesOf(market, upstream.base, sent)
      expect(published[upstream.base]).toBe(1)
      for (const base of codes) {
        const rates = ratesOf(market, base, codes)
        const body = await market.body(`/v1/latest?base=${base}`)
        const record = JSON.parse(body)
        const { disclaimer } = record
        const expected = { base, updatedAt, nextUpdateAt, rates, source: LATEST_SOURCE, disclaimer }
        expect(record).toEqual(expected)
        expect(Object.keys(record.rates)).toEqual(codes)
        expect(body).toBe(JSON.stringify(expected))
        expect(await market.body(`/rates?base=${base}`)).toBe(
          JSON.stringify({ base, rates, updatedAt, nextUpdateAt, provider: PROVIDER }),
        )
      }
      const own = JSON.parse(await market.body(`/v1/latest?base=${upstream.base}`))
      expect(own.rates).toEqual(published)
      expect(market.calls).toEqual([`https://open.er-api.com/v6/latest/${upstream.base}`])
    })

    it(`converts ${CONVERSIONS} pairs and amounts into the exact product of what it shows`, async () => {
      const market = open(upstream)
      const { codes, updatedAt } = market
      for (let i = 0; i < CONVERSIONS; i += 1) {
        const from = codes[(i * 7) % codes.length] ?? ''
        // Starts with equal codes, then increases their distance.
        const to = codes[(i * 7 + Math.floor(i / 20) * 5) % codes.length] ?? ''
        const sent = AMOUNTS[i % AMOUNTS.length] ?? ''
        const amount = nearestDouble(toExact(decodeURIComponent(sent)))
        const rate = market.rate(from, to)
        const shown = { from, to, amount, rate, result: product(amount, rate), updatedAt }
        const query = `from=${from}&to=${to}&amount=${sent}`
        expect(await market.body(`/v1/convert?${query}`), query).toBe(
          JSON.stringify({ ...shown, source: LATEST_SOURCE }),
        )
        expect(await market.body(`/convert?${query}`), query).toBe(
          JSON.stringify({ ...shown, provider: PROVIDER }),
        )
      }
      expect(market.calls).toHaveLength(1)
    })

    it.each([
      ['USD', 'EUR', ['EUR']],
      ['USD', 'ZAR,eur,Gbp,AED', ['AED', 'EUR', 'GBP', 'ZAR']],
      ['JPY', ' EUR , EUR,,eur,CHF ', ['CHF', 'EUR']],
      ['EUR', 'USD,CZK,RUB,EUR', ['CZK', 'EUR', 'RUB', 'USD']],
    ])('against %s, symbols=%s selects from the same rates', async (base, symbols, codes) => {
      const market = open(upstream)
      const inFeedOrder = market.codes.filter((code) => codes.includes(code))
      const body = await market.body(`/v1/latest?base=${base}&symbols=${encodeURI(symbols)}`)
      expect(JSON.stringify(JSON.parse(body).rates)).toBe(
        JSON.stringify(ratesOf(market, base, inFeedOrder)),
      )
    })
  })
}
