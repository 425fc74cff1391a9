import { describe, expect, it } from 'vitest'

import type { HistoryDay, LatestTable, ProviderContext } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { DAY_MS, addDays, toDay } from '../fixtures/dates.ts'

const NOW = Date.parse('2026-03-18T18:30:00Z')
const SEEDS = [1, 2, 3, 42, -7, Number.MAX_SAFE_INTEGER]

/** The first publication, holidays, weekends, clock changes, and 15:59 and 16:01 in Frankfurt in winter and summer. */
const MOMENTS = (
  '1999-01-04T15:00Z 2026-01-01T12:00Z 2026-01-01T15:00Z 2026-02-27T14:59Z 2026-02-27T15:01Z ' +
  '2026-02-28T18:00Z 2026-03-01T09:00Z 2026-03-29T14:00Z 2026-04-03T20:00Z 2026-04-06T20:00Z ' +
  '2026-04-07T13:59:59.999Z 2026-04-07T14:00Z 2026-07-15T13:59Z 2026-07-15T14:01Z ' +
  '2026-10-25T14:59Z 2026-12-31T23:59:59Z'
)
  .split(' ')
  .map((text) => Date.parse(text))

function contextAt(now: number, signal = new AbortController().signal): ProviderContext {
  const fetch = () => Promise.reject(new Error('a fake provider needs no network'))
  return { fetch, signal, now: () => now }
}

/** Shared providers, because creating a market takes longer than reading it. */
const MARKETS = new Map(SEEDS.map((seed) => [seed, fakeProviders({ seed })]))

async function daysOf(seed: number, start: string, end: string, now = NOW): Promise<HistoryDay[]> {
  const { history } = MARKETS.get(seed) ?? fakeProviders({ seed })
  return (await history.fetchHistory({ start, end }, contextAt(now))).days
}

function latestOf(seed: number, now: number): Promise<LatestTable> {
  const { latest } = MARKETS.get(seed) ?? fakeProviders({ seed })
  return latest.fetchLatest(contextAt(now))
}

/** Returns the FNV-1a hash of `text`, to compare whole markets between runtimes. */
function fingerprint(text: string): number {
  let hash = 0x811c_9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x0100_0193)
  return hash >>> 0
}

describe('fakeProviders()', () => {
  it('has the same market for the same seed, to the last byte on every runtime', async () => {
    const range = { start: '1999-01-01', end: '2026-03-18' }
    const { latest, history } = fakeProviders()
    const table = await latest.fetchLatest(contextAt(NOW))
    const { days } = await history.fetchHistory(range, contextAt(NOW))
    expect(table).toEqual(await latestOf(1, NOW))
    expect(fingerprint(JSON.stringify(days))).toBe(3132580605)
    expect(fingerprint(JSON.stringify(table))).toBe(1679552195)
    // Callers get copies.
    table.rates['EUR'] = 0
    for (const day of days) day.rates['USD'] = 0
    expect(await latest.fetchLatest(contextAt(NOW))).toEqual(await latestOf(1, NOW))
    const again = await history.fetchHistory(range, contextAt(NOW))
    expect(again.days).toEqual(await daysOf(1, range.start, range.end))
    const url = 'https://www.npmjs.com/package/ratesmith'
    for (const { attribution } of [latest, history])
      expect(attribution).toEqual({ name: 'Synthetic rates (ratesmith)', url })
  })

  it('has another market for another seed', async () => {
    const dollars = await Promise.all(
      [0, 1, 2, 3, 4, 5, -1, 2 ** 32, 2 ** 32 + 1].map(async (seed) => {
        const days = await daysOf(seed, '2026-02-01', '2026-03-18')
        return days.map((day) => day.rates['USD']).join()
      }),
    )
    expect(new Set(dollars).size).toBe(dollars.length)
  })

  it('prefers the option now to the clock of the call', async () => {
    const { latest, history } = fakeProviders({ now: () => NOW })
    const context = contextAt(NOW + 30 * DAY_MS)
    expect(await latest.fetchLatest(context)).toEqual(await latestOf(1, NOW))
    const { days } = await history.fetchHistory({ start: '2026-03-01', end: '2026-12-31' }, context)
    expect(days.at(-1)?.date).toBe('2026-03-18')
  })

  it('rejects with the reason of an aborted signal', async () => {
    const { latest, history } = fakeProviders()
    const reason = new Error('closed')
    const context = contextAt(NOW, AbortSignal.abort(reason))
    await expect(latest.fetchLatest(context)).rejects.toBe(reason)
    const range = { start: '2026-03-01', end: '2026-03-18' }
    await expect(history.fetchHistory(range, context)).rejects.toBe(reason)
  })

  it.each([0.5, NaN, Infinity, 2 ** 53])('throws for the seed %d', (seed) => {
    expect(() => fakeProviders({ seed })).toThrow(TypeError)
  })
})

describe('history', () => {
  it('has exactly the requested days, grows with the clock, and never rewrites the past', async () => {
    const { history } = fakeProviders()
    const end = Date.parse('2027-01-10T00:00:00Z')
    const all = await daysOf(1, '1999-01-01', '2026-12-31', end)
    const dueAt = (date: string): number => {
      const isSummer = date >= '2026-03-29' && date < '2026-10-25'
      return Date.parse(`${date}T${isSummer ? 14 : 15}:00Z`)
    }
    const ranges = [
      ['2003-05-01', '2003-05-31'],
      ['1998-12-01', '1999-02-01'],
      ['2021-03-04', '2026-03-18'],
      ['2026-03-14', '2026-03-15'], // a weekend
      ['2025-12-24', '2026-01-02'],
      ['2026-03-18', '2026-03-17'],
      ['1990-01-01', '1998-12-31'],
    ] as const
    for (const [start, end] of ranges) {
      const { base, days } = await history.fetchHistory({ start, end }, contextAt(NOW))
      expect(base).toBe('EUR')
      expect(days).toEqual(all.filter(({ date }) => date >= start && date <= end))
    }
    const instants = Array.from({ length: 50 }, (_, index) => NOW + index * 0.7 * DAY_MS)
    // Each of these days was due at 16:00 in Frankfurt: one before Easter, one after it, and one in summer.
    const due = ['2026-03-27', '2026-04-07', '2026-07-15'].map(dueAt)
    const range = { start: '2026-03-01', end: '2026-12-31' }
    for (const instant of [...instants, ...due, ...due.map((at) => at - 1), NOW]) {
      const { days } = await history.fetchHistory(range, contextAt(instant))
      expect(days).toEqual(all.filter(({ date }) => date >= range.start && dueAt(date) <= instant))
    }
  })
})

describe('latest', () => {
  it('has USD and 160 others, whose rates of eight digits agree with the last day of history', async () => {
    for (const [index, moment] of MOMENTS.entries()) {
      const seed = SEEDS[index % SEEDS.length] ?? 1
      const { rates } = await latestOf(seed, moment)
      const [first, ...others] = Object.keys(rates)
      expect([first, rates['USD'], others.length]).toEqual(['USD', 1, 160])
      expect(others).toEqual(others.toSorted())
      const days = await daysOf(seed, addDays(toDay(moment), -7), '2026-12-31', moment)
      const { rates: euros = {} } = days.at(-1) ?? {}
      const crossed = Object.entries({ EUR: 1, ...euros }).map(([code, rate]) => {
        return [code, Number((rate / (euros['USD'] ?? NaN)).toPrecision(8))]
      })
      expect(crossed).toHaveLength(30)
      expect(rates).toMatchObject(Object.fromEntries(crossed))
      // Pegs, as officially declared.
      expect(rates).toMatchObject({ AED: 3.67, SAR: 3.75, QAR: 3.64, BHD: 0.376, PAB: 1, XCD: 2.7 })
      for (const [code, anchor] of Object.entries({
        GGP: 'GBP',
        SHP: 'GBP',
        LSL: 'ZAR',
        XAF: 'XOF',
      }))
        expect(rates[code], code).toBe(rates[anchor])
    }
  })

  it('publishes every day at 16:00 in Frankfurt and announces the next day 230 to 1990 s late', async () => {
    const { latest } = fakeProviders()
    const waits = new Set<number>()
    for (let day = '2026-01-01'; day < '2027-01-01'; day = addDays(day, 1)) {
      const summer = day >= '2026-03-29' && day < '2026-10-25'
      const due = Date.parse(`${day}T${summer ? '14' : '15'}:00:00Z`)
      const before = await latest.fetchLatest(contextAt(due - 1))
      const after = await latest.fetchLatest(contextAt(due))
      expect([toDay(before.updatedAt), after.updatedAt]).toEqual([addDays(day, -1), due])
      waits.add(before.nextUpdateAt - due)
      expect(await latest.fetchLatest(contextAt(due + DAY_MS / 2))).toEqual(after)
    }
    expect(waits.size).toBeGreaterThan(200)
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(230_000)
    expect(Math.max(...waits)).toBeLessThanOrEqual(1_990_000)
    expect([...waits].filter((wait) => wait % 1_000 !== 0)).toEqual([])
  })

  it('rejects before the first publication in 1999', async () => {
    await expect(latestOf(1, Date.parse('1999-01-04T14:59:00Z'))).rejects.toThrow('1999-01-04')
    await expect(latestOf(1, 0)).rejects.toThrow(RangeError)
  })
})
