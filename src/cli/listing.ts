import type { RatesOperations } from '../index.ts'
import type { CommandContext } from './context.ts'
import { openOutput } from './output.ts'
import type { Output } from './output.ts'
import { openSession } from './session.ts'
import type { RatesFlags } from './session.ts'
import { toTable, withSpinner } from './terminal.ts'

/** Calls `use`, which returns the exit code, with the rates that flags choose; shows a spinner until they are loaded. */
export async function withRates(
  flags: RatesFlags,
  context: CommandContext,
  use: (rates: RatesOperations, output: Output) => Promise<number>,
): Promise<number> {
  const { rates, close } = await openSession(flags, context)
  try {
    const loading = Promise.allSettled([rates.latest(), rates.sources()])
    await withSpinner(context, 'fetching rates', loading)
    return await use(rates, openOutput(context))
  } finally {
    close()
  }
}

/** Prints a record as JSON, or `rows` as a table on a terminal, or without their head as tab-separated lines in a pipe. */
export function printListing(
  record: object,
  rows: readonly (readonly string[])[],
  { terminal, print }: Output,
  isJson = false,
): void {
  const filled = rows.map((row) => row.map((cell) => cell || '-'))
  if (isJson) print([JSON.stringify(record)])
  else if (terminal.isTTY) print(toTable(filled, 'title', terminal))
  else print(rows.slice(1).map((row) => row.join('\t')))
}
