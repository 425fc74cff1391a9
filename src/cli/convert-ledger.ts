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
import { isCodeShaped } from '../rates/currency-code.ts'
import type { CommandContext } from './context.ts'
import { rowDefaults } from './flags.ts'
import { createSpeller, parseColumns } from './ledger-cells.ts'
import type { CellFlags } from './ledger-cells.ts'
import { DISCLAIMER, dayOf, openOutput } from './output.ts'
import { openSession, toRatesFlags } from './session.ts'
import { withSpinner } from './terminal.ts'
import { UsageError, messageOf } from './usage.ts'
import { readCode } from './words.ts'
import type { ConversionRow } from '../api/parameters.ts'

type LedgerFlags = Parameters<typeof toRatesFlags>[0] &
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
  if (flags.json) throw new UsageError('--file cannot be combined with --json')
  const ledger = readLedger(await readText(flags.file, context), flags)
  const rows: readonly ConversionRow[] = Object(ledger.rows)
  const hasRounded = rows.some(isRounded)
  const names = addedColumns(ledger.header, hasRounded, flags.prefix)
  const added = { names, hasRounded, mark: flags.decimal === 'comma' ? ',' : '.' }
  const output = openOutput(context)
  const session = await openSession(toRatesFlags(flags), context, {
    hasArchive: rows.some(isDated),
    codes: [...new Set(rows.flatMap(({ from, to }) => [from, to].filter(isCodeShaped)))],
  })
  try {
    const converting = session.convertMany(rows)
    const { results, isOverdue } = await withSpinner(context, 'fetching rates', converting)
    context.stdout.write(toText(ledger, results, added))
    if (isOverdue && !flags.quiet) {
      output.note(`ratesmith: ${session.whyOverdue('not the newest rates')}`)
    }
    if (!flags.quiet && !rows.some(isDated) && ledger.header.some((title) => /date/i.test(title))) {
      output.note(
        'ratesmith: latest rates for all rows: name their dates with --columns date=Title',
      )
    }
    return reportTo(output.note, results, {
      column: names.at(-1) ?? '',
      failures: session.failures(),
      isQuiet: flags.quiet ?? false,
    })
  } finally {
    session.close()
  }
}

async function readText(file: string, { stdin = process.stdin }: CommandContext): Promise<string> {
  const bytes = file === '-' ? await buffer(stdin) : await readFile(file).catch(unreadable)
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (cause) {
    throw new UsageError(`${file}: must be UTF-8`, { cause })
  }
}

function unreadable(error: unknown): never {
  throw new UsageError(messageOf(error), { cause: error })
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

function isDated({ date }: ConversionRow): boolean {
  return date !== undefined
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

function toText(
  { start, separator, lineEnd, header, records }: CsvRows,
  results: readonly AnyRowConversion[],
  added: Added,
): string {
  const lines = records.map((cells, index) => {
    const missing = Array.from({ length: Math.max(0, header.length - cells.length) }, () => '')
    return [...cells, ...missing, ...toCells(results[index], added)]
  })
  const all = [[...header, ...added.names], ...lines]
  return start + all.map((cells) => `${toLine(cells, separator)}${lineEnd}`).join('')
}

interface Added {
  names: readonly string[]
  hasRounded: boolean
  /** The decimal mark of the file. */
  mark: string
}

/** The message of an error begins with fixed words, so that spreadsheets do not take a quoted cell for a formula. */
function toCells(result: AnyRowConversion | undefined, { hasRounded, mark }: Added): string[] {
  if (!result || 'error' in result || !('rate' in result)) {
    const message = result && 'error' in result ? result.error.message : ''
    return ['', '', ...(hasRounded ? [''] : []), '', '', message]
  }
  const { rate, result: converted, rounded = '', source } = result
  const numbers = [rate, converted, ...(hasRounded ? [rounded] : [])]
  const texts = numbers.map((number) => String(number).replace('.', mark))
  return [...texts, dayOf(result), source.name, '']
}

function reportTo(
  note: (line: string) => void,
  results: readonly AnyRowConversion[],
  { column, failures, isQuiet }: { column: string; failures: string; isQuiet: boolean },
): number {
  const sources = new Set<string>()
  let failed = 0
  for (const result of results) {
    if ('error' in result) failed += 1
    else sources.add(`${result.source.name}, ${result.source.url}`)
  }
  for (const line of sources.size > 0 && !isQuiet ? [...sources, DISCLAIMER] : []) note(line)
  if (failed === 0) return 0
  const reason = failures === '' ? '' : ` (${failures})`
  note(`ratesmith: ${failed} of ${results.length} rows failed; see the column ${column}${reason}`)
  return 1
}
