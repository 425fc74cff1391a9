import { strToU8, zipSync } from 'fflate'
import { describe, expect, it } from 'vitest'

import { createFrankfurterProvider, createRatesHandler } from '../../src/index.ts'
import type { HistoryDay, HistoryProvider } from '../../src/index.ts'
import { createEcbDataApiProvider, createEcbProvider } from '../../src/providers/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { ecbDays, exrCsv, historyCsv } from '../fixtures/ecb-files.ts'
import { marketOf } from '../fixtures/market.ts'
import { NOW, upstream } from '../providers/upstream.ts'
import { settled, turnsDuring } from '../virtual-runtime.ts'

const RANGE = { start: '1999-01-04', end: '2026-11-20' }
const FIVE_YEARS = { start: '2021-11-06', end: '2026-11-20' }

const DAYS = ecbDays(RANGE.start, RANGE.end, NOW)
const PAIR = { from: 'EUR', to: 'USD', start: RANGE.start }
const MADE = marketOf().history(RANGE.start, RANGE.end, NOW).days
const RECENT = DAYS.filter(({ date }) => date >= FIVE_YEARS.start)

type Bodies = (string | Uint8Array<ArrayBuffer> | Response)[]

function read(provider: HistoryProvider, bodies: Bodies, range = RANGE) {
  const { context } = upstream(
    bodies.map((body) => () => (body instanceof Response ? body.clone() : new Response(body))),
  )
  return turnsDuring(() => provider.fetchHistory(range, context))
}

const rowsOf = (days: readonly HistoryDay[]): object[] =>
  days.flatMap(({ date, rates }) =>
    Object.entries(rates).map(([quote, rate]) => ({ date, base: 'EUR', quote, rate })),
  )

const ZIP = zipSync({ 'eurofxref-hist.csv': strToU8(historyCsv(DAYS)) }, { level: 0 })

/** All days as Frankfurter lists them, and rows of five years as its second version does. */
const BY_DAY = JSON.stringify({
  amount: 1,
  base: 'EUR',
  rates: Object.fromEntries(DAYS.map(({ date, rates }) => [date, rates])),
})
const GONE = new Response('', { status: 410 })
const ROWS = [GONE, JSON.stringify(rowsOf(RECENT))]

// Modules that a provider imports when it first needs them are loaded before turns are counted.
await read(createEcbProvider(), [ZIP])
await read(createFrankfurterProvider(), [GONE, '[]'], FIVE_YEARS).catch(() => undefined)

describe('many days', () => {
  it.each<[number, string, HistoryProvider, Bodies, HistoryDay[]]>([
    [11, 'Frankfurter', createFrankfurterProvider(), [BY_DAY], DAYS],
    [13, 'Frankfurter, row by row', createFrankfurterProvider(), ROWS, RECENT],
    [15, 'the archive of the bank', createEcbProvider(), [ZIP], DAYS],
    [50, 'the data API of the bank', createEcbDataApiProvider(), [exrCsv(DAYS)], DAYS],
    [27, 'a market without a network', fakeProviders().history, [], MADE],
  ])('yield at least %d times: %s', async (slices, _, provider, bodies, days) => {
    const range = days === RECENT ? FIVE_YEARS : RANGE
    const { result, turns } = await read(provider, bodies, range)
    expect(turns).toBeGreaterThanOrEqual(slices)
    expect(result).toEqual({ base: 'EUR', days })
  })

  it('of five years are made without a timer, because tests may fake timers', async () => {
    expect((await read(fakeProviders().history, [], FIVE_YEARS)).turns).toBeLessThan(2)
  })

  it('are checked a few hundred days per turn, until the handler is closed', async () => {
    const all = await daysCheckedByTurn()
    expect(sum(all)).toBe(DAYS.length)
    expect(Math.max(...all)).toBeLessThan(1_000)
    expect(sum(await daysCheckedByTurn(2_000))).toBeLessThan(3_000)
  })

  it('are compared, stored and restored in slices', async () => {
    const store = new Map<string, string>()
    const history: HistoryProvider = {
      attribution: fakeProviders().history.attribution,
      sanityChecks: true,
      fetchHistory: async ({ start, end }) => {
        return { base: 'EUR', days: DAYS.filter(({ date }) => date >= start && date <= end) }
      },
    }
    const load = (end: () => boolean, types: string[] = []) =>
      turnsDuring(async (turns) => {
        let respondedAt = 0
        const handler = createRatesHandler({
          now: () => NOW,
          store,
          providers: { history },
          onEvent({ type }) {
            types.push(type)
            if (type === 'upstream_response') respondedAt = turns()
          },
        })
        const { points } = await handler.rates.history(PAIR)
        while (!end()) await settled()
        return { points, since: turns() - respondedAt }
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
    await Promise.allSettled([handler.rates.history(PAIR)])
    // Work that was not aborted would continue.
    for (let turn = 0; turn < 50; turn += 1) await settled()
  })
  return [...read.values()]
}

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
    const { result } = await read(createFrankfurterProvider(), [changed])
    expect(result.days).toEqual(days)
  })

  it.each([BY_DAY.slice(0, -1), BY_DAY.replace('"2015', '2015'), BY_DAY.replace('},"', '},}"')])(
    'is rejected where it is invalid JSON',
    async (broken) => {
      const call = read(createFrankfurterProvider(), [broken])
      await expect(call).rejects.toThrow(/^api\.frankfurter\.dev .*200 .*JSON/)
    },
  )
})
