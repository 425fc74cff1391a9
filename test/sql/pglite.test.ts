import { readFileSync } from 'node:fs'

import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'

import { syncRates } from '../../src/sql/index.ts'
import type { PostgresClient } from '../../src/sql/index.ts'
import { findPackage } from '../system/runtimes.ts'
import { daysOf } from './fake-days.ts'
import { THREE_MONTHS, itMeetsTheContract, rowsOf } from './meets-contract.ts'
import type { Database } from './meets-contract.ts'

interface Pglite extends PostgresClient {
  exec(text: string): Promise<unknown>
  close(): Promise<void>
}

/** Opens PostgreSQL in this process, with an empty database in memory. */
async function openPglite(): Promise<Pglite> {
  // Its types need those of a compiler.
  const name: string = '@electric-sql/pglite'
  const { PGlite }: { PGlite: { create(): Promise<Pglite> } } = Object(await import(name))
  return PGlite.create()
}

async function openPostgres(): Promise<Database> {
  const client = await openPglite()
  await client.exec('create schema finance')
  const run = async (text: string) => [...(await client.query(text, [])).rows]
  return { client, run, close: () => client.close() }
}

/** PostgreSQL in this process, which `npm run tools` installs. */
const NO_PGLITE = !findPackage('@electric-sql/pglite')

describe.skipIf(NO_PGLITE)('a table of PGlite (installed by npm run tools)', () => {
  itMeetsTheContract(openPostgres)

  let database: Database
  beforeAll(async () => {
    database = await openPostgres()
  })
  afterAll(() => database.close())

  it('gets a month by one statement, which a pool can run on any connection', async () => {
    const texts: string[] = []
    const query: PostgresClient['query'] = async (text, values) => {
      texts.push(text)
      return 'query' in database.client ? database.client.query(text, values) : { rows: [] }
    }
    await syncRates({ query }, { rates: daysOf(THREE_MONTHS) })
    expect(texts.filter((text) => text.includes('insert'))).toHaveLength(3)
    expect(texts).toHaveLength(2 + 3)
  })

  it('may have partitions, and be of a role that may not create tables', async () => {
    for (const text of [
      `create table finance.parts (date date, base text, quote text, source text, rate numeric,
        primary key (date, base, quote, source)) partition by range (date)`,
      `create table finance.part partition of finance.parts for values from ('2026-01-01') to ('2027-01-01')`,
      'create role reporting',
      'grant usage on schema finance to reporting',
      'grant select, insert, update on finance.parts to reporting',
      'set role reporting',
    ])
      await database.run(text)
    const options = { rates: daysOf(THREE_MONTHS), table: 'finance.parts' }
    const { length } = rowsOf(THREE_MONTHS)
    expect(await syncRates(database.client, options)).toEqual({ inserted: length, updated: 0 })
    await database.run("update finance.parts set rate = 'NaN'")
    expect(await syncRates(database.client, options)).toEqual({ inserted: 0, updated: length })
  })
})

const PAGE = readFileSync(new URL('../../docs/recipes/rates-in-sql.md', import.meta.url), 'utf8')

const BLOCKS = Array.from(PAGE.matchAll(/```sql\n([^]*?)```/g), ([, text = '']) => text)

/** A Friday and a Monday. */
const DAYS = [
  { date: '2026-11-13', source: 'ecb', base: 'EUR', rates: { USD: 1.25, GBP: 0.8 } },
  { date: '2026-11-16', source: 'ecb', base: 'EUR', rates: { USD: 1.6 } },
]

it.skipIf(NO_PGLITE)(
  'the recipe for SQL gives orders the last rate before them, and has the newest rate of each pair',
  async () => {
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
  },
)
