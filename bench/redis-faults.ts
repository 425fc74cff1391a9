// How long answers take while Redis is in trouble: one server under a steady load, and each trouble in turn. Ends with 1
// where an answer was wrong or 5xx, or too few came.
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'

import { startRedis } from '../test/system/redis-server.ts'
import { CLIENTS } from './load/clients.ts'
import type { ClientName } from './load/clients.ts'
import { createLoadRecord } from './load/load-record.ts'
import type { Latencies } from './load/load-record.ts'
import { troubles } from './load/redis-trouble.ts'
import { startLoad, startServer } from './load/servers.ts'

const SECOND = 1_000

/** How long troubles last, and what is waited for before the first and after each, in ms. */
const SHORT = 10 * SECOND
const LONG = 30 * SECOND
const CALM = 8 * SECOND

/** What a second's 99th percentile is to stay below after the beginning, in ms. */
const GOAL = 60

/** The share of questions that are to be answered. */
const ANSWERED = 0.9

const { values } = parseArgs({ options: { rate: { type: 'string', default: '2000' } } })
const rate = Number(values.rate)
if (!(rate > 0)) throw new RangeError('--rate must be a number of questions a second')

process.on('SIGINT', () => process.exit(130))
print(`${rate} questions a second; latencies in ms as p50 / p99 / max`)
let isGood = true
for (const client of CLIENTS) isGood = (await measure(client)) && isGood
process.exit(isGood ? 0 : 1)

async function measure(client: ClientName): Promise<boolean> {
  const redis = { server: await startRedis() }
  const clock = { origin: Date.now(), turn: 2 * SECOND }
  const server = await startServer({ client, redis: redis.server.url, clock })
  const record = createLoadRecord()
  const loadedAt = Date.now()
  const load = startLoad({ urls: [server.url], rate }, record.add)
  // The first seconds are those of a cold process.
  await sleep(2 * CALM)
  print(`\n| ${client} | second after it began | fifth second | second after it ended |`)
  print('|---|---|---|---|')
  print(`| none | ${show(record.latencies(Date.now() - CALM, CALM))} | | |`)
  for (const trouble of troubles({ short: SHORT, long: LONG })) {
    const begunAt = Date.now()
    await trouble.begin(redis)
    await sleep(trouble.lasts)
    const endedAt = Date.now()
    await trouble.end(redis)
    await sleep(CALM)
    const second = (from: number): string => show(record.latencies(from, SECOND))
    const fifth = trouble.lasts < 5 * SECOND ? '' : second(begunAt + 4 * SECOND)
    print(`| ${trouble.name} | ${second(begunAt)} | ${fifth} | ${second(endedAt)} |`)
  }
  const { troubles: found, calls, storeFailures } = await server.report()
  const asked = Math.round((rate * (Date.now() - loadedAt)) / SECOND)
  print(
    `\nanswers ${JSON.stringify(record.statuses)} to ${asked} questions, wrong ${record.wrong.length}`,
  )
  print(
    `upstream calls ${JSON.stringify(calls)}, failed operations ${JSON.stringify(storeFailures)}`,
  )
  for (const each of [...record.wrong, ...found].slice(0, 10)) print(each)
  await Promise.all([load.kill(), server.kill(), redis.server.kill()])
  const isBroken = record.wrong.length + found.length + record.failures() > 0
  return !isBroken && record.answered() >= ANSWERED * asked
}

function show({ p50, p99, max }: Latencies): string {
  const figures = [p50, p99, max].map((latency) => latency.toFixed(1)).join(' / ')
  return p99 > GOAL ? `${figures} (over ${GOAL})` : figures
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
