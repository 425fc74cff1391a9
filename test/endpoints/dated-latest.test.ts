import { describe, expect, it } from 'vitest'

import { createRatesHandler } from '../../src/index.ts'
import type { HistoryProvider } from '../../src/index.ts'
import { ENDED, longService } from '../fixtures/long-market.ts'
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
    const { rates, ...day } = await json('/v1/latest?base=EUR&date=2023-01-01')
    expect(rates).toEqual({ EUR: 1, HRK: 7.5365, JPY: 140.66, USD: 1.0666 })
    expect(day).toMatchObject({
      date: '2022-12-30',
      updatedAt: Date.parse('2022-12-30T15:00:00Z'),
      nextUpdateAt: Date.parse('2023-01-02T15:00:00Z'),
    })
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

describe('latest rates of a day on which a currency was withdrawn', () => {
  it('omit only the symbols that were withdrawn by then', async () => {
    const { get } = longService()
    const after = await get('latest?date=2023-01-02&symbols=USD,HRK,DEM')
    expect(Object.keys(after.body.rates)).toEqual(['USD'])
    const before = await get('latest?date=2022-12-30&symbols=USD,HRK,DEM')
    expect(Object.keys(before.body.rates)).toEqual(['HRK', 'USD'])
  })

  it('do not have it', async () => {
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
