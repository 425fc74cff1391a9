import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

import { createRatesHandler } from '../../src/index.ts'
import type { HistoryProvider, LatestProvider, LatestTable, RatesEvent } from '../../src/index.ts'
import { crossCheck } from '../../src/providers/cross-check.ts'
import { DAY, HOUR, MINUTE, settled } from '../virtual-runtime.ts'

/** A Monday, shortly after midnight: the newest reference day is the Friday before. */
const START = Date.UTC(2026, 10, 23, 0, 10)

const EURO_RATES = { USD: 1.16, JPY: 180.2, GBP: 0.88, CHF: 0.93, TRY: 49, ISK: 140 }

/** Creates a table against the dollar that agrees with the reference rates, except for `factors`, by code. */
function tableOf(factors: Record<string, number> = {}): LatestTable {
  const euro = 1 / EURO_RATES.USD
  const rates = Object.entries(EURO_RATES).map(([code, rate]) => {
    return [code, rate * euro * (factors[code] ?? 1)]
  })
  const updatedAt = START - 10 * MINUTE
  const all = { ...Object.fromEntries(rates), USD: 1, EUR: euro * (factors['EUR'] ?? 1) }
  return { base: 'USD', updatedAt, nextUpdateAt: updatedAt + DAY, rates: all }
}

type FetchLatest = LatestProvider['fetchLatest']
type FetchHistory = HistoryProvider['fetchHistory']

const attributionOf = (name: string) => ({ name, url: `https://${name.toLowerCase()}.example` })
const primaryOf = (fetchLatest: FetchLatest): LatestProvider => {
  return { attribution: attributionOf('Primary'), fetchLatest }
}
const referenceOf = (fetchHistory: FetchHistory): HistoryProvider => {
  return { attribution: attributionOf('Reference'), fetchHistory }
}

const healthy: FetchHistory = async () => ({
  base: 'EUR',
  days: [
    { date: '2026-11-19', rates: { ...EURO_RATES, USD: 1.4 } },
    { date: '2026-11-20', rates: EURO_RATES },
  ],
})

function only(date: string, rates: Record<string, number> = EURO_RATES) {
  return async () => ({ base: 'EUR', days: [{ date, rates }] })
}

/** Creates a reference that never settles and records the signals of its calls. */
function hanging(signals: AbortSignal[] = []): FetchHistory {
  return (_range, { signal }) => {
    signals.push(signal)
    return new Promise(() => {})
  }
}

beforeEach(() => {
  vi.useFakeTimers({ now: START, toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] })
})

afterEach(() => {
  vi.useRealTimers()
})

const after = <Value>(delay: number, value: Value): Promise<Value> =>
  new Promise((resolve) => void setTimeout(() => resolve(value), delay))

/** Creates a handler with a primary and a reference, and records the events of the check. */
function serve(latest: FetchLatest | LatestTable, fetchHistory: FetchHistory = healthy) {
  const events: RatesEvent[] = []
  const primary = primaryOf(typeof latest === 'function' ? latest : async () => latest)
  const handler = createRatesHandler({
    now: () => Date.now(),
    providers: { latest: crossCheck(primary, referenceOf(fetchHistory), { tolerance: 0.03 }) },
    onEvent: (event) => void (/check|deviating/.test(event.type) && events.push(event)),
  })
  return { events, latest: () => handler.rates.latest() }
}

describe('crossCheck()', () => {
  it('emits no event for rates that agree, and returns the table of the primary', async () => {
    const table = tableOf({ JPY: 1.029, GBP: 0.972 })
    const { latest, events } = serve(table)
    const { source, rates, updatedAt } = await latest()
    expect(source).toEqual({ name: 'Primary', url: 'https://primary.example' })
    expect({ rates, updatedAt }).toMatchObject({ rates: table.rates, updatedAt: table.updatedAt })
    expect(events).toEqual([])
  })

  it.each([
    { factors: { GBP: 1.05 }, deviations: ['GBP +5.0 %'] },
    { factors: { JPY: 0.95, CHF: 1.031 }, deviations: ['JPY -5.0 %', 'CHF +3.1 %'] },
    // TRY and ISK move this far every month and are not compared.
    { factors: { TRY: 1.2, ISK: 0.8, GBP: 0.5 }, deviations: ['GBP -50.0 %'] },
    {
      factors: { EUR: 1.05 },
      deviations: ['USD', 'JPY', 'GBP', 'CHF'].map((code) => `${code} -4.8 %`),
    },
  ])('reports $deviations and serves them unchanged', async ({ factors, deviations }) => {
    const { latest, events } = serve(tableOf(factors))
    expect((await latest()).rates).toEqual(tableOf(factors).rates)
    const check = { provider: 'Primary', reference: 'Reference', date: '2026-11-20', deviations }
    expect(events).toEqual([{ type: 'rates_deviating', dataSet: 'latest', ...check }])
  })

  it.each([{}, { GBP: 1.05 }])('compares with prices of a bank: %o', async (factors) => {
    const zloty = {
      EUR: 4.2,
      ...Object.fromEntries(Object.entries(EURO_RATES).map(([code, rate]) => [code, 4.2 / rate])),
    }
    const prices: FetchHistory = async () => ({
      base: 'PLN',
      days: [{ date: '2026-11-20', rates: {}, prices: zloty }],
    })
    const { latest, events } = serve(tableOf(factors), prices)
    await latest()
    expect(events.flatMap((event) => Object(event).deviations)).toEqual(
      Object.keys(factors).map((code) => `${code} +5.0 %`),
    )
  })

  it('requests the last ten days, at the same time as the primary', async () => {
    const calls: unknown[] = []
    const fetchLatest: FetchLatest = async () => (calls.push('primary'), tableOf())
    const { latest } = serve(fetchLatest, async (range, context) => {
      calls.push(range, Object.keys(context).toSorted())
      return healthy(range, context)
    })
    await latest()
    const range = { start: '2026-11-14', end: '2026-11-23' }
    expect(calls).toEqual([range, ['fetch', 'now', 'signal'], 'primary'])
  })

  it('compares with the first of the ten days if there is no later one', async () => {
    const { latest, events } = serve(tableOf({ GBP: 1.05 }), only('2026-11-14'))
    await latest()
    expect(events).toMatchObject([{ type: 'rates_deviating', date: '2026-11-14' }])
  })

  it.each([
    ['down', () => Promise.reject(new Error('down')), /^down$/],
    ['broken and throws at once', vi.fn<() => never>().mockThrow(new Error('broken')), /^broken$/],
    ['without days', async () => ({ base: 'EUR', days: [] }), /since 2026-11-14, got none/],
    ['wrong', only('2026-11-20', { USD: NaN, JPY: -1 }), /2 of 2 rates are not numbers/],
    ['of other codes', only('2026-11-20', { PLN: 4.2 }), /USD, JPY, .* in both/],
    ['late by a fortnight', only('2026-11-09'), /since 2026-11-14, got 2026-11-09/],
  ])('works without a reference that is %s', async (_how, fetchHistory, reason) => {
    const { latest, events } = serve(tableOf({ GBP: 1.05 }), fetchHistory)
    expect((await latest()).rates).toEqual(tableOf({ GBP: 1.05 }).rates)
    const names = { provider: 'Primary', reference: 'Reference' }
    const failed = { type: 'check_failed', ...names, reason: expect.stringMatching(reason) }
    expect(events).toMatchObject([failed])
    expect(vi.getTimerCount()).toBe(0)
  })

  it('waits a second for a hanging reference, then aborts its call', async () => {
    const signals: AbortSignal[] = []
    const { latest, events } = serve(tableOf(), hanging(signals))
    const pending = latest()
    await vi.advanceTimersByTimeAsync(999)
    expect(events).toEqual([])
    await vi.advanceTimersByTimeAsync(1)
    expect((await pending).rates).toEqual(tableOf().rates)
    const failed = { type: 'check_failed', reason: expect.stringMatching(/ 1000 ms$/) }
    expect(events).toMatchObject([failed])
    expect(signals).toMatchObject([{ aborted: true, reason: expect.any(Error) }])
    expect(vi.getTimerCount()).toBe(0)
  })

  it('does not wait if the primary took longer than a second', async () => {
    const pending = serve(() => after(4_900, tableOf()), hanging()).latest()
    await vi.advanceTimersByTimeAsync(4_900)
    expect((await pending).rates).toEqual(tableOf().rates)
  })

  it('uses a reference that takes more than a second when the primary is slower still', async () => {
    const { latest, events } = serve(
      () => after(3_000, tableOf({ GBP: 1.05 })),
      async (range, context) => after(2_000, await healthy(range, context)),
    )
    const pending = latest()
    await vi.advanceTimersByTimeAsync(3_000)
    await pending
    expect(events).toMatchObject([{ type: 'rates_deviating' }])
  })

  it('fails like its primary, without a remaining timer or call', async () => {
    const signals: AbortSignal[] = []
    const { latest, events } = serve(() => Promise.reject(new Error('down')), hanging(signals))
    await expect(latest()).rejects.toMatchObject({ code: 'provider_unavailable' })
    expect(events).toEqual([])
    expect(signals.map(({ aborted }) => aborted)).toEqual([true])
    expect(vi.getTimerCount()).toBe(0)
  })

  it('sends the reference no request before its Retry-After has elapsed', async () => {
    const error = Object.assign(new Error('too many'), { retryAfterMs: HOUR })
    const fetchHistory = vi.fn<FetchHistory>().mockRejectedValue(error)
    const { latest, events } = serve({ ...tableOf(), nextUpdateAt: START }, fetchHistory)
    for (let time = 0; time < 4; time += 1) {
      await latest()
      await settled()
      await vi.advanceTimersByTimeAsync(20 * MINUTE)
    }
    expect(fetchHistory).toHaveBeenCalledTimes(2)
    expect(events).toHaveLength(4)
    expect(events[1]).toMatchObject({ reason: expect.stringMatching(/ 2400 s$/) })
  })

  it('validates stored tables like its primary, and stores no check', async () => {
    const store = new Map<string, string>()
    const primary = primaryOf(async () => tableOf({ GBP: 1.05 }))
    const validateStored = vi.fn<(table: LatestTable) => LatestTable>((table) => table)
    const latest = crossCheck({ ...primary, validateStored }, referenceOf(healthy))
    const start = () => createRatesHandler({ now: () => Date.now(), store, providers: { latest } })
    await start().rates.latest()
    expect(store.get('rates:v1:latest')).not.toMatch(/check|deviat|Reference/)
    expect((await start().rates.latest()).rates).toEqual(tableOf({ GBP: 1.05 }).rates)
    expect(validateStored).toHaveBeenCalledTimes(1)
    expect(crossCheck(primary, referenceOf(healthy))).not.toHaveProperty('validateStored')
  })

  const NO_TABLES = [undefined, null, 'text', [], { base: 'USD' }]

  it.each(NO_TABLES)('passes %j to the handler, which rejects it', async (table) => {
    const { latest } = serve(async () => Object(table))
    await expect(latest()).rejects.toMatchObject({ code: 'provider_unavailable' })
  })

  const [primary, reference] = [primaryOf(async () => tableOf()), referenceOf(healthy)]

  const NO_SHARES = [0, 1, 3, -0.1, NaN, Infinity, '0.03', null]

  it.each(NO_SHARES)('throws for the tolerance %j', (tolerance) => {
    const make = () => crossCheck(primary, reference, Object({ tolerance }))
    expect(make).toThrow(TypeError)
    expect(make).toThrow(`tolerance must be above 0 and below 1, got ${tolerance}`)
  })

  it('throws for arguments that are not providers, or whose URL is not http or https', () => {
    expect(() => crossCheck(Object(reference), reference)).toThrow('primary must be a provider')
    expect(() => crossCheck(primary, Object(primary))).toThrow('reference must be a provider')
    const attribution = { name: 'Test', url: 'javascript:alert(1)' }
    const refused = /^\w+\.attribution\.url must be an absolute http or https URL/
    expect(() => crossCheck({ ...primary, attribution }, reference)).toThrow(refused)
    expect(() => crossCheck(primary, { ...reference, attribution })).toThrow(refused)
  })

  it('returns a provider that adds the check to its table', async () => {
    const primary = primaryOf(async () => tableOf({ GBP: 1.02 }))
    const checked = crossCheck(primary, reference, { tolerance: 0.01 })
    const context = { fetch, now: () => START, signal: new AbortController().signal }
    expect(await checked.fetchLatest(context)).toEqual({
      ...tableOf({ GBP: 1.02 }),
      check: { reference: 'Reference', date: '2026-11-20', deviations: ['GBP +2.0 %'] },
    })
  })
})
