// Measures latencies while Redis fails: one server under a steady load, and one fault after another. Exits with 1 after
// a wrong response, a 5xx, or too few responses.
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'

import { startRedis } from '../test/system/redis-server.ts'
import { print } from './figures.ts'
import { createLoadRecord, startLoad } from './load/load.ts'
import type { Latencies } from './load/load.ts'
import { redisFaults } from './load/redis-faults.ts'
import { CLIENTS, startServer } from './load/servers.ts'
import type { ClientName } from './load/servers.ts'

const SECOND = 1_000

/** Duration of the faults, and the wait before the first one and after each, in ms. */
const SHORT = 10 * SECOND
const LONG = 30 * SECOND
const CALM = 8 * SECOND

/** Limit for the p99 of each second after the start, in ms. */
const GOAL = 60

const ANSWERED = 0.9

const { values } = parseArgs({ options: { rate: { type: 'string', default: '2000' } } })
const rate = Number(values.rate)
if (!(rate > 0)) throw new RangeError('--rate must be a positive number of requests per second')

process.on('SIGINT', () => process.exit(130))
print(`${rate} requests/s; latencies in ms as p50 / p99 / max`)
let isGood = true
for (const client of CLIENTS) isGood = (await measure(client)) && isGood
process.exit(isGood ? 0 : 1)

async function measure(client: ClientName): Promise<boolean> {
  const redis = { server: await startRedis() }
  const clock = { origin: Date.now(), period: 2 * SECOND }
  const server = await startServer({ client, redis: redis.server.url, clock })
  const record = createLoadRecord()
  const loadedAt = Date.now()
  const load = startLoad({ urls: [server.url], rate }, record.add)
  // Skips the cold start.
  await sleep(2 * CALM)
  print(`\n| ${client} | first second of the fault | fifth second | first second after the fault |`)
  print('|---|---|---|---|')
  print(`| none | ${show(record.latencies(Date.now() - CALM, CALM))} | | |`)
  for (const fault of redisFaults({ short: SHORT, long: LONG })) {
    const begunAt = Date.now()
    await fault.begin(redis)
    await sleep(fault.lasts)
    const endedAt = Date.now()
    await fault.end(redis)
    await sleep(CALM)
    const second = (from: number): string => show(record.latencies(from, SECOND))
    const fifth = fault.lasts < 5 * SECOND ? '' : second(begunAt + 4 * SECOND)
    print(`| ${fault.name} | ${second(begunAt)} | ${fifth} | ${second(endedAt)} |`)
  }
  const { unhandled: found, calls, storeFailures } = await server.report()
  const expectedCount = Math.round((rate * (Date.now() - loadedAt)) / SECOND)
  print(
    `\nresponses ${JSON.stringify(record.statuses)} to ${expectedCount} requests, ${record.wrong.length} wrong`,
  )
  print(
    `upstream calls ${JSON.stringify(calls)}, failed store operations ${JSON.stringify(storeFailures)}`,
  )
  for (const each of [...record.wrong, ...found].slice(0, 10)) print(each)
  await Promise.all([load.kill(), server.kill(), redis.server.kill()])
  const isBroken = record.wrong.length + found.length + record.failureCount() > 0
  return !isBroken && record.responseCount() >= ANSWERED * expectedCount
}

function show({ p50, p99, max }: Latencies): string {
  const figures = [p50, p99, max].map((latency) => latency.toFixed(1)).join(' / ')
  return p99 > GOAL ? `${figures} (over ${GOAL})` : figures
}
