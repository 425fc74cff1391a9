// Measures the time from the start of a process to its first response: `ratesmith serve --demo` and others against a
// bare Node server, alternating. Prints Markdown, and exits with 1 if the goal is missed.
import { parseArgs } from 'node:util'

import { median } from './median.ts'
import { timeToEnd, timeToResponse } from './start/first-response.ts'

const GOAL = 1.8

/** Starts of each program that are not counted: the first ones read files that are not in the page cache. */
const UNCOUNTED = 2

interface Contender {
  name: string
  time(): Promise<number>
  goal?: number
}

const bare: Contender = {
  name: 'bare `node:http`, first response',
  time: () => timeToResponse(['bench/start/bare.mjs']),
}
const contenders: Contender[] = [
  bare,
  {
    name: 'the same without an `import`',
    time: () => timeToResponse(['bench/start/bare.mjs', '--no-import']),
  },
  {
    name: '`ratesmith serve --demo`, first conversion',
    time: () => timeToResponse(['dist/cli.js', 'serve', '--demo', '--port', '0']),
    goal: GOAL,
  },
  {
    name: 'a program with the library, first conversion',
    time: () => timeToResponse(['bench/start/library.mjs']),
  },
  { name: '`ratesmith --version`, its end', time: () => timeToEnd(['dist/cli.js', '--version']) },
]

const { values } = parseArgs({ options: { starts: { type: 'string', default: '31' } } })
const starts = Number(values.starts)
if (!(Number.isInteger(starts) && starts > 0)) {
  throw new RangeError('--starts must be a whole number, 1 or more')
}

process.on('SIGINT', () => process.exit(130))
const times = new Map(contenders.map((contender) => [contender, [] as number[]]))
for (let start = -UNCOUNTED; start < starts; start += 1) {
  for (const [contender, measured] of times) {
    const elapsed = await contender.time()
    if (start >= 0) measured.push(elapsed)
  }
}

print(`Node ${process.versions.node}; medians of ${starts} starts each, alternating\n`)
print('| start | ms | ratio to bare | goal |')
print('| --- | --- | --- | --- |')
const bareTime = median(times.get(bare) ?? [])
let isGood = true
for (const [{ name, goal }, measured] of times) {
  const time = median(measured)
  const isOk = goal === undefined || time <= goal * bareTime
  const verdict = goal === undefined ? '' : `${goal}: ${isOk ? 'ok' : 'missed'}`
  isGood &&= isOk
  print(`| ${name} | ${time.toFixed(1)} | ${(time / bareTime).toFixed(2)} | ${verdict} |`)
}
process.exit(isGood ? 0 : 1)

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
