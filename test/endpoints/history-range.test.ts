import { describe, expect, it } from 'vitest'

import { ENDED, RECENT_SINCE, TODAY, WITHOUT_YEN, longService } from '../fixtures/long-market.ts'
import { daysOf, mean, percentChange } from '../oracle.ts'

const PAIR = 'history?from=USD&to=EUR'

describe('history from one day to another', () => {
  it('has a record of its own, with the days as they were asked for', async () => {
    const { get } = longService()
    const { status, body } = await get(`${PAIR}&start=2026-11-07&end=2026-11-15`)
    expect(status).toBe(200)
    expect(Object.keys(body).join()).toBe('from,to,start,end,points,stats,source')
    expect([body.from, body.to, body.start, body.end]).toEqual([
      'USD',
      'EUR',
      '2026-11-07',
      '2026-11-15',
    ])
    expect(body.points.map(({ d }) => d)).toEqual(daysOf('2026-11-09', '2026-11-13'))
    const rates = body.points.map(({ r }) => r)
    const [open = NaN, close = NaN] = [rates[0], rates.at(-1)]
    expect(body.stats).toEqual({
      open,
      close,
      high: Math.max(...rates),
      low: Math.min(...rates),
      changePct: percentChange(open, close),
      average: mean(rates),
      highDate: body.points.find(({ r }) => r === Math.max(...rates))?.d,
      lowDate: body.points.find(({ r }) => r === Math.min(...rates))?.d,
    })
  })

  it('ends on the newest published day where no end is asked for', async () => {
    const { body } = await longService().get(`${PAIR}&start=2026-11-18`)
    expect(body.end).toBe(TODAY)
    expect(body.points.map(({ d }) => d)).toEqual(['2026-11-18', '2026-11-19', '2026-11-20'])
  })

  it('takes an end in the future for today', async () => {
    const { get } = longService()
    const { body } = await get(`${PAIR}&start=2026-11-18&end=2999-12-31`)
    expect(body.end).toBe('2999-12-31')
    expect(body.points).toEqual((await get(`${PAIR}&start=2026-11-18`)).body.points)
  })

  it('begins with the first observation where nothing was published as early as asked', async () => {
    const { body } = await longService().get(`${PAIR}&start=0001-01-01&end=1999-01-06`)
    expect(body.start).toBe('0001-01-01')
    expect(body.points.map(({ d }) => d)).toEqual(['1999-01-04', '1999-01-05', '1999-01-06'])
  })

  it.each(['1W', '1M', '3M', '6M', '1Y', '5Y'])('has what a period of %s has', async (period) => {
    const { get } = longService()
    const { body } = await get(`history?from=IDR&to=JPY&period=${period}`)
    const starts: Record<string, string> = {
      '1W': '2026-11-13',
      '1M': '2026-10-20',
      '3M': '2026-08-20',
      '6M': '2026-05-20',
      '1Y': '2025-11-20',
      '5Y': '2021-11-20',
    }
    const range = await get(`history?from=idr&to=jpy&start=${starts[period]}&end=${TODAY}`)
    expect(range.body.points).toEqual(body.points)
    expect(range.body.stats).toEqual(body.stats)
    expect(range.body.source).toEqual(body.source)
    expect(range.body).not.toHaveProperty('period')
  })

  it('leaves out a day that lacks a side', async () => {
    const { body } = await longService().get(
      `history?from=JPY&to=USD&start=2024-03-04&end=2024-03-06`,
    )
    expect(WITHOUT_YEN).toBe('2024-03-05')
    expect(body.points.map(({ d }) => d)).toEqual(['2024-03-04', '2024-03-06'])
  })

  it('covers what was quoted in its days', async () => {
    const { get } = longService()
    const kuna = await get('history?from=EUR&to=HRK&start=2022-12-28')
    expect(kuna.body.points.map(({ d }) => d)).toEqual(['2022-12-28', '2022-12-29', ENDED.HRK])
    const pound = await get('history?from=CYP&to=hrk&start=2007-12-01')
    expect(pound.body.points.at(-1)?.d).toBe(ENDED.CYP)
  })

  it('goes over the border of the last five years as if there were none', async () => {
    const { get, asked } = longService()
    const recent = await get(`${PAIR}&start=${RECENT_SINCE}&end=2021-12-31`)
    expect(asked).toEqual([RECENT_SINCE])
    const whole = await get(`${PAIR}&start=2021-11-01&end=2021-12-31`)
    expect(asked).toEqual([RECENT_SINCE, '1999-01-04'])
    const shared = whole.body.points.filter(({ d }) => d >= RECENT_SINCE)
    expect(whole.body.points.length).toBeGreaterThan(shared.length)
    expect(shared).toEqual(recent.body.points)
  })
})

describe('interval', () => {
  it.each([
    ['week', ['2026-10-02', '2026-10-09', '2026-10-16', '2026-10-21']],
    ['month', ['2026-09-30', '2026-10-21']],
  ])('%s has the last point of each', async (interval, expected) => {
    const { get } = longService()
    const { body } = await get(`${PAIR}&start=2026-09-29&end=2026-10-21&interval=${interval}`)
    const daily = (await get(`${PAIR}&start=2026-09-29&end=2026-10-21`)).body.points
    expect(Object.keys(body).join()).toBe('from,to,start,end,interval,points,stats,source')
    expect(body.interval).toBe(interval)
    expect(body.points).toEqual(daily.filter(({ d }) => expected.includes(d)))
    expect(body.points.map(({ d }) => d)).toEqual(expected)
    expect(body.stats.average).toBe(mean(body.points.map(({ r }) => r)))
  })

  it('goes with a period too, and with the default one', async () => {
    const { get } = longService()
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

describe('the answer to a range', () => {
  const query = `${PAIR}&start=2026-11-02&interval=week`

  it('may be CSV, with the same points', async () => {
    const { get } = longService()
    const { points, source } = (await get(query)).body
    const { text, headers } = await get(`${query}&format=csv`)
    const lines = points.map(({ d, r }) => `USD,EUR,${d},${r},${source.name},${source.url}`)
    expect(text.split('\r\n')).toEqual(['from,to,date,rate,source,sourceUrl', ...lines, ''])
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present')
  })
})

describe('a range that cannot be told', () => {
  it.each([
    [
      'start=2026-11-02&period=1M',
      'invalid_parameter',
      'period (either a period, or start and end',
    ],
    ['end=2026-11-02&period=1M', 'invalid_parameter', 'period (either a period, or start and end'],
    ['end=2026-11-02', 'missing_parameter', 'start'],
    ['end=2026-11-02&interval=week', 'missing_parameter', 'start'],
    ['start=2026-11-02&end=2026-11-01', 'invalid_parameter', 'start (not after end)'],
    ...['', '2026-02-30', '2026-1-5', '20260105', '2026-01-05T00:00', ' 2026-01-05', '٢٠٢٦-٠١-٠٥']
      .map((day) => ['start', day])
      .concat([
        ['end', ''],
        ['end', '2026-13-01'],
        ['end', 'today'],
      ])
      .map(([name, day]) => [
        `${name === 'end' ? 'start=2020-01-01&' : ''}${name}=${encodeURIComponent(day ?? '')}`,
        'invalid_parameter',
        `${name} (YYYY-MM-DD)`,
      ]),
    ['interval=', 'invalid_parameter', 'interval (day, week or month)'],
    ['interval=WEEK', 'invalid_parameter', 'interval (day, week or month)'],
    ['interval=year', 'invalid_parameter', 'interval (day, week or month)'],
    ['start=2026-11-02&start=2026-11-02', 'invalid_parameter', 'start (given more than once)'],
    ['Start=2026-11-02', 'invalid_parameter', 'Start (write start)'],
    ['end[]=2026-11-02', 'invalid_parameter', 'end[] (write end)'],
    ['date=2026-11-02', 'invalid_parameter', 'date (use start and end)'],
    ['period=2W&start=2026-11-02', 'invalid_period', '2W'],
  ])('%s is %s before anyone is asked', async (query, code, told) => {
    const { get, asked } = longService()
    const { status, headers, body } = await get(`${PAIR}&${query}`)
    expect([status, body.error.code]).toEqual([400, code])
    expect(body.error.message).toContain(told)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(asked).toEqual([])
  })

  it.each([
    ['from=AED&to=EUR&start=2026-11-02', 'Unsupported from currency: AED (history covers AUD'],
    ['from=EUR&to=aed&start=2026-11-02', 'Unsupported to currency: aed (history covers AUD'],
    // Quoted, but not in the data that have these days.
    ['from=CYP&to=EUR&start=2026-11-02', 'withdrawn on 2008-01-01, use EUR'],
    ['from=HRK&to=EUR&interval=week', 'Unsupported from currency: HRK'],
  ])('%s: there are no such rates', async (query, told) => {
    const { status, body, text } = await longService().get(`history?${query}`)
    expect([status, body.error.code]).toEqual([400, 'unsupported_currency'])
    expect(body.error.message).toContain(told)
    expect(text.length).toBeLessThan(1_024)
  })

  it.each([
    ['start=2026-11-14&end=2026-11-15', ''],
    ['start=2026-11-21', ''],
    ['start=2999-01-01&end=2999-01-02', ''],
    ['start=1990-01-01&end=1998-12-31', ''],
    ['start=2023-01-02&end=2023-01-31&to=HRK', 'withdrawn on 2023-01-01, use EUR'],
    [`start=${WITHOUT_YEN}&end=${WITHOUT_YEN}&to=JPY`, 'of USD in JPY'],
  ])('%s: there is no point', async (query, told) => {
    const pair = query.includes('to=') ? 'history?from=USD' : PAIR
    const { status, headers, body } = await longService().get(`${pair}&${query}`)
    expect([status, body.error.code]).toEqual([404, 'no_data'])
    expect(body.error.message).toContain(`No reference rates of USD in`)
    expect(body.error.message).toContain(told)
    expect(headers.get('cache-control')).toBe('no-store')
  })
})

describe('the upstream of early days', () => {
  it('is asked once, and not before it is needed', async () => {
    const { get, asked } = longService()
    await get(PAIR)
    await get('latest?date=2022-01-03')
    expect(asked).toEqual([RECENT_SINCE])
    const early = Array.from({ length: 20 }, (_, year) => `${PAIR}&start=${1999 + year}-03-01`)
    await Promise.all([...early, 'latest?date=2001-09-11'].map((query) => get(query)))
    await get(`${PAIR}&start=2004-02-29&end=2004-02-29`)
    expect(asked).toEqual([RECENT_SINCE, '1999-01-04'])
  })

  it('may be down while everybody else is answered', async () => {
    const { get, upstream } = longService()
    await get(PAIR)
    upstream.isUp = false
    for (const query of [`${PAIR}&start=2010-01-01`, 'latest?date=2010-01-01']) {
      const { status, headers, body } = await get(query)
      expect([status, body.error.code]).toEqual([502, 'provider_unavailable'])
      expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
    }
    for (const query of [PAIR, `${PAIR}&start=2024-01-01`, 'latest?date=2024-01-01', 'latest']) {
      expect((await get(query)).status, query).toBe(200)
    }
  })
})

describe('handler.rates.history()', () => {
  it.each([
    [{ start: '2003-05-01' }, 'start=2003-05-01'],
    [{ start: '2026-11-01', end: '2026-11-10' }, 'start=2026-11-01&end=2026-11-10'],
    [{ start: '2026-11-01', interval: 'month' }, 'start=2026-11-01&interval=month'],
  ] as const)('resolves to the same record: %o', async (days, query) => {
    const { handler, get } = longService()
    const record = await handler.rates.history({ from: 'usd', to: 'EUR', ...days })
    expect(record).toEqual((await get(`${PAIR}&${query}`)).body)
  })

  it('has intervals of a period', async () => {
    const { handler, get } = longService()
    const question = { from: 'usd', to: 'EUR', period: '1Y', interval: 'month' } as const
    const { body } = await get(`${PAIR}&period=1Y&interval=month`)
    expect(await handler.rates.history(question)).toEqual(body)
    expect(body.points).toHaveLength(13)
  })

  it.each([
    ['invalid_parameter', { start: '2026-11-02', period: '1M' }],
    ['invalid_parameter', { start: '2026-2-30' }],
    ['invalid_parameter', { start: '' }],
    ['invalid_parameter', { start: new Date(0) }],
    ['invalid_parameter', { start: '2026-11-02', end: '2026-11-31' }],
    ['invalid_parameter', { start: '2026-11-02', end: '2026-11-01' }],
    ['invalid_parameter', { interval: 'year' }],
    ['missing_parameter', { end: '2026-11-02' }],
    ['missing_parameter', { end: '2026-11-02', interval: 'day' }],
    ['invalid_period', { start: '2026-11-02', period: '2W' }],
  ])('rejects with %s: %o', async (code, days) => {
    const { handler, asked } = longService()
    // @ts-expect-error for callers without types
    const record = handler.rates.history({ from: 'USD', to: 'EUR', ...days })
    await expect(record).rejects.toMatchObject({ name: 'RatesError', code })
    expect(asked).toEqual([])
  })
})
