import { FIRST_REFERENCE_DAY, assertKnownOptions, isDay, toPlainText } from '../core.ts'
import type { CurrencyCode, RatesDay, RatesOperations } from '../index.ts'

/** A PostgreSQL client or pool, such as those of `pg` and PGlite, or an object with this function around another one. */
export interface PostgresClient {
  query(text: string, values: unknown[]): Promise<{ rows: readonly unknown[] }>
}

/** An SQLite database with synchronous functions, such as `DatabaseSync` of `node:sqlite`. */
export interface SqliteDatabase {
  exec(text: string): unknown
  prepare(text: string): { run(value: string): { changes: number | bigint } }
}

/** Options of `syncRates`. */
export interface SyncRatesOptions {
  /** Where the rates come from: as `createRates` returns it, or a client. */
  rates: Pick<RatesOperations, 'days'>
  /** Name of the table, as needed with its schema: `finance.rates` (default `rates`). Capitals count. */
  table?: string | undefined
  /** First day, `YYYY-MM-DD` (default `1999-01-04`, the first day of reference rates). */
  since?: string | undefined
  /** Codes to include (default: all). */
  symbols?: readonly CurrencyCode[] | undefined
  /** Ids of the sources, as in `/v1/sources`, each with all its rates (default all: a code has the rate of the first that quotes it on a day). */
  sources?: readonly string[] | undefined
  /** Ends the work between two statements, with its reason. */
  signal?: AbortSignal | undefined
}

/** The rows that `syncRates` has changed. */
export interface SyncedRates {
  inserted: number
  updated: number
}

/**
 * Makes a table equal to published rates: inserts the rows it lacks and updates those with another rate, one statement a month
 * (SQLite: two). Run again after a failure or a kill at any moment, it ends with the same table. Creates the table unless it
 * exists, with the primary key `(date, base, quote, source)`; its schema must exist. `rate`, units of `quote` for one of
 * `base`, is `numeric` in PostgreSQL and text in SQLite, with the published digits. Rows that the sources do not have stay, and
 * so do those of the days before a failure.
 *
 * @throws {TypeError} naming the invalid option; for another client; for a day with a rate that is not positive and finite
 * @throws {RatesError} as `rates.days` does
 * @throws the error of the client
 * @example
 * ```ts
 * import { DatabaseSync } from 'node:sqlite'
 *
 * import { createRates } from 'ratesmith'
 * import { syncRates } from 'ratesmith/sql'
 *
 * const rates = createRates()
 * const database = new DatabaseSync('rates.db')
 * const { inserted, updated } = await syncRates(database, { rates, since: '2026-01-01' })
 * console.log(`${inserted} inserted, ${updated} updated`)
 * rates.close()
 * ```
 */
export async function syncRates(
  client: PostgresClient | SqliteDatabase,
  options: SyncRatesOptions,
): Promise<SyncedRates> {
  const { rates, table = 'rates', since = FIRST_REFERENCE_DAY, symbols, sources, signal } = options
  assertKnownOptions(options, { rates, table, since, symbols, sources, signal })
  if (!/^(?:[A-Za-z_]\w*\.)?[A-Za-z_]\w*$/.test(table))
    throw new TypeError(`table must be a name such as rates or finance.rates, got ${table}`)
  if (!isDay(since)) throw new TypeError(`since must be a day (YYYY-MM-DD), got ${String(since)}`)
  if (sources?.length === 0) throw new TypeError('sources must not be empty')
  signal?.throwIfAborted()
  const write = await openTable(client, `"${table.replace('.', '"."')}"`)
  const all = { inserted: 0, updated: 0 }
  for (const source of sources ?? [undefined]) {
    for await (const rows of monthsOf(rates.days({ start: since, symbols, source, signal }))) {
      signal?.throwIfAborted()
      const { inserted, updated } = await write(JSON.stringify(rows))
      all.inserted += inserted
      all.updated += updated
    }
  }
  return all
}

/** Returns the rows of each month; before a failure, those of the days before it. */
async function* monthsOf(days: AsyncIterable<RatesDay>): AsyncGenerator<object[]> {
  const rows: object[] = []
  const seen = new Set<string>()
  let month = ''
  try {
    for await (const day of days) {
      const next = day.date.slice(0, 7)
      if (next !== month) {
        if (rows.length > 0) yield rows.splice(0)
        seen.clear()
        month = next
      }
      const key = `${day.date} of ${day.source}`
      if (seen.has(key)) throw new TypeError(`days() returned ${key} twice`)
      seen.add(key)
      rows.push(...rowsOf(day))
    }
  } catch (error) {
    if (rows.length > 0) yield rows
    throw error
  }
  if (rows.length > 0) yield rows
}

/** Databases accept values that are not rates, such as NaN. */
function rowsOf({ date, source, base, rates, prices = {} }: RatesDay): object[] {
  if (!isDay(date) || !/^[\w-]+$/.test(source))
    throw new TypeError(`days() returned an invalid day: ${date} of ${source}`)
  const toRow = (from: string, quote: string, rate: number): object => {
    const isPair = /^[A-Z]{6}$/.test(from + quote) && from.length === 3 && from !== quote
    if (isPair && typeof rate === 'number' && rate > 0 && rate < Infinity)
      return { date, base: from, quote, source, rate: toPlainText(rate) }
    throw new TypeError(`days() returned an invalid rate of ${date}: ${from} ${quote} ${rate}`)
  }
  return [
    ...Object.entries(rates).map(([code, rate]) => toRow(base, code, rate)),
    ...Object.entries(prices).map(([code, rate]) => toRow(code, base, rate)),
  ]
}

/** Writes rows, as JSON. */
type Write = (rows: string) => Promise<SyncedRates> | SyncedRates

/** Opens the table with a quoted name, and creates it as needed. */
function openTable(given: PostgresClient | SqliteDatabase, name: string): Promise<Write> | Write {
  const client: typeof given = Object(given)
  // Databases of Bun also have `query`.
  if ('prepare' in client && 'exec' in client) return openSqlite(client, name)
  if ('query' in client) return openPostgres(client, name)
  throw new TypeError(
    'client must have query(text, values), as those of pg and PGlite, or be a DatabaseSync of node:sqlite',
  )
}

const KEY = 'date, base, quote, source'
const COLUMNS = `${KEY}, rate`

async function openPostgres(client: PostgresClient, name: string): Promise<Write> {
  const first = async (text: string, values: string[] = []): Promise<Record<string, unknown>> =>
    Object((await client.query(text, values)).rows[0])
  const isThere = async (): Promise<unknown> =>
    (await first('select to_regclass($1::text) is not null as there', [name]))['there']
  // Where the table exists, a role needs no right to create one.
  if (!(await isThere())) {
    await first(`create table if not exists ${name} (date date, base text, quote text, source text,
      rate numeric not null, primary key (${KEY}))`).catch(async (error: unknown) => {
      // Two processes cannot create it at the same time.
      if (!(await isThere())) throw error
    })
  }
  // The last part still sees the table as it was before. Drivers encode arrays and JSON in different ways, a text in one.
  const text = `with written as (
      insert into ${name} as kept (${COLUMNS}) select ${COLUMNS} from json_to_recordset($1::text::json)
        as given(date date, base text, quote text, source text, rate numeric)
      on conflict (${KEY}) do update set rate = excluded.rate
        where kept.rate is distinct from excluded.rate returning ${KEY}
    ) select count(*)::int as written, count(old.date)::int as updated
      from written left join ${name} as old using (${KEY})`
  return async (rows) => {
    const { written, updated } = await first(text, [rows])
    return { inserted: Number(written) - Number(updated), updated: Number(updated) }
  }
}

function openSqlite(database: SqliteDatabase, name: string): Write {
  const type = 'text not null'
  database.exec(`create table if not exists ${name} (date ${type}, base ${type}, quote ${type},
    source ${type}, rate ${type}, primary key (${KEY})) without rowid`)
  const given = `(select ${COLUMNS.replaceAll(/\w+/g, "value ->> '$&' as $&")} from json_each(?)) as given`
  const isSame = KEY.replaceAll(/(\w+),?/g, 'kept.$1 = given.$1 and')
  // Two statements, each of which counts its own rows, also while other processes write.
  const update = database.prepare(`update ${name} as kept set rate = given.rate from ${given}
    where ${isSame} kept.rate is not given.rate`)
  const insert = database.prepare(`insert into ${name} (${COLUMNS}) select ${COLUMNS} from ${given}
    where true on conflict (${KEY}) do nothing`)
  return (rows) => ({
    updated: Number(update.run(rows).changes),
    inserted: Number(insert.run(rows).changes),
  })
}
