import type { Output } from './output.ts'
import { toTable } from './terminal.ts'

/** The same content for programs and for people. */
export interface Listing {
  /** Printed with `--json`. */
  record: object
  head: readonly string[]
  rows: readonly (readonly string[])[]
}

/** Prints one line of JSON, a table on a terminal, or tab-separated lines in a pipe. */
export function printListing(
  { record, head, rows }: Listing,
  { terminal, print }: Output,
  isJson = false,
): void {
  if (isJson) print([JSON.stringify(record)])
  else if (!terminal.isTTY) print(rows.map((row) => row.join('\t')))
  else {
    print(toTable([head, ...rows.map((row) => row.map((cell) => cell || '-'))], 'title', terminal))
  }
}
