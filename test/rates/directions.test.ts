import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { createRatesHandler } from '../../src/index.ts'
import type {
  HistoryDay,
  HistoryProvider,
  LatestTable,
  RatesEvent,
  RatesHandler,
  RatesHandlerOptions,
} from '../../src/index.ts'
import { crossQuotes } from '../../src/rates/arithmetic.ts'
import { codes as codesOf } from '../fixtures/codes.ts'
import * as oracle from '../oracle.ts'
import { rate } from './arbitrary-numbers.ts'

const NOW = Date.parse('2026-11-20T18:00:00Z')
const DATES = ['2026-11-18', '2026-11-19', '2026-11-20']
const RUNS = { seed: 20_261_120 }

/** What a bank prints about a currency: units of it for one unit of the base, or units of the base for one of it. */
interface Quote {
  value: number
  isPriced: boolean
}

/** Returns the units of the second currency for one of the first, exact, or as printed; the base has no quote. */
function expectedRate(from: Quote | undefined, to: Quote | undefined): number {
  if (from === to) return 1
  if (!from && to && !to.isPriced) return to.value
  if (!to && from?.isPriced) return from.value
  const exact = oracle.divide(unitsOf(to), unitsOf(from))
  return oracle.nearestDouble(oracle.roundSignificant(exact, 10))
}

function unitsOf(quote: Quote | undefined): oracle.Exact {
  const one = oracle.toExact(1)
  if (!quote) return one
  const value = oracle.toExact(quote.value)
  return quote.isPriced ? oracle.divide(one, value) : value
}

/** Creates a handler over a bank that publishes `days`, quoted against the zloty. */
function openBank(
  days: readonly (Partial<HistoryDay> & { date: string })[] | Error,
  { sanityChecks = false, latest, ...options }: Options = {},
): RatesHandler {
  const history: HistoryProvider = {
    attribution: { name: 'Bank', url: 'https://bank.example' },
    sanityChecks,
    publication: {
      id: 'bank',
      frequency: 'daily',
      holidays: [],
      time: '12:00',
      timeZone: 'Europe/Warsaw',
      since: '2026-11-02',
    },
    async fetchHistory({ start, end }) {
      if (days instanceof Error) throw days
      const found = days.filter(({ date }) => date >= start && date <= end)
      return { base: 'PLN', days: found.map((day) => ({ rates: {}, ...day })) }
    },
  }
  const providers = { latest: latest ?? false, history }
  return createRatesHandler({ ...options, providers, now: () => NOW })
}

interface Options extends RatesHandlerOptions {
  sanityChecks?: boolean
  latest?: NonNullable<RatesHandlerOptions['providers']>['latest']
}

function quotedDay(date: string, quotes: ReadonlyMap<string, Quote>): HistoryDay {
  const side = (isPriced: boolean): Record<string, number> => {
    const quoted = [...quotes].filter(([, quote]) => quote.isPriced === isPriced)
    return Object.fromEntries(quoted.map(([code, { value }]) => [code, value]))
  }
  return { date, rates: side(false), prices: side(true) }
}

describe('crossQuotes()', () => {
  it('rounds once, in every combination of directions', () => {
    const quote = fc.record({ value: rate, isPriced: fc.boolean() })
    const side = fc.option(quote, { nil: undefined })
    const property = fc.property(side, side, (from, to) => {
      const none = { value: undefined, isPriced: false }
      fc.pre(from !== to)
      expect(crossQuotes(from ?? none, to ?? none)).toBe(expectedRate(from, to))
    })
    fc.assert(property, { ...RUNS, numRuns: 10_000 })
  })

  // The products are a hair below or above half a unit of the tenth digit, or the inverse of such a number.
  it.each([
    [2.46715273, 4.00321515989],
    [2.406650453, 4.155152649],
    [1.4781, 8.35239760841621],
    [1.620961023, 6.093017087],
    [1.799322459, 1.821129939],
    [1.2578580413, 2.6050634431],
    [4.953226079, 6.6154864481],
    [7.582903177, 4.3213000661],
  ])('rounds %d × %d once, at every scale', (one, other) => {
    for (const scale of [1e-9, 1e-3, 1, 1e5, 1e12]) {
      for (const isPriced of [true, false]) {
        const from = { value: oracle.product(one, scale), isPriced }
        const to = { value: other, isPriced: !isPriced }
        expect(crossQuotes(from, to), `× ${scale}`).toBe(expectedRate(from, to))
      }
    }
  })
})

describe('a bank that quotes some currencies each way', () => {
  it('has the same rate of a pair on every endpoint, rounded at most once', async () => {
    const codes = ['USD', 'EUR', 'JPY', 'HUF', 'XDR']
    const market = fc.record({
      directions: fc.tuple(...codes.map(() => fc.boolean())),
      values: fc.tuple(...DATES.map(() => fc.tuple(...codes.map(() => rate)))),
    })
    const property = fc.asyncProperty(market, async ({ directions, values }) => {
      const days = new Map(
        DATES.map((date, row) => {
          const quotes = codes.map((code, index): [string, Quote] => [
            code,
            { value: values[row]?.[index] ?? 1, isPriced: directions[index] ?? false },
          ])
          return [date, new Map(quotes)]
        }),
      )
      const { rates } = openBank([...days].map(([date, quotes]) => quotedDay(date, quotes)))
      const all = ['PLN', ...codes]
      for (const [from, to] of all.flatMap((from) => all.map((to) => [from, to] as const))) {
        const expected = [...days].map(([d, quotes]) => {
          return { d, r: expectedRate(quotes.get(from), quotes.get(to)) }
        })
        const { points } = await rates.history({ from, to, start: '2026-11-18' })
        expect(points).toEqual(expected)
        for (const { d: date, r: rate } of expected) {
          const converted = await rates.convert({ from, to, amount: 3, date })
          expect(converted).toMatchObject({ rate, result: oracle.product(3, rate) })
          const table = await rates.latest({ base: from, symbols: [to], date })
          expect(table.rates[to]).toBe(rate)
        }
      }
    })
    await fc.assert(property, { ...RUNS, numRuns: 10 })
  })

  /** Returns the rates of the newest day, and the dropped codes. */
  async function readDay(day: object) {
    const dropped: string[] = []
    const onEvent = (event: RatesEvent): void => {
      if (event.type === 'rates_dropped') dropped.push(...event.dropped)
    }
    const date = '2026-11-20'
    const { rates } = await openBank([{ date, ...day }], { onEvent }).rates.latest({
      base: 'PLN',
      date,
    })
    return { rates, dropped }
  }

  const MANY = Object.fromEntries(codesOf(40).map((code) => [code, 2]))

  it('drops invalid prices, and the price of a currency that also has a rate', async () => {
    for (const value of [0, -1, NaN, Infinity, '4.1', null]) {
      const { rates, dropped } = await readDay({ prices: { ...MANY, USD: value } })
      expect([Object.keys(rates).length, rates['USD']]).toEqual([41, undefined])
      expect(dropped).toEqual(['2026-11-20 USD'])
    }
    const both = await readDay({ rates: { USD: 0.27 }, prices: { ...MANY, USD: 3.7 } })
    expect([both.rates['USD'], both.dropped]).toEqual([0.27, ['2026-11-20 USD']])
  })

  it.each(['rates', 'prices'])('takes the base in its own %s only as 1', async (side) => {
    expect((await readDay({ [side]: { ...MANY, PLN: 1 } })).rates['PLN']).toBe(1)
    const wrong = readDay({ [side]: { ...MANY, PLN: 1.1 } })
    await expect(wrong).rejects.toMatchObject({ code: 'provider_unavailable' })
  })

  it.each([
    ['turns', [{ prices: { USD: 3.7 } }, { rates: { USD: 0.27 }, prices: {} }]],
    ['begins to have prices', [{ rates: { USD: 0.27 } }, { prices: { USD: 3.7 } }]],
  ])('is rejected where it %s within a response', async (_name, days) => {
    const dated = days.map((day, row) => ({ date: DATES[row] ?? '', ...day }))
    const history = openBank(dated).rates.history({ from: 'USD', to: 'PLN' })
    await expect(history).rejects.toMatchObject({ code: 'provider_unavailable' })
  })

  it('has the same rates after a restart with a store', async () => {
    const store = new Map<string, string>()
    const [rates, prices] = [{ JPY: 41.37 }, { USD: 3.7123, EUR: 4.3 }]
    const read = async ({ rates }: RatesHandler): Promise<object[]> => {
      const pairs = ['USD', 'EUR', 'JPY', 'PLN'].flatMap((from) =>
        ['USD', 'PLN', 'JPY'].map((to) => ({ from, to })),
      )
      return Promise.all(pairs.map((pair) => rates.history(pair)))
    }
    const bank = openBank(
      DATES.map((date) => ({ date, rates, prices })),
      { store },
    )
    const before = await read(bank)
    expect(await read(openBank(new Error('down'), { store }))).toEqual(before)
  })
})

describe('sanity checks of prices', () => {
  const days = oracle.daysOf('2026-11-02', '2026-11-20').filter((date) => !oracle.isWeekend(date))

  async function readDays(change: (date: string) => number, options: Options = {}) {
    const prices = { EUR: 4.25, GBP: 4.9, CHF: 4.5, JPY: 0.0244, SEK: 0.39 }
    const quoted = days.map((date) => ({ date, prices: { USD: 3.7 * change(date), ...prices } }))
    const { rates } = openBank(quoted, { sanityChecks: true, ...options })
    if (options.latest) await rates.latest()
    const { points } = await rates.history({ from: 'USD', to: 'PLN', start: '2026-11-02' })
    return points.map(({ d }) => d)
  }

  it.each([10, 0.1])('quarantine one that moved by a factor of %d for a day', async (factor) => {
    const slip = '2026-11-11'
    const found = await readDays((date) => (date === slip ? factor : 1))
    expect(found).toEqual(days.filter((date) => date !== slip))
  })

  it('compare majors in the direction of the bank', async () => {
    expect(await readDays(() => 1)).toEqual(days)
    const inverted = readDays(() => 1 / 3.7 ** 2)
    await expect(inverted).rejects.toMatchObject({ code: 'provider_unavailable' })
  })

  it('accept a move of the newest day that latest rates confirm', async () => {
    const rates = { PLN: 3.7 * 1.4, EUR: 1.2 }
    const table = { base: 'USD', updatedAt: NOW, nextUpdateAt: NOW + 86_400_000, rates }
    const latest = {
      attribution: { name: 'Latest', url: 'https://latest.example' },
      fetchLatest: async () => table,
      validateStored: (table: LatestTable) => table,
    }
    const change = (date: string): number => (date === '2026-11-20' ? 1.4 : 1)
    expect(await readDays(change)).toEqual(days.slice(0, -1))
    expect(await readDays(change, { latest })).toEqual(days)
  })
})
