import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'

import type { RatesDay } from '../../src/index.ts'
import { syncRates } from '../../src/sql/index.ts'
import type { PostgresClient, SqliteDatabase, SyncRatesOptions } from '../../src/sql/index.ts'
import { daysOf, weekdays } from './fake-days.ts'

/** A database with the schema `finance`. */
export interface Database {
  client: PostgresClient | SqliteDatabase
  run(text: string): Promise<unknown[]>
  close(): unknown
}

export const THREE_MONTHS = weekdays('2026-01-01', 90, ['GBP', 'JPY', 'USD'])

/** A day of a bank that publishes prices. */
const PRICES: RatesDay = {
  date: '2026-01-02',
  source: 'norges-bank',
  base: 'NOK',
  rates: {},
  prices: { USD: 10.0821, VND: 3.8e-7 },
}
export function rowsOf(days: readonly RatesDay[]): string[] {
  const all = days.flatMap(({ date, source, base, rates }) =>
    Object.entries(rates).map(([code, rate]) => `${date} ${base} ${code} ${source} ${rate}`),
  )
  return all.toSorted()
}

export function itMeetsTheContract(open: () => Promise<Database>): void {
  let database: Database
  beforeAll(async () => {
    database = await open()
  })
  beforeEach(async () => {
    for (const table of ['rates', 'finance."Rates"'])
      await database.run(`drop table if exists ${table}`)
  })
  afterAll(() => database.close())

  const sync = (days: readonly RatesDay[], options: Partial<SyncRatesOptions> = {}) =>
    syncRates(database.client, { rates: daysOf(days), ...options })

  async function rows(table = 'rates'): Promise<string[]> {
    const cells =
      "cast(date as text) || ' ' || base || ' ' || quote || ' ' || source || ' ' || rate"
    const found = await database.run(`select ${cells} as line from ${table}`)
    return found.map((row) => String(Object(row).line)).toSorted()
  }

  it('gets one row for each rate and each price, with the digits as published', async () => {
    expect(await sync([...THREE_MONTHS, PRICES])).toEqual({ inserted: 194, updated: 0 })
    const prices = ['USD NOK norges-bank 10.0821', 'VND NOK norges-bank 0.00000038']
    const expected = [...rowsOf(THREE_MONTHS), ...prices.map((row) => `2026-01-02 ${row}`)]
    expect(await rows()).toEqual(expected.toSorted())
    expect(await sync([...THREE_MONTHS, PRICES])).toEqual({ inserted: 0, updated: 0 })
  })

  it('gets what it lacks after a hole, edits, a correction and a new currency, and keeps other rows', async () => {
    await sync([...THREE_MONTHS.slice(0, 20), ...THREE_MONTHS.slice(42)])
    await database.run("update rates set rate = '999' where quote = 'USD' and date < '2026-01-08'")
    await database.run("delete from rates where quote = 'JPY' and date > '2026-03-20'")
    await database.run("insert into rates values ('2026-01-04', 'EUR', 'USD', 'own', '1.5')")
    const [edited, deleted, missing] = [5, 7, 3 * 22]
    const krone = weekdays('2026-03-02', 30, ['GBP', 'JPY', 'USD', 'DKK']).map(
      ({ rates, ...day }) => ({ ...day, rates: { DKK: rates['DKK'] ?? NaN } }),
    )
    const later = THREE_MONTHS.map((day) => {
      const { rates: others = {} } = krone.find(({ date }) => date === day.date) ?? {}
      const corrected = day.date === '2026-01-14' ? { GBP: 0.8765 } : {}
      return { ...day, rates: { ...day.rates, ...corrected, ...others } }
    })
    expect(await sync(later)).toEqual({
      inserted: deleted + missing + krone.length,
      updated: edited + 1,
    })
    const own = '2026-01-04 EUR USD own 1.5'
    expect(await rows()).toEqual([own, ...rowsOf(later)].toSorted())
    expect(await sync(later)).toEqual({ inserted: 0, updated: 0 })
  })

  it('gets the days since a day, of the given sources each, in a schema', async () => {
    const other = weekdays('2026-01-01', 90, ['USD']).map((day) => ({ ...day, source: 'boc' }))
    const both = [...THREE_MONTHS, ...other, PRICES]
    const table = 'finance.Rates'
    await sync(both, { table, since: '2026-03-30', sources: ['boc', 'ecb'] })
    const expected = rowsOf([...THREE_MONTHS, ...other]).filter((row) => row >= '2026-03-30')
    expect(expected).toHaveLength(8)
    expect(await rows('finance."Rates"')).toEqual(expected)
  })

  it.each<[value: string, day: object]>([
    ['NaN', { rates: { USD: NaN } }],
    ['zero', { rates: { USD: 0 } }],
    ['a negative price', { prices: { USD: -1 } }],
    ['Infinity', { rates: { USD: Infinity } }],
    ['a text', { rates: { USD: '1' } }],
    ['undefined', { rates: { USD: undefined } }],
    ['a rate of the base', { rates: { EUR: 1 } }],
    ['a code in small letters', { rates: { usd: 1 } }],
    ['a day that does not exist', { date: '2026-02-30' }],
    ['a source that is not an id', { source: "'; drop table rates" }],
    ['a day twice', { date: '2026-02-27' }],
  ])('refuses %s, and has the rows of the days before', async (_, wrong) => {
    const good = THREE_MONTHS.filter(({ date }) => date < '2026-02-28')
    const day = { date: '2026-02-28', source: 'ecb', base: 'EUR', rates: { GBP: 0.9 } }
    const all = [...good, { ...day, ...wrong }, ...THREE_MONTHS.slice(good.length)]
    await expect(sync(all)).rejects.toThrow(/^days\(\) returned /)
    expect(await rows()).toEqual(rowsOf(good))
  })

  it('has the rows of the days before a failure', async () => {
    const failure = new Error('no rates')
    const rates: SyncRatesOptions['rates'] = {
      async *days() {
        yield* THREE_MONTHS.slice(0, 30)
        throw failure
      },
    }
    await expect(sync([], { rates })).rejects.toBe(failure)
    expect(await rows()).toEqual(rowsOf(THREE_MONTHS.slice(0, 30)))
  })

  it('has whole months when the signal aborts, whose reason is the error', async () => {
    const controller = new AbortController()
    const rates: SyncRatesOptions['rates'] = {
      async *days() {
        for (const day of THREE_MONTHS) {
          if (day.date > '2026-02-10') controller.abort('enough')
          yield day
        }
      },
    }
    await expect(sync([], { rates, signal: controller.signal })).rejects.toBe('enough')
    expect(await rows()).toEqual(rowsOf(THREE_MONTHS.filter(({ date }) => date < '2026-02')))
  })

  it.each(['', 'rates;', 'a.b.c', '1a', 'rates"', 'r ates', 'é', 'a.', '.b', 'rates\n'])(
    'is not named %j',
    async (table) => {
      await expect(sync([], { table })).rejects.toThrow(/^table must be a name such as rates or/)
    },
  )
}
