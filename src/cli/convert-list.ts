import { MAX_ROWS } from '../api/convert-many.ts'
import type { AnyRowConversion, ConversionRow } from '../api/convert-many.ts'
import { resultsCsv, resultsHead } from '../api/csv-rows.ts'
import type { CommandContext } from './context.ts'
import { DISCLAIMER, openOutput } from './output.ts'
import { openSession, toRatesFlags } from './session.ts'
import { withSpinner } from './terminal.ts'
import { UsageError } from './usage.ts'
import { readConversion } from './words.ts'

type ListFlags = Parameters<typeof toRatesFlags>[0] & {
  date?: string | undefined
  rule?: string | undefined
  source?: string | undefined
  'max-age'?: string | undefined
  reverse?: boolean | undefined
  round?: string | undefined
}

export async function convertList(values: ListFlags, context: CommandContext): Promise<number> {
  const rows = await readRows(values, context)
  const flags = toRatesFlags(values)
  const output = openOutput(context)
  const session = await openSession(flags, context, {
    hasArchive: values.date !== undefined,
    codes: [...new Set(rows.flatMap(({ from, to }) => [from, String(to)]))],
  })
  try {
    const results: AnyRowConversion[] = []
    for (let at = 0; at < rows.length; at += MAX_ROWS) {
      const converting = session.convertMany(rows.slice(at, at + MAX_ROWS))
      const converted = await withSpinner(context, 'fetching rates', converting)
      results.push(...converted.results)
    }
    const hasRounded = values.round !== undefined
    if (flags.csv)
      context.stdout.write(
        (resultsHead(hasRounded) + resultsCsv(results, hasRounded)).replaceAll('\r\n', '\n'),
      )
    else
      output.print(results.map((result) => (flags.json ? JSON.stringify(result) : textOf(result))))
    const errors = results.flatMap((result, index) =>
      'error' in result ? [`ratesmith: line ${index + 1}: ${result.error.message}`] : [],
    )
    const notes = flags.quiet || flags.json || flags.csv ? [] : sourcesOf(results)
    for (const line of [...notes, ...errors]) output.note(line)
    return errors.length === 0 ? 0 : 1
  } finally {
    session.close()
  }
}

/** Returns the result with its code; an empty line for a failed one, so that both files have as many lines. */
function textOf(result: AnyRowConversion): string {
  if (!('result' in result)) return ''
  const { result: converted, reverse, from, to } = result
  return `${converted} ${reverse ? from : to}`
}

function sourcesOf(results: readonly AnyRowConversion[]): string[] {
  const sources = results.flatMap((result) =>
    'error' in result ? [] : [`${result.source.name}, ${result.source.url}`],
  )
  return sources.length > 0 ? [...new Set(sources), DISCLAIMER] : []
}

async function readRows(flags: ListFlags, context: CommandContext): Promise<ConversionRow[]> {
  const chunks: Uint8Array[] = []
  for await (const chunk of context.stdin ?? process.stdin) chunks.push(chunk)
  const lines = Buffer.concat(chunks).toString().split(/\r?\n/)
  const { date, rule, 'max-age': maxAge, source, reverse, round } = flags
  const shared = {
    date,
    rule,
    maxAge: maxAge === undefined ? undefined : Number(maxAge),
    source,
    reverse,
    round,
  }
  return lines
    .filter((line) => line.trim() !== '')
    .map((line, index): ConversionRow => Object({ ...toRow(line, index + 1), ...shared }))
}

function toRow(line: string, number: number): Pick<ConversionRow, 'amount' | 'from' | 'to'> {
  const read = readConversion(line.trim().split(/\s+/))
  if (!read || read.to.includes(',')) {
    throw new UsageError(`line ${number} must be like 100 USD EUR, got ${line.trim()}`)
  }
  const { amount = '1', from, to } = read
  return { amount, from: from.toUpperCase(), to: to.toUpperCase() }
}
