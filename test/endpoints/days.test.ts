import { describe, expect, it } from 'vitest'

import { createRatesHandler } from '../../src/index.ts'
import { BANK_SOURCE, openMarket } from '../fixtures/hand-written-market.ts'
import { ENDED, TODAY, longService } from '../fixtures/long-market.ts'
import { PERIODS, daysOf, mean, periodStart } from '../oracle.ts'

const PAIR = 'history?from=USD&to=EUR'

/** For tests that only read. */
const { get } = longService()

describe('history from one day to another', () => {
  it.each([
    ['start=2026-11-18', '2026-11-18', TODAY, daysOf('2026-11-18', TODAY)],
    ['start=2026-11-18&end=2999-12-31', '2026-11-18', '2999-12-31', daysOf('2026-11-18', TODAY)],
    [
      'start=0001-01-01&end=1999-01-06',
      '0001-01-01',
      '1999-01-06',
      daysOf('1999-01-04', '1999-01-06'),
    ],
  ])(
    '%s starts on %s and ends on %s, with the published days of it',
    async (query, ...expected) => {
      const { body } = await get(`${PAIR}&${query}`)
      expect([body.start, body.end, body.points.map(({ d }) => d)]).toEqual(expected)
    },
  )

  it.each(PERIODS)('has the points and the statistics of the period %s', async (period) => {
    const { body } = await get(`history?from=IDR&to=JPY&period=${period}`)
    const start = periodStart(TODAY, period)
    const range = await get(`history?from=idr&to=jpy&start=${start}&end=${TODAY}`)
    expect(range.body.points).toEqual(body.points)
    expect(range.body.stats).toEqual(body.stats)
    expect(range.body.source).toEqual(body.source)
    expect(range.body).not.toHaveProperty('period')
  })

  it('includes currencies that were quoted in its range', async () => {
    const kuna = await get('history?from=EUR&to=HRK&start=2022-12-28')
    expect(kuna.body.points.map(({ d }) => d)).toEqual(['2022-12-28', '2022-12-29', ENDED.HRK])
    const pound = await get('history?from=CYP&to=hrk&start=2007-12-01')
    expect(pound.body.points.at(-1)?.d).toBe(ENDED.CYP)
  })
})

describe('interval', () => {
  it('works with a period, including the default one', async () => {
    const daily = (await get(`${PAIR}&period=1M`)).body
    const { body } = await get(`${PAIR}&interval=week`)
    expect(Object.keys(body).join()).toBe('from,to,period,interval,points,stats,source')
    expect(body.period).toBe('1M')
    const fridays = ['2026-10-23', '2026-10-30', '2026-11-06', '2026-11-13', '2026-11-20']
    expect(body.points).toEqual(daily.points.filter(({ d }) => fridays.includes(d)))
    expect(body.stats.average).toBe(mean(body.points.map(({ r }) => r)))
    const days = (await get(`${PAIR}&period=1M&interval=day`)).body
    expect(days).toEqual({ ...daily, interval: 'day' })
  })
})

describe('latest rates with a date', () => {
  it('have only the codes of that day, until the next working day', async () => {
    const { json } = openMarket()
    const { rates, ...day } = await json('/v1/latest?base=EUR&date=2023-01-01')
    expect(rates).toEqual({ EUR: 1, HRK: 7.5365, JPY: 140.66, USD: 1.0666 })
    expect(day).toMatchObject({
      date: '2022-12-30',
      updatedAt: Date.parse('2022-12-30T15:00:00Z'),
      nextUpdateAt: Date.parse('2023-01-02T15:00:00Z'),
    })
  })
})

describe('latest rates of a day on which a currency was withdrawn', () => {
  it('omit only the symbols that were withdrawn by then', async () => {
    const after = await get('latest?date=2023-01-02&symbols=USD,HRK,DEM')
    expect(Object.keys(after.body.rates)).toEqual(['USD'])
    const before = await get('latest?date=2022-12-30&symbols=USD,HRK,DEM')
    expect(Object.keys(before.body.rates)).toEqual(['HRK', 'USD'])
  })

  it('omit it', async () => {
    const days = [
      { date: '2005-06-30', rates: { USD: 1.2092, ROL: 36_030 } },
      { date: '2005-07-01', rates: { USD: 1.2087, RON: 3.599 } },
    ]
    const fetchHistory = async () => ({ base: 'EUR', days })
    const history = { attribution: BANK_SOURCE, fetchHistory }
    const { rates } = createRatesHandler({ providers: { history } })
    const ratesOf = async (date: string) =>
      (await rates.latest({ base: 'EUR', symbols: ['USD', 'ROL'], date })).rates
    expect(await ratesOf('2005-06-30')).toEqual({ USD: 1.2092, ROL: 36_030 })
    expect(await ratesOf('2005-07-01')).toEqual({ USD: 1.2087 })
  })
})
