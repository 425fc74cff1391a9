import { describe, expect, it } from 'vitest'

import { RatesError } from '../../src/client/index.ts'
import type { ConversionListParams } from '../../src/client/index.ts'
import type { RatesOperations } from '../../src/index.ts'
import { PAIR, clientOf, handler, reasonOf } from './service.ts'

const DATE = '2020-02-29'

/** A question to either of them. */
type Ask = (rates: RatesOperations) => Promise<unknown>

/** What answers `ask`, and what it asks for: the name of an endpoint, and a query. */
async function answerTo(ask: Ask) {
  const { client, requests } = clientOf(handler)
  const record = await ask(client)
  const query = requests.map(({ url }) => url.replace(/^http:\/\/localhost\/api\/v1\/\w+/, ''))
  return { record, query: query.join() }
}

describe('a question', () => {
  it.each<[query: string, ask: Ask]>([
    ['', (api) => api.latest()],
    ['', (api) => api.latest({ symbols: [] })],
    ['?base=gbp&symbols=eur%2CUSD', (api) => api.latest({ base: 'gbp', symbols: ['eur', 'USD'] })],
    ['', (api) => api.currencies()],
    ['', (api) => api.status()],
    ['?from=USD&to=EUR', (api) => api.convert(PAIR)],
    ['?from=USD&to=EUR', (api) => api.convert({ ...PAIR, amount: undefined })],
    ...([0, 0.1, 1e-7, 1e21, 1.5e300] as const).map((amount): [string, Ask] => [
      `?from=USD&to=EUR&amount=${encodeURIComponent(amount)}`,
      (api) => api.convert({ ...PAIR, amount }),
    ]),
    ['?from=USD&to=EUR', (api) => api.history(PAIR)],
    ['?from=USD&to=EUR&period=5Y', (api) => api.history({ ...PAIR, period: '5Y' })],
    ['?from=USD&to=EUR%2Cgbp', (api) => api.convert({ from: 'USD', to: ['EUR', 'gbp'] })],
    ['?from=USD&to=EUR%2C', (api) => api.convert({ from: 'USD', to: ['EUR'] })],
    [
      '?from=usd&to=JPY%2CEUR&amount=0.1&date=2020-02-29&reverse=true',
      (api) =>
        api.convert({ from: 'usd', to: ['JPY', 'EUR'], amount: 0.1, date: DATE, reverse: true }),
    ],
    [
      '?from=USD&to=EUR&amount=100&reverse=true',
      (api) => api.convert({ ...PAIR, amount: 100, reverse: true }),
    ],
    ['?from=USD&to=EUR&reverse=false', (api) => api.convert({ ...PAIR, reverse: false })],
    ['?from=USD&to=EUR&date=2020-02-29', (api) => api.convert({ ...PAIR, date: DATE })],
    ['?date=2020-02-29', (api) => api.latest({ date: DATE })],
    [
      '?base=gbp&symbols=EUR%2Cjpy&date=1999-01-04',
      (api) => api.latest({ base: 'gbp', symbols: ['EUR', 'jpy'], date: '1999-01-04' }),
    ],
    ['?date=2020-02-29', (api) => api.latest({ symbols: [], date: DATE })],
    ['?from=USD&to=EUR&start=2026-11-01', (api) => api.history({ ...PAIR, start: '2026-11-01' })],
    [
      '?from=USD&to=EUR&start=1999-01-04&end=2020-02-29&interval=month',
      (api) => api.history({ ...PAIR, start: '1999-01-04', end: DATE, interval: 'month' }),
    ],
    [
      '?from=USD&to=EUR&period=1Y&interval=week',
      (api) => api.history({ ...PAIR, period: '1Y', interval: 'week' }),
    ],
  ])('asks %s, and has the record of the handler', async (query, ask) => {
    const told = await answerTo(ask)
    expect(told.query).toBe(query)
    expect(told.record).toEqual(await ask(handler.rates))
  })

  it('has results by code, even of one currency', async () => {
    const { client } = clientOf(handler)
    const { results } = await client.convert({ from: 'USD', to: ['eur'], amount: 2 })
    const { rate, result } = await client.convert({ ...PAIR, amount: 2 })
    expect(results).toEqual({ EUR: { rate, result } })
  })

  it('says nothing that the API does not know', async () => {
    const stray = { trace: 'a', format: 'csv' }
    const range = { ...stray, ...PAIR, start: '2026-11-01' }
    const dated = { ...stray, date: DATE }
    const conversion: ConversionListParams = { ...stray, ...PAIR, date: DATE }
    expect((await answerTo((api) => api.history(range))).query).not.toMatch(/trace|format/)
    expect((await answerTo((api) => api.latest(dated))).query).toBe(`?date=${DATE}`)
    expect((await answerTo((api) => api.convert(conversion))).query).not.toMatch(/trace|format/)
  })
})

describe('a question that cannot be answered', () => {
  it.each<[code: string, ask: Ask]>([
    ['invalid_currency', (api) => api.latest({ base: 'XYZ' })],
    ['invalid_currency', (api) => api.convert({ from: 'USD', to: 'HRK' })],
    ['invalid_currency', (api) => api.latest({ symbols: ['EUR', 'XYZ'] })],
    ['invalid_currency', (api) => api.convert({ from: 'USD', to: 'a&b=c' })],
    ['invalid_currency', (api) => api.latest({ base: '' })],
    ['invalid_amount', (api) => api.convert({ ...PAIR, amount: NaN })],
    ['invalid_amount', (api) => api.convert({ ...PAIR, amount: -1 })],
    ['unsupported_currency', (api) => api.history({ from: 'USD', to: 'KID' })],
    ['invalid_currency', (api) => api.convert({ from: 'USD', to: [] })],
    ['invalid_currency', (api) => api.convert({ from: 'USD', to: ['EUR', 'XYZ'] })],
    ['invalid_currency', (api) => api.convert({ from: 'USD', to: ['EUR', 'euro'] })],
    ['invalid_amount', (api) => api.convert({ from: 'USD', to: ['EUR'], amount: -1 })],
    ['invalid_parameter', (api) => api.convert({ ...PAIR, date: '2021-02-29' })],
    ['invalid_parameter', (api) => api.convert({ ...PAIR, date: '' })],
    ['invalid_parameter', (api) => api.convert({ ...PAIR, date: '2026-12-24' })],
    ['unsupported_currency', (api) => api.convert({ from: 'USD', to: 'KID', date: DATE })],
    ['no_data', (api) => api.convert({ ...PAIR, date: '1998-12-31' })],
    ['invalid_parameter', (api) => api.latest({ date: 'today' })],
    ['no_data', (api) => api.latest({ date: '1998-12-31' })],
    ['invalid_parameter', (api) => api.history({ ...PAIR, start: DATE, end: '2020-02-28' })],
    ['no_data', (api) => api.history({ ...PAIR, start: '1998-01-01', end: '1998-12-31' })],
  ])('rejects with the %s of the handler', async (code, ask) => {
    const told = await reasonOf(ask(handler.rates))
    const reason = await reasonOf(ask(clientOf(handler).client))
    // That of the handler is one of the client too.
    for (const error of [told, reason]) expect(error).toBeInstanceOf(RatesError)
    const { message } = Object(told)
    expect(reason).toMatchObject({ name: 'RatesError', code, message, retryAfter: undefined })
  })

  it('is that of one code with a comma in it', async () => {
    const { client } = clientOf(handler)
    for (const to of ['EUR,GBP', 'EUR,', ['EUR,GBP'], ['USD', 'EUR,GBP']]) {
      expect(await reasonOf(client.convert({ from: 'USD', to }))).toMatchObject({
        code: 'invalid_currency',
        message: expect.stringContaining('EUR;'),
      })
    }
  })

  it('rejects code without types as the handler does', async () => {
    const { client } = clientOf(handler)
    for (const to of [undefined, null, 978, {}, [undefined], [null]]) {
      const untyped: typeof PAIR = Object.assign(JSON.parse('{"from":"USD"}'), { to })
      const { code } = Object(await reasonOf(handler.rates.convert(untyped)))
      expect(code).toMatch(to === undefined ? /^missing_parameter$/ : /^invalid_currency$/)
      expect(await reasonOf(client.convert(untyped))).toMatchObject({ code })
    }
  })
})

describe('an answer that has another form than its question', () => {
  it('is none: one result for a list, or several for a code', async () => {
    const list = { from: 'USD', to: ['EUR'] }
    const one = clientOf(() => Response.json({ rate: 2, result: 2 })).client
    const several = clientOf(() => Response.json({ results: {} })).client
    for (const call of [one.convert(list), several.convert(PAIR)]) {
      expect(await reasonOf(call)).toMatchObject({ code: 'internal_error' })
    }
    expect(await several.convert(list)).toEqual({ results: {} })
  })
})
