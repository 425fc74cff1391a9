import type { AnyRowConversion } from '../api/convert-many.ts'
import type { ConversionRow } from '../api/parameter-types.ts'
import type { CommandContext } from './context.ts'
import { DISCLAIMER, openOutput, sourcesOf } from './output.ts'
import { openSession } from './session.ts'
import type { RatesFlags } from './session.ts'
import { withSpinner } from './terminal.ts'

interface RowsQuery {
  rows: readonly ConversionRow[]
  /** Notes for stderr. */
  notes: readonly string[]
  /** Writes the results, and returns the errors for stderr; `failures` are those of upstreams. */
  print(results: readonly AnyRowConversion[], failures: string): string[]
}

/** Converts and prints rows, and notes their sources; resolves to the exit code. */
export async function convertRows(
  { rows, notes, print }: RowsQuery,
  flags: RatesFlags,
  context: CommandContext,
): Promise<number> {
  const { note } = openOutput(context)
  const session = await openSession(flags, context)
  try {
    const results = await withSpinner(context, 'fetching rates', session.convertMany(rows))
    const errors = print(results, session.failures())
    const overdue = session.whyOverdue('not the newest rates') ?? []
    const converted = results.flatMap((result) => ('error' in result ? [] : [result]))
    const isNoted = !flags.json && !flags.csv && converted.length > 0
    const notice = isNoted ? [...sourcesOf(converted), DISCLAIMER] : []
    const about = [...notes, overdue].flat().map((line) => `ratesmith: ${line}`)
    for (const line of flags.quiet ? [] : [...about, ...notice]) note(line)
    for (const line of errors) note(`ratesmith: ${line}`)
    return errors.length === 0 ? 0 : 1
  } finally {
    session.close()
  }
}
