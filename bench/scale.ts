// Measures how the cost of a response grows with connections, distinct queries, the length of a history and the number of
// currencies. Prints a table of each, and draws a picture of all of them. Exits with 1 after an error under load, or if a
// million distinct queries leave too much memory in use.
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'

import { ROOT } from '../test/system/runtimes.ts'
import { print } from './figures.ts'
import { drawGrowth } from './scale/picture.ts'
import type { Chart } from './scale/picture.ts'
import {
  measureAmounts,
  measureConnections,
  measureCurrencies,
  measureHistories,
  tableOfQueries,
} from './scale/tables.ts'
import type { Curve, HistoryLength } from './scale/tables.ts'
import { hasOwnCores } from './wire/cores.ts'
import { readFlags } from './wire/flags.ts'
import { describeMachine } from './wire/machine.ts'
import { lineOf } from './wire/results.ts'

const SINCE_1999: HistoryLength = ['27 years', 'start=1999-01-04']
const FULL = {
  connections: [1, 64, 1_000, 5_000],
  queries: [1, 1_000, 100_000, 1_000_000],
  minResponses: 200_000,
  histories: [
    ['1 month', 'period=1M'],
    ['1 year', 'period=1Y'],
    ['5 years', 'period=5Y'],
    SINCE_1999,
  ] satisfies HistoryLength[],
  currencies: [1, 10, 50, 150],
}
const QUICK = {
  connections: [8],
  queries: [1_000],
  minResponses: 1_000,
  histories: [SINCE_1999],
  currencies: [150],
}

/** Files that a process has open besides its connections. */
const OTHER_FILES = 100

const PARTS = ['connections', 'amounts', 'queries', 'history', 'currencies']
const PICTURE = 'bench/growth.svg'

process.on('SIGINT', () => process.exit(130))

const { measuring, parts, checksGoals, isQuick } = readFlags(PARTS)
const { generator, rounds, seconds, connections } = measuring
const sizes = isQuick ? QUICK : FULL
const charts: Chart[] = []

if (parts.includes('connections')) expectEnoughFiles(Math.max(...sizes.connections))
print(describeMachine('npm run bench:scale --', ['node'], generator))
print(
  `- over the wire: \`toNodeHandler\` and bare \`node:http\` with the same bytes, ${connections} connections; medians of ` +
    `${rounds} rounds of ${seconds} s per server${hasOwnCores ? '; servers and load on separate cores' : ''}`,
)
await printCurve('connections', 'connections, a conversion', () =>
  measureConnections(sizes.connections, measuring),
)
await printCurve('amounts', 'distinct amounts of a conversion', () =>
  measureAmounts(sizes.queries, measuring),
)
if (parts.includes('queries')) {
  print('\n### Distinct queries: `handler.answer` in process\n')
  const { table, verdicts } = await tableOfQueries(sizes.queries, sizes.minResponses)
  print(table)
  if (verdicts.length > 0) print(`\n${verdicts.map(lineOf).join('\n')}`)
  if (checksGoals && verdicts.some(({ isReached }) => !isReached)) process.exitCode = 1
}
await printCurve('history', 'length of a history', () =>
  measureHistories(sizes.histories, measuring),
)
await printCurve('currencies', 'currencies in a table', () =>
  measureCurrencies(sizes.currencies, measuring),
)
if (!isQuick && parts.length === PARTS.length) {
  writeFileSync(`${ROOT}/${PICTURE}`, drawGrowth(charts))
  print(`\nThe picture of these tables is ${PICTURE}.`)
}

async function printCurve(part: string, by: string, measure: () => Promise<Curve>): Promise<void> {
  if (!parts.includes(part)) return
  print(`\n### By ${by}\n`)
  const { table, points } = await measure()
  print(table)
  charts.push({ title: `by ${by}`, points })
}

/** Connections are files of both the server and the load. */
function expectEnoughFiles(mostConnections: number): void {
  const limit = execFileSync('sh', ['-c', 'ulimit -n']).toString().trim()
  const needed = mostConnections + OTHER_FILES
  if (limit === 'unlimited' || Number(limit) >= needed) return
  throw new Error(
    `${mostConnections} connections need ${needed} open files, but the limit is ${limit}: run "ulimit -n ${needed}" first`,
  )
}
