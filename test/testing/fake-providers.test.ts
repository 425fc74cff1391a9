import { describe, expect, it } from 'vitest'

import type { HistoryDay, LatestTable, ProviderContext } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { DAY_MS, addDays, toDay } from '../fixtures/dates.ts'
import * as oracle from '../oracle.ts'

const NOW = Date.parse('2026-03-18T18:30:00Z')
const SEEDS = [1, 2, 3, 42, -7, Number.MAX_SAFE_INTEGER]

const HISTORY_CODES = (
  'AUD BRL CAD CHF CNY CZK DKK GBP HKD HUF IDR ILS INR ISK JPY KRW MXN MYR NOK NZD PHP PLN RON ' +
  'SEK SGD THB TRY USD ZAR'
).split(' ')

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
  it('names synthetic rates as the source', () => {
    for (const { attribution } of Object.values(fakeProviders())) {
      const url = 'https://www.npmjs.com/package/ratesmith'
      expect(attribution).toEqual({ name: 'Synthetic rates (ratesmith)', url })
    }
  })

  it('has the same market for the same seed, and seed 1 by default', async () => {
    const range = { start: '2025-01-01', end: '2026-03-18' }
    for (const seed of SEEDS) {
      const { latest, history } = fakeProviders({ seed })
      expect(await latest.fetchLatest(contextAt(NOW))).toEqual(await latestOf(seed, NOW))
      const { days } = await history.fetchHistory(range, contextAt(NOW))
      expect(days).toEqual(await daysOf(seed, range.start, range.end))
    }
    expect(await fakeProviders().latest.fetchLatest(contextAt(NOW))).toEqual(await latestOf(1, NOW))
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

  it('has the same market on every runtime, to the last byte', async () => {
    const days = await daysOf(1, '1999-01-01', '2026-03-18')
    expect(fingerprint(JSON.stringify(days))).toBe(3132580605)
    expect(fingerprint(JSON.stringify(await latestOf(1, NOW)))).toBe(1679552195)
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

  it('returns copies, so that callers cannot change the market', async () => {
    const { latest, history } = fakeProviders()
    const range = { start: '2026-03-18', end: '2026-03-18' }
    const table = await latest.fetchLatest(contextAt(NOW))
    const { days } = await history.fetchHistory(range, contextAt(NOW))
    table.rates['EUR'] = 0
    for (const day of days) day.rates['USD'] = 0
    expect(await latest.fetchLatest(contextAt(NOW))).toEqual(await latestOf(1, NOW))
    const again = await history.fetchHistory(range, contextAt(NOW))
    expect(again.days).toEqual(await daysOf(1, range.start, range.end))
  })
})

describe('history', () => {
  it('has exactly the TARGET working days from 1999 to the newest published one', async () => {
    const expected = oracle.daysOf('1999-01-04', '2026-03-18').filter(oracle.isTargetDay)
    const days = await daysOf(1, '1990-01-01', '2030-12-31')
    expect(days.map((day) => day.date)).toEqual(expected)
  })

  it('has 29 plausible rates against the euro with five or six digits', async () => {
    for (const seed of SEEDS) {
      const days = await daysOf(seed, seed === 1 ? '1999-01-01' : '2021-01-01', '2026-12-31')
      expect(days.every((day) => Object.keys(day.rates).join() === HISTORY_CODES.join())).toBe(true)
      for (const code of HISTORY_CODES) {
        const rates = days.map((day) => day.rates[code] ?? NaN)
        expect(rates.every((rate) => Number(rate.toPrecision(6)) === rate)).toBe(true)
        expect(rates.some((rate) => Number(rate.toPrecision(4)) !== rate)).toBe(true)
        expect(Math.min(...rates)).toBeGreaterThan(0)
        expect(Math.max(...rates) / Math.min(...rates), `${code}, seed ${seed}`).toBeLessThan(3)
      }
    }
  })

  it('returns exactly the requested days, independent of earlier calls', async () => {
    const { history } = fakeProviders()
    const all = await daysOf(1, '1999-01-01', '2026-03-18')
    const ranges = [
      ['2026-03-02', '2026-03-18'],
      ['2003-05-01', '2003-05-31'],
      ['1998-12-01', '1999-02-01'],
      ['2021-03-04', '2026-03-18'],
      ['2026-03-14', '2026-03-15'], // a weekend
      ['2025-12-24', '2026-01-02'],
      ['2026-03-18', '2026-03-17'],
      ['1990-01-01', '1998-12-31'],
      ['2026-03-19', '2027-01-01'], // not published yet
    ] as const
    for (const [start, end] of ranges) {
      const { base, days } = await history.fetchHistory({ start, end }, contextAt(NOW))
      expect(base).toBe('EUR')
      expect(days).toEqual(all.filter(({ date }) => date >= start && date <= end))
      expect(await daysOf(1, start, end)).toEqual(days)
    }
  })

  it('grows with the clock and never rewrites the past', async () => {
    const { history } = fakeProviders()
    const range = { start: '2026-03-01', end: '2026-12-31' }
    const final = await daysOf(1, range.start, range.end, Date.parse('2027-01-10T00:00:00Z'))
    const instants = Array.from({ length: 50 }, (_, index) => NOW + index * 0.7 * DAY_MS)
    const dueAt = (date: string): number =>
      Date.parse(`${date}T${date < '2026-03-29' ? 15 : 14}:00Z`)
    // Each of these days was due at 16:00 in Frankfurt: one before Easter, one after it, and one in summer.
    const due = ['2026-03-27', '2026-04-07', '2026-07-15'].map(dueAt)
    for (const instant of [...instants, ...due, ...due.map((at) => at - 1), NOW]) {
      const { days } = await history.fetchHistory(range, contextAt(instant))
      expect(days).toEqual(final.filter(({ date }) => dueAt(date) <= instant))
    }
  })
})

describe('latest', () => {
  it('has the active codes of the open feed: USD, then the others in alphabetical order', async () => {
    const { base, rates } = await latestOf(1, NOW)
    expect(base).toBe('USD')
    expect(rates['USD']).toBe(1)
    const [first, ...others] = Object.keys(rates)
    expect(first).toBe('USD')
    expect(others).toEqual(others.toSorted())
    expect(others).toHaveLength(160)
    expect(others).toEqual(expect.arrayContaining(HISTORY_CODES.filter((code) => code !== 'USD')))
  })

  it.each(SEEDS)('with seed %d has positive, finite rates of eight digits', async (seed) => {
    for (const moment of MOMENTS) {
      const { rates } = await latestOf(seed, moment)
      for (const [code, rate] of Object.entries(rates)) {
        expect(rate > 0 && Number.isFinite(rate), code).toBe(true)
        expect(Number(rate.toPrecision(8)), code).toBe(rate)
      }
    }
  })

  it('agrees with the last day of history at every moment', async () => {
    for (const moment of MOMENTS) {
      const { rates } = await latestOf(3, moment)
      const days = await daysOf(3, addDays(toDay(moment), -7), '2026-12-31', moment)
      const euros = { EUR: 1, ...days.at(-1)?.rates }
      const dollars = days.at(-1)?.rates['USD'] ?? NaN
      expect(Object.keys(euros)).toHaveLength(30)
      for (const [code, rate] of Object.entries(euros)) {
        expect(rates[code], code).toBe(Number((rate / dollars).toPrecision(8)))
      }
    }
  })

  it('changes only from working day to working day', async () => {
    const ratesAt = async (text: string) => (await latestOf(1, Date.parse(text))).rates
    const friday = await ratesAt('2026-03-13T16:00:00Z')
    expect(await ratesAt('2026-03-15T16:00:00Z')).toEqual(friday)
    expect(await ratesAt('2026-03-16T14:59:00Z')).toEqual(friday)
    const monday = await ratesAt('2026-03-16T15:00:00Z')
    for (const code of ['EUR', 'GBP', 'RUB', 'ARS', 'UAH', 'VND', 'KWD']) {
      const move = (monday[code] ?? NaN) / (friday[code] ?? NaN) - 1
      expect(Math.abs(move), code).toBeGreaterThan(0)
      expect(Math.abs(move), code).toBeLessThan(0.05)
    }
  })

  /** Codes with equal rates. */
  const PEGS =
    'GBP GGP IMP JEP GIP FKP SHP,ZAR LSL NAD SZL,AUD KID TVD,DKK FOK,SGD BND,INR BTN,XOF XAF'
      .split(',')
      .map((codes) => codes.split(' '))

  it('keeps pegs', async () => {
    for (let year = 2000; year <= 2026; year++) {
      const { rates } = await latestOf(1, Date.parse(`${year}-03-18T18:00:00Z`))
      expect(rates).toMatchObject({ AED: 3.67, SAR: 3.75, QAR: 3.64, BHD: 0.376, PAB: 1, XCD: 2.7 })
      for (const [anchor = '', ...codes] of PEGS) {
        for (const code of codes) expect(rates[code], code).toBe(rates[anchor])
      }
      expect((rates['XAF'] ?? NaN) / (rates['EUR'] ?? NaN)).toBeCloseTo(656, 3)
      expect((rates['CNH'] ?? NaN) / (rates['CNY'] ?? NaN)).toBeCloseTo(1, 1)
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
      expect(after.updatedAt).toBe(due)
      expect(toDay(before.updatedAt)).toBe(addDays(day, -1))
      const wait = before.nextUpdateAt - due
      expect(wait).toBeGreaterThanOrEqual(230_000)
      expect(wait).toBeLessThanOrEqual(1_990_000)
      expect(wait % 1000).toBe(0)
      waits.add(wait)
      expect(await latest.fetchLatest(contextAt(due + DAY_MS / 2))).toEqual(after)
    }
    expect(waits.size).toBeGreaterThan(200)
  })

  it('rejects before the first publication in 1999', async () => {
    await expect(latestOf(1, Date.parse('1999-01-04T14:59:00Z'))).rejects.toThrow('1999-01-04')
    await expect(latestOf(1, 0)).rejects.toThrow(RangeError)
  })
})
