// Measures the time from the start of a process to its first response, and the memory of a process: `ratesmith serve --demo`
// and others against a bare Node server, alternating. Prints Markdown, and exits with 1 if a goal is missed.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { get } from 'node:http'
import { parseArgs } from 'node:util'

import { killOnExit } from '../test/system/child.ts'
import { ROOT } from '../test/system/runtimes.ts'
import { MEGABYTE, inMegabytes, markdown, median, print } from './figures.ts'
import type { Loaded, Memory } from './start/memory-program.ts'
import { reportOf } from './wire/load.ts'

const GOAL = 1.35

/** Of five years of data over a bare server, in bytes. */
const MEMORY_GOAL = 12 * MEGABYTE

const FIRST_TARGET = '/api/v1/convert?from=USD&to=EUR'

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
const memory = await measureMemory()
print(`\n${memory.table}`)
process.exit(isGood && memory.isGood ? 0 : 1)

/** Returns a table of the memory after a start, and whether the goal is reached. */
async function measureMemory(): Promise<{ table: string; isGood: boolean }> {
  const names: Record<Loaded, string> = {
    bare: 'bare `node:http`',
    handler: 'the library, without data',
    latest: 'with latest rates',
    'five years': 'and five years of 30 currencies',
    'all years': 'and all years since 1999',
  }
  let bare: Memory | undefined
  let isReached = false
  const lines: string[][] = []
  for (const [loaded, name] of Object.entries(names)) {
    const found = await reportOf<Memory>({
      program: 'bench/start/memory-program.ts',
      settings: loaded,
      flags: ['--expose-gc'],
    })
    bare ??= found
    const more = found.used - bare.used
    const hasGoal = loaded === 'five years'
    if (hasGoal) isReached = more <= MEMORY_GOAL
    const goal = `${inMegabytes(MEMORY_GOAL, 0)}: ${isReached ? 'ok' : 'missed'}`
    lines.push([
      name,
      inMegabytes(found.used, 1),
      inMegabytes(more, 1),
      hasGoal ? goal : '',
      inMegabytes(found.rss, 0),
    ])
  }
  const columns = ['memory in MB', 'objects', 'over bare', 'goal', 'resident']
  return { table: markdown(columns, lines), isGood: isReached }
}

/** Returns the time from the start of Node with `args` to the first response of its server, in ms. */
export async function timeToResponse(args: readonly string[]): Promise<number> {
  const startedAt = performance.now()
  const child = startNode(args)
  const ended = killOnExit(child)
  try {
    const status = await Promise.race([
      listening(child).then((url) => statusOf(url + FIRST_TARGET)),
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

function listening(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    child.stdout?.setEncoding('utf8').on('data', (more: string) => {
      text += more
      const [url] = /http:\/\/\S+:\d+/.exec(text) ?? []
      if (url !== undefined) resolve(url)
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
