import { readFile } from 'node:fs/promises'

import { MAX_ROWS, isRounded } from '../api/convert-many.ts'
import type { AnyRowConversion, ConversionRow } from '../api/convert-many.ts'
import { readRows } from '../api/csv-rows.ts'
import type { CsvRows } from '../api/csv-rows.ts'
import { toLine } from '../api/csv.ts'
import { runAtOnce } from '../async.ts'
import { RatesError } from '../index.ts'
import type { CommandContext } from './context.ts'
import { rowDefaults } from './flags.ts'
import { DISCLAIMER, openOutput } from './output.ts'
import { openSession, toRatesFlags } from './session.ts'
import { withSpinner } from './terminal.ts'
import { UsageError, messageOf, withUsageError } from './usage.ts'

type LedgerFlags = Parameters<typeof toRatesFlags>[0] & {
  /** A path, or `-` for stdin. */
  file: string
}

export async function convertLedger(
  flags: LedgerFlags,
  positionals: readonly string[],
  context: CommandContext,
): Promise<number> {
  if (positionals.length > 0)
    throw new UsageError('--file takes the amount and currencies from the file')
  if (flags.json) throw new UsageError('--file cannot be combined with --json')
  const text = await readText(flags.file, context)
  const ledger = withUsageError(flags.file, () => runAtOnce(readRows(text, true)))
  const defaults = rowDefaults(flags)
  const rows = ledger.rows.map((row) => withDefaults(row, defaults))
  const output = openOutput(context)
  const session = await openSession(toRatesFlags(flags), context, {
    hasArchive: rows.some(isDated),
    codes: codesOf(rows),
  })
  try {
    const results: AnyRowConversion[] = []
    let isOverdue = false
    for (let at = 0; at < rows.length; at += MAX_ROWS) {
      const converting = session.convertMany(rows.slice(at, at + MAX_ROWS))
      const converted = await withSpinner(context, 'fetching rates', converting)
      results.push(...converted.results)
      isOverdue ||= converted.isOverdue
    }
    context.stdout.write(toText(ledger, results, { text, hasRounded: rows.some(isRounded) }))
    if (isOverdue && !flags.quiet) {
      const reason = session.failures() || 'no response in time'
      output.note(`ratesmith: offline: the newest rates could not be fetched (${reason})`)
    }
    return reportTo(output.note, results, {
      failures: session.failures(),
      isQuiet: flags.quiet ?? false,
    })
  } finally {
    session.close()
  }
}

async function readText(file: string, { stdin = process.stdin }: CommandContext): Promise<string> {
  const bytes = file === '-' ? await readAll(stdin) : await readFile(file).catch(unreadable)
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (cause) {
    throw new UsageError(`${file}: must be UTF-8`, { cause })
  }
}

function unreadable(error: unknown): never {
  throw new UsageError(messageOf(error), { cause: error })
}

async function readAll(stream: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks)
}

function withDefaults(row: unknown, defaults: Partial<ConversionRow>): ConversionRow {
  return Object(row instanceof RatesError ? row : { ...defaults, ...Object(row) })
}

function codesOf(rows: readonly ConversionRow[]): string[] {
  const codes = rows.flatMap(({ from, to }) => [from, to]).map((code) => String(code).toUpperCase())
  return [...new Set(codes)].filter((code) => /^[A-Z]{3}$/.test(code))
}

function isDated({ date }: ConversionRow): boolean {
  return date !== undefined
}

function toText(
  { separator, header, records }: CsvRows,
  results: readonly AnyRowConversion[],
  { text, hasRounded }: { text: string; hasRounded: boolean },
): string {
  const end = text.includes('\r\n') ? '\r\n' : '\n'
  const mark = text.startsWith('\u{FEFF}') ? '\u{FEFF}' : ''
  const lines = records.map((cells, index) => {
    const missing = Array.from({ length: Math.max(0, header.length - cells.length) }, () => '')
    return [...cells, ...missing, ...toCells(results[index], hasRounded)]
  })
  const rounded = hasRounded ? ['rounded'] : []
  const columns = ['rate', 'result', ...rounded, 'rateDate', 'source', 'error']
  const all = [[...header, ...columns], ...lines]
  return mark + all.map((cells) => `${toLine(cells, separator)}${end}`).join('')
}

/** The message of an error begins with fixed words, so that spreadsheets do not take a quoted cell for a formula. */
function toCells(result: AnyRowConversion | undefined, hasRounded: boolean): (string | number)[] {
  if (!result || 'error' in result || !('rate' in result)) {
    const message = result && 'error' in result ? result.error.message : ''
    return ['', '', ...(hasRounded ? [''] : []), '', '', message]
  }
  const { rate, result: converted, date, updatedAt, source } = result
  const rounded = hasRounded ? [result.rounded ?? ''] : []
  const day = date ?? new Date(updatedAt).toISOString().slice(0, 10)
  return [rate, converted, ...rounded, day, source.name, '']
}

function reportTo(
  note: (line: string) => void,
  results: readonly AnyRowConversion[],
  { failures, isQuiet }: { failures: string; isQuiet: boolean },
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
  note(`ratesmith: ${failed} of ${results.length} rows failed; see the column error${reason}`)
  return 1
}
