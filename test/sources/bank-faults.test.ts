import { describe, expect, it } from 'vitest'

import type { HistoryDays } from '../../src/index.ts'
import { isBankDay } from '../fixtures/bank.ts'
import { codes } from '../fixtures/codes.ts'
import * as oracle from '../oracle.ts'
import { DAY, HOUR, MINUTE, SECOND, listenersLeftBy, virtualRuntime } from '../virtual-runtime.ts'
import {
  CODES,
  EVENING,
  ONE,
  OTHER,
  PUBLICATION,
  leasingStore,
  openBank,
  points,
  truth,
} from './world.ts'

const never = (): Promise<never> => new Promise(() => undefined)

const seriesOf = (code: string, rest = ''): string => `/v1/history?from=EUR&to=${code}${rest}`

/** Returns the response with the rates of one currency × 10 on some days. */
const tenfold = ({ base, days }: HistoryDays, on: (date: string) => boolean): HistoryDays => ({
  base,
  days: days.map(({ date, rates: { [ONE]: rate = NaN, ...rates } }) => {
    return { date, rates: { ...rates, [ONE]: on(date) ? rate * 10 : rate } }
  }),
})

describe('a bank that does not respond', () => {
  it('fails each request after 5 s, and is called again when it is back', async () => {
    let isHanging = true
    const { get, finish, bank, runtime } = openBank({
      onCall: () => (isHanging ? never() : undefined),
    })
    const { status, headers } = await finish(get(seriesOf(ONE)))
    expect([status, headers.get('retry-after')]).toEqual([502, '5'])
    expect(runtime.now() - EVENING).toBeLessThanOrEqual(5_050)
    isHanging = false
    await runtime.advance(MINUTE)
    expect(await finish(get(seriesOf(ONE)))).toMatchObject({ status: 200 })
    expect(bank.calls.length).toBeLessThan(5)
  })

  it('for one currency delays the others only until its timeout', async () => {
    const { read, runtime } = openBank({ onCall: ({ code }) => (code === ONE ? never() : null) })
    expect(await read(seriesOf(ONE))).toMatchObject({ status: 502 })
    await runtime.advance(11 * SECOND)
    for (const code of CODES.slice(1)) {
      expect(await read(seriesOf(code)), code).toMatchObject({ status: 200 })
    }
  })

  const other = { publication: { ...PUBLICATION, id: 'other' }, name: 'Other' }
  const dated = `/v1/convert?from=EUR&to=${ONE}&date=2026-11-19`

  it('does not make another publication wait longer than 5 s in total', async () => {
    const { read, runtime } = openBank({ onCall: never, others: [{ ...other, onCall: never }] })
    expect(await read(dated)).toMatchObject({ status: 502 })
    expect(runtime.now() - EVENING).toBeLessThanOrEqual(5_050)
  })

  it('does not make another be called for a request that was aborted meanwhile', async () => {
    const { handler, backups, runtime, finish } = openBank({ onCall: never, others: [other] })
    const controller = new AbortController()
    const { signal } = controller
    const response = handler(new Request(`http://localhost/api${dated}`, { signal }))
    await runtime.advance(SECOND)
    controller.abort()
    expect((await finish(response)).status).toBe(502)
    expect(backups[0]?.calls).toEqual([])
  })
})

describe('a bank that fails', () => {
  it('is called once per backoff, however many days and currencies are requested', async () => {
    let isDown = false
    const { read, bank, runtime } = openBank({
      onCall() {
        if (isDown) throw new Error('down')
      },
    })
    await read(seriesOf(ONE))
    isDown = true
    bank.calls.length = 0
    for (const day of oracle.daysOf('2010-01-01', '2010-04-30')) {
      expect(await read(`/v1/latest?date=${day}&base=EUR`)).toMatchObject({ status: 502 })
      await read(seriesOf(CODES[Number(day.slice(-1))] ?? '', '&start=2020-01-01'))
      await runtime.advance(2 * SECOND)
    }
    // 4 minutes and more.
    expect(bank.calls.length).toBeLessThan(25)
    isDown = false
    await runtime.advance(8 * MINUTE)
    expect(await read('/v1/latest?date=2010-01-05&base=EUR')).toMatchObject({ status: 200 })
  })

  it('for one currency serves all others at once, and that one once it is right', async () => {
    let isWrong = true
    const { read, runtime, bank } = openBank({
      onCall({ code }) {
        if (isWrong && code === ONE) throw Object.assign(new Error('gone'), { status: 404 })
      },
    })
    for (const code of CODES.slice(1)) {
      expect((await read(seriesOf(ONE))).status).toBe(502)
      expect((await read(seriesOf(code))).status, code).toBe(200)
    }
    expect(bank.calls.filter(({ code }) => code === ONE).length).toBeLessThan(4)
    isWrong = false
    await runtime.advance(MINUTE)
    expect((await read(seriesOf(ONE))).status).toBe(200)
  })
})

describe('many requests at once', () => {
  it('are all served in the end, with one call each, four at a time, and pauses', async () => {
    const many = codes(24)
    let [running, most] = [0, 0]
    const { get, finish, bank, runtime, eventsOf } = openBank({
      codes: many,
      async onCall() {
        running += 1
        most = Math.max(most, running)
        await new Promise<void>((resolve) => void runtime.startTimer(resolve, 1_500))
        running -= 1
      },
    })
    const pending = new Set(many)
    const delays = [0]
    for (let round = 0; round < 30 && pending.size > 0; round += 1) {
      const ask = async (code: string): Promise<void> => {
        const { status, headers } = await get(seriesOf(code, '&period=5Y'))
        if (status === 200) pending.delete(code)
        delays.push(Number(headers.get('retry-after')))
      }
      await finish(Promise.all([...pending].map(ask)))
      await runtime.advance(5 * SECOND)
    }
    expect([pending.size, Math.max(...delays), bank.calls.length, most]).toEqual([0, 5, 25, 4])
    const starts = bank.calls.map(({ at }) => at)
    const gaps = starts.slice(1).map((at, index) => at - (starts[index] ?? 0))
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(200)
    expect(eventsOf('upstream_failed')).toEqual([])
    expect(runtime.timers()).toBe(0)
  })

  it('wait for 1,000 loads besides the running ones; more fail at once', async () => {
    const many = codes(1_003)
    const { handler, read, runtime } = openBank({
      codes: many,
      onCall: ({ code }) => (code === undefined ? undefined : never()),
    })
    await read('/v1/latest?date=2026-11-20&base=EUR')
    const delays: number[] = []
    for (const to of many) {
      const refused = ({ retryAfter = 0 }: { retryAfter?: number }): unknown =>
        delays.push(retryAfter)
      handler.rates.history({ from: 'EUR', to }).catch(refused)
    }
    await runtime.advance(10)
    expect(delays).toEqual([60, 60])
    handler.close()
  })

  it('end with the handler', async () => {
    const { get, bank, handler, read, runtime, finish } = openBank({
      onCall: ({ code }) => (code === undefined ? undefined : never()),
    })
    await read('/v1/latest?date=2026-11-20&base=EUR')
    const left = await listenersLeftBy(async () => {
      const responses = CODES.map((code) => get(seriesOf(code)))
      await runtime.advance(SECOND)
      handler.close()
      const statuses = (await finish(Promise.all(responses))).map(({ status }) => status)
      expect(new Set(statuses)).toEqual(new Set([502]))
    })
    expect([left, runtime.timers()]).toEqual([0, 0])
    for (const [date, status] of Object.entries({ '2012-01-05': 502, '2026-11-20': 200 })) {
      expect((await read(`/v1/latest?date=${date}&base=EUR`)).status).toBe(status)
    }
    expect(bank.calls).toHaveLength(1 + 4)
  })
})

describe('a bank that is closed without notice', () => {
  it.each([
    ['on the newest day', '2026-11-20', '2026-11-19'],
    ['for nine working days', '2026-11-10', '2026-11-09'],
  ])('%s has the days before at a cold start', async (_name, first, newest) => {
    const isOpen = (day: string): boolean => isBankDay(day) && !(day >= first && day < '2026-11-21')
    const { read, pass, runtime } = openBank({ isOpen })
    const target = seriesOf(ONE, '&start=2026-11-01')
    const until = (day: string) => points(ONE, truth(runtime.now(), '2026-11-01', day, isOpen))
    expect((await read(target)).points).toEqual(until(newest))
    await pass(3 * DAY)
    expect((await read(target)).points).toEqual(until('2026-11-23'))
  })
})

describe('a bank that is late', () => {
  it('is called again for a day that a client chose', async () => {
    let isLate = true
    const { read, runtime } = openBank({
      isOpen: (day) => isBankDay(day) && !(isLate && day === '2026-11-18'),
    })
    const target = '/v1/latest?date=2026-11-18&base=EUR'
    expect(await read(target)).toMatchObject({ date: '2026-11-17' })
    isLate = false
    await runtime.advance(HOUR)
    expect(await read(target)).toMatchObject({ date: '2026-11-18' })
  })

  it.each([
    ['tables', {}],
    ['ranges', { maxDays: 93 }],
    ['ranges alone', { maxDays: 93, hasSeries: false }],
  ])('has the late day with the next one or the one after: %s', async (_name, form) => {
    // The rates of Wednesday follow on Friday morning.
    const publishedAt = (day: string): number =>
      Date.parse(day === '2026-11-18' ? '2026-11-20T08:00Z' : `${day}T15:00Z`)
    const start = Date.UTC(2026, 10, 16, 18)
    const { read, pass, runtime } = openBank({ start, ...form, publishedAt })
    const days = async (): Promise<string[]> => {
      const { points } = await read(seriesOf(ONE, '&start=2026-11-12'))
      return points.map(({ d }: { d: string }) => d)
    }
    await days()
    await pass(3 * DAY, HOUR)
    expect((await days()).at(-1)).toBe('2026-11-19')
    await pass(DAY)
    expect(await days()).toEqual(truth(runtime.now(), '2026-11-12', '2026-11-20'))
  })

  it('with its series is unavailable instead of without days', async () => {
    let isBehind = true
    const { read, runtime } = openBank({
      change: ({ base, days }, { code }) => ({
        base,
        days: days.filter(({ date }) => !(isBehind && code !== undefined && date > '2026-11-13')),
      }),
    })
    const target = seriesOf(ONE, '&start=2026-11-02')
    expect(await read(target)).toMatchObject({ status: 502 })
    isBehind = false
    await runtime.advance(11 * MINUTE)
    const expected = points(ONE, truth(runtime.now(), '2026-11-02', '2026-11-20'))
    expect((await read(target)).points).toEqual(expected)
  })

  it.each([
    ['table', {}],
    ['file', { maxDays: 31, hasSeries: false }],
  ])('with the %s of a month has the month before', async (_name, form) => {
    const publication = { ...PUBLICATION, frequency: 'monthly', since: '2020-01-01' } as const
    const isFirst = (day: string): boolean =>
      isBankDay(day) &&
      !oracle.daysOf(`${day.slice(0, 8)}01`, oracle.daysBefore(day, 1)).some(isBankDay)
    const start = Date.UTC(2026, 10, 2, 18)
    const isOpen = (day: string): boolean => isFirst(day) && day < '2026-11-01'
    const { read } = openBank({ ...form, start, publication, isOpen })
    const answer = await read('/v1/latest?base=EUR&date=2026-11-02')
    expect(answer).toMatchObject({ status: 200, date: '2026-10-01' })
  })
})

describe('a quarantined day that the bank corrects', () => {
  it.each([
    ['tables of a day', '2026-11-19', { maxDays: 1 }],
    ['tables and series', '2026-11-19', {}],
    ['ranges', '2026-11-05', { maxDays: 93 }],
    ['years', '2026-11-05', { maxDays: 366, hasSeries: false }],
  ])('is in the next refresh of %s', async (_name, wrong, form) => {
    let isWrong = true
    const start = EVENING - 2 * DAY
    const change = (days: HistoryDays): HistoryDays =>
      tenfold(days, (date) => isWrong && date === wrong)
    const { read, pass, eventsOf } = openBank({ start, ...form, sanityChecks: true, change })
    const target = seriesOf(ONE, '&start=2026-11-04')
    await read(target)
    await pass(2 * DAY)
    const expected = truth(EVENING, '2026-11-04', '2026-11-20')
    const left = points(
      ONE,
      expected.filter((day) => day !== wrong),
    )
    expect((await read(target)).points).toEqual(left)
    isWrong = false
    await pass(3 * DAY)
    expect((await read(target)).points).toEqual(points(ONE, [...expected, '2026-11-23']))
    expect(eventsOf('rates_quarantined').flatMap((event) => event.codes)).toEqual([
      `${wrong} ${ONE}`,
    ])
  })

  it('is served again after minutes where it ends a window of the past', async () => {
    let isWrong = true
    const { read, runtime } = openBank({
      sanityChecks: true,
      hasSeries: false,
      maxDays: 93,
      change: (days) => tenfold(days, (date) => isWrong && date === '2026-06-30'),
    })
    const target = seriesOf(ONE, '&start=2026-06-29&end=2026-06-30')
    await read(target)
    isWrong = false
    await runtime.advance(11 * MINUTE)
    expect((await read(target)).points).toEqual(points(ONE, ['2026-06-29', '2026-06-30']))
  })

  it.each([
    ['2021-10-01', 8],
    ['2021-10-04', 7],
  ])(
    'differs from a redenomination: bolívares restated from %s on have %i rates',
    async (since, count) => {
      const { read, eventsOf } = openBank({
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
})

describe('responses that do not fit', () => {
  const shifted =
    (by: number) =>
    ({ base, days }: HistoryDays): HistoryDays => ({
      base,
      days: days.map((day) => ({ ...day, date: oracle.daysBefore(day.date, by) })),
    })

  it.each([
    ['of another day', shifted(1)],
    ['of days outside of the range', shifted(400)],
    ['without days', ({ base }: HistoryDays) => ({ base, days: [] })],
    [
      'with a negative rate',
      ({ base, days }: HistoryDays) => ({
        base,
        days: days.map(({ date }) => ({ date, rates: { [ONE]: -1, [OTHER]: Number.NaN } })),
      }),
    ],
  ])('%s do not replace what is in memory', async (_name, change) => {
    let isOdd = false
    const start = EVENING - DAY
    const { read, pass } = openBank({ start, change: (days) => (isOdd ? change(days) : days) })
    const target = seriesOf(ONE, '&start=2026-11-01')
    const before = await read(target)
    isOdd = true
    await pass(DAY)
    expect((await read(target)).points).toEqual(before.points)
    isOdd = false
    await pass(HOUR)
    const expected = truth(EVENING, '2026-11-01', '2026-11-20')
    expect((await read(target)).points).toEqual(points(ONE, expected))
  })

  it('with another direction never mix with days in memory', async () => {
    let isTurned = false
    const { read, pass, runtime } = openBank({
      start: EVENING - DAY,
      change: ({ base, days }) => ({
        base,
        days: days.map((day) => (isTurned ? { ...day, rates: {}, prices: day.rates } : day)),
      }),
    })
    const target = `/v1/history?from=${ONE}&to=EUR`
    await read(`${target}&start=2026-11-02`)
    isTurned = true
    await pass(DAY)
    // All days again, in the new direction.
    for (const [start, end] of [
      ['2026-11-02', '2026-11-20'],
      ['2020-11-02', '2020-12-01'],
    ] as const) {
      const { points: served } = await read(`${target}&start=${start}&end=${end}`)
      expect(served).toEqual(points(ONE, truth(runtime.now(), start, end)))
    }
  })

  it('with another base are rejected, and served once they are right', async () => {
    let isWrong = true
    const { read, runtime } = openBank({
      change: ({ base, days }, { code }) => {
        return { base: isWrong && code === ONE ? 'USD' : base, days }
      },
    })
    const target = seriesOf(ONE, '&start=2026-11-02')
    expect(await read(target)).toMatchObject({ status: 502 })
    isWrong = false
    await runtime.advance(MINUTE)
    const expected = points(ONE, truth(runtime.now(), '2026-11-02', '2026-11-20'))
    expect((await read(target)).points).toEqual(expected)
  })
})

describe('a process', () => {
  it.each([5, 93])('that slept for a week has all days, of %d in a call', async (maxDays) => {
    const { read, pass, runtime } = openBank({ hasSeries: false, maxDays })
    const target = seriesOf(ONE, '&start=2026-11-02')
    await read(target)
    await pass(8 * DAY)
    const expected = points(ONE, truth(runtime.now(), '2026-11-02', '2026-11-28'))
    expect((await read(target)).points).toEqual(expected)
  })

  it.each([
    [1, {}],
    [5, { maxDays: 93 }],
    [40, { maxDays: 93, hasSeries: false }],
  ])('whose clock is set back by %s days keeps all days', async (days, form) => {
    const { read, refresh, bank, pass, runtime } = openBank({ ...form, now: () => EVENING })
    const between = (code: string, start: string, end: string): string =>
      seriesOf(code, `&start=${start}&end=${end}`)
    const expected = truth(EVENING, '2026-09-01', '2026-10-01')
    const before = await read(between(ONE, '2026-09-01', '2026-10-01'))
    expect(before.points).toEqual(points(ONE, expected))
    runtime.setClock(EVENING - days * DAY)
    await refresh()
    const kept = expected.filter((day) => Date.parse(day) <= runtime.now())
    for (const code of [ONE, OTHER]) {
      const { points: served } = await read(between(code, '2026-09-01', '2026-10-01'))
      expect(served).toEqual(points(code, kept))
    }
    expect(bank.calls.filter(({ start, end }) => start > end)).toEqual([])
    runtime.setClock(EVENING + DAY)
    await pass(11 * MINUTE)
    const { points: served } = await read(between(OTHER, '2026-09-01', '2026-11-20'))
    expect(served).toEqual(points(OTHER, truth(EVENING, '2026-09-01', '2026-11-20')))
  })
})

describe('a store', () => {
  const target = seriesOf(ONE, '&start=2026-01-01')

  it('of two processes has each piece fetched once', async () => {
    const runtime = virtualRuntime(EVENING)
    const store = leasingStore(runtime.now)
    const onCall = () => new Promise<void>((end) => void runtime.startTimer(end, 400))
    const processes = [openBank({ runtime, store, onCall }), openBank({ runtime, store, onCall })]
    for (const code of CODES.slice(0, 3)) {
      const responses = processes.map(({ get, finish }) => finish(get(seriesOf(code))))
      const statuses = (await Promise.all(responses)).map(({ status }) => status)
      expect(statuses).toEqual([200, 200])
    }
    const all = processes.flatMap(({ ranges }) => ranges())
    expect([all.length, new Set(all).size]).toEqual([4, 4])
  })

  it('resumes windows of days, newest first', async () => {
    const options = { store: new Map<string, string>(), maxDays: 93, hasSeries: false }
    let calls = 0
    const killed = openBank({
      ...options,
      onCall() {
        calls += 1
        if (calls > 9) throw new Error('killed')
      },
    })
    expect((await killed.read(seriesOf(ONE, '&period=5Y'))).status).toBe(502)
    const next = openBank(options)
    const { points: served } = await next.read(seriesOf(ONE, '&period=5Y'))
    expect([served[0].d, served.at(-1).d]).toEqual(['2021-11-22', '2026-11-20'])
    const asked = [...killed.bank.calls.slice(0, 9), ...next.bank.calls].map(({ start }) => start)
    expect([asked.length, new Set(asked).size]).toEqual([1 + 21, 1 + 21])
  })

  it('with pieces of another provider is not read', async () => {
    const store = new Map<string, string>()
    const change = ({ base, days }: HistoryDays): HistoryDays => ({
      base,
      days: days.map((day) => ({ ...day, rates: { [ONE]: 7 } })),
    })
    await openBank({ store, name: 'Stranger', change }).read(target)
    expect(store.size).toBe(2)
    const { points: served, source } = await openBank({ store }).read(target)
    expect(source.name).toBe('Bank')
    expect(served).toEqual(points(ONE, truth(EVENING, '2026-01-01', '2026-11-20')))
  })

  it('with older pieces of another process does not replace newer ones', async () => {
    const runtime = virtualRuntime(EVENING)
    const store = new Map<string, string>()
    await openBank({ runtime, store }).read(target)
    const old = new Map(store)
    await runtime.advance(100 * DAY)
    const { read, bank, ranges } = openBank({ runtime, store })
    await read(target)
    await runtime.advance(HOUR)
    await read(target)
    for (const [key, value] of old) store.set(key, value)
    bank.calls.length = 0
    await read(seriesOf(ONE, '&start=1999-01-04'))
    expect(ranges()).toEqual([])
    const expected = truth(runtime.now(), '2026-01-01', '2027-03-01')
    expect((await read(target)).points).toEqual(points(ONE, expected))
  })
})
