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
import { daysOf, isWeekend } from '../oracle.ts'
import { rate } from './arbitrary-numbers.ts'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'

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

/** Returns the units of a currency for one unit of the base. */
function unitsOf(quote: Quote | undefined): oracle.Exact {
  const one = oracle.toExact(1)
  if (!quote) return one
  const value = oracle.toExact(quote.value)
  return quote.isPriced ? oracle.divide(one, value) : value
}

/** Creates a bank that publishes `days`, quoted against the zloty. */
function bankOf(days: readonly HistoryDay[], sanityChecks = false): HistoryProvider {
  return {
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
    fetchHistory: async ({ start, end }) => ({
      base: 'PLN',
      days: days.filter(({ date }) => date >= start && date <= end),
    }),
  }
}

/** Creates a handler over a bank, without waits. */
function handlerOf(history: HistoryProvider, options: RatesHandlerOptions = {}): RatesHandler {
  return createRatesHandler({
    ...options,
    providers: { latest: false, ...options.providers, history },
    now: () => NOW,
  })
}

/** Returns the fields of a day for its quotes. */
function quotedDay(date: string, quotes: ReadonlyMap<string, Quote>): HistoryDay {
  const side = (isPriced: boolean): Record<string, number> =>
    Object.fromEntries(
      [...quotes]
        .filter(([, quote]) => quote.isPriced === isPriced)
        .map(([code, { value }]) => [code, value]),
    )
  return { date, rates: side(false), prices: side(true) }
}

describe('crossQuotes()', () => {
  const quote = fc.record({ value: rate, isPriced: fc.boolean() })
  const side = fc.option(quote, { nil: undefined })

  it('rounds once, in every combination of directions', () => {
    const property = fc.property(side, side, (from, to) => {
      const shown = (given: Quote | undefined): Parameters<typeof crossQuotes>[0] =>
        given ?? { value: undefined, isPriced: false }
      fc.pre(from !== to)
      expect(crossQuotes(shown(from), shown(to))).toBe(expectedRate(from, to))
    })
    fc.assert(property, { ...RUNS, numRuns: 20_000 })
  })

  // The products are a hair below or above half a unit of the tenth digit, or the inverse of such a number.
  const TIES = [
    [2.46715273, 4.00321515989],
    [2.406650453, 4.155152649],
    [1.4781, 8.35239760841621],
    [1.620961023, 6.093017087],
    [1.799322459, 1.821129939],
    [1.2578580413, 2.6050634431],
    [4.953226079, 6.6154864481],
    [7.582903177, 4.3213000661],
  ]
  const SCALES = [1e-9, 1e-3, 1, 1e5, 1e12]

  it.each(TIES.flatMap(([one = 0, other = 0]) => SCALES.map((scale) => [one, other, scale])))(
    'rounds %d × %d once, also × %d',
    (one, other, scale) => {
      for (const isPriced of [true, false]) {
        const from = { value: oracle.product(one, scale), isPriced }
        const to = { value: other, isPriced: !isPriced }
        expect(crossQuotes(from, to)).toBe(expectedRate(from, to))
      }
    },
  )
})

describe('a bank that quotes some currencies each way', () => {
  const codes = ['USD', 'EUR', 'JPY', 'HUF', 'XDR']
  const market = fc.record({
    directions: fc.tuple(...codes.map(() => fc.boolean())),
    values: fc.tuple(...DATES.map(() => fc.tuple(...codes.map(() => rate)))),
  })

  it('has the same rate of a pair on every endpoint, rounded at most once', async () => {
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
      const bank = bankOf([...days].map(([date, quotes]) => quotedDay(date, quotes)))
      const handler = handlerOf(bank)
      const all = ['PLN', ...codes]
      for (const from of all) {
        for (const to of all) {
          const expected = [...days].map(([d, quotes]) => {
            return { d, r: expectedRate(quotes.get(from), quotes.get(to)) }
          })
          const { points } = await handler.rates.history({ from, to, start: '2026-11-18' })
          expect(points).toEqual(expected)
          for (const { d, r } of expected) {
            const { rate: converted, result } = await handler.rates.convert({
              from,
              to,
              amount: 3,
              date: d,
            })
            expect(converted).toBe(r)
            expect(result).toBe(oracle.product(3, r))
            const { rates } = await handler.rates.latest({ base: from, symbols: [to], date: d })
            expect(rates[to]).toBe(r)
          }
        }
      }
    })
    await fc.assert(property, { ...RUNS, numRuns: 20 })
  })

  const MANY = Object.fromEntries(codesOf(40).map((code) => [code, 2]))

  /** Returns the codes with rates on the newest day, and the dropped ones. */
  async function readDay(day: object) {
    const dropped: string[] = []
    const onEvent = (event: RatesEvent): void => {
      if (event.type === 'rates_dropped') dropped.push(...event.dropped)
    }
    const bank = bankOf([Object({ date: '2026-11-20', ...day })])
    const { rates } = await handlerOf(bank, { onEvent }).rates.latest({
      base: 'PLN',
      date: '2026-11-20',
    })
    return { rates, dropped }
  }

  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, '4.1', null])(
    'drops a price of %s',
    async (value) => {
      const { rates, dropped } = await readDay({ rates: {}, prices: { ...MANY, USD: value } })
      expect(Object.keys(rates)).toHaveLength(41)
      expect(rates).not.toHaveProperty('USD')
      expect(dropped).toEqual(['2026-11-20 USD'])
    },
  )

  it('drops the price of a currency that also has a rate', async () => {
    const { rates, dropped } = await readDay({
      rates: { USD: 0.27 },
      prices: { ...MANY, USD: 3.7 },
    })
    expect(rates['USD']).toBe(0.27)
    expect(dropped).toEqual(['2026-11-20 USD'])
  })

  it.each(['rates', 'prices'])('takes the base in its own %s only as 1', async (side) => {
    const day = { rates: {}, prices: {}, [side]: { ...MANY, PLN: 1 } }
    expect((await readDay(day)).rates['PLN']).toBe(1)
    const wrong = { rates: {}, prices: {}, [side]: { ...MANY, PLN: 1.1 } }
    await expect(readDay(wrong)).rejects.toMatchObject({ code: 'provider_unavailable' })
  })

  it.each([
    [
      'turns within a response',
      [
        { rates: {}, prices: { USD: 3.7 } },
        { rates: { USD: 0.27 }, prices: {} },
      ],
    ],
    ['begins to have prices', [{ rates: { USD: 0.27 } }, { rates: {}, prices: { USD: 3.7 } }]],
  ])('is rejected where it %s', async (_name, days) => {
    const bank = bankOf(days.map((day, row) => ({ date: DATES[row] ?? '', ...day })))
    const history = handlerOf(bank).rates.history({ from: 'USD', to: 'PLN' })
    await expect(history).rejects.toMatchObject({ code: 'provider_unavailable' })
  })

  it('has the same rates after a restart with a store', async () => {
    const store = new Map<string, string>()
    const days = DATES.map((date) => ({
      date,
      rates: { JPY: 41.37 },
      prices: { USD: 3.7123, EUR: 4.3 },
    }))
    const read = async (handler: RatesHandler): Promise<object[]> =>
      Promise.all(
        ['USD', 'EUR', 'JPY', 'PLN'].flatMap((from) =>
          ['USD', 'PLN', 'JPY'].map((to) => handler.rates.history({ from, to })),
        ),
      )
    const before = await read(handlerOf(bankOf(days), { store }))
    const silent = { ...bankOf([]), fetchHistory: () => Promise.reject(new Error('down')) }
    expect(await read(handlerOf(silent, { store }))).toEqual(before)
  })
})

describe('sanity checks of prices', () => {
  const days = daysOf('2026-11-02', '2026-11-20').filter((date) => !isWeekend(date))

  /** Quotes some currencies in zloty; `change` multiplies the price of the dollar. */
  function quotes(change: (date: string) => number): HistoryDay[] {
    const prices = { EUR: 4.25, GBP: 4.9, CHF: 4.5, JPY: 0.0244, SEK: 0.39 }
    return days.map((date) => ({ date, rates: {}, prices: { USD: 3.7 * change(date), ...prices } }))
  }

  const readDays = async (handler: RatesHandler): Promise<string[]> => {
    const { points } = await handler.rates.history({ from: 'USD', to: 'PLN', start: '2026-11-02' })
    return points.map(({ d }) => d)
  }

  it.each([10, 0.1])('quarantine one that moved by a factor of %d for a day', async (factor) => {
    const bank = bankOf(
      quotes((date) => (date === '2026-11-11' ? factor : 1)),
      true,
    )
    expect(await readDays(handlerOf(bank))).toEqual(days.filter((date) => date !== '2026-11-11'))
  })

  it.each([1, 1 / 3.7 ** 2])('compare majors in the direction of the bank: %d', async (factor) => {
    const bank = bankOf(
      quotes(() => factor),
      true,
    )
    const read = readDays(handlerOf(bank)).catch((error: unknown) => Object(error).code)
    expect(await read).toEqual(factor === 1 ? days : 'provider_unavailable')
  })

  it('accept a move of the newest day that latest rates confirm', async () => {
    const latest = {
      attribution: { name: 'Latest', url: 'https://latest.example' },
      fetchLatest: async () => ({
        base: 'USD',
        updatedAt: NOW,
        nextUpdateAt: NOW + 86_400_000,
        rates: { PLN: 3.7 * 1.4, EUR: 1.2 },
      }),
      validateStored: (table: LatestTable) => table,
    }
    const bank = bankOf(
      quotes((date) => (date === '2026-11-20' ? 1.4 : 1)),
      true,
    )
    expect(await readDays(handlerOf(bank))).toEqual(days.slice(0, -1))
    const confirmed = handlerOf(bank, { providers: { latest } })
    await confirmed.rates.latest()
    expect(await readDays(confirmed)).toEqual(days)
  })
})
