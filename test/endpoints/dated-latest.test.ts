import { describe, expect, it } from 'vitest'

import { createRatesHandler } from '../../src/index.ts'
import type { HistoryProvider } from '../../src/index.ts'
import { ENDED, WITHOUT_YEN, longService } from '../fixtures/long-market.ts'
import { openMarket } from '../fixtures/hand-written-market.ts'

const HOUR = 3_600_000

describe('latest rates with a date', () => {
  it('are the reference rates of that day, in the record of the latest and one field more', async () => {
    const { get } = longService()
    const { status, body } = await get('latest?date=2025-06-18&base=eur')
    const now = await get('latest')
    expect(status).toBe(200)
    expect(Object.keys(body).toSorted()).toEqual([...Object.keys(now.body), 'date'].toSorted())
    expect([body.base, body.date, body.rates['EUR']]).toEqual(['EUR', '2025-06-18', 1])
    // At 16:00 in Frankfurt, in summer; the next ones a day later.
    expect(body.updatedAt).toBe(Date.parse('2025-06-18T14:00:00Z'))
    expect(body.nextUpdateAt).toBe(body.updatedAt + 24 * HOUR)
    expect(Object.keys(body.rates)).toHaveLength(30)
    const query = 'history?from=EUR&to=ZAR&start=2025-06-18&end=2025-06-18'
    expect(body.rates['ZAR']).toBe((await get(query)).body.points[0]?.r)
    expect(body.disclaimer).toBe(now.body.disclaimer)
  })

  it.each([
    ['2026-11-15', '2026-11-13'],
    ['2024-04-01', '2024-03-28'],
    ['2026-11-21', '2026-11-20'],
    ['1999-01-04', '1999-01-04'],
    // A Sunday at the border of the last five years.
    ['2021-11-07', '2021-11-05'],
  ])('of %s are those of %s, when they were published last', async (asked, published) => {
    const { get } = longService()
    const { body } = await get(`latest?date=${asked}&symbols=EUR`)
    expect(body.date).toBe(published)
    expect(body).toEqual((await get(`latest?date=${published}&symbols=EUR`)).body)
  })

  it('are against the dollar unless told otherwise, and of the symbols asked for', async () => {
    const { get } = longService()
    const { body } = await get('latest?date=2024-03-04')
    expect([body.base, body.rates['USD']]).toEqual(['USD', 1])
    const some = await get('latest?date=2024-03-04&symbols=jpy,%20GBP,,jpy')
    expect(some.body.rates).toEqual({ GBP: body.rates['GBP'], JPY: body.rates['JPY'] })
  })

  it('are what was quoted then and no more, until the next working day', async () => {
    const { json } = openMarket()
    const { rates, date, updatedAt, nextUpdateAt } = await json(
      '/v1/latest?base=EUR&date=2023-01-01',
    )
    expect(rates).toEqual({ EUR: 1, HRK: 7.5365, JPY: 140.66, USD: 1.0666 })
    expect(date).toBe('2022-12-30')
    expect(new Date(updatedAt).toISOString()).toBe('2022-12-30T15:00:00.000Z')
    expect(new Date(nextUpdateAt).toISOString()).toBe('2023-01-02T15:00:00.000Z')
  })

  it('have currencies that have ended since', async () => {
    const { get } = longService()
    const { body } = await get(`latest?date=${ENDED.CYP}&base=CYP&symbols=HRK,EUR`)
    const query = `history?from=CYP&to=HRK&start=${ENDED.CYP}&end=${ENDED.CYP}`
    expect(body.rates['HRK']).toBe((await get(query)).body.points[0]?.r)
  })

  it('may be CSV, with the day behind each rate', async () => {
    const { get } = longService()
    const query = 'latest?date=2025-06-22&base=EUR&symbols=USD,JPY'
    const { rates, updatedAt, nextUpdateAt, source } = (await get(query)).body
    const lines = Object.entries(rates).map(([code, rate]) =>
      ['EUR', code, rate, '2025-06-20', updatedAt, nextUpdateAt, source.name, source.url].join(),
    )
    expect(lines).toHaveLength(2)
    expect((await get(`${query}&format=csv`)).text.split('\r\n')).toEqual([
      'base,code,rate,date,updatedAt,nextUpdateAt,source,sourceUrl',
      ...lines,
      '',
    ])
  })

  it('change nothing on the unversioned table, which has no such parameter', async () => {
    const { handler } = longService()
    const ask = async (path: string) =>
      (await handler(new Request(`http://localhost/api/${path}`))).text()
    expect(await ask('rates?date=2020-01-01')).toBe(await ask('rates'))
  })
})

describe('latest rates of a day that has none', () => {
  it.each([
    ...['', '2026-02-30', '2026-1-5', '20260105', 'today', '2026-11-20T10:00:00Z'].map((day) => [
      `date=${day}`,
      'date (YYYY-MM-DD)',
    ]),
    ['date=2026-11-22', 'date (not after today)'],
    ['date=9999-12-31', 'date (not after today)'],
    ['date=2026-11-20&date=2026-11-20', 'date (given more than once)'],
    ['DATE=2026-11-20', 'DATE (write date)'],
  ])('%s is refused before anyone is asked', async (query, told) => {
    const { get, asked } = longService()
    const { status, headers, body } = await get(`latest?${query}`)
    expect([status, body.error.code]).toEqual([400, 'invalid_parameter'])
    expect(body.error.message).toBe(`Invalid parameter: ${told}`)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(asked).toEqual([])
  })

  it.each([
    ['date=1999-01-03', 'No reference rates of 1999-01-03'],
    ['date=0001-01-01', 'No reference rates of 0001-01-01'],
    [`date=${WITHOUT_YEN}&base=JPY`, `No reference rates of JPY on ${WITHOUT_YEN}`],
    [`date=${WITHOUT_YEN}&symbols=USD,jpy`, `No reference rates of JPY on ${WITHOUT_YEN}`],
    ['date=2023-01-03&base=HRK', 'No reference rates of HRK on 2023-01-03 (withdrawn on'],
  ])('%s is no data', async (query, told) => {
    const { status, body } = await longService().get(`latest?${query}`)
    expect([status, body.error.code]).toEqual([404, 'no_data'])
    expect(body.error.message).toContain(told)
  })

  it.each([
    [
      'date=2024-01-02&base=AED',
      'Unsupported base currency: AED (the rates of 2024-01-02 cover AUD',
    ],
    [
      'date=2024-01-02&symbols=USD,aed',
      'Unsupported symbols currency: aed (the rates of 2024-01-02 cover AUD',
    ],
    // Not withdrawn by then: to leave it out would hide that there is no rate.
    ['date=2004-01-02&symbols=USD,SIT', 'Unsupported symbols currency: SIT (withdrawn on 2007'],
    ['date=2004-01-02&base=DEM', 'withdrawn on 1999-01-01, use EUR'],
  ])('%s is of a currency that is never quoted', async (query, told) => {
    const { status, body, text } = await longService().get(`latest?${query}`)
    expect([status, body.error.code]).toEqual([400, 'unsupported_currency'])
    expect(body.error.message).toContain(told)
    expect(text.length).toBeLessThan(1_024)
  })

  it('leaves out of the symbols what was withdrawn by then, and nothing else', async () => {
    const { get } = longService()
    const after = await get('latest?date=2023-01-02&symbols=USD,HRK,DEM')
    expect(Object.keys(after.body.rates)).toEqual(['USD'])
    const before = await get('latest?date=2022-12-30&symbols=USD,HRK,DEM')
    expect(Object.keys(before.body.rates)).toEqual(['HRK', 'USD'])
    const malformed = await get('latest?date=2022-12-30&symbols=USD,KUNA')
    expect(malformed.body.error.code).toBe('invalid_currency')
  })
})

describe('the rates of the very day on which a currency was withdrawn', () => {
  it('are without it, asked for by name or not', async () => {
    const history: HistoryProvider = {
      attribution: { name: 'Bank', url: 'https://bank.example' },
      fetchHistory: async () => ({
        base: 'EUR',
        days: [
          { date: '2005-06-30', rates: { USD: 1.2092, ROL: 36_030 } },
          { date: '2005-07-01', rates: { USD: 1.2087, RON: 3.599 } },
        ],
      }),
    }
    const handler = createRatesHandler({ providers: { history } })
    const ratesOf = async (date: string) => {
      const { rates } = await handler.rates.latest({ base: 'EUR', symbols: ['USD', 'ROL'], date })
      return rates
    }
    expect(await ratesOf('2005-06-30')).toEqual({ USD: 1.2092, ROL: 36_030 })
    expect(await ratesOf('2005-07-01')).toEqual({ USD: 1.2087 })
  })
})

describe('handler.rates.latest() of a date', () => {
  it('resolves to the same record', async () => {
    const { handler, get } = longService()
    const question = { date: '2004-02-29', base: 'gbp', symbols: ['USD', 'cyp'] }
    const { body } = await get('latest?date=2004-02-29&base=GBP&symbols=CYP,USD')
    expect(await handler.rates.latest(question)).toEqual(body)
    expect(body.date).toBe('2004-02-27')
  })

  it.each([
    ['invalid_parameter', { date: '2026-2-30' }],
    ['invalid_parameter', { date: '' }],
    ['invalid_parameter', { date: '2026-11-22' }],
    ['invalid_parameter', { date: 20_200_101 }],
    ['invalid_currency', { date: '2020-01-01', base: 'EURO' }],
  ])('rejects with %s: %o', async (code, question) => {
    const { handler, asked } = longService()
    // @ts-expect-error for callers without types
    const record = handler.rates.latest(question)
    await expect(record).rejects.toMatchObject({ name: 'RatesError', code })
    expect(asked).toEqual([])
  })
})
