// Measures the adapters against bare servers and frameworks that send the same bytes, over the loopback interface.
// Prints a table for each body size, and exits with 1 if a server sends other bytes, a request fails, or a goal is
// missed.
import { print } from './figures.ts'
import { hasOwnCores } from './wire/cores.ts'
import { readFlags } from './wire/flags.ts'
import { describeMachine } from './wire/machine.ts'
import { profileRow } from './wire/profile.ts'
import { checkGoals, lineOf, tableOf } from './wire/results.ts'
import { measureRows } from './wire/rounds.ts'
import type { Sample } from './wire/rounds.ts'
import { SHEETS, rowsOf } from './wire/rows.ts'
import type { SheetName } from './wire/rows.ts'
import { ourResponse } from './wire/running.ts'

const NAMES: readonly SheetName[] = ['convert', 'table', 'history']

process.on('SIGINT', () => process.exit(130))

const { measuring, runtimes, parts, checksGoals, also, profile } = readFlags(NAMES)
const { generator, connections, rounds, seconds } = measuring
const measured = new Map<SheetName, Map<string, Sample[]>>()

print(describeMachine('npm run bench --', runtimes, generator))
print(
  `- ${connections} keep-alive connections; medians of ${rounds} rounds of ${seconds} s per server` +
    (hasOwnCores ? '; servers and load on separate cores' : ''),
)
for (const name of NAMES.filter((name) => parts.includes(name))) {
  const sheet = SHEETS[name]
  const rows = rowsOf(sheet, runtimes, also)
  if (profile !== undefined) {
    const row = rows.find(({ id }) => id === profile)
    if (!row)
      throw new RangeError(`--profile must be one of ${rows.map(({ id }) => id).join(', ')}`)
    print(`\n### ${row.name}, ${name}: ${await profileRow(row, sheet, measuring)}`)
    continue
  }
  const { length } = (await ourResponse(sheet.target)).body
  const samples = await measureRows(rows, sheet, measuring)
  measured.set(name, samples)
  print(`\n### ${name}: \`${sheet.target}\`, ${length.toLocaleString('en')} bytes\n`)
  print(tableOf(rows, samples))
}
if (checksGoals && profile === undefined) {
  const verdicts = checkGoals(measured)
  print(`\n${verdicts.map(lineOf).join('\n')}`)
  process.exitCode = verdicts.every(({ isReached }) => isReached) ? 0 : 1
}
