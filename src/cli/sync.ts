import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

import { OPERATIONS } from '../api/parameters.ts'
import { splitCodes } from '../core.ts'
import { isRatesError } from '../errors.ts'
import type { RatesOperations } from '../index.ts'
import { syncRates } from '../sql/index.ts'
import type { PostgresClient, SyncedRates } from '../sql/index.ts'
import type { CommandContext } from './context.ts'
import { spellOut } from './days.ts'
import { SYNC_OPTIONS, inFlags } from './flags.ts'
import { openOutput } from './output.ts'
import { openSession } from './session.ts'
import { withSpinner } from './terminal.ts'
import { UsageError, messageOf, parseArguments, withUsageError } from './usage.ts'

/** Makes a table of a database equal to published rates. */
export async function sync(typed: string[], context: CommandContext): Promise<number> {
  const args = spellOut(typed, context.now())
  const config = { args, options: SYNC_OPTIONS, allowPositionals: true as const }
  const { values, positionals } = parseArguments(config)
  const open = databaseOf(positionals, context.folder)
  const { table = values.demo ? 'demo_rates' : 'rates', since, symbols, sources } = values
  const session = await openSession(values, context)
  const options = {
    rates: values.demo ? ofDemo(session.rates) : session.rates,
    table,
    since,
    symbols: symbols === undefined ? undefined : splitCodes(symbols),
    sources: sources === undefined ? undefined : sources.split(',').map((id) => id.trim()),
  }
  const run = async (): Promise<SyncedRates> => {
    // Otherwise the newest days could be those of the last run.
    await session.rates.refresh()
    const { client, close } = await open()
    try {
      return await syncRates(client, options)
    } finally {
      await close()
    }
  }
  const { print, note } = openOutput(context)
  try {
    const running = run()
    const changes = await (values.quiet ? running : withSpinner(context, 'writing rates', running))
    const { inserted, updated } = changes
    const failures = session.failures()
    if (failures !== '' && !values.quiet) note(`ratesmith: newer rates may be missing: ${failures}`)
    print([values.json ? JSON.stringify(changes) : `${inserted} inserted, ${updated} updated`])
    return 0
  } catch (error) {
    throw explained(error, session.failures())
  } finally {
    session.close()
  }
}

function explained(error: unknown, failures: string): unknown {
  const message = messageOf(error)
  if (error instanceof TypeError && /^(?:table|since|sources) /.test(message))
    return new UsageError(`--${message}`)
  if (!isRatesError(error)) return error
  if (error.status < 500)
    return new UsageError(inFlags(OPERATIONS.days, message).replace('--source ', '--sources '))
  return new Error(
    [message, failures, 'run ratesmith doctor for advice'].filter(Boolean).join('; '),
  )
}

/** Synthetic rates must not get into a table as those of a bank. */
function ofDemo({ days }: RatesOperations): Pick<RatesOperations, 'days'> {
  return {
    async *days(params) {
      for await (const day of days(params)) yield { ...day, source: 'demo' }
    },
  }
}

const BUSY_TIMEOUT_MS = 10_000

/** Options of pg, in ms. */
const LIMITS = { connectionTimeoutMillis: 10_000, query_timeout: 60_000 }

/** @throws {UsageError} which never has the URL: it may contain a password */
function databaseOf([url = '', ...others]: readonly string[], folder = process.cwd()) {
  const [, file] = /^sqlite:(?!\/\/)(.+)$/s.exec(url) ?? []
  // Another @ would be a part of the password, and the rest of it a host that errors name.
  const isPostgres = /^postgres(?:ql)?:\/\/[^/?#]*(?:[/?#][^@]*)?$/.test(url) && URL.canParse(url)
  if (others.length > 0 || (file === undefined && !isPostgres)) {
    throw new UsageError(
      'sync needs one database: sqlite:FILE, or postgres://USER@HOST/NAME with percent-encoded characters',
    )
  }
  return file === undefined ? () => openPostgres(url, folder) : () => openSqlite(file)
}

async function openSqlite(file: string) {
  const { DatabaseSync } = await import('node:sqlite')
  const client = withUsageError(file, () => new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS }))
  return { client, close: () => client.close() }
}

interface Connection extends PostgresClient {
  connect(): Promise<unknown>
  end(): Promise<unknown>
  on(event: 'error', listener: () => void): unknown
}

async function openPostgres(url: string, folder: string) {
  const Client = await loadPostgres(folder)
  const client = new Client({ connectionString: url, ...LIMITS })
  // The statement in progress fails with the same error.
  client.on('error', () => undefined)
  try {
    await client.connect()
  } catch (error) {
    // Of several addresses, each has its own error.
    const [first = error] = error instanceof AggregateError ? error.errors : []
    throw new Error(`cannot connect to PostgreSQL: ${messageOf(first)}`, { cause: error })
  }
  return { client, close: () => client.end() }
}

/** Loads pg of the user's project, or installed with this package. */
async function loadPostgres(folder: string): Promise<new (options: object) => Connection> {
  const { resolve } = createRequire(import.meta.url)
  let path: string
  try {
    path = resolve('pg', { paths: [folder, import.meta.dirname] })
  } catch (cause) {
    throw new UsageError('postgres:// requires pg; run: npm install pg', { cause })
  }
  const { default: pg } = Object(await import(pathToFileURL(path).href))
  return pg.Client
}
