import { readFileSync } from 'node:fs'

import { describe, expect, it, onTestFinished } from 'vitest'

import { syncRates } from '../../src/sql/index.ts'
import { daysOf } from './fake-days.ts'
import { NEEDS_PGLITE, NO_PGLITE, openPglite } from './pglite.ts'

const PAGE = readFileSync(new URL('../../docs/recipes/rates-in-sql.md', import.meta.url), 'utf8')

const BLOCKS = Array.from(PAGE.matchAll(/```sql\n([^]*?)```/g), ([, text = '']) => text)

/** A Friday and a Monday. */
const DAYS = [
  { date: '2026-11-13', source: 'ecb', base: 'EUR', rates: { USD: 1.25, GBP: 0.8 } },
  { date: '2026-11-16', source: 'ecb', base: 'EUR', rates: { USD: 1.6 } },
]

describe.skipIf(NO_PGLITE)(`the recipe for SQL, in PGlite ${NEEDS_PGLITE}`, () => {
  it('gives orders the last rate before them, and has the newest rate of each pair', async () => {
    const database = await openPglite()
    onTestFinished(() => database.close())
    await syncRates(database, { rates: daysOf(DAYS) })
    await database.exec(`create table orders (id int, day date, currency text, amount numeric);
      insert into orders values (1, '2026-11-15', 'USD', 10), (2, '2026-11-16', 'USD', 10),
        (3, '2026-11-12', 'USD', 10), (4, '2026-11-27', 'GBP', 8), (5, '2026-11-28', 'GBP', 8),
        (6, '2026-11-14', 'EUR', 7)`)
    expect(BLOCKS).toHaveLength(2)
    for (const text of BLOCKS) await database.exec(text)
    const linesOf = async (text: string) => {
      const { rows } = await database.query(text, [])
      return rows.map((row) => Object.values(Object(row)).join(' '))
    }
    const orders = 'select id, rate_date::text, round(euros, 2) from orders_in_euros order by id'
    expect(await linesOf(orders)).toEqual([
      '1 2026-11-13 8.00',
      '2 2026-11-16 6.25',
      '3  ',
      '4 2026-11-13 10.00',
      '5  ',
      '6 2026-11-14 7.00',
    ])
    await syncRates(database, {
      rates: daysOf([{ date: '2026-11-17', source: 'ecb', base: 'EUR', rates: { USD: 1.5 } }]),
    })
    await database.exec('refresh materialized view concurrently newest_rates')
    const newest = 'select base, quote, date::text, rate from newest_rates order by quote'
    expect(await linesOf(newest)).toEqual(['EUR GBP 2026-11-13 0.8', 'EUR USD 2026-11-17 1.5'])
  })
})
