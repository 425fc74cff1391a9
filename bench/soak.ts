// Two servers on one Redis under a steady load for a while, with a trouble of Redis and one of the upstreams every minute.
// Prints how they fare, and ends with 1 where a limit is broken.
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'

import { request } from 'undici'

import { startChild } from '../test/system/child.ts'
import type { Child } from '../test/system/child.ts'
import { startRedis } from '../test/system/redis-server.ts'
import { CLIENTS } from './load/clients.ts'
import { createLoadRecord } from './load/load-record.ts'
import { troubles } from './load/redis-trouble.ts'
import type { Patient } from './load/redis-trouble.ts'
import type { ServerReport } from './load/server-program.ts'
import { startLoad, startServer } from './load/servers.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const MEGABYTE = 1_048_576

/**
 * What is compared with the end is measured after this minute: before, a process still grows into its work. Each of these
 * minutes has its load begun anew, as its beginning takes the most memory.
 */
const WARM_AFTER = 2

/** When in a minute the troubles begin and how long they last, in ms. */
const REDIS_TROUBLE = { after: 10 * SECOND, short: 10 * SECOND, long: 20 * SECOND }
const UPSTREAM_TROUBLE = { after: 10 * SECOND, lasts: 12 * SECOND }

/** After so long without load, in ms, no connection is kept open any more. */
const QUIET = 8 * SECOND

/** In less time than this, in minutes, what a process learns cannot be told from what it leaks by its heap. */
const LEAK_SHOWS_IN = 20

const LIMITS = { answered: 0.9, rssGrowth: 0.05, heapPerHour: MEGABYTE, loopDelay: 20 }

/** The shares of questions whose askers leave before the answer, and of bad inputs. */
const ABORTED = 0.01
const HOSTILE = 0.01

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    rate: { type: 'string', default: '3000' },
  },
})
const [minutes, rate] = [Number(values.minutes), Number(values.rate)]
if (!(minutes > 2 * WARM_AFTER)) {
  throw new RangeError(`--minutes must be more than ${2 * WARM_AFTER}`)
}
if (!(rate > 0)) throw new RangeError('--rate must be a number of questions a second')

process.on('SIGINT', () => process.exit(130))

const clock = { origin: Date.now(), turn: 5 * SECOND }
const redis: Patient = { server: await startRedis() }
const upstream = await startUpstream()
const servers = await Promise.all(
  CLIENTS.map((client) =>
    startServer({ client, redis: redis.server.url, clock, upstream: `${upstream.url}/soak` }, [
      '--expose-gc',
    ]),
  ),
)
const record = createLoadRecord()
/** Of each minute, by server, in bytes. */
const heaps: number[][] = []
const redisTroubles = troubles(REDIS_TROUBLE)
let loopDelay = 0
let warm: ServerReport[] = []
let load = loaded()

print(
  `${rate} questions a second for ${minutes} minutes, ${100 * ABORTED} % aborted, ${100 * HOSTILE} % of bad inputs`,
)
print('minute | answers | p99 ms | 5xx | wrong | RSS MB | heap MB | loop p99 ms | troubles')
for (let minute = 1; minute <= minutes; minute += 1) {
  await liveMinute(minute)
  if (minute <= WARM_AFTER) warm = await quiet()
}
const verdicts = judge(await quiet())
for (const [isGood, text] of verdicts) print(`${isGood ? 'good' : 'BROKEN'}: ${text}`)
process.exit(verdicts.every(([isGood]) => isGood) ? 0 : 1)

async function liveMinute(minute: number): Promise<void> {
  const begunAt = Date.now()
  const names = [await troubleRedis(minute), await troubleUpstream(minute)]
  await sleep(begunAt + MINUTE - Date.now())
  const reports = await reportsOfAll()
  heaps.push(reports.map(({ heap }) => heap))
  if (minute > WARM_AFTER) loopDelay = Math.max(loopDelay, ...reports.map((each) => each.loopDelay))
  const { count, p99 } = record.latencies(begunAt, MINUTE)
  record.forget()
  const columns = [
    minute,
    count,
    p99.toFixed(1),
    record.failures(),
    record.wrong.length,
    reports.map(({ rss }) => inMegabytes(rss)).join(', '),
    reports.map(({ heap }) => inMegabytes(heap, 2)).join(', '),
    reports.map((report) => report.loopDelay.toFixed(1)).join(', '),
    names.join('; '),
  ]
  print(columns.join(' | '))
}

async function troubleRedis(minute: number): Promise<string> {
  const trouble = redisTroubles[minute % redisTroubles.length]
  if (!trouble) return ''
  await sleep(REDIS_TROUBLE.after)
  await trouble.begin(redis)
  await sleep(trouble.lasts)
  await trouble.end(redis)
  return trouble.name
}

async function troubleUpstream(minute: number): Promise<string> {
  const modes = ['http2-goaway', 'http-500', 'http-200-html', 'stopped']
  const mode = modes[minute % modes.length] ?? ''
  await sleep(UPSTREAM_TROUBLE.after)
  if (mode === 'stopped') upstream.process.kill('SIGSTOP')
  else await request(`${upstream.url}/mode/${mode}`, { method: 'PUT' })
  await sleep(UPSTREAM_TROUBLE.lasts)
  if (mode === 'stopped') upstream.process.kill('SIGCONT')
  else await request(`${upstream.url}/mode/good`, { method: 'PUT' })
  return `upstream ${mode}`
}

/** The reports of servers that have nothing to do, which then get their load again. */
async function quiet(): Promise<ServerReport[]> {
  await load.kill()
  await sleep(QUIET)
  const reports = await reportsOfAll()
  load = loaded()
  return reports
}

function judge(end: readonly ServerReport[]): [boolean, string][] {
  // Between minutes there may be no load, and each has its report.
  const asked = Math.round(((1 - ABORTED) * rate * heaps.length * MINUTE) / SECOND)
  const verdicts: [boolean, string][] = [
    [
      record.answered() >= LIMITS.answered * asked,
      `${record.answered()} answers to ${asked} questions whose askers stayed`,
    ],
    [
      record.failures() === 0,
      `${record.failures()} answers of ${JSON.stringify(record.statuses)} were 5xx`,
    ],
    [
      record.wrong.length === 0,
      `${record.wrong.length} were wrong ${record.wrong.slice(0, 3).join('; ')}`,
    ],
    [
      loopDelay <= LIMITS.loopDelay,
      `event-loop delay p99 of the worst minute ${loopDelay.toFixed(1)} ms`,
    ],
  ]
  for (const [index, { rss, handles, troubles: found, calls }] of end.entries()) {
    const before = warm[index]
    if (!before) continue
    const growth = rss / before.rss - 1
    const slope = heapPerHour(index)
    const kinds = JSON.stringify(handles)
    verdicts.push(
      [
        growth <= LIMITS.rssGrowth,
        `server ${index}: RSS ${inMegabytes(before.rss)} MB, then ${inMegabytes(rss)} MB`,
      ],
      [
        minutes < LEAK_SHOWS_IN || slope <= LIMITS.heapPerHour,
        `server ${index}: heap ${slope < 0 ? 'shrinks' : 'grows'} by ${inMegabytes(Math.abs(slope))} MB an hour in the second half, judged from ${LEAK_SHOWS_IN} minutes on`,
      ],
      [
        kinds === JSON.stringify(before.handles),
        `server ${index}: handles ${JSON.stringify(before.handles)}, then ${kinds}`,
      ],
      [
        found.length === 0,
        `server ${index}: ${found.length} unhandled ${found.slice(0, 3).join('; ')}; upstream calls ${JSON.stringify(calls)}`,
      ],
    )
  }
  return verdicts
}

/** The slope of the line nearest to the heaps of the second half: what leaks goes on, what a process learns comes to an end. */
function heapPerHour(server: number): number {
  const points = heaps.slice(Math.floor(heaps.length / 2)).map((heap) => heap[server] ?? NaN)
  const mean = (numbers: readonly number[]): number =>
    numbers.reduce((sum, number) => sum + number, 0) / numbers.length
  const [middle, average] = [(points.length - 1) / 2, mean(points)]
  const covariance = mean(points.map((heap, minute) => (minute - middle) * (heap - average)))
  return (covariance / mean(points.map((_, minute) => (minute - middle) ** 2))) * 60
}

function reportsOfAll(): Promise<ServerReport[]> {
  return Promise.all(servers.map((server) => server.report()))
}

function loaded(): Child {
  const urls = servers.map(({ url }) => url)
  return startLoad({ urls, rate, aborted: ABORTED, hostile: HOSTILE }, record.add)
}

async function startUpstream(): Promise<Child & { url: string }> {
  const child = startChild({ program: 'bench/upstream-program.ts', settings: clock })
  const { url }: { url: string } = JSON.parse(await child.firstLine)
  return { ...child, url }
}

function inMegabytes(bytes: number, digits = 1): string {
  return (bytes / MEGABYTE).toFixed(digits)
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
