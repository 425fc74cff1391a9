import { text as readText } from 'node:stream/consumers'

import { resultsCsv, resultsHead } from '../api/csv-rows.ts'
import { ROW } from '../api/parameters.ts'
import type { ConversionRow } from '../api/parameters.ts'
import { RatesError } from '../errors.ts'
import type { CommandContext } from './context.ts'
import { convertRows } from './convert-rows.ts'
import { takeDay } from './days.ts'
import { inFlags, rowDefaults } from './flags.ts'
import { lineOf, openOutput } from './output.ts'
import { toRatesFlags } from './session.ts'
import { UsageError } from './usage.ts'
import { readConversion } from './words.ts'

type ListFlags = Parameters<typeof toRatesFlags>[0]

export async function convertList(values: ListFlags, context: CommandContext): Promise<number> {
  const defaults = rowDefaults(values)
  const flags = toRatesFlags(values)
  const { print, note } = openOutput(context)
  const typed = (await readText(context.stdin ?? process.stdin)).split(/\r?\n/)
  const lines = typed.map((line, index) => ({ line: line.trim(), number: index + 1 }))
  const read = lines.flatMap(({ line, number }) =>
    line === '' ? [] : [{ number, ...toRow(line, defaults, context.now()) }],
  )
  const hasRounded = defaults.round !== undefined
  const errors: string[] = []
  const rows = read.map(({ row }) => row)
  // A failed line is empty, so that both files have as many lines.
  await convertRows(rows, flags, context, (results) => {
    if (flags.csv) {
      const csv = resultsHead(hasRounded) + resultsCsv(results, hasRounded)
      context.stdout.write(csv.replaceAll('\r\n', '\n'))
    } else
      print(
        results.map((each) =>
          flags.json ? JSON.stringify(each) : 'result' in each ? lineOf(each) : '',
        ),
      )
    for (const [index, result] of results.entries()) {
      if (!('error' in result)) continue
      errors.push(`line ${read[index]?.number}: ${inFlags(ROW, result.error.message)}`)
    }
  })
  const notes = flags.quiet ? [] : new Set(read.flatMap((each) => each.notes))
  for (const line of [...notes, ...errors]) note(`ratesmith: ${line}`)
  return errors.length === 0 ? 0 : 1
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
