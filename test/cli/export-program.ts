// Exports to a folder until it is killed, each time with another rate: `export-program.ts <folder> <first number>`. Prints a
// line after each export.
import { flushCompileCache } from 'node:module'

import { publish, run } from './run.ts'

const [, , folder = '', first] = process.argv
const providers = ['--latest', 'exchange-rate-api', '--allow', 'exchange-rate-api', '--no-cache']
const others = Array.from({ length: 300 }, (_, index) => {
  const day = new Date(Date.UTC(2025, 0, 1 + index)).toISOString().slice(0, 10)
  return [day, 0.9 + (index % 7) / 1000] as const
})

for (let number = Number(first); ; number += 1) {
  const francs = { ...Object.fromEntries(others), '2025-05-05': 0.9 + (number % 997) / 100_000 }
  const args = ['export', folder, '--since', '2025', ...providers]
  const { code, stderr } = await run(args, { fetch: publish({ francs }) })
  if (code !== 0) throw new Error(stderr)
  // A killed process has no time to.
  if (number === Number(first)) flushCompileCache()
  process.stdout.write(`exported ${number}\n`)
}
