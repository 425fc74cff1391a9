import { strToU8, zipSync } from 'fflate'
import { describe, expect, it } from 'vitest'

import { createFrankfurterProvider, createRatesHandler } from '../../src/index.ts'
import type { HistoryDay, HistoryProvider } from '../../src/index.ts'
import { createEcbDataApiProvider, createEcbProvider } from '../../src/providers/ecb.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { marketOf } from '../fixtures/market.ts'
import { ecbDays, exrCsv, historyCsv } from '../fixtures/ecb-files.ts'
import { NOW, upstream } from '../providers/upstream.ts'
import { settled, turnsDuring } from '../virtual-runtime.ts'

// Loaded before turns are counted.
await import('../../src/providers/ecb/failover.ts')
await import('../../src/providers/ecb/unzip.ts')

const RANGE = { start: '1999-01-04', end: '2026-11-20' }
const FIVE_YEARS = { start: '2021-11-06', end: '2026-11-20' }

const DAYS = ecbDays(RANGE.start, RANGE.end, NOW)
const ALL = { base: 'EUR', days: DAYS }
const PAIR = { from: 'EUR', to: 'USD' }
const MADE = marketOf().history(RANGE.start, RANGE.end, NOW).days

function read(provider: HistoryProvider, body: string | Uint8Array<ArrayBuffer>, range = RANGE) {
  const { context } = upstream([() => new Response(body)])
  return turnsDuring(() => provider.fetchHistory(range, context))
}

const rows = (days: readonly HistoryDay[]): object[] =>
  days.flatMap(({ date, rates }) =>
    Object.entries(rates).map(([quote, rate]) => ({ date, base: 'EUR', quote, rate })),
  )

const RECENT = DAYS.filter(({ date }) => date >= FIVE_YEARS.start)

const ZIP = zipSync({ 'eurofxref-hist.csv': strToU8(historyCsv(DAYS)) }, { level: 0 })

/** All days as Frankfurter lists them. */
const BY_DAY = JSON.stringify({
  amount: 1,
  base: 'EUR',
  rates: Object.fromEntries(DAYS.map(({ date, rates }) => [date, rates])),
})

describe('all days since 1999', () => {
  it.each([
    [11, 'Frankfurter', createFrankfurterProvider(), BY_DAY, DAYS],
    [15, 'the archive of the bank', createEcbProvider(), ZIP, DAYS],
    [50, 'the data API of the bank', createEcbDataApiProvider(), exrCsv(DAYS), DAYS],
    [27, 'a market without a network', fakeProviders().history, '', MADE],
  ] as const)('yield at least %d times: %s', async (slices, _, provider, body, days) => {
    const { result, turns } = await read(provider, body)
    expect(turns).toBeGreaterThanOrEqual(slices)
    expect(result).toEqual({ base: 'EUR', days })
  })

  it('yield to the event loop where Frankfurter lists five years row by row', async () => {
    const list = JSON.stringify(rows(RECENT))
    const gone = new Response('', { status: 410 })
    const { context } = upstream([gone, () => new Response(list)])
    const provider = createFrankfurterProvider()
    const { result, turns } = await turnsDuring(() => provider.fetchHistory(FIVE_YEARS, context))
    expect(turns).toBeGreaterThanOrEqual(13)
    expect(result).toEqual({ base: 'EUR', days: RECENT })
  })

  it('are checked a few hundred days per turn, until the handler is closed', async () => {
    expect(sum(await daysCheckedByTurn())).toBe(DAYS.length)
    expect(Math.max(...(await daysCheckedByTurn()))).toBeLessThan(1_000)
    expect(sum(await daysCheckedByTurn(2_000))).toBeLessThan(3_000)
  })

  it('are compared, stored and restored in slices', async () => {
    const store = new Map<string, string>()
    const { attribution } = fakeProviders().history
    const history: HistoryProvider = {
      attribution,
      sanityChecks: true,
      fetchHistory: async ({ start, end }) => {
        return { ...ALL, days: ALL.days.filter(({ date }) => date >= start && date <= end) }
      },
    }
    const load = (end: () => boolean, types: string[] = []) =>
      turnsDuring(async (turns) => {
        const turnOf: Record<string, number> = {}
        const handler = createRatesHandler({
          now: () => NOW,
          store,
          providers: { history },
          onEvent: ({ type }) => void (types.push(type), (turnOf[type] = turns())),
        })
        const { points } = await handler.rates.history({ ...PAIR, start: RANGE.start })
        while (!end()) await settled()
        return { points, since: turns() - (turnOf['upstream_response'] ?? 0), turnOf }
      })
    const first = await load(() => store.has('rates:v1:history:ecb:archive'))
    expect(first.result.since).toBeGreaterThanOrEqual(12)
    const types: string[] = []
    const second = await load(() => true, types)
    expect(types).toEqual(['rates_restored', 'refresh_scheduled', 'rates_updated'])
    expect(second.turns).toBeGreaterThanOrEqual(25)
    expect(second.result.points).toEqual(first.result.points)
  })
})

const sum = (counts: readonly number[]): number => counts.reduce((all, count) => all + count)

/** Loads all days into a handler, closes it after `closeAt` of them, and returns the number of days read in each turn. */
async function daysCheckedByTurn(closeAt = Infinity): Promise<number[]> {
  const read = new Map<number, number>()
  await turnsDuring(async (turns) => {
    let count = 0
    const days = DAYS.map(({ date, rates }) => ({
      date,
      get rates() {
        count += 1
        read.set(turns(), (read.get(turns()) ?? 0) + 1)
        if (count === closeAt) handler.close()
        return rates
      },
    }))
    const attribution = { name: 'Bank', url: 'https://bank.example' }
    const history = { attribution, fetchHistory: async () => ({ base: 'EUR', days }) }
    const handler = createRatesHandler({ now: () => NOW, providers: { history } })
    const call = handler.rates.history({ ...PAIR, start: RANGE.start })
    await Promise.allSettled([call])
    // Work that was not aborted would continue.
    for (let turn = 0; turn < 50; turn += 1) await settled()
  })
  return [...read.values()]
}

it('makes five years without a timer, because tests may fake timers', async () => {
  expect((await read(fakeProviders().history, '', FIVE_YEARS)).turns).toBeLessThan(2)
})

describe('JSON of all days since 1999 in another form', () => {
  const BASE = '"base":"EUR",'
  const inverted = '"2010-01-04":{"USD":0.5}'
  it.each([
    ['with white space', BY_DAY.replaceAll('":', '": ')],
    ['with its base at the end', BY_DAY.replace(BASE, '').replace(/\}$/, `,${BASE.slice(0, -1)}}`)],
    ['with the days twice', BY_DAY.replace('"rates":{', '"rates":{},"rates":{')],
    ['with an earlier list', BY_DAY.replace('{', `{"x\\"rates":{${inverted}},`)],
    ['with a list in a list', BY_DAY.replace('{', `{"note":{"rates":{${inverted}}},`)],
    ['with the end of a day in a text', BY_DAY.replace('{', '{"note":"}}},\\"rates\\":{",')],
    ['with a day of another form', BY_DAY.replace('"USD":1', `"NOTE":{"a":{"b":"},"}},"USD":1`)],
  ])('is read to the same days: %s', async (_what, changed) => {
    const { rates } = JSON.parse(changed)
    const days = Object.keys(rates).map((date) => ({ date, rates: rates[date] }))
    expect(days.length).toBe(DAYS.length)
    const { result } = await read(createFrankfurterProvider(), changed)
    expect(result.days).toEqual(days)
  })

  const BROKEN = [
    BY_DAY.slice(0, -1),
    BY_DAY.replace('"2015', '2015'),
    BY_DAY.replace('},"', '},}"'),
  ]

  it.each(BROKEN)('is rejected where it is invalid JSON', async (broken) => {
    const call = read(createFrankfurterProvider(), broken)
    await expect(call).rejects.toThrow(/^api\.frankfurter\.dev .*200 .*JSON/)
  })
})
