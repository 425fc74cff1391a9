// Measures the adapters against bare servers and frameworks that send the same bytes, over the loopback interface.
// Prints a table for each body size, and exits with 1 if a server sends other bytes, a request fails, or a goal is
// missed.
import { print } from './figures.ts'
import { readFlags } from './wire/flags.ts'
import { describeMachine } from './wire/machine.ts'
import { checkGoals, lineOf, tableOf } from './wire/results.ts'
import { measureRows } from './wire/rounds.ts'
import type { Sample } from './wire/rounds.ts'
import { SHEETS, rowsOf } from './wire/rows.ts'
import type { SheetName } from './wire/rows.ts'

process.on('SIGINT', () => process.exit(130))

const { measuring, runtimes, names, rowIds, checksGoals } = readFlags()
const { profile } = measuring
const measured = new Map<SheetName, Map<string, Sample[]>>()

print(describeMachine('npm run bench --', runtimes, measuring))
for (const name of names) {
  const rows = rowsOf(name, runtimes).filter(({ id }) => rowIds.includes(id))
  // Not every table has every row.
  if (rows.length === 0) continue
  const samples = await measureRows(name, rows, measuring)
  measured.set(name, samples)
  print(`\n### ${name}: \`${SHEETS[name].target}\`\n\n${tableOf(rows, samples)}`)
}
if (profile !== undefined) print(`\nThe profiles of ${profile} are in build/.`)
if (checksGoals) {
  const verdicts = checkGoals(measured)
  print(`\n${verdicts.map(lineOf).join('\n')}`)
  process.exit(verdicts.every(({ isReached }) => isReached) ? 0 : 1)
}
process.exit()
