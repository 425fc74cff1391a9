import { describe, expect, it } from 'vitest'

import type { CacheStore, HistoryDays } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { BANK_DAYS, bankRate, createBank, isBankDay } from '../fixtures/bank.ts'
import type { BankOptions } from '../fixtures/bank.ts'
import { codes } from '../fixtures/codes.ts'
import { recordedHandler } from '../fixtures/recorded-handler.ts'
import * as oracle from '../oracle.ts'
import {
  DAY,
  HOUR,
  MINUTE,
  SECOND,
  listenersLeftBy,
  finish,
  virtualRuntime,
} from '../virtual-runtime.ts'
import type { VirtualRuntime } from '../virtual-runtime.ts'

/** The value of any JSON text. */
type Json = ReturnType<typeof JSON.parse>

/** Due when the bank of the tests publishes. */
const PUBLICATION = { ...BANK_DAYS, time: '15:00', timeZone: 'UTC' }

const EVENING = Date.UTC(2026, 10, 20, 18)
const CODES = codes(12)
const [ONE = '', OTHER = ''] = CODES

/** Opens a handler over one bank, or several of the same publication. */
function open(
  runtime: VirtualRuntime,
  { store, others = [], ...options }: Partial<BankOptions> & OpenOptions = {},
) {
  const bank = createBank({ codes: CODES, now: runtime.now, publication: PUBLICATION, ...options })
  const backups = others.map((each) =>
    createBank({ codes: CODES, now: runtime.now, publication: PUBLICATION, ...each }),
  )
  const recorded = recordedHandler(runtime, {
    providers: {
      history: [bank, ...backups],
      latest: fakeProviders({ now: runtime.now }).latest,
    },
    store,
  })
  return {
    ...recorded,
    bank,
    backups,
    refresh: () => finish(runtime, recorded.handler.refresh()),
    /** Lets time pass, with a refresh after each `step` ms. */
    async pass(total: number, step = total): Promise<void> {
      for (let passed = 0; passed < total; passed += step) {
        await runtime.advance(step)
        await finish(runtime, recorded.handler.refresh())
      }
    },
    async read(target: string): Promise<Json> {
      const response = await finish(runtime, recorded.get(target))
      return {
        status: response.status,
        retry: response.headers.get('retry-after'),
        ...(await response.json()),
      }
    },
  }
}

interface OpenOptions {
  store?: CacheStore
  others?: Partial<BankOptions>[]
}

type Opened = ReturnType<typeof open>

/** Returns the days of the bank in a range, as far as they are published at `now`. */
function truth(now: number, start: string, end: string, isOpen = isBankDay): string[] {
  return oracle
    .daysOf(start, end)
    .filter((day) => isOpen(day) && Date.parse(`${day}T15:00:00Z`) <= now)
}

function points(code: string, days: readonly string[]): { d: string; r: number }[] {
  return days.map((d) => ({ d, r: bankRate(code, d) }))
}

/** Keeps what was set, and grants each lease to one caller. */
function leasingStore(now: () => number): CacheStore & { entries: Map<string, string> } {
  const entries = new Map<string, string>()
  const leases = new Map<string, number>()
  return {
    entries,
    get: (key) => entries.get(key),
    set: (key, value) => entries.set(key, value),
    claim(key, expiresAt) {
      if ((leases.get(key) ?? 0) > now()) return false
      leases.set(key, expiresAt)
      return true
    },
  }
}

const never = (): Promise<never> => new Promise(() => undefined)

const rangesOf = ({ calls }: Opened['bank']): string[] =>
  calls.map(({ code, start, end }) => [code, start, end].filter(Boolean).join(' '))

describe('a bank that does not respond', () => {
  it('fails each request after 5 s, and is asked again when it is back', async () => {
    const runtime = virtualRuntime(EVENING)
    let isHanging = true
    const { read, bank } = open(runtime, { onCall: () => (isHanging ? never() : undefined) })
    const startedAt = runtime.now()
    const target = `/v1/history?from=EUR&to=${ONE}`
    expect(await read(target)).toMatchObject({ status: 502, retry: '5' })
    expect(runtime.now() - startedAt).toBeLessThanOrEqual(5_050)
    isHanging = false
    await runtime.advance(MINUTE)
    expect(await read(target)).toMatchObject({ status: 200 })
    expect(bank.calls.length).toBeLessThan(5)
  })

  it('for one currency delays the others only until its timeout', async () => {
    const runtime = virtualRuntime(EVENING)
    const { read } = open(runtime, { onCall: ({ code }) => (code === ONE ? never() : undefined) })
    expect(await read(`/v1/history?from=EUR&to=${ONE}`)).toMatchObject({ status: 502 })
    await runtime.advance(11 * SECOND)
    for (const code of CODES.slice(1)) {
      expect(await read(`/v1/history?from=EUR&to=${code}`)).toMatchObject({ status: 200 })
    }
  })

  it('does not make another publication wait longer than 5 s in total', async () => {
    const runtime = virtualRuntime(EVENING)
    const publication = { ...PUBLICATION, id: 'other' }
    const { read } = open(runtime, {
      onCall: never,
      others: [{ onCall: never, publication, name: 'Other' }],
    })
    const startedAt = runtime.now()
    const answer = await read(`/v1/convert?from=EUR&to=${ONE}&date=2026-11-19`)
    expect(answer).toMatchObject({ status: 502, retry: '5' })
    expect(runtime.now() - startedAt).toBeLessThanOrEqual(5_050)
  })

  it('is not asked for requests that were aborted meanwhile', async () => {
    const runtime = virtualRuntime(EVENING)
    const publication = { ...PUBLICATION, id: 'other' }
    const { handler, backups } = open(runtime, {
      onCall: never,
      others: [{ publication, name: 'Other' }],
    })
    const controller = new AbortController()
    const url = `http://localhost/api/v1/convert?from=EUR&to=${ONE}&date=2026-11-19`
    const response = handler(new Request(url, { signal: controller.signal }))
    await runtime.advance(SECOND)
    controller.abort()
    expect((await finish(runtime, response)).status).toBe(502)
    expect(backups[0]?.calls).toEqual([])
  })
})

describe('a bank that fails', () => {
  it('is called once per backoff, however many days and currencies are requested', async () => {
    const runtime = virtualRuntime(EVENING)
    let isDown = false
    const { read, bank } = open(runtime, {
      onCall: () => {
        if (isDown) throw new Error('down')
      },
    })
    await read(`/v1/history?from=EUR&to=${ONE}`)
    isDown = true
    bank.calls.length = 0
    for (const day of oracle.daysOf('2010-01-01', '2010-09-01')) {
      expect(await read(`/v1/latest?date=${day}&base=EUR`)).toMatchObject({ status: 502 })
      await read(`/v1/history?from=EUR&to=${CODES[Number(day.slice(-1))]}&start=2020-01-01`)
      await runtime.advance(SECOND)
    }
    // 4 minutes and more.
    expect(bank.calls.length).toBeLessThan(25)
    isDown = false
    await runtime.advance(8 * MINUTE)
    expect(await read(`/v1/latest?date=2010-01-05&base=EUR`)).toMatchObject({ status: 200 })
  })
})

describe('many requests at once', () => {
  it('for 200 currencies are all answered in the end, with one call each, four at a time, and pauses', async () => {
    const runtime = virtualRuntime(EVENING)
    const many = codes(200)
    let running = 0
    let most = 0
    const { get, bank, eventsOf } = open(runtime, {
      codes: many,
      async onCall() {
        running += 1
        most = Math.max(most, running)
        await new Promise<void>((resolve) => {
          runtime.startTimer(resolve, 300)
        })
        running -= 1
      },
    })
    const pending = new Set(many)
    const delays = [0]
    for (let round = 0; round < 30 && pending.size > 0; round += 1) {
      const ask = async (code: string): Promise<void> => {
        const { status, headers } = await get(`/v1/history?from=EUR&to=${code}&period=5Y`)
        if (status === 200) pending.delete(code)
        delays.push(Number(headers.get('retry-after')))
      }
      await finish(runtime, Promise.all([...pending].map(ask)))
      await runtime.advance(5 * SECOND)
    }
    expect(pending.size).toBe(0)
    expect(Math.max(...delays)).toBe(5)
    expect(bank.calls).toHaveLength(201)
    expect(most).toBeLessThanOrEqual(4)
    const starts = bank.calls.map(({ at }) => at)
    expect(
      Math.min(...starts.slice(1).map((at, index) => at - (starts[index] ?? 0))),
    ).toBeGreaterThanOrEqual(200)
    expect(eventsOf('upstream_failed')).toEqual([])
    expect(runtime.timers()).toBe(0)
  })

  it('end with the handler', async () => {
    const runtime = virtualRuntime(EVENING)
    const { get, bank, handler, read } = open(runtime, {
      onCall: ({ code }) => (code === undefined ? undefined : never()),
    })
    await read(`/v1/latest?date=2026-11-20&base=EUR`)
    const left = await listenersLeftBy(async () => {
      const responses = CODES.map((code) => get(`/v1/history?from=EUR&to=${code}`))
      await runtime.advance(SECOND)
      handler.close()
      const statuses = (await finish(runtime, Promise.all(responses))).map(({ status }) => status)
      expect(new Set(statuses)).toEqual(new Set([502]))
    })
    expect(left).toBe(0)
    expect(runtime.timers()).toBe(0)
    expect(bank.calls).toHaveLength(1 + 4)
    expect(await read(`/v1/latest?date=2012-01-05&base=EUR`)).toMatchObject({ status: 502 })
    expect(await read(`/v1/latest?date=2026-11-20&base=EUR`)).toMatchObject({ status: 200 })
    expect(bank.calls).toHaveLength(1 + 4)
  })
})

describe('days that clients choose', () => {
  it('have a rate of the base against itself', async () => {
    const { read } = open(virtualRuntime(EVENING))
    const answer = await read('/v1/convert?from=EUR&to=EUR&date=2010-01-09')
    expect(answer).toMatchObject({ status: 200, date: '2010-01-08', rate: 1 })
  })

  it('are asked again while the bank may be late', async () => {
    const runtime = virtualRuntime(EVENING)
    let isLate = true
    const { read } = open(runtime, {
      isOpen: (day) => isBankDay(day) && !(isLate && day === '2026-11-18'),
    })
    const target = '/v1/latest?date=2026-11-18&base=EUR'
    expect(await read(target)).toMatchObject({ date: '2026-11-17' })
    isLate = false
    await runtime.advance(HOUR)
    expect(await read(target)).toMatchObject({ date: '2026-11-18' })
  })
})

describe('a bank that is closed without notice', () => {
  const closedFrom = (first: string, last: string) => (day: string) =>
    isBankDay(day) && !(day >= first && day <= last)

  it.each([
    ['on the newest day', '2026-11-20', '2026-11-20', '2026-11-19'],
    ['for nine working days', '2026-11-10', '2026-11-20', '2026-11-09'],
  ])('%s has the days before at a cold start', async (_name, first, last, newest) => {
    const runtime = virtualRuntime(EVENING)
    const { read, pass } = open(runtime, { isOpen: closedFrom(first, last) })
    const target = `/v1/history?from=EUR&to=${ONE}&start=2026-11-01`
    const expectedUntil = (day: string) =>
      points(ONE, truth(runtime.now(), '2026-11-01', day, closedFrom(first, last)))
    const { points: served } = await read(target)
    expect(served).toEqual(expectedUntil(newest))
    await pass(3 * DAY)
    expect((await read(target)).points).toEqual(expectedUntil('2026-11-23'))
  })
})

describe('a bank that is late', () => {
  it.each([
    ['tables', {}],
    ['ranges', { maxDays: 93 }],
    ['ranges alone', { maxDays: 93, hasSeries: false }],
  ])('has the late day with the next one or the one after: %s', async (_name, form) => {
    const runtime = virtualRuntime(Date.UTC(2026, 10, 16, 18))
    // The rates of Wednesday follow on Friday morning.
    const publishedAt = (day: string): number =>
      Date.parse(day === '2026-11-18' ? '2026-11-20T08:00Z' : `${day}T15:00Z`)
    const { read, pass } = open(runtime, { ...form, publishedAt })
    const target = `/v1/history?from=EUR&to=${ONE}&start=2026-11-12`
    const days = async (): Promise<string[]> =>
      (await read(target)).points.map(({ d }: { d: string }) => d)
    await days()
    await pass(3 * DAY, HOUR)
    expect((await days()).at(-1)).toBe('2026-11-19')
    await pass(DAY)
    expect(await days()).toEqual(truth(runtime.now(), '2026-11-12', '2026-11-20'))
  })

  it('with its series is unavailable instead of without days', async () => {
    const runtime = virtualRuntime(EVENING)
    let isBehind = true
    const { read } = open(runtime, {
      change: ({ base, days }, { code }) => ({
        base,
        days: days.filter(({ date }) => !(isBehind && code !== undefined && date > '2026-11-13')),
      }),
    })
    const target = `/v1/history?from=EUR&to=${ONE}&start=2026-11-02`
    expect(await read(target)).toMatchObject({ status: 502 })
    isBehind = false
    await runtime.advance(11 * MINUTE)
    expect((await read(target)).points).toEqual(
      points(ONE, truth(runtime.now(), '2026-11-02', '2026-11-20')),
    )
  })

  it.each([
    ['table', {}],
    ['file', { maxDays: 31, hasSeries: false }],
  ])('with the %s of a month has the month before', async (_name, form) => {
    const publication = { ...PUBLICATION, frequency: 'monthly', since: '2020-01-01' } as const
    const isFirst = (day: string): boolean =>
      isBankDay(day) &&
      !oracle.daysOf(`${day.slice(0, 8)}01`, oracle.daysBefore(day, 1)).some(isBankDay)
    const runtime = virtualRuntime(Date.UTC(2026, 10, 2, 18))
    const { read } = open(runtime, {
      ...form,
      publication,
      isOpen: (day) => isFirst(day) && day < '2026-11-01',
    })
    const answer = await read(`/v1/latest?base=EUR&date=2026-11-02`)
    expect(answer).toMatchObject({ status: 200, date: '2026-10-01' })
  })
})

describe('sanity checks', () => {
  const tenfold = ({ base, days }: HistoryDays, on: (date: string) => boolean): HistoryDays => ({
    base,
    days: days.map(({ date, rates }) => ({
      date,
      rates: on(date) ? { ...rates, [ONE]: (rates[ONE] ?? NaN) * 10 } : rates,
    })),
  })

  it('serve a quarantined rate at the end of a window that the bank corrects', async () => {
    const runtime = virtualRuntime(EVENING)
    let isWrong = true
    const { read } = open(runtime, {
      sanityChecks: true,
      hasSeries: false,
      maxDays: 93,
      change: (days) => tenfold(days, (date) => isWrong && date === '2026-06-30'),
    })
    const target = `/v1/history?from=EUR&to=${ONE}&start=2026-06-29&end=2026-06-30`
    await read(target)
    isWrong = false
    await runtime.advance(11 * MINUTE)
    expect((await read(target)).points).toEqual(points(ONE, ['2026-06-29', '2026-06-30']))
  })
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
    const runtime = virtualRuntime(Date.UTC(2026, 10, 19, 18))
    let isOdd = false
    const { read, pass } = open(runtime, {
      change: (days) => (isOdd ? change(days) : days),
    })
    const target = `/v1/history?from=EUR&to=${ONE}&start=2026-11-01`
    const before = await read(target)
    isOdd = true
    await pass(DAY)
    expect((await read(target)).points).toEqual(before.points)
    isOdd = false
    await pass(HOUR)
    expect((await read(target)).points).toEqual(
      points(ONE, truth(runtime.now(), '2026-11-01', '2026-11-20')),
    )
  })

  it('with another base or direction never mix with days in memory', async () => {
    const runtime = virtualRuntime(Date.UTC(2026, 10, 19, 18))
    const turned = ({ base, days }: HistoryDays): HistoryDays => ({
      base,
      days: days.map(({ date, rates }) => ({
        date,
        rates: {},
        prices: Object.fromEntries(Object.entries(rates).map(([code, rate]) => [code, rate])),
      })),
    })
    let isTurned = false
    const { read, pass } = open(runtime, { change: (days) => (isTurned ? turned(days) : days) })
    const target = `/v1/history?from=${ONE}&to=EUR&start=2026-11-02`
    await read(target)
    isTurned = true
    await pass(DAY)
    const { points: served } = await read(target)
    // All days again, in the new direction.
    expect(served).toEqual(points(ONE, truth(runtime.now(), '2026-11-02', '2026-11-20')))
    expect(
      (await read(`/v1/history?from=${ONE}&to=EUR&start=2020-11-02&end=2020-12-01`)).points,
    ).toEqual(points(ONE, truth(runtime.now(), '2020-11-02', '2020-12-01')))
  })
})

describe('rates that are dated when they take effect', () => {
  it('are those of tomorrow in the evening, and of every day before', async () => {
    const runtime = virtualRuntime(Date.UTC(2026, 10, 19, 18))
    const isOpen = (day: string): boolean => isBankDay(oracle.daysBefore(day, 1))
    const publishedAt = (day: string): number =>
      Date.parse(`${oracle.daysBefore(day, 1)}T15:00:00Z`)
    const { read, pass } = open(runtime, {
      publication: { ...PUBLICATION, dated: 'effect' },
      isOpen,
      publishedAt,
    })
    const { currencies } = await read('/v1/currencies')
    const covered = currencies.filter(({ history }: Json) => history).map(({ code }: Json) => code)
    expect(covered).toEqual([...CODES, 'EUR'].toSorted())
    const target = `/v1/history?from=EUR&to=${ONE}&start=2026-11-10`
    // Windows end today.
    const until = (day: string) => points(ONE, oracle.daysOf('2026-11-10', day).filter(isOpen))
    expect((await read(target)).points).toEqual(until('2026-11-19'))
    const today = `/v1/convert?from=EUR&to=${ONE}&date=2026-11-19`
    expect(await read(today)).toMatchObject({ date: '2026-11-19' })
    expect(await read(today.replace('-19', '-20'))).toMatchObject({ date: '2026-11-20' })
    await pass(72 * HOUR, HOUR)
    expect((await read(target)).points).toEqual(until('2026-11-22'))
    const latest = await read('/v1/latest?base=EUR&date=2026-11-22')
    expect(latest).toMatchObject({ date: '2026-11-21' })
  })
})

describe('a response with another base', () => {
  it('of one currency is rejected, and served once it is right', async () => {
    const runtime = virtualRuntime(EVENING)
    let isWrong = true
    const { read } = open(runtime, {
      change: ({ base, days }, { code }) => ({
        base: isWrong && code === ONE ? 'USD' : base,
        days,
      }),
    })
    const target = `/v1/history?from=EUR&to=${ONE}&start=2026-11-02`
    expect(await read(target)).toMatchObject({ status: 502 })
    isWrong = false
    await runtime.advance(MINUTE)
    const expected = points(ONE, truth(runtime.now(), '2026-11-02', '2026-11-20'))
    expect((await read(target)).points).toEqual(expected)
  })
})

describe('a process that slept for a week', () => {
  it.each([5, 93])('has all days where one call returns %d', async (maxDays) => {
    const runtime = virtualRuntime(EVENING)
    const { read, pass } = open(runtime, { hasSeries: false, maxDays })
    const target = `/v1/history?from=EUR&to=${ONE}&start=2026-11-02`
    await read(target)
    await pass(8 * DAY)
    expect((await read(target)).points).toEqual(
      points(ONE, truth(runtime.now(), '2026-11-02', '2026-11-28')),
    )
  })
})

describe('a clock that is set back', () => {
  it.each([1, 5, 40])('by %s days leaves all days', async (days) => {
    for (const form of [{}, { maxDays: 93 }, { maxDays: 93, hasSeries: false }]) {
      const runtime = virtualRuntime(EVENING)
      const { read, refresh, bank, pass } = open(runtime, { ...form, now: () => EVENING })
      const target = (code: string): string =>
        `/v1/history?from=EUR&to=${code}&start=2026-09-01&end=2026-10-01`
      const expected = truth(EVENING, '2026-09-01', '2026-10-01')
      expect((await read(target(ONE))).points).toEqual(points(ONE, expected))
      runtime.setClock(EVENING - days * DAY)
      await refresh()
      const kept = expected.filter((day) => Date.parse(day) <= runtime.now())
      for (const code of [ONE, OTHER]) {
        expect((await read(target(code))).points).toEqual(points(code, kept))
      }
      expect(bank.calls.every(({ start, end }) => start <= end)).toBe(true)
      runtime.setClock(EVENING + DAY)
      await pass(11 * MINUTE)
      const until = truth(EVENING, '2026-09-01', '2026-11-20')
      expect((await read(`/v1/history?from=EUR&to=${OTHER}&start=2026-09-01`)).points).toEqual(
        points(OTHER, until),
      )
    }
  })
})

describe('a store', () => {
  const target = `/v1/history?from=EUR&to=${ONE}&start=2026-01-01`

  it('of two processes has each piece fetched once', async () => {
    const runtime = virtualRuntime(EVENING)
    const store = leasingStore(runtime.now)
    const onCall = (): Promise<void> =>
      new Promise((resolve) => {
        runtime.startTimer(resolve, 400)
      })
    const processes = [open(runtime, { store, onCall }), open(runtime, { store, onCall })]
    for (const code of CODES.slice(0, 6)) {
      const responses = processes.map(({ get }) => get(`/v1/history?from=EUR&to=${code}&period=5Y`))
      const statuses = (await finish(runtime, Promise.all(responses))).map(({ status }) => status)
      expect(statuses).toEqual([200, 200])
    }
    const all = processes.flatMap(({ bank }) => rangesOf(bank))
    expect(all.toSorted()).toEqual([...new Set(all)].toSorted())
    expect(all).toHaveLength(7)
  })

  it('with pieces of another provider is not read', async () => {
    const runtime = virtualRuntime(EVENING)
    const store = new Map<string, string>()
    await open(runtime, {
      store,
      name: 'Stranger',
      change: ({ base, days }) => ({
        base,
        days: days.map((day) => ({ ...day, rates: { [ONE]: 7 } })),
      }),
    }).read(target)
    expect(store.size).toBe(2)
    const { points: served, source } = await open(runtime, { store }).read(target)
    expect(source.name).toBe('Bank')
    expect(served).toEqual(points(ONE, truth(EVENING, '2026-01-01', '2026-11-20')))
  })

  it('with older pieces of another process does not replace newer ones', async () => {
    const runtime = virtualRuntime(EVENING)
    const store = new Map<string, string>()
    await open(runtime, { store }).read(target)
    const old = new Map(store)
    await runtime.advance(100 * DAY)
    const { read, bank } = open(runtime, { store })
    await read(target)
    await runtime.advance(HOUR)
    await read(target)
    for (const [key, value] of old) store.set(key, value)
    bank.calls.length = 0
    await read(`/v1/history?from=EUR&to=${ONE}&start=1999-01-04`)
    expect(rangesOf(bank)).toEqual([])
    expect((await read(target)).points).toEqual(
      points(ONE, truth(runtime.now(), '2026-01-01', '2027-03-01')),
    )
  })
})
