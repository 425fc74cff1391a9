import { readFileSync } from 'node:fs'

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { createExchangeRateApiProvider, createRatesHandler } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { LATEST_SOURCE } from '../fixtures/contract.ts'
import { rowsOf } from '../fixtures/rows.ts'
import { openService, requestsTo } from '../fixtures/service.ts'
import { openErApiPayload } from '../fixtures/upstream-payloads.ts'
import * as oracle from '../oracle.ts'
import { HAS_RECORDINGS, NEEDS_RECORDINGS, recording } from '../recorded.ts'

const PROVIDER = `${LATEST_SOURCE.name} (${LATEST_SOURCE.url})`

/** Raw amounts: whole, fractional, tiny, huge, beyond 2 ** 53, subnormal, and in unusual notations. */
const AMOUNTS = (
  '0 1 0.1 3 1e-7 123456789.987654321 1e21 9007199254740993 5e-324 2.5e-310 1e-300 1.7e300 ' +
  '.5 000.0 0012.50 1E%2B2 0.30000000000000004 19.99 1000000 2.675 1e16 99999999999999999999.5 7'
).split(' ')

const EVENING = Date.parse('2026-03-18T18:30:00Z')

/** The withdrawn currencies of the feed: code, successor, legal ratio and first day. */
const LAWFUL = rowsOf(`
  ANG XCG 1 2025-03-31    | BGN EUR 1.95583 2026-01-01 | HRK EUR 7.5345 2023-01-01
  SLL SLE 1000 2024-01-01 | ZWL ZWG 2498.7242 2024-04-05`)

/** Creates a handler on a body of the feed one minute after its publication, with the expected rates. */
function open(base: string, text: string) {
  const rates = oracle.readRates(text)
  const fields: Record<string, number> = JSON.parse(text)
  const updatedAt = Number(fields['time_last_update_unix']) * 1000
  for (const [code = '', successor = '', ratio = '', day = ''] of LAWFUL) {
    const rate = rates.get(successor)
    if (!rate || !rates.has(code) || Date.parse(day) > updatedAt) continue
    const product = oracle.multiply(rate, oracle.toExact(ratio))
    rates.set(code, oracle.toExact(oracle.nearestDouble(product)))
  }
  const calls: string[] = []
  const handler = createRatesHandler({
    providers: { latest: createExchangeRateApiProvider({ base }), history: false },
    now: () => updatedAt + 60_000,
    fetch: async (input) => {
      calls.push(new Request(input).url)
      return new Response(text)
    },
  })
  const codes = [...rates.keys()]
  const rate = (from: string, to: string) => oracle.crossRate(rates, base, from, to)
  return {
    calls,
    codes,
    updatedAt,
    rate,
    nextUpdateAt: Number(fields['time_next_update_unix']) * 1e3,
    ratesOf: (from: string, selected = codes) =>
      Object.fromEntries(selected.map((code) => [code, rate(from, code)])),
    body: (target: string): Promise<string> => requestsTo(handler).text(`/api${target}`),
  }
}

const read = (file: string) => readFileSync(recording(`data/open-er-api/${file}`), 'utf8')

describe.each([
  ['a synthetic feed', 'USD', () => openErApiPayload({ now: EVENING }), false],
  ...rowsOf(
    'USD v6-latest-USD-2025-11-02.json | CZK v6-latest-CZK-2026-02-18.raw.json | RUB v6-latest-RUB-2025-04-23.raw.json',
  ).map(([base = '', file = '']): [string, string, () => string, boolean] => [
    ...([`a recorded feed in ${base} ${NEEDS_RECORDINGS}`, base] as const),
    ...([() => read(file), !HAS_RECORDINGS] as const),
  ]),
] as [string, string, () => string, boolean][])(
  'the rates of %s',
  (_name, own, load, isMissing) => {
    it.skipIf(isMissing)(
      'are served against every base as exact quotients, or with the published digits, in their order',
      async () => {
        const text = load()
        const market = open(own, text)
        const { codes, updatedAt, nextUpdateAt, ratesOf, body } = market
        expect(codes.length).toBeGreaterThan(160)
        for (const base of codes) {
          const rates = ratesOf(base)
          const sent = await body(`/v1/latest?base=${base}`)
          const { disclaimer } = JSON.parse(sent)
          const expected = {
            base,
            updatedAt,
            nextUpdateAt,
            rates,
            source: LATEST_SOURCE,
            disclaimer,
          }
          expect(sent).toBe(JSON.stringify(expected))
          expect(await body(`/rates?base=${base}`)).toBe(
            JSON.stringify({ base, rates, updatedAt, nextUpdateAt, provider: PROVIDER }),
          )
        }
        const published = Object.keys(JSON.parse(text).rates)
        expect(JSON.parse(await body(`/v1/latest?base=${own}`)).rates).toEqual(
          ratesOf(own, published),
        )
        for (const [base, symbols, ...listed] of rowsOf(`
        USD EUR EUR | USD ZAR,eur,Gbp,AED AED EUR GBP ZAR | JPY ,+EUR+,+EUR,,eur,CHF+ CHF EUR
        EUR USD,CZK,RUB,EUR CZK EUR RUB USD`)) {
          const selected = codes.filter((code) => listed.includes(code))
          const { rates } = JSON.parse(await body(`/v1/latest?base=${base}&symbols=${symbols}`))
          expect(JSON.stringify(rates)).toBe(JSON.stringify(ratesOf(base ?? '', selected)))
        }
        expect(market.calls).toEqual([`https://open.er-api.com/v6/latest/${own}`])
      },
    )

    it.skipIf(isMissing)(
      'convert 300 pairs and amounts into the exact product of what is shown',
      async () => {
        const { codes, updatedAt, rate: rateOf, body, calls } = open(own, load())
        for (let i = 0; i < 300; i += 1) {
          const from = codes[(i * 7) % codes.length] ?? ''
          // Starts with equal codes, then increases their distance.
          const to = codes[(i * 7 + Math.floor(i / 10) * 5) % codes.length] ?? ''
          const sent = AMOUNTS[i % AMOUNTS.length] ?? ''
          const amount = oracle.nearestDouble(oracle.toExact(decodeURIComponent(sent)))
          const rate = rateOf(from, to)
          const result = oracle.product(amount, rate)
          const shown = { from, to, amount, rate, result, updatedAt }
          const query = `from=${from}&to=${to}&amount=${sent}`
          expect(await body(`/v1/convert?${query}`), query).toBe(
            JSON.stringify({ ...shown, source: LATEST_SOURCE }),
          )
          expect(await body(`/convert?${query}`), query).toBe(
            JSON.stringify({ ...shown, provider: PROVIDER }),
          )
        }
        expect(calls).toHaveLength(1)
      },
    )
  },
)

const providers = fakeProviders({ seed: 5 })
const { handler, json } = openService({ start: EVENING, providers })
const { currencies } = await handler.rates.currencies()
const latestCodes = currencies.filter(({ latest }) => latest).map(({ code }) => code)
const quotedCodes = currencies.filter(({ history }) => history).map(({ code }) => code)

const convert = (query: string) => json(`/api/v1/convert?${query}`)

it.each([
  ...['USD', 'JPY', 'KWD'].map((from) => `from=${from}&amount=1234.56789`),
  ...['2026-03-15', '2008-02-29', '1999-01-04'].map((date) => `from=GBP&amount=0.07&date=${date}`),
])('a conversion to all currencies has the same results as single ones: %s', async (query) => {
  expect([latestCodes.length, quotedCodes.length]).toEqual([161, 30])
  const codes = query.includes('date=') ? quotedCodes : latestCodes
  for (const each of [query, `${query}&reverse=true`]) {
    const { results } = await convert(`${each}&to=${codes.join()}`)
    const singles: [string, object][] = []
    for (const to of codes) {
      const { rate, result } = await convert(`${each}&to=${to}`)
      singles.push([to, { rate, result }])
    }
    expect(JSON.stringify(results)).toBe(JSON.stringify(Object.fromEntries(singles)))
  }
})

it('a conversion on a day is the exact quotient of the last rates published by then, back to 1999', async () => {
  const range = { start: '1999-01-04', end: '2026-03-18' }
  const context = { fetch, signal: new AbortController().signal, now: () => EVENING }
  const { days } = await providers.history.fetchHistory(range, context)
  expect(days.length).toBeGreaterThan(6_000)
  const counts = { published: 0, daysOff: 0 }
  for (const [index, { date: published, rates }] of days.entries()) {
    if (index % 97 !== 0) continue
    const exact = Object.entries({ ...rates, EUR: 1 }).map(([code, rate]) => {
      return [code, oracle.toExact(rate)] as const
    })
    const codes = exact.map(([code]) => code)
    const from = codes[index % codes.length] ?? ''
    const next = days[index + 1]?.date ?? range.end
    for (const date of oracle.daysOf(published, oracle.daysBefore(next, 1))) {
      counts[date === published ? 'published' : 'daysOff'] += 1
      const response = await convert(`from=${from}&date=${date}&to=${codes.join()}`)
      const expected = codes.map((to) => {
        const rate = oracle.crossRate(new Map(exact), 'EUR', from, to)
        return [to, { rate, result: rate }]
      })
      expect([response.date, response.results]).toEqual([published, Object.fromEntries(expected)])
    }
  }
  expect(Math.min(counts.published - 60, counts.daysOff)).toBeGreaterThan(10)
})

it('a conversion in reverse has the rate of the conversion, and the exact quotient with 15 digits, on any day', async () => {
  const dates = fc.constantFrom('', '&date=2026-03-01', '&date=2023-12-25', '&date=2005-07-01')
  // A decimal of up to 15 digits, from 1e-15 to 1e15.
  const amounts = fc
    .tuple(fc.integer({ min: 1, max: 1e15 - 1 }), fc.nat(30))
    .map(([whole, power]) => {
      return Number(`${whole}e${Math.min(power - 15, 15 - String(whole).length)}`)
    })
  const codes = fc.tuple(fc.nat(), fc.nat())
  const property = fc.asyncProperty(amounts, codes, dates, async (amount, picks, on) => {
    const known = on === '' ? latestCodes : quotedCodes
    const [from, to] = picks.map((each) => known[each % known.length])
    const { rate } = await convert(`from=${from}&to=${to}${on}`)
    const query = `from=${from}&to=${to}${on}&reverse=true&amount=${encodeURIComponent(amount)}`
    const exact = oracle.divide(oracle.toExact(amount), oracle.toExact(rate))
    const result = oracle.nearestDouble(oracle.roundSignificant(exact, 15))
    expect(await convert(query)).toMatchObject({ amount, rate, result, reverse: true })
  })
  await fc.assert(property, { seed: 20_261_122, numRuns: 500 })
})
