// Asks ratesmith, the usual implementation with Express and, if its address is given, a Frankfurter for the same rates. Prints
// one table.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

import { markdown, print } from './figures.ts'
import { readFlags } from './wire/flags.ts'
import type { Flags } from './wire/flags.ts'
import { describeMachine } from './wire/machine.ts'
import type { Usage } from './wire/peer.ts'
import { THROUGHPUT_COLUMNS, medianOf, throughputCells } from './wire/results.ts'
import { measureRows } from './wire/rounds.ts'
import { rowsOf } from './wire/rows.ts'
import type { Row, SheetName } from './wire/rows.ts'
import type { RunningRow } from './wire/running.ts'

const QUESTIONS: Record<SheetName, { name: string; ofFrankfurter: string }> = {
  convert: { name: 'a conversion', ofFrankfurter: '/v1/latest?base=USD&symbols=EUR&amount=100' },
  table: { name: 'a table', ofFrankfurter: '/v1/latest?base=EUR' },
  history: { name: 'five years', ofFrankfurter: '/v1/2021-11-20..?base=USD&symbols=JPY' },
}
const IDS = ['direct', 'in-express', 'express-json']

const TICKS_PER_SECOND = Number(execFileSync('getconf', ['CLK_TCK']).toString())
const PAGE_BYTES = Number(execFileSync('getconf', ['PAGESIZE']).toString())

process.on('SIGINT', () => process.exit(130))

const { measuring, names, frankfurter } = readFlags()

print(describeMachine('npm run bench:peers --', ['node'], measuring))
const lines: string[][] = []
for (const name of names) {
  const rows = rowsOf(name, ['node'])
    .filter(({ id }) => IDS.includes(id))
    .map((row) => ({ ...row, of: 'direct' }))
  const others = frankfurter ? [runningFrankfurter(frankfurter, QUESTIONS[name].ofFrankfurter)] : []
  const samples = await measureRows(name, rows, measuring, others)
  for (const [id, own] of samples) {
    const title = rows.find((row) => row.id === id)?.name ?? 'Frankfurter'
    const latencies = [medianOf(own, 'p50').toFixed(2), medianOf(own, 'p99').toFixed(2)]
    lines.push([`${QUESTIONS[name].name}: ${title}`, ...throughputCells(own), ...latencies])
  }
}
print(`\n${markdown(['rates and server', ...THROUGHPUT_COLUMNS, 'p50 ms', 'p99 ms'], lines)}`)
process.exit()

/** Returns the server that runs already; its process id leads to its CPU time. */
function runningFrankfurter(
  { url, pid }: NonNullable<Flags['frankfurter']>,
  target: string,
): RunningRow {
  const row: Row = {
    id: 'frankfurter',
    name: 'Frankfurter',
    runtime: 'node',
    program: '',
    of: 'direct',
    target,
  }
  const keepRunning = async (): Promise<void> => {}
  const usage = async (): Promise<Usage> => usageOf(pid)
  return { row, server: { url, usage, kill: keepRunning, end: keepRunning } }
}

// proc_pid_stat(5): the fields after the name, which may contain spaces.
function usageOf(pid: string): Usage {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const [utime, stime, rss] = [11, 12, 21].map((index) => Number(fields[index]))
  return {
    cpu: (((utime ?? NaN) + (stime ?? NaN)) / TICKS_PER_SECOND) * 1e6,
    rss: (rss ?? NaN) * PAGE_BYTES,
  }
}
