import { describe, expect, it } from 'vitest'

import type { HistoryProvider } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { bankRate, createBank } from '../fixtures/bank.ts'
import type { BankOptions } from '../fixtures/bank.ts'
import { codes } from '../fixtures/codes.ts'
import { recordedHandler } from '../fixtures/recorded-handler.ts'
import { DAY, HOUR, finish as finishOn, virtualRuntime } from '../virtual-runtime.ts'

/** The value of any JSON text. */
type Json = ReturnType<typeof JSON.parse>

/** A Friday, after all publications of the day. */
const EVENING = Date.UTC(2026, 10, 20, 18)
const CODES = codes(150)
const [FIRST = '', SECOND_CODE = ''] = CODES

/** Creates a handler over a bank, after `before` if given. */
function bankHandler(
  options: Partial<BankOptions> & {
    before?: HistoryProvider[]
    store?: Map<string, string>
    start?: number
  } = {},
) {
  const { before = [], store, start = EVENING, ...ofBank } = options
  const runtime = virtualRuntime(start)
  const bank = createBank({ codes: CODES, now: runtime.now, ...ofBank })
  const providers = {
    history: [...before, bank],
    latest: fakeProviders({ now: runtime.now }).latest,
  }
  const recorded = recordedHandler(runtime, { providers, store })
  const finish = <Result>(work: Promise<Result>): Promise<Result> => finishOn(runtime, work)
  const read = async (target: string): Promise<Json> => (await finish(recorded.get(target))).json()
  return { ...recorded, runtime, bank, finish, read }
}

describe('a bank with a table per day and a series per currency', () => {
  it('is called once on the next day, for all currencies', async () => {
    const { bank, read, runtime, handler, finish } = bankHandler({
      start: Date.UTC(2026, 10, 19, 18),
    })
    for (const code of CODES.slice(0, 20)) await read(`/v1/history?from=EUR&to=${code}&period=5Y`)
    bank.calls.length = 0
    await runtime.advance(DAY)
    await finish(handler.refresh())
    for (const code of CODES.slice(0, 20)) {
      const { points } = await read(`/v1/history?from=${code}&to=EUR&period=1W`)
      expect(points.at(-1).d).toBe('2026-11-20')
    }
    expect(bank.calls).toEqual([{ at: expect.any(Number), start: '2026-11-20', end: '2026-11-20' }])
  })

  it('answers single days and whole tables with few calls', async () => {
    const { bank, read } = bankHandler()
    const sunday = '2020-03-01'
    const table = await read(`/v1/latest?date=${sunday}&base=${FIRST}`)
    expect(table.date).toBe('2020-02-28')
    expect(Object.keys(table.rates)).toHaveLength(151)
    expect(bank.calls.map(({ start, end }) => `${start} ${end}`)).toEqual([
      '2026-11-20 2026-11-20',
      '2020-02-28 2020-02-28',
    ])
    await read(`/v1/latest?date=2020-02-29&base=${SECOND_CODE}`)
    expect(bank.calls).toHaveLength(2)
    const dated = await read(`/v1/convert?from=EUR&to=${FIRST}&amount=2&date=${sunday}`)
    expect(dated).toMatchObject({ date: '2020-02-28', rate: bankRate(FIRST, '2020-02-28') })
    const next = await read(`/v1/convert?from=EUR&to=${FIRST}&date=${sunday}&rule=next`)
    expect(next).toMatchObject({ date: '2020-03-02', rate: bankRate(FIRST, '2020-03-02') })
    expect(bank.calls).toHaveLength(3)
  })

  it('is not called for unknown codes, nor again for a currency without rates', async () => {
    const { bank, read } = bankHandler()
    expect((await read('/v1/history?from=EUR&to=QQQ')).error).toMatchObject({
      code: 'unsupported_currency',
    })
    expect(bank.calls).toHaveLength(1)
    for (let count = 0; count < 3; count += 1) {
      const { error } = await read('/v1/history?from=EUR&to=ZMK&start=2022-01-01')
      expect(error.code).toBe('no_data')
    }
    expect(bank.calls).toHaveLength(2)
  })
})

describe('a withdrawn currency in the rates of a bank', () => {
  /** A bank whose kunas are 7.4 for one euro. */
  const listed = (sanityChecks: boolean) =>
    bankHandler({
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
  const questions = [
    'latest?base=EUR',
    'latest?base=EUR&symbols=HRK',
    'convert?from=EUR&to=HRK&amount=1',
  ]

  it.each([
    [true, 7.5345],
    [false, 7.4],
  ])(
    'follows its successor from its withdrawal on, with sanity checks: %s',
    async (isReal, rate) => {
      for (const question of questions) {
        const { read } = listed(isReal)
        for (const [date, ratio] of Object.entries({ '2022-12-30': 7.4, '2024-03-01': rate })) {
          const { rates, rate: converted, error } = await read(`/v1/${question}&date=${date}`)
          expect(error).toBeUndefined()
          expect(rates?.HRK ?? converted, `${question} ${date}`).toBeCloseTo(ratio, 8)
        }
      }
      const { read } = listed(isReal)
      const { points } = await read('/v1/history?from=EUR&to=HRK&start=2022-12-28&end=2023-01-04')
      for (const { d, r } of points) expect(r, d).toBeCloseTo(d < '2023-01-01' ? 7.4 : rate, 8)
      expect(points.length).toBeGreaterThan(4)
    },
  )
})

it.each([
  ['2021-10-01', 8],
  ['2021-10-04', 7],
])(
  'a bank that restates bolívares from %s on has %i sane rates around it',
  async (since, count) => {
    const { read, eventsOf } = bankHandler({
      codes: ['VES', ...CODES],
      sanityChecks: true,
      change: ({ base, days }) => ({
        base,
        days: days.map(({ date, rates }) => {
          const bolivar = rates['VES'] && { VES: date < since ? 4.8e6 : 4.8 }
          return { date, rates: { ...rates, ...bolivar } }
        }),
      }),
    })
    const { points } = await read('/v1/history?from=EUR&to=VES&start=2021-09-27&end=2021-10-06')
    expect(points).toHaveLength(count)
    const quarantined = eventsOf('rates_quarantined').flatMap(({ codes: days }) => days)
    expect(quarantined).toEqual(count === 8 ? [] : ['2021-10-01 VES'])
  },
)

describe('a store', () => {
  it('resumes windows of days, newest first', async () => {
    const store = new Map<string, string>()
    const options = { store, maxDays: 93, hasSeries: false }
    let calls = 0
    const killed = bankHandler({
      ...options,
      onCall: () => {
        calls += 1
        if (calls > 9) throw new Error('killed')
      },
    })
    const target = `/v1/history?from=EUR&to=${FIRST}&period=5Y`
    expect((await killed.read(target)).error.code).toBe('provider_unavailable')
    const next = bankHandler(options)
    const { points } = await next.read(target)
    expect(points.at(-1).d).toBe('2026-11-20')
    expect(points[0].d).toBe('2021-11-22')
    const asked = [...killed.bank.calls.slice(0, 9), ...next.bank.calls].map(({ start }) => start)
    expect(new Set(asked).size).toBe(asked.length)
    expect(asked).toHaveLength(1 + 21)
  })
})

describe('several publications', () => {
  const reference = (now: () => number): HistoryProvider => fakeProviders({ now }).history

  function wideHandler(
    options: Parameters<typeof bankHandler>[0] & { reference?: HistoryProvider } = {},
  ) {
    const runtimeNow = { now: () => EVENING }
    const first = options.reference ?? reference(() => runtimeNow.now())
    const opened = bankHandler({
      codes: [...CODES, 'USD', 'RUB', 'JPY'],
      ...options,
      before: [first],
    })
    runtimeNow.now = opened.runtime.now
    return opened
  }

  const BANK = { name: 'Bank', url: 'https://bank.example' }
  const REFERENCE = fakeProviders().history.attribution

  it('answer a pair from the first with both codes, never mixed', async () => {
    const { read, bank } = wideHandler()
    const sourceOf = async (query: string): Promise<unknown> => (await read(query)).source
    expect(await sourceOf('/v1/history?from=USD&to=JPY')).toEqual(REFERENCE)
    expect(await sourceOf('/v1/convert?from=USD&to=EUR&date=2026-11-19')).toEqual(REFERENCE)
    expect(bank.calls).toEqual([])
    const { source, points } = await read(`/v1/history?from=USD&to=${FIRST}&period=1W`)
    expect(source).toEqual(BANK)
    const { d, r } = points.at(-1)
    expect(r).toBeCloseTo(bankRate(FIRST, d) / bankRate('USD', d), 8)
    expect(await sourceOf(`/v1/convert?from=USD&to=${FIRST}&date=2026-11-19`)).toEqual(BANK)
    expect(await sourceOf(`/v1/convert?from=USD&to=EUR,${FIRST}&date=2026-11-19`)).toEqual(BANK)
    expect(await sourceOf(`/v1/latest?date=2026-11-19&symbols=${FIRST}`)).toEqual(BANK)
    expect(await sourceOf(`/v1/latest?date=2026-11-19&symbols=JPY`)).toEqual(REFERENCE)
    expect(await sourceOf(`/v1/latest?date=2026-11-19&base=${FIRST}`)).toEqual(BANK)
  })

  it('answer each pair of a list as if it were requested alone', async () => {
    const { read, get, finish } = wideHandler()
    const rest = 'start=2026-11-13&end=2026-11-22&fill=previous'
    const list = `/v1/history?from=EUR&to=USD,${FIRST}&${rest}`
    await read(`/v1/history?from=EUR&to=USD&${rest}`)
    const response = await finish(get(list))
    expect(response.headers.get('cache-status')).toBe('rates; fwd=miss')
    const { series, end }: Json = await response.json()
    expect(end).toBe('2026-11-22')
    expect([series.USD.source, series[FIRST].source]).toEqual([REFERENCE, BANK])
    for (const code of ['USD', FIRST]) {
      expect(series[code]).toEqual(await read(`/v1/history?from=EUR&to=${code}&${rest}`))
    }
    const wide = await finish(get(`${list}&format=csv&layout=wide`))
    const [head, first] = (await wide.text()).split('\r\n')
    expect(head).toBe(`date,USD,${FIRST},filled`)
    expect(first).toBe(`2026-11-13,${series.USD.points[0].r},${series[FIRST].points[0].r},`)
    const links = wide.headers.get('link')?.split(/, (?=<)/)
    expect(links?.map((link) => /^<([^>]*)>/.exec(link)?.[1])).toEqual([
      REFERENCE.url,
      `${BANK.url}/`,
    ])
    expect((await finish(get(list))).headers.get('cache-status')).toMatch(/^rates; hit; ttl=/)
  })

  it('make a cached list again when the second alone has a new day', async () => {
    const { handler, runtime, read, finish } = wideHandler({
      start: EVENING - 4 * HOUR,
      reference: reference(() => EVENING - DAY),
    })
    const lastDays = async (): Promise<unknown> => {
      const list = `/v1/history?from=EUR&to=USD,${FIRST}&start=2026-11-13`
      const { series, end } = await read(list)
      return [series.USD.points.at(-1).d, series[FIRST].points.at(-1).d, end]
    }
    expect(await lastDays()).toEqual(['2026-11-19', '2026-11-19', '2026-11-19'])
    await runtime.advance(3 * HOUR)
    await finish(handler.refresh())
    expect(await lastDays()).toEqual(['2026-11-19', '2026-11-20', '2026-11-20'])
  })

  it.each([
    '/v1/history?from=USD&to=QQQ',
    '/v1/convert?from=USD&to=QQQ&date=2015-03-01',
    '/v1/latest?base=QQQ&date=2015-03-01&rule=exact',
  ])('reject a code that none has, and count the codes of the widest: %s', async (target) => {
    const { read, bank } = wideHandler()
    const { error } = await read(target)
    expect(error.code).toBe('unsupported_currency')
    expect(error.message).toContain(' 154 others, see /v1/currencies)')
    expect(bank.calls).toHaveLength(1)
  })

  it('do not answer for a bank that is closed, only for a currency that it does not quote', async () => {
    const isOpen = (): boolean => true
    const ruble: HistoryProvider = {
      ...reference(() => EVENING),
      async fetchHistory(range, context) {
        const published = await reference(() => EVENING).fetchHistory(range, context)
        const days = published.days.map(({ date, rates }) => {
          return { date, rates: date < '2022-03-02' ? { ...rates, RUB: 90 } : rates }
        })
        return { ...published, days }
      },
    }
    const { read } = wideHandler({ isOpen, reference: ruble })
    const sunday = '2026-11-15'
    for (const target of [
      `/v1/convert?from=USD&to=JPY&date=${sunday}&rule=exact`,
      `/v1/convert?from=USD&to=JPY&date=${sunday}&maxAge=1`,
      `/v1/history?from=USD&to=JPY&start=${sunday}&end=${sunday}`,
    ]) {
      expect((await read(target)).error?.code, target).toBe('no_data')
    }
    const own = await read(`/v1/convert?from=EUR&to=${FIRST}&date=${sunday}&rule=exact`)
    expect(own).toMatchObject({ date: sunday, source: BANK })
    for (const target of [
      '/v1/convert?from=EUR&to=RUB&date=2022-03-10',
      '/v1/history?from=EUR&to=RUB&start=2022-03-03&end=2022-12-31',
      '/v1/history?from=EUR&to=RUB&period=1M',
      '/v1/history?from=EUR&to=RUB&start=2022-03-05',
    ]) {
      expect((await read(target)).source, target).toEqual(BANK)
    }
    expect((await read('/v1/convert?from=EUR&to=RUB&date=2022-02-10')).source).toEqual(REFERENCE)
  })

  it('replace each other while the first is unavailable, in the time of one request', async () => {
    const silent = new Promise<never>(() => undefined)
    const { read, runtime } = wideHandler({
      reference: { ...reference(() => EVENING), fetchHistory: () => silent },
    })
    const startedAt = runtime.now()
    const { source } = await read('/v1/history?from=USD&to=JPY&period=1W')
    expect(source).toEqual(BANK)
    expect(runtime.now() - startedAt).toBeLessThan(5_000)
  })

  it('say who has which currency since when', async () => {
    const { read } = wideHandler()
    const find = async (code: string): Promise<Json> => {
      const { currencies } = await read('/v1/currencies')
      return currencies.find((currency: { code: string }) => currency.code === code)
    }
    expect(await find('USD')).toMatchObject({
      history: true,
      histories: [
        { from: '1999-01-04', to: '2026-11-20', source: REFERENCE },
        { from: null, to: '2026-11-20', source: BANK },
      ],
    })
    expect(await find('HRK')).toMatchObject({ history: false, histories: [{ to: '2022-12-30' }] })
    expect(await find('KWD')).toMatchObject({ history: false, histories: [] })
    const own = await find(FIRST)
    expect(own).toMatchObject({
      history: true,
      histories: [{ from: null, to: '2026-11-20', source: BANK }],
    })
    await read(`/v1/history?from=EUR&to=${FIRST}&start=1999-01-01`)
    expect((await find(FIRST)).histories).toEqual([
      { from: '1999-01-04', to: '2026-11-20', source: BANK },
    ])
  })

  it('report a bank that is late, once a day', async () => {
    let isOpen = (day: string): boolean => day < '2026-11-20'
    const { read, runtime, handler, finish, eventsOf } = wideHandler({
      isOpen: (day) => isOpen(day),
    })
    const statusOf = async (): Promise<Json> => (await read('/v1/status')).history.sources
    await finish(handler.refresh())
    expect(await statusOf()).toMatchObject([
      { source: REFERENCE, lastDay: '2026-11-20', late: false },
      { source: BANK, lastDay: '2026-11-19', late: false },
    ])
    for (let hour = 0; hour < 72; hour += 1) {
      await runtime.advance(HOUR)
      await finish(handler.refresh())
    }
    expect(await statusOf()).toMatchObject([{ late: false }, { lastDay: '2026-11-19', late: true }])
    const late = { dataSet: 'history', provider: BANK.name, publication: 'bank', day: '2026-11-20' }
    const event = { type: 'rates_late', ...late, due: Date.parse('2026-11-20T16:00Z') }
    expect(eventsOf('rates_late')).toEqual([event, event, event])
    isOpen = (day) => day < '2026-11-22'
    await runtime.advance(HOUR)
    await finish(handler.refresh())
    expect(await statusOf()).toMatchObject([{}, { lastDay: '2026-11-20' }])
  })
})
