import { describe, expect, it } from 'vitest'

import type { HistoryProvider } from '../../src/index.ts'
import { bankRate } from '../fixtures/bank.ts'
import { market } from '../fixtures/service.ts'
import { DAY, HOUR, MINUTE, settled, virtualRuntime } from '../virtual-runtime.ts'
import { CODES, EVENING, ONE, OTHER, openBank, openWorld } from './world.ts'
import type { Json } from './world.ts'

type FetchHistory = HistoryProvider['fetchHistory']

/** Opens a handler over a provider that declares no publication; records the days of its calls. */
function openRelay(start: number, fetchHistory: FetchHistory = market.history.fetchHistory) {
  const ranges: string[] = []
  const history: HistoryProvider = {
    attribution: { name: 'Relay', url: 'https://rates.example' },
    fetchHistory(range, context) {
      ranges.push(`${range.start} ${range.end}`)
      return fetchHistory(range, context)
    },
  }
  const runtime = virtualRuntime(start)
  const world = openWorld(runtime, { providers: { history, latest: market.latest } })
  /** Requests history every `step` ms for `duration` ms. */
  async function requestEvery(step: number, duration: number): Promise<void> {
    for (let passed = 0; passed < duration; passed += step) {
      await world.handler.rates.history({ from: 'USD', to: 'EUR' }).catch(() => undefined)
      await settled()
      await runtime.advance(step)
    }
  }
  return { ...world, rates: world.handler.rates, ranges, requestEvery }
}

/** Returns a provider function that always returns these days. */
const publishing =
  (...dates: string[]): FetchHistory =>
  async () => ({ base: 'EUR', days: dates.map((date) => ({ date, rates: { USD: 1.1 } })) })

describe('history of a provider that returns any range', () => {
  it('is downloaded for five years once, and then from the last seven days on', async () => {
    const { ranges, requestEvery } = openRelay(EVENING - DAY)
    await requestEvery(HOUR, 6 * DAY)
    expect(ranges).toEqual([
      '2021-11-05 2026-11-19',
      '2026-11-11 2026-11-20',
      '2026-11-12 2026-11-23',
      '2026-11-13 2026-11-24',
      '2026-11-16 2026-11-25',
    ])
  })

  it('is downloaded once for earlier days, in addition to the last five years', async () => {
    const { rates, ranges } = openRelay(EVENING - 6 * HOUR)
    const pair = { from: 'USD', to: 'EUR' }
    const recent = await rates.history({ ...pair, start: '2021-11-06' })
    expect(recent.points[0]?.d).toBe('2021-11-08')
    expect((await rates.history({ ...pair, start: '2021-11-05' })).points[0]?.d).toBe('2021-11-05')
    expect((await rates.history({ ...pair, start: '1980-01-01' })).points[0]?.d).toBe('1999-01-04')
    expect(await rates.history({ ...pair, start: '2021-11-06' })).toEqual(recent)
    expect(ranges).toEqual(['2021-11-06 2026-11-20', '1999-01-04 2021-12-31'])
  })

  it('is requested about every ten minutes while a publication is late', async () => {
    const late: FetchHistory = (range, { now, ...context }) =>
      market.history.fetchHistory(range, { ...context, now: () => now() - 2 * HOUR })
    const { ranges, requestEvery } = openRelay(EVENING - 4 * HOUR, late)
    await requestEvery(MINUTE, 4 * HOUR)
    // One at first, then from 15:00 to 17:00 UTC one in ten and a half minutes; the last one returns the day.
    expect(ranges.length).toBeGreaterThan(10)
    expect(ranges.length).toBeLessThanOrEqual(14)
    expect(ranges.at(-1)).toBe('2026-11-11 2026-11-20')
  })

  it('is not replaced by a download with an earlier last day', async () => {
    let [base, last] = ['EUR', '2026-11-20']
    const { pass, refresh, rates, ranges } = openRelay(EVENING, async () => {
      return { base, days: [{ date: last, rates: { USD: 1.1 } }] }
    })
    await refresh()
    ;[base, last] = ['XEU', '2026-11-19']
    await pass(3 * DAY)
    expect(ranges).toHaveLength(3)
    const { points } = await rates.history({ from: 'EUR', to: 'USD', period: '1W' })
    expect(points).toEqual([{ d: '2026-11-20', r: 1.1 }])
  })

  it('is downloaded again when the provider changes its base', async () => {
    let base = 'EUR'
    const { pass, refresh, rates, ranges } = openRelay(EVENING, async ({ end }) => {
      return { base, days: [{ date: end, rates: { USD: 1.1, [base]: 1 } }] }
    })
    await refresh()
    base = 'XEU'
    await pass(3 * DAY)
    expect(ranges).toEqual([
      '2021-11-06 2026-11-20',
      '2026-11-20 2026-11-23',
      '2021-11-09 2026-11-23',
    ])
    const { points } = await rates.history({ from: 'XEU', to: 'USD' })
    expect(points).toEqual([{ d: '2026-11-23', r: 1.1 }])
  })

  it.each([[[]], [['2026-11-21']], [['2099-01-01']]])('is rejected with only %j', async (dates) => {
    const call = openRelay(EVENING, publishing(...dates)).rates.history({ from: 'EUR', to: 'USD' })
    await expect(call).rejects.toMatchObject({ code: 'provider_unavailable' })
  })

  it('is refreshed also where it has a day in the future', async () => {
    const days = publishing('2026-11-17', '2026-11-19')
    const { requestEvery, ranges } = openRelay(Date.UTC(2026, 10, 18, 15, 30), days)
    await requestEvery(10 * MINUTE, HOUR)
    expect(ranges.length).toBeGreaterThan(2)
  })
})

describe('a bank with a table per day and a series per currency', () => {
  it('is called once on the next day, for all currencies', async () => {
    const { bank, ranges, read, pass } = openBank({ start: EVENING - DAY })
    for (const code of CODES) await read(`/v1/history?from=EUR&to=${code}&period=5Y`)
    bank.calls.length = 0
    await pass(DAY)
    for (const code of CODES) {
      const { points } = await read(`/v1/history?from=${code}&to=EUR&period=1W`)
      expect(points.at(-1).d).toBe('2026-11-20')
    }
    expect(ranges()).toEqual(['2026-11-20 2026-11-20'])
  })

  it('serves single days and whole tables with few calls', async () => {
    const { ranges, read, get, finish } = openBank()
    const sunday = 'date=2020-03-01'
    const table = `/v1/latest?${sunday}&base=${ONE}`
    const { date, rates } = await read(table)
    expect([date, Object.keys(rates).length]).toEqual(['2020-02-28', CODES.length + 1])
    const tables = ['2026-11-20 2026-11-20', '2020-02-28 2020-02-28']
    expect(ranges()).toEqual(tables)
    await read(`/v1/latest?date=2020-02-29&base=${OTHER}`)
    // One call for the table after the Sunday, and one for the series.
    expect(await read(`${table}&rule=next`)).toMatchObject({ date: '2020-03-02' })
    const dated = `/v1/convert?from=EUR&to=${ONE}&amount=2&${sunday}`
    const response = await finish(get(dated))
    expect(response.headers.get('cache-status')).toBe('rates; fwd=miss')
    const rate = bankRate(ONE, '2020-02-28')
    expect(await response.json()).toMatchObject({ date: '2020-02-28', rate })
    const next = { date: '2020-03-02', rate: bankRate(ONE, '2020-03-02') }
    expect(await read(`${dated}&rule=next`)).toMatchObject(next)
    const [ofDay, ofSeries] = ['2020-03-02 2020-03-02', `${ONE} 1999-01-04 2026-11-20`]
    expect(ranges()).toEqual([...tables, ofDay, ofSeries])
    expect((await get(dated)).headers.get('cache-status')).toMatch(/^rates; hit; ttl=/)
  })

  it('serves the next table after a day before the newest ones', async () => {
    const { read } = openBank()
    const next = await read('/v1/latest?date=2026-11-14&base=EUR&rule=next')
    expect(next).toMatchObject({ date: '2026-11-16' })
  })

  it('is not called for unknown codes, nor again for a currency without rates', async () => {
    const { bank, read } = openBank()
    const { error } = await read('/v1/history?from=EUR&to=QQQ')
    expect([error.code, bank.calls.length]).toEqual(['unsupported_currency', 1])
    for (const code of ['ZMK', 'ROL', 'SIT', 'CYP', 'ZMK', 'ROL', 'SIT', 'CYP']) {
      const target = `/v1/history?from=EUR&to=${code}&start=2002-01-01`
      expect(await read(target), code).toMatchObject({ error: { code: 'no_data' } })
    }
    expect(bank.calls).toHaveLength(5)
    expect(await read(`/v1/history?from=EUR&to=${ONE}&period=5Y`)).toMatchObject({ status: 200 })
  })

  it('has a rate of the base against itself, also on days without one in memory', async () => {
    const answer = await openBank().read('/v1/convert?from=EUR&to=EUR&date=2010-01-09')
    expect(answer).toMatchObject({ status: 200, date: '2010-01-08', rate: 1 })
  })
})

describe('a withdrawn currency in the rates of a bank', () => {
  it.each([
    [true, 7.5345],
    [false, 7.4],
  ])('follows its successor from its withdrawal on, with sanityChecks %s', async (...row) => {
    const [sanityChecks, fixed] = row
    const { read } = openBank({
      codes: ['EUR', 'HRK', ...CODES],
      sanityChecks,
      change: ({ days }) => ({
        base: 'QQB',
        days: days.map(({ date, rates }) => {
          const kuna = rates['HRK'] && { HRK: bankRate('EUR', date) * 7.4 }
          return { date, rates: { ...rates, ...kuna } }
        }),
      }),
    })
    const targets = ['latest?base=EUR', 'latest?base=EUR&symbols=HRK', 'convert?from=EUR&to=HRK']
    for (const [date, ratio] of Object.entries({ '2022-12-30': 7.4, '2024-03-01': fixed })) {
      for (const target of targets) {
        const { rates, rate } = await read(`/v1/${target}&date=${date}`)
        expect(rates?.HRK ?? rate, `${target} ${date}`).toBeCloseTo(ratio, 8)
      }
    }
    const { points } = await read('/v1/history?from=EUR&to=HRK&start=2022-12-28&end=2023-01-04')
    for (const { d, r } of points) expect(r, d).toBeCloseTo(d < '2023-01-01' ? 7.4 : fixed, 8)
    expect(points.length).toBeGreaterThan(4)
  })
})

describe('rates that are dated when they take effect', () => {
  it('are those of tomorrow in the evening, and of every day before', async () => {
    const before = (day: string): string =>
      new Date(Date.parse(day) - DAY).toISOString().slice(0, 10)
    const isOpen = (day: string): boolean => ![0, 6].includes(new Date(before(day)).getUTCDay())
    const { read, pass } = openBank({
      start: EVENING - DAY,
      dated: 'effect',
      isOpen,
      publishedAt: (day) => Date.parse(`${before(day)}T15:00:00Z`),
    })
    const { currencies } = await read('/v1/currencies')
    const covered = currencies.filter(({ history }: Json) => history).map(({ code }: Json) => code)
    expect(covered).toEqual([...CODES, 'EUR'].toSorted())
    const daysOf = async (): Promise<string[]> => {
      const { points } = await read(`/v1/history?from=EUR&to=${ONE}&start=2026-11-12`)
      return points.map(({ d }: { d: string }) => d.slice(8))
    }
    // Windows end today.
    expect(await daysOf()).toEqual(['12', '13', '14', '17', '18', '19'])
    for (const date of ['2026-11-19', '2026-11-20']) {
      const target = `/v1/convert?from=EUR&to=${ONE}&date=${date}`
      expect(await read(target)).toMatchObject({ date, rate: bankRate(ONE, date) })
    }
    await pass(3 * DAY, HOUR)
    expect(await daysOf()).toEqual(['12', '13', '14', '17', '18', '19', '20', '21'])
    const latest = await read('/v1/latest?base=EUR&date=2026-11-22')
    expect(latest).toMatchObject({ date: '2026-11-21' })
  })
})

describe('several publications', () => {
  const BANK = { name: 'Bank', url: 'https://bank.example' }
  const REFERENCE = market.history.attribution

  const openTwo = ({
    reference = market.history,
    ...options
  }: Parameters<typeof openBank>[0] & { reference?: HistoryProvider } = {}) =>
    openBank({ codes: [...CODES, 'USD', 'RUB', 'JPY'], before: [reference], ...options })

  it('serve a pair from the first with both codes, never mixed', async () => {
    const { read, bank } = openTwo()
    const sourceOf = async (query: string): Promise<unknown> => (await read(query)).source
    const dated = '/v1/convert?date=2026-11-19&from=USD&to='
    const table = '/v1/latest?date=2026-11-19'
    for (const target of ['/v1/history?from=USD&to=JPY', `${dated}EUR`, `${table}&symbols=JPY`])
      expect(await sourceOf(target), target).toEqual(REFERENCE)
    expect(bank.calls).toEqual([])
    const { source, points } = await read(`/v1/history?from=USD&to=${ONE}&period=1W`)
    expect(source).toEqual(BANK)
    const { d, r } = points.at(-1)
    expect(r).toBeCloseTo(bankRate(ONE, d) / bankRate('USD', d), 8)
    for (const target of [
      `${dated}${ONE}`,
      `${dated}EUR,${ONE}`,
      `${table}&symbols=${ONE}`,
      `${table}&base=${ONE}`,
    ])
      expect(await sourceOf(target), target).toEqual(BANK)
  })

  it('serve each pair of a list as if it were requested alone', async () => {
    const { read, get, finish } = openTwo()
    const rest = 'start=2026-11-13&end=2026-11-22&fill=previous'
    const list = `/v1/history?from=EUR&to=USD,${ONE}&${rest}`
    await read(`/v1/history?from=EUR&to=USD&${rest}`)
    const response = await finish(get(list))
    expect(response.headers.get('cache-status')).toBe('rates; fwd=miss')
    const { series, end }: Json = await response.json()
    expect(end).toBe('2026-11-22')
    expect([series.USD.source, series[ONE].source]).toEqual([REFERENCE, BANK])
    for (const code of ['USD', ONE]) {
      const { status, ...alone } = await read(`/v1/history?from=EUR&to=${code}&${rest}`)
      expect([status, series[code]]).toEqual([200, alone])
    }
    const wide = await finish(get(`${list}&format=csv&layout=wide`))
    const [head, first] = (await wide.text()).split('\r\n')
    expect(head).toBe(`date,USD,${ONE},filled`)
    expect(first).toBe(`2026-11-13,${series.USD.points[0].r},${series[ONE].points[0].r},`)
    const links = wide.headers.get('link')?.split(/, (?=<)/)
    const urls = links?.map((link) => /^<([^>]*)>/.exec(link)?.[1])
    expect(urls).toEqual([REFERENCE.url, `${BANK.url}/`])
    expect((await finish(get(list))).headers.get('cache-status')).toMatch(/^rates; hit; ttl=/)
  })

  it('make a cached list again when the second alone has a new day', async () => {
    const late: FetchHistory = (range, context) =>
      market.history.fetchHistory(range, { ...context, now: () => EVENING - DAY })
    const start = EVENING - 4 * HOUR
    const { read, pass } = openTwo({ start, reference: { ...market.history, fetchHistory: late } })
    const lastDays = async (): Promise<unknown> => {
      const { series, end } = await read(`/v1/history?from=EUR&to=USD,${ONE}&start=2026-11-13`)
      return [series.USD.points.at(-1).d, series[ONE].points.at(-1).d, end]
    }
    expect(await lastDays()).toEqual(['2026-11-19', '2026-11-19', '2026-11-19'])
    await pass(3 * HOUR)
    expect(await lastDays()).toEqual(['2026-11-19', '2026-11-20', '2026-11-20'])
  })

  it.each([
    '/v1/history?from=USD&to=QQQ',
    '/v1/convert?from=USD&to=QQQ&date=2015-03-01',
    '/v1/latest?base=QQQ&date=2015-03-01&rule=exact',
  ])('reject a code that none has, with the codes of the widest: %s', async (target) => {
    const { read, bank } = openTwo()
    const { error } = await read(target)
    expect(error.code).toBe('unsupported_currency')
    expect(error.message).toContain(`${CODES.join(', ')}, EUR, JPY, RUB, USD)`)
    expect(bank.calls).toHaveLength(1)
  })

  it('do not serve a day on which the first is closed, only a currency that it does not quote', async () => {
    const fetchHistory: FetchHistory = async (range, context) => {
      const { base, days } = await market.history.fetchHistory(range, context)
      const withRuble = days.map(({ date, rates }) => {
        return { date, rates: date < '2022-03-02' ? { ...rates, RUB: 90 } : rates }
      })
      return { base, days: withRuble }
    }
    const reference = { ...market.history, fetchHistory }
    const { read } = openTwo({ isOpen: () => true, reference })
    const sunday = '2026-11-15'
    for (const target of [
      `/v1/convert?from=USD&to=JPY&date=${sunday}&rule=exact`,
      `/v1/convert?from=USD&to=JPY&date=${sunday}&maxAge=1`,
      `/v1/history?from=USD&to=JPY&start=${sunday}&end=${sunday}`,
    ])
      expect(await read(target), target).toMatchObject({ error: { code: 'no_data' } })
    const own = await read(`/v1/convert?from=EUR&to=${ONE}&date=${sunday}&rule=exact`)
    expect(own).toMatchObject({ date: sunday, source: BANK })
    for (const rest of ['&start=2022-03-03&end=2022-12-31', '&period=1M', '&start=2022-03-05'])
      expect(await read(`/v1/history?from=EUR&to=RUB${rest}`)).toMatchObject({ source: BANK })
    const ofRuble = '/v1/convert?from=EUR&to=RUB&date='
    expect(await read(`${ofRuble}2022-03-10`)).toMatchObject({ source: BANK })
    expect(await read(`${ofRuble}2022-02-10`)).toMatchObject({ source: REFERENCE })
  })

  it('replace each other while the first is unavailable, in the time of one request', async () => {
    const silent = new Promise<never>(() => undefined)
    const reference = { ...market.history, fetchHistory: () => silent }
    const { read, runtime } = openTwo({ reference })
    expect(await read('/v1/history?from=USD&to=JPY&period=1W')).toMatchObject({ source: BANK })
    expect(runtime.now() - EVENING).toBeLessThan(5_000)
  })

  it('list who has which currency since when', async () => {
    const { read } = openTwo()
    const find = async (code: string): Promise<Json> => {
      const { currencies } = await read('/v1/currencies')
      return currencies.find((currency: { code: string }) => currency.code === code)
    }
    const [to, own] = ['2026-11-20', { from: null, to: '2026-11-20', source: BANK }]
    const histories = [{ from: '1999-01-04', to, source: REFERENCE }, own]
    expect(await find('USD')).toMatchObject({ history: true, histories })
    expect(await find('HRK')).toMatchObject({ history: false, histories: [{ to: '2022-12-30' }] })
    expect(await find('KWD')).toMatchObject({ history: false, histories: [] })
    expect(await find(ONE)).toMatchObject({ history: true, histories: [own] })
    await read(`/v1/history?from=EUR&to=${ONE}&start=1999-01-01`)
    expect(await find(ONE)).toMatchObject({ histories: [{ ...own, from: '1999-01-04' }] })
  })

  it('report a bank that is late, once a day', async () => {
    let isOpen = (day: string): boolean => day < '2026-11-20'
    const { read, refresh, pass, eventsOf } = openTwo({ isOpen: (day) => isOpen(day) })
    const statusOf = async (): Promise<Json> => (await read('/v1/status')).history.sources
    await refresh()
    expect(await statusOf()).toMatchObject([
      { source: REFERENCE, lastDay: '2026-11-20', late: false },
      { source: BANK, lastDay: '2026-11-19', late: false },
    ])
    await pass(3 * DAY, HOUR)
    expect(await statusOf()).toMatchObject([{ late: false }, { lastDay: '2026-11-19', late: true }])
    const late = { dataSet: 'history', provider: BANK.name, publication: 'bank', day: '2026-11-20' }
    const event = { type: 'rates_late', ...late, due: Date.parse('2026-11-20T15:00Z') }
    expect(eventsOf('rates_late')).toEqual([event, event, event])
    isOpen = (day) => day < '2026-11-22'
    await pass(HOUR)
    expect(await statusOf()).toMatchObject([{}, { lastDay: '2026-11-20' }])
  })
})
