import type { AnyRowConversion } from '../api/convert-many.ts'
import type { ConversionRow } from '../api/parameters.ts'
import type { CommandContext } from './context.ts'
import { DISCLAIMER, openOutput, sourcesOf } from './output.ts'
import { openSession } from './session.ts'
import type { RatesFlags } from './session.ts'
import { withSpinner } from './terminal.ts'

/** Converts rows, prints them, and notes their sources; resolves to the last failure of each upstream, if any. */
export async function convertRows(
  rows: readonly ConversionRow[],
  flags: RatesFlags,
  context: CommandContext,
  print: (results: readonly AnyRowConversion[]) => void,
): Promise<string> {
  const { note } = openOutput(context)
  const session = await openSession(flags, context)
  try {
    const results = await withSpinner(context, 'fetching rates', session.convertMany(rows))
    print(results)
    const overdue = session.whyOverdue('not the newest rates')
    const converted = results.flatMap((result) => ('error' in result ? [] : [result]))
    const isNoted = !flags.quiet && !flags.json && !flags.csv && converted.length > 0
    const notice = isNoted ? [...sourcesOf(converted), DISCLAIMER] : []
    if (overdue !== undefined && !flags.quiet) note(`ratesmith: ${overdue}`)
    for (const line of notice) note(line)
    return session.failures()
  } finally {
    session.close()
  }
}
