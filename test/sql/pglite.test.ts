import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { syncRates } from '../../src/sql/index.ts'
import type { PostgresClient } from '../../src/sql/index.ts'
import { daysOf } from './fake-days.ts'
import { THREE_MONTHS, itMeetsTheContract, rowsOf } from './meets-contract.ts'
import type { Database } from './meets-contract.ts'
import { NEEDS_PGLITE, NO_PGLITE, openPglite } from './pglite.ts'

async function openPostgres(): Promise<Database> {
  const client = await openPglite()
  await client.exec('create schema finance')
  const run = async (text: string) => [...(await client.query(text, [])).rows]
  return { client, run, close: () => client.close() }
}

describe.skipIf(NO_PGLITE)(`a table of PGlite ${NEEDS_PGLITE}`, () => {
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
