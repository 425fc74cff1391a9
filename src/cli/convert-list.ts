import type { AnyRowConversion } from '../api/convert-many.ts'
import { resultsCsv, resultsHead } from '../api/csv-rows.ts'
import { ROW } from '../api/parameters.ts'
import type { ConversionRow } from '../api/parameters.ts'
import { RatesError } from '../errors.ts'
import { isCodeShaped } from '../rates/currency-code.ts'
import type { CommandContext } from './context.ts'
import { inFlags, rowDefaults } from './flags.ts'
import { DISCLAIMER, openOutput } from './output.ts'
import { openSession, toRatesFlags } from './session.ts'
import { withSpinner } from './terminal.ts'
import { UsageError } from './usage.ts'
import { readConversion, takeDay } from './words.ts'

type ListFlags = Parameters<typeof toRatesFlags>[0]

export async function convertList(values: ListFlags, context: CommandContext): Promise<number> {
  const defaults = rowDefaults(values)
  const lines = await readLines(context)
  const rows = lines.map(({ line }) => toRow(line, defaults, context.now()))
  const flags = toRatesFlags(values)
  const output = openOutput(context)
  const session = await openSession(flags, context, {
    hasArchive: rows.some(({ date }) => date !== undefined),
    codes: [...new Set(rows.flatMap(({ from, to }) => [from, to].filter(isCodeShaped)))],
  })
  try {
    const converting = session.convertMany(rows)
    const { results } = await withSpinner(context, 'fetching rates', converting)
    const hasRounded = defaults.round !== undefined
    if (flags.csv)
      context.stdout.write(
        (resultsHead(hasRounded) + resultsCsv(results, hasRounded)).replaceAll('\r\n', '\n'),
      )
    else
      output.print(results.map((result) => (flags.json ? JSON.stringify(result) : textOf(result))))
    const errors = results.flatMap((result, index) =>
      'error' in result
        ? [`ratesmith: line ${lines[index]?.number}: ${inFlags(ROW, result.error.message)}`]
        : [],
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
  const { result: converted, rounded = converted, reverse, from, to } = result
  return `${rounded} ${reverse ? from : to}`
}

function sourcesOf(results: readonly AnyRowConversion[]): string[] {
  const sources = results.flatMap((result) =>
    'error' in result ? [] : [`${result.source.name}, ${result.source.url}`],
  )
  return sources.length > 0 ? [...new Set(sources), DISCLAIMER] : []
}

async function readLines({ stdin = process.stdin }: CommandContext) {
  const chunks: Uint8Array[] = []
  for await (const chunk of stdin) chunks.push(chunk)
  const lines = Buffer.concat(chunks).toString().split(/\r?\n/)
  return lines
    .map((line, index) => ({ line: line.trim(), number: index + 1 }))
    .filter(({ line }) => line !== '')
}

/** Returns the conversion of a line, or its error, which is then that of the row. */
function toRow(line: string, defaults: Partial<ConversionRow>, now: number): ConversionRow {
  const [, sign = '', unsigned = ''] = /^([-\u2212]?)\s*(.*)$/.exec(line) ?? []
  try {
    const { words, day = defaults.date } = takeDay(unsigned.split(/\s+/), now)
    const read = readConversion(words, defaults.reverse)
    if (!read || read.to.includes(','))
      throw new UsageError(`must be like 100 USD EUR, got ${line}`)
    const { amount = '1', from, to } = read
    return Object({ ...defaults, date: day, amount: sign === '' ? amount : `-${amount}`, from, to })
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    return Object(new RatesError('invalid_parameter', error.message))
  }
}
