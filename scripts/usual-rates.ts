import { readFileSync, writeFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'

const FILE = new URL('../src/rates/moves.ts', import.meta.url)

/** Returns `source` with the rates of a response of `/api/v1/latest`, whose base is the US dollar, and their day. */
export function withRates(source: string, response: string): string {
  const { base, updatedAt, rates }: { base: string; updatedAt: number; rates: object } =
    JSON.parse(response)
  if (base !== 'USD') throw new Error(`the base must be USD, got ${base}`)
  const bySteps = Map.groupBy(Object.entries(rates), ([, rate]) => Math.round(2 * Math.log10(rate)))
  const rows = [...bySteps]
    .toSorted(([one], [other]) => one - other)
    .map(([step, found]) => `  '${step}: ${found.map(([code]) => code).join(' ')}',\n`)
  const day = new Date(updatedAt).toISOString().slice(0, 10)
  return source
    .replace(/(?<=AS_OF: Day = ')[^']+/, day)
    .replace(/(?<=const rows = \[)[^]*?(?=\])/, `\n${rows.join('')}`)
}

// `curl -s localhost:3000/api/v1/latest | node scripts/usual-rates.ts && npx oxfmt src/rates`, with a server of real rates.
if (import.meta.main) {
  writeFileSync(FILE, withRates(readFileSync(FILE, 'utf8'), await text(process.stdin)))
}
