// Measures how the cost of a response grows with connections, with distinct queries, and with the length of a history.
// Prints a table of each, and exits with 1 after an error under load, or if a million distinct queries leave too much
// memory in use.
import { print } from './figures.ts'
import { tableOfConnections, tableOfHistory, tableOfQueries } from './scale/tables.ts'
import { readFlags } from './wire/flags.ts'
import { describeMachine } from './wire/machine.ts'
import { lineOf } from './wire/results.ts'

const FULL = {
  connections: [1, 8, 64, 256, 1_000],
  queries: [1, 1_000, 100_000, 1_000_000],
  minResponses: 200_000,
  periods: ['1W', '1M', '3M', '6M', '1Y', '5Y'],
}
const QUICK = {
  connections: [8],
  queries: [1_000],
  minResponses: 1_000,
  periods: ['5Y'],
}

process.on('SIGINT', () => process.exit(130))

const { measuring, parts, checksGoals, isQuick } = readFlags(['connections', 'queries', 'history'])
const { generator, rounds, seconds, connections } = measuring
const sizes = isQuick ? QUICK : FULL

print(describeMachine('npm run bench:scale --', ['node'], generator))
print(`- over the wire: medians of ${rounds} rounds of ${seconds} s per server`)
if (parts.includes('connections')) {
  print('\n### Connections: a conversion, directly on Node\n')
  print(await tableOfConnections(sizes.connections, measuring))
}
if (parts.includes('queries')) {
  print('\n### Distinct queries: `handler.answer` in process\n')
  const { table, verdicts } = await tableOfQueries(sizes.queries, sizes.minResponses)
  print(table)
  if (verdicts.length > 0) print(`\n${verdicts.map(lineOf).join('\n')}`)
  if (checksGoals && verdicts.some(({ isReached }) => !isReached)) process.exitCode = 1
}
if (parts.includes('history')) {
  print(
    `\n### Length of history: in process, and directly on Node with ${connections} connections\n`,
  )
  print(await tableOfHistory(sizes.periods, measuring))
  print('\n`npm run bench:core` measures histories since 1999.')
}
