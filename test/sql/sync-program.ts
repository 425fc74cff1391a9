// Syncs five years of 40 currencies, and prints a line for each month that it begins, then the result: `sync-program.ts <url>
// <table>`. SQLite needs Node, and PostgreSQL Bun, which has a client.
import { writeSync } from 'node:fs'

import type { RatesDay } from '../../src/index.ts'
import { syncRates } from '../../src/sql/index.ts'
import type { PostgresClient } from '../../src/sql/index.ts'
import { codes } from '../fixtures/codes.ts'
import { daysOf, weekdays } from './fake-days.ts'

function openBun(url: string): PostgresClient {
  type Run = (text: string, values: unknown[]) => Promise<unknown[]>
  const { Bun }: { Bun: { SQL: new (url: string) => { unsafe: Run } } } = Object(globalThis)
  const sql = new Bun.SQL(url)
  return { query: async (text, values) => ({ rows: await sql.unsafe(text, values) }) }
}

async function openNode(file: string) {
  const { DatabaseSync } = await import('node:sqlite')
  const database = new DatabaseSync(file)
  // A kill loses nothing that the system has, unlike a power cut.
  database.exec('pragma synchronous = off')
  return database
}

async function* announced(days: AsyncIterable<RatesDay>): AsyncGenerator<RatesDay> {
  let month = ''
  for await (const day of days) {
    if (!day.date.startsWith(month) || month === '') writeSync(1, 'month\n')
    month = day.date.slice(0, 7)
    yield day
  }
}

const [, , url = '', table] = process.argv
const { days } = daysOf(weekdays('2021-01-01', 1_826, codes(40)))
const rates = { days: (params: Parameters<typeof days>[0]) => announced(days(params)) }
const client = url.startsWith('postgres:') ? openBun(url) : await openNode(url)
writeSync(1, `${JSON.stringify(await syncRates(client, { rates, table }))}\n`)
process.exit()
