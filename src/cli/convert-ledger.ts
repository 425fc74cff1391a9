import { readFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'

import { isRounded } from '../api/convert-many.ts'
import type { AnyRowConversion } from '../api/convert-many.ts'
import { readRows } from '../api/csv-rows.ts'
import type { CsvRows } from '../api/csv-rows.ts'
import { toLine } from '../api/csv.ts'
import { ROW } from '../api/parameters.ts'
import { runAtOnce } from '../async.ts'
import { RatesError } from '../index.ts'
import type { CommandContext } from './context.ts'
import { convertRows } from './convert-rows.ts'
import { rowDefaults } from './flags.ts'
import { createSpeller, parseColumns } from './ledger-cells.ts'
import type { CellFlags } from './ledger-cells.ts'
import { dayOf } from './output.ts'
import type { RatesFlags } from './session.ts'
import { UsageError, messageOf, refuseWith } from './usage.ts'
import { noteOn, readCode } from './words.ts'
import type { ConversionRow } from '../api/parameter-types.ts'

type LedgerFlags = RatesFlags &
  CellFlags & {
    /** A path, or `-` for stdin. */
    file: string
    to?: string | undefined
    columns?: string | undefined
    prefix?: string | undefined
  }

export async function convertLedger(
  flags: LedgerFlags,
  positionals: readonly string[],
  context: CommandContext,
): Promise<number> {
  if (positionals.length > 0)
    throw new UsageError('--file takes the amount and currencies from the file')
  refuseWith('--file', { json: flags.json })
  const ledger = readLedger(await readText(flags.file, context), flags)
  const rows: readonly ConversionRow[] = Object(ledger.rows)
  const hasRounded = rows.some(isRounded)
  const names = addedColumns(ledger.header, hasRounded, flags.prefix)
  const added = { names, hasRounded, mark: flags.decimal === 'comma' ? ',' : '.' }
  const isUndated = rows.every(({ date }) => date === undefined)
  const notes = [
    ...noteOn([flags.to ?? '']),
    ...(isUndated && ledger.header.some((title) => /date/i.test(title)) ? [UNDATED] : []),
  ]
  function print(results: readonly AnyRowConversion[], failures: string): string[] {
    context.stdout.write(toText(ledger, results, added))
    const failed = results.filter((result) => 'error' in result).length
    if (failed === 0) return []
    const reason = failures === '' ? '' : ` (${failures})`
    return [`${failed} of ${rows.length} rows failed; see the column ${names.at(-1)}${reason}`]
  }
  return convertRows({ rows, notes, print }, flags, context)
}

const UNDATED = 'latest rates for all rows: name their dates with --columns date=Title'

async function readText(file: string, { stdin = process.stdin }: CommandContext): Promise<string> {
  const bytes = await (file === '-' ? buffer(stdin) : readFile(file)).catch((cause: unknown) => {
    throw new UsageError(messageOf(cause), { cause })
  })
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (cause) {
    throw new UsageError(`${file}: must be UTF-8`, { cause })
  }
}

function readLedger(text: string, flags: LedgerFlags): CsvRows {
  const names = flags.columns === undefined ? {} : parseColumns(flags.columns)
  const to = flags.to === undefined ? undefined : readTarget(flags.to)
  const spell = createSpeller(flags)
  try {
    return runAtOnce(readRows(text, { names, defaults: { ...rowDefaults(flags), to }, spell }))
  } catch (error) {
    const advice = error instanceof RatesError && error.parameter !== 'rows' ? COLUMNS_ADVICE : ''
    throw new UsageError(`${flags.file}: ${messageOf(error)}${advice}`, { cause: error })
  }
}

const COLUMNS_ADVICE = '; --columns names the columns, as in --columns from=Currency'

/** @throws {UsageError} for anything but one code */
function readTarget(typed: string): string {
  const { schema, error, fromText } = ROW.parameters.to
  const to = fromText(readCode(typed))
  if (typeof to !== 'string') throw new UsageError(`--to takes one currency, got ${typed}`)
  if (schema.safeParse(to).success) return to
  throw new UsageError(error('to', to).message)
}

/** @throws {UsageError} if the file has a column of the same name, in any case */
function addedColumns(
  header: readonly string[],
  hasRounded: boolean,
  prefix: string | undefined,
): string[] {
  const names = `rate result ${hasRounded ? 'rounded ' : ''}rateDate source error`.split(' ')
  const titles = new Set(header.map((title) => title.trim().toLowerCase()))
  const isTaken = (name: string): boolean => titles.has(name.toLowerCase())
  const start = prefix ?? (names.some(isTaken) ? 'fx_' : '')
  const added = names.map((name) => start + name)
  const taken = added.find(isTaken)
  if (taken === undefined) return added
  throw new UsageError(`the file has a column ${taken} already; choose another --prefix`)
}

interface Added {
  names: readonly string[]
  hasRounded: boolean
  /** The decimal mark of the file. */
  mark: string
}

function toText(
  { start, separator, lineEnd, header, records }: CsvRows,
  results: readonly AnyRowConversion[],
  added: Added,
): string {
  const lines = records.map((cells, index) => {
    const missing = header.slice(cells.length).map(() => '')
    return [...cells, ...missing, ...toCells(results[index], added)]
  })
  const all = [[...header, ...added.names], ...lines]
  return start + all.map((cells) => `${toLine(cells, separator)}${lineEnd}`).join('')
}

/** The message of an error begins with fixed words, so that spreadsheets do not take a quoted cell for a formula. */
function toCells(result: AnyRowConversion | undefined, added: Added): string[] {
  const { names, hasRounded, mark } = added
  if (!result || !('rate' in result)) {
    const message = result && 'error' in result ? result.error.message : ''
    return [...names.slice(1).map(() => ''), message]
  }
  const { rate, result: converted, rounded = '', source } = result
  const numbers = [rate, converted, ...(hasRounded ? [rounded] : [])]
  const texts = numbers.map((number) => String(number).replace('.', mark))
  return [...texts, dayOf(result), source.name, '']
}
