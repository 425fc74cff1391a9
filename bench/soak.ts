// Runs two servers on one Redis under a steady load, with a Redis fault and an upstream fault every minute. Prints
// their figures, and exits with 1 if a limit is exceeded.
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'

import { request } from 'undici'

import { startChild } from '../test/system/child.ts'
import type { Child } from '../test/system/child.ts'
import { startRedis } from '../test/system/redis-server.ts'
import { MEGABYTE, inMegabytes, print } from './figures.ts'
import { createLoadRecord, startLoad } from '../test/system/load/load.ts'
import { redisFaults } from '../test/system/load/redis-faults.ts'
import type { RedisHandle } from '../test/system/load/redis-faults.ts'
import { CLIENTS, startServer } from '../test/system/load/servers.ts'
import type { ServerReport } from '../test/system/load/servers.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND

/**
 * Minutes before the figures that the end is compared with, while a process still warms up. The load is restarted in
 * each of these minutes, since its start takes the most memory.
 */
const WARM_UP_MINUTES = 2

/** Start of the faults within a minute, and their duration, in ms. */
const REDIS_FAULT = { after: 10 * SECOND, short: 10 * SECOND, long: 20 * SECOND }
const UPSTREAM_FAULT = { after: 10 * SECOND, lasts: 12 * SECOND }

/** Time without load after which no connection is open, in ms. */
const SETTLE_MS = 8 * SECOND

/** In a shorter run, in minutes, a leak cannot be distinguished from warm-up by the heap. */
const MIN_LEAK_MINUTES = 20

const LIMITS = { responseShare: 0.9, rssGrowth: 0.05, heapPerHour: MEGABYTE, loopDelay: 20 }

const ABORTED = 0.01
const HOSTILE = 0.01

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    rate: { type: 'string', default: '3000' },
  },
})
const [minutes, rate] = [Number(values.minutes), Number(values.rate)]
if (!(minutes > 2 * WARM_UP_MINUTES)) {
  throw new RangeError(`--minutes must be more than ${2 * WARM_UP_MINUTES}`)
}
if (!(rate > 0)) throw new RangeError('--rate must be a positive number of requests per second')

process.on('SIGINT', () => process.exit(130))

const clock = { origin: Date.now(), period: 5 * SECOND }
const redis: RedisHandle = { server: await startRedis() }
const upstream = await startUpstream()
const servers = await Promise.all(
  CLIENTS.map((client) =>
    startServer({ client, redis: redis.server.url, clock, upstream: `${upstream.url}/soak` }, [
      '--expose-gc',
    ]),
  ),
)
const record = createLoadRecord()
const heaps: number[][] = []
const faultCycle = redisFaults(REDIS_FAULT)
let loopDelay = 0
let warm: ServerReport[] = []
let load = loaded()

print(
  `${rate} requests/s for ${minutes} minutes, ${100 * ABORTED} % aborted, ${100 * HOSTILE} % bad inputs`,
)
print('minute | responses | p99 ms | 5xx | wrong | RSS MB | heap MB | loop p99 ms | faults')
for (let minute = 1; minute <= minutes; minute += 1) {
  await runMinute(minute)
  if (minute <= WARM_UP_MINUTES) warm = await settle()
}
const verdicts = checkLimits(await settle())
for (const [isGood, text] of verdicts) print(`${isGood ? 'ok' : 'missed'}: ${text}`)
process.exit(verdicts.every(([isGood]) => isGood) ? 0 : 1)

async function runMinute(minute: number): Promise<void> {
  const begunAt = Date.now()
  const names = [await injectRedisFault(minute), await injectUpstreamFault(minute)]
  await sleep(begunAt + MINUTE - Date.now())
  const reports = await reportsOfAll()
  heaps.push(reports.map(({ heap }) => heap))
  if (minute > WARM_UP_MINUTES)
    loopDelay = Math.max(loopDelay, ...reports.map((each) => each.loopDelay))
  const { count, p99 } = record.latencies(begunAt, MINUTE)
  record.forget()
  const columns = [
    minute,
    count,
    p99.toFixed(1),
    record.failureCount(),
    record.wrong.length,
    reports.map(({ rss }) => inMegabytes(rss, 1)).join(', '),
    reports.map(({ heap }) => inMegabytes(heap, 2)).join(', '),
    reports.map((report) => report.loopDelay.toFixed(1)).join(', '),
    names.join('; '),
  ]
  print(columns.join(' | '))
}

async function injectRedisFault(minute: number): Promise<string> {
  const fault = faultCycle[minute % faultCycle.length]
  if (!fault) return ''
  await sleep(REDIS_FAULT.after)
  await fault.begin(redis)
  await sleep(fault.lasts)
  await fault.end(redis)
  return fault.name
}

async function injectUpstreamFault(minute: number): Promise<string> {
  const modes = ['http2-goaway', 'http-500', 'http-200-html', 'stopped']
  const mode = modes[minute % modes.length] ?? ''
  await sleep(UPSTREAM_FAULT.after)
  if (mode === 'stopped') upstream.process.kill('SIGSTOP')
  else await request(`${upstream.url}/mode/${mode}`, { method: 'PUT' })
  await sleep(UPSTREAM_FAULT.lasts)
  if (mode === 'stopped') upstream.process.kill('SIGCONT')
  else await request(`${upstream.url}/mode/good`, { method: 'PUT' })
  return `upstream ${mode}`
}

/** Stops the load, returns the reports of the idle servers, and starts the load again. */
async function settle(): Promise<ServerReport[]> {
  await load.kill()
  await sleep(SETTLE_MS)
  const reports = await reportsOfAll()
  load = loaded()
  return reports
}

function checkLimits(end: readonly ServerReport[]): [boolean, string][] {
  // Gaps between minutes may have no load. Each minute has one report.
  const expectedCount = Math.round(((1 - ABORTED) * rate * heaps.length * MINUTE) / SECOND)
  const verdicts: [boolean, string][] = [
    [
      record.responseCount() >= LIMITS.responseShare * expectedCount,
      `${record.responseCount()} responses to ${expectedCount} requests that were not aborted`,
    ],
    [
      record.failureCount() === 0,
      `${record.failureCount()} responses were 5xx, of ${JSON.stringify(record.statuses)}`,
    ],
    [
      record.wrong.length === 0,
      `${record.wrong.length} responses were wrong ${record.wrong.slice(0, 3).join('; ')}`,
    ],
    [
      loopDelay <= LIMITS.loopDelay,
      `event-loop delay p99 of the worst minute: ${loopDelay.toFixed(1)} ms`,
    ],
  ]
  return [...verdicts, ...end.flatMap((report, index) => checkServer(index, report, warm[index]))]
}

function checkServer(
  index: number,
  { rss, handles, unhandled, calls }: ServerReport,
  before: ServerReport | undefined,
): [boolean, string][] {
  if (!before) return []
  const growth = rss / before.rss - 1
  const slope = heapPerHour(index)
  const kinds = JSON.stringify(handles)
  return [
    [
      growth <= LIMITS.rssGrowth,
      `server ${index}: RSS ${inMegabytes(before.rss, 1)} MB, then ${inMegabytes(rss, 1)} MB`,
    ],
    [
      minutes < MIN_LEAK_MINUTES || slope <= LIMITS.heapPerHour,
      `server ${index}: heap ${slope < 0 ? 'shrinks' : 'grows'} by ${inMegabytes(Math.abs(slope), 1)} MB/h in the second half (checked from ${MIN_LEAK_MINUTES} minutes on)`,
    ],
    [
      kinds === JSON.stringify(before.handles),
      `server ${index}: handles ${JSON.stringify(before.handles)}, then ${kinds}`,
    ],
    [
      unhandled.length === 0,
      `server ${index}: ${unhandled.length} unhandled ${unhandled.slice(0, 3).join('; ')}; upstream calls ${JSON.stringify(calls)}`,
    ],
  ]
}

/**
 * Returns the slope of the regression line through the heaps of the second half: a leak keeps growing, warm-up does
 * not.
 */
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
