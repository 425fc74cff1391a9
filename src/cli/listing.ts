import type { Output } from './output.ts'
import { toTable } from './terminal.ts'

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
