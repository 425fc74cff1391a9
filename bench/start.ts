// Measures the time from the start of a process to its first response, and the memory of a process: `ratesmith serve --demo`
// and others against a bare Node server, alternating. Prints Markdown, and exits with 1 if a goal is missed.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { get } from 'node:http'
import { parseArgs } from 'node:util'

import { killOnExit } from '../test/system/child.ts'
import { ROOT } from '../test/system/runtimes.ts'
import { MEGABYTE, inMegabytes, markdown, median, print } from './figures.ts'

const GOAL = 1.35

/** Heap and external memory of the library with five years of data over a bare server, in bytes. */
const MEMORY_GOAL = 12 * MEGABYTE

const FIRST_TARGET = '/api/v1/convert?from=USD&to=EUR'

/** Requests that load latest rates, five years, and all years. */
const LATEST = [FIRST_TARGET, '/api/v1/latest?base=EUR']
const FIVE_YEARS = [...LATEST, '/api/v1/history?from=USD&to=EUR&period=5Y']
const ALL_YEARS = [...FIVE_YEARS, '/api/v1/history?from=USD&to=EUR&start=1999-01-04']

const BARE = ['bench/start/bare.mjs']
const LIBRARY = ['bench/start/library.mjs']
const SERVE_DEMO = ['dist/cli.js', 'serve', '--demo', '--port', '0']

/** In what a server prints when it listens. */
const ROOT_URL = /http:\/\/\S+:\d+/

/** Starts of each program that are not counted: the first ones read files that are not in the page cache. */
const UNCOUNTED = 2

/** What `bench/start/memory.mjs` prints: JavaScript objects, what they own outside the heap, and resident memory, in bytes. */
interface Memory {
  heap: number
  external: number
  rss: number
}

interface Contender {
  name: string
  time(): Promise<number>
  goal?: number
}

const bare: Contender = {
  name: 'bare `node:http`, first response',
  time: () => timeToResponse(BARE),
}
const contenders: Contender[] = [
  bare,
  {
    name: 'the same without an `import`',
    time: () => timeToResponse([...BARE, '--no-import']),
  },
  {
    name: '`ratesmith serve --demo`, first conversion',
    time: () => timeToResponse(SERVE_DEMO),
    goal: GOAL,
  },
  {
    name: 'a program with the library, first conversion',
    time: () => timeToResponse(LIBRARY),
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
const memory = await measureMemory()
print(`\n${memory.table}`)
process.exit(isGood && memory.isGood ? 0 : 1)

/** Returns a table of the memory of servers with more and more data, and whether the goal is reached. */
async function measureMemory(): Promise<{ table: string; isGood: boolean }> {
  const bare = await memoryAfter(BARE, FIVE_YEARS)
  const fiveYears = await memoryAfter(LIBRARY, FIVE_YEARS)
  const found: [name: string, memory: Memory][] = [
    ['bare `node:http`', bare],
    ['a program with the library, without data', await memoryAfter(LIBRARY, [])],
    ['with latest rates', await memoryAfter(LIBRARY, LATEST)],
    ['and five years of 29 currencies', fiveYears],
    ['and all years since 1999', await memoryAfter(LIBRARY, ALL_YEARS)],
    ['`ratesmith serve --demo`, latest and five years', await memoryAfter(SERVE_DEMO, FIVE_YEARS)],
  ]
  const used = ({ heap, external }: Memory): number => heap + external
  const isGood = used(fiveYears) - used(bare) <= MEMORY_GOAL
  const verdict = `${inMegabytes(MEMORY_GOAL, 0)}: ${isGood ? 'ok' : 'missed'}`
  const rows = found.map(([name, memory]) => {
    const { heap, external, rss } = memory
    const numbers = [heap, external, used(memory) - used(bare), rss, rss - bare.rss]
    const goal = memory === fiveYears ? verdict : ''
    return [name, ...numbers.map((bytes) => inMegabytes(bytes, 1)), goal]
  })
  const columns = ['MB', 'heap', 'external', 'both over bare', 'resident', 'over bare', 'goal']
  return { table: markdown(columns, rows), isGood }
}

/** Returns the memory of the server that Node starts with `args`, after requests for `targets`. */
async function memoryAfter(args: readonly string[], targets: readonly string[]): Promise<Memory> {
  const child = startNode(['--expose-gc', '--import', './bench/start/memory.mjs', ...args])
  const ended = killOnExit(child)
  try {
    const url = await printed(child, ROOT_URL)
    for (const target of targets) {
      const status = await statusOf(url + target)
      if (status !== 200) throw new Error(`${target} has the status ${status}`)
    }
    const report = printed(child, /^\{.*\}$/m)
    child.kill('SIGUSR2')
    const memory: Memory = JSON.parse(await report)
    return memory
  } finally {
    child.kill('SIGKILL')
    await ended
  }
}

/** Returns the time from the start of Node with `args` to the first response of its server, in ms. */
export async function timeToResponse(args: readonly string[]): Promise<number> {
  const startedAt = performance.now()
  const child = startNode(args)
  const ended = killOnExit(child)
  try {
    const status = await Promise.race([
      printed(child, ROOT_URL).then((url) => statusOf(url + FIRST_TARGET)),
      ended.then(() => 'its end'),
    ])
    const elapsed = performance.now() - startedAt
    if (status !== 200) throw new Error(`${args.join(' ')} responded with ${status}`)
    return elapsed
  } finally {
    child.kill('SIGKILL')
    await ended
  }
}

/** Returns the time from the start of Node with `args` to its end, in ms. */
export async function timeToEnd(args: readonly string[]): Promise<number> {
  const startedAt = performance.now()
  const child = startNode(args)
  await killOnExit(child)
  const elapsed = performance.now() - startedAt
  if (child.exitCode !== 0) throw new Error(`${args.join(' ')} ended with ${child.exitCode}`)
  return elapsed
}

function startNode(args: readonly string[]): ChildProcess {
  // No start may use the compile cache of an earlier one.
  const { NODE_COMPILE_CACHE: _cache, NODE_OPTIONS: _options, ...env } = process.env
  return spawn(process.execPath, args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'ignore'] })
}

/** Resolves to the first match in the output of `child` from now on. */
function printed(child: ChildProcess, pattern: RegExp): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    child.stdout?.setEncoding('utf8').on('data', (more: string) => {
      text += more
      const [match] = pattern.exec(text) ?? []
      if (match !== undefined) resolve(match)
    })
  })
}

function statusOf(url: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    get(url, { agent: false }, (response) => {
      response.on('end', () => resolve(response.statusCode)).resume()
    }).on('error', reject)
  })
}
