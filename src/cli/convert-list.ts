import { text as readText } from 'node:stream/consumers'

import type { AnyRowConversion } from '../api/convert-many.ts'
import { resultsCsv, resultsHead } from '../api/csv-rows.ts'
import { ROW } from '../api/parameters.ts'
import type { ConversionRow } from '../api/parameter-types.ts'
import { RatesError } from '../errors.ts'
import type { CommandContext } from './context.ts'
import { convertRows } from './convert-rows.ts'
import { takeDay } from './days.ts'
import { inFlags, rowDefaults } from './flags.ts'
import { lineOf } from './output.ts'
import type { RatesFlags } from './session.ts'
import { UsageError } from './usage.ts'
import { readConversion } from './words.ts'

export async function convertList(flags: RatesFlags, context: CommandContext): Promise<number> {
  const defaults = rowDefaults(flags)
  const typed = (await readText(context.stdin ?? process.stdin)).split(/\r?\n/)
  const lines = typed.map((line, index) => ({ line: line.trim(), number: index + 1 }))
  const read = lines.flatMap(({ line, number }) =>
    line === '' ? [] : [{ number, ...toRow(line, defaults, context.now()) }],
  )
  const rows = read.map(({ row }) => row)
  const notes = [...new Set(read.flatMap((each) => each.notes))]
  const hasRounded = defaults.round !== undefined
  function print(results: readonly AnyRowConversion[]): string[] {
    const csv = resultsHead(hasRounded) + resultsCsv(results, hasRounded)
    // A failed line is empty, so that both files have as many lines.
    const printed = results.map((result) =>
      flags.json ? JSON.stringify(result) : 'result' in result ? lineOf(result) : '',
    )
    const text = flags.csv
      ? csv.replaceAll('\r\n', '\n')
      : printed.map((each) => `${each}\n`).join('')
    context.stdout.write(text)
    return results.flatMap((result, index) =>
      'error' in result
        ? [`line ${read[index]?.number}: ${inFlags(ROW, result.error.message)}`]
        : [],
    )
  }
  return convertRows({ rows, notes, print }, flags, context)
}

/** Returns the conversion of a line, or its error, which is then that of the row. */
function toRow(
  line: string,
  defaults: Partial<ConversionRow>,
  now: number,
): { row: ConversionRow; notes: string[] } {
  const [, sign = '', unsigned = ''] = /^([-\u2212]?)\s*(.*)$/.exec(line) ?? []
  try {
    const { words, day = defaults.date } = takeDay([unsigned], now)
    const read = readConversion(words, defaults.reverse)
    if (!read || read.to.includes(','))
      throw new UsageError(`must be like 100 USD EUR, got ${line}`)
    const { amount = '1', from, to, notes } = read
    const signed = sign === '' ? amount : `-${amount}`
    return { row: Object({ ...defaults, date: day, amount: signed, from, to }), notes }
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    return { row: Object(new RatesError('invalid_parameter', error.message)), notes: [] }
  }
}
