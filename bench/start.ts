// Measures the time from the start of a process to its first response, and the memory of servers: `ratesmith serve --demo` and
// a program with the library against a bare Node server, alternating. Prints Markdown, and exits with 1 if a goal is missed.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { get } from 'node:http'
import { parseArgs } from 'node:util'

import { killOnExit } from '../test/system/child.ts'
import { ROOT } from '../test/system/runtimes.ts'
import { MEGABYTE, inMegabytes, markdown, median, medianInterval, print } from './figures.ts'

/** Heap and external memory of the library with five years of data over a bare server, in bytes. */
const MAX_MEMORY = 10 * MEGABYTE

const CONVERSION = ['/api/v1/convert?from=USD&to=EUR']
const FIVE_YEARS = [
  ...CONVERSION,
  '/api/v1/latest?base=EUR',
  '/api/v1/history?from=USD&to=EUR&period=5Y',
]
const SINCE_1999 = [...FIVE_YEARS, '/api/v1/history?from=USD&to=EUR&start=1999-01-04']

const BARE = ['bench/start/bare.mjs']
const LIBRARY = ['bench/start/library.mjs']
const COMMAND = 'dist/cli.js'
const SERVE_DEMO = [COMMAND, 'serve', '--demo', '--port', '0']

/** Starts of each program that are not counted: the first ones read files that are not in the page cache. */
const UNCOUNTED = 2

const { values } = parseArgs({ options: { starts: { type: 'string', default: '31' } } })
const starts = Number(values.starts)
if (!(Number.isInteger(starts) && starts > 0)) {
  throw new RangeError('--starts must be a whole number, 1 or more')
}
process.on('SIGINT', () => process.exit(130))
print(`Node ${process.versions.node}; medians of ${starts} starts each, alternating\n`)
const goals = [...(await measureStarts()), await measureMemory()]
for (const { isReached, text } of goals) print(`- ${isReached ? 'ok' : 'missed'}: ${text}`)
process.exit(goals.every(({ isReached }) => isReached) ? 0 : 1)

interface Verdict {
  isReached: boolean
  text: string
}

async function measureStarts(): Promise<Verdict[]> {
  const contenders = [
    { name: 'bare `node:http`, first response', args: BARE },
    { name: '`ratesmith serve --demo`, first conversion', args: SERVE_DEMO, goal: 1.35 },
    { name: 'a program with the library, first conversion', args: LIBRARY, goal: 1.2 },
    { name: '`ratesmith --version`, its end', args: [COMMAND, '--version'], ends: true },
    {
      name: '`ratesmith convert 1 USD EUR --demo`, its end',
      args: [COMMAND, 'convert', '1', 'USD', 'EUR', '--demo'],
      ends: true,
    },
  ].map((contender) => ({ ...contender, times: [] as number[] }))
  for (let start = -UNCOUNTED; start < starts; start += 1) {
    for (const { args, ends, times } of contenders) {
      const startedAt = performance.now()
      await run(args, ends ? undefined : CONVERSION, async () => {
        if (start >= 0) times.push(performance.now() - startedAt)
      })
    }
  }
  const bare = contenders[0]?.times ?? []
  const ratios = contenders.map(({ times }) => times.map((time, at) => time / (bare[at] ?? NaN)))
  const rows = contenders.map(({ name, times }, index) => {
    const [low, high] = medianInterval(ratios[index] ?? [])
    const ratio = median(ratios[index] ?? [])
    const interval = `(${low.toFixed(2)}–${high.toFixed(2)})`
    return [name, median(times).toFixed(1), `${ratio.toFixed(2)} ${interval}`]
  })
  print(`${markdown(['start', 'ms', 'ratio to bare'], rows)}\n`)
  return contenders.flatMap(({ name, goal }, index) => {
    if (goal === undefined) return []
    const ratio = median(ratios[index] ?? [])
    return { isReached: ratio <= goal, text: `${name}: ${ratio.toFixed(2)} of bare, goal: ${goal}` }
  })
}

/** What `bench/start/memory.mjs` prints: JavaScript objects, what they own outside the heap, and resident memory, in bytes. */
interface Memory {
  heap: number
  external: number
  rss: number
}

async function measureMemory(): Promise<Verdict> {
  const bare = await memoryAfter(BARE, FIVE_YEARS)
  const fiveYears = await memoryAfter(LIBRARY, FIVE_YEARS)
  const found: [name: string, memory: Memory][] = [
    ['bare `node:http`', bare],
    ['a program with the library, without data', await memoryAfter(LIBRARY, [])],
    ['with latest rates and five years of 29 currencies', fiveYears],
    ['and all years since 1999', await memoryAfter(LIBRARY, SINCE_1999)],
    ['`ratesmith serve --demo`, latest and five years', await memoryAfter(SERVE_DEMO, FIVE_YEARS)],
  ]
  const used = ({ heap, external }: Memory): number => heap + external
  const rows = found.map(([name, memory]) => [
    name,
    ...[memory.heap, memory.external, used(memory) - used(bare), memory.rss].map((bytes) =>
      inMegabytes(bytes, 1),
    ),
  ])
  print(`${markdown(['MB', 'heap', 'external', 'both over bare', 'resident'], rows)}\n`)
  const growth = used(fiveYears) - used(bare)
  const text = `five years over bare: ${inMegabytes(growth, 1)} MB, goal: ${inMegabytes(MAX_MEMORY, 0)}`
  return { isReached: growth <= MAX_MEMORY, text }
}

async function memoryAfter(args: readonly string[], targets: readonly string[]): Promise<Memory> {
  const flags = ['--expose-gc', '--import', './bench/start/memory.mjs']
  return run([...flags, ...args], targets, async (child): Promise<Memory> => {
    const report = printed(child, /^\{.*\}$/m)
    child.kill('SIGUSR2')
    return JSON.parse(await report)
  })
}

/** Starts Node, requests `targets` of its server, or awaits its end without any; then calls `use`, and kills it. */
async function run<Result>(
  args: readonly string[],
  targets: readonly string[] | undefined,
  use: (child: ChildProcess) => Promise<Result>,
): Promise<Result> {
  // No start may use the compile cache of an earlier one.
  const { NODE_COMPILE_CACHE: _cache, NODE_OPTIONS: _options, ...env } = process.env
  const stdio: ['ignore', 'pipe', 'ignore'] = ['ignore', 'pipe', 'ignore']
  const child = spawn(process.execPath, args, { cwd: ROOT, env, stdio })
  const ended = killOnExit(child)
  try {
    if (targets === undefined) {
      child.stdout.resume()
      await ended
      if (child.exitCode !== 0) throw new Error(`${args.join(' ')} ended with ${child.exitCode}`)
    } else {
      const early = ended.then(() => Promise.reject(new Error(`${args.join(' ')} ended`)))
      const url = await Promise.race([printed(child, /http:\/\/\S+:\d+/), early])
      for (const target of targets) {
        const status = await statusOf(url + target)
        if (status !== 200) throw new Error(`${args.join(' ')}: ${target} has the status ${status}`)
      }
    }
    return await use(child)
  } finally {
    child.kill('SIGKILL')
    await ended
  }
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
