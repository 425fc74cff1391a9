// As a program, generates load with autocannon for every line of settings on stdin, and prints a `LoadResult`; throws if a
// response is missing or not 200.
import { createInterface } from 'node:readline'

import autocannon from 'autocannon'

import { reportToParent, settingsFromParent } from '../../test/system/child.ts'
import { percentile } from '../figures.ts'
import { startAnswering } from './asking.ts'
import type { Answering } from './asking.ts'
import { onOwnCore } from './cores.ts'

export interface LoadSettings {
  /** Root of the server. */
  url: string
  /** Path and query, with `{number}`, `{code}` and `{day}` where every request has others. */
  target: string
  /** The number of the first request, if each has another: one more than that of the one before. */
  distinct?: number | undefined
  /** Headers of every request besides `Host`. */
  headers: Readonly<Record<string, string>>
  /** Keep-alive connections. */
  connections: number
  seconds: number
}

/** Result of a load in which every response had status 200. */
export interface LoadResult {
  requests: number
  seconds: number
  /** Percentiles of the latency, in ms. */
  p50: number
  p99: number
  /** CPU time of the generator, in seconds. */
  cpu: number
}

let generator: Answering | undefined

/** Loads a server from a separate process, the same for all loads, on its own core where the machine can do that. */
export async function load(settings: LoadSettings): Promise<LoadResult> {
  if (!generator) {
    const [runtime = '', ...flags] = onOwnCore('load', [process.execPath])
    generator = startAnswering({ program: 'bench/wire/load.ts', settings: {}, runtime, flags })
    await generator.firstLine
  }
  const result: LoadResult = JSON.parse(await generator.ask(JSON.stringify(settings)))
  return result
}

if (import.meta.main) {
  settingsFromParent()
  createInterface(process.stdin).on('line', async (line) => {
    reportToParent(await run(JSON.parse(line)))
  })
  reportToParent('ready')
}

async function run(settings: LoadSettings): Promise<LoadResult> {
  const { url, target, distinct, connections, seconds, headers } = settings
  let number = distinct ?? 0
  let faults = 0
  const latencies: number[] = []
  const setupRequest = (request: autocannon.Request): autocannon.Request => {
    number += 1
    return { ...request, path: fill(target, number) }
  }
  const before = process.cpuUsage()
  const startedAt = performance.now()
  const { promise: done, resolve } = Promise.withResolvers<void>()
  const requests = distinct === undefined ? {} : { requests: [{ setupRequest }] }
  const options = { url: url + target, connections, duration: seconds, headers, ...requests }
  const instance = autocannon(options, () => resolve())
  // autocannon's own percentiles are in whole ms.
  instance.on('response', (_client, status, _bytes, latency) => {
    if (status === 200) latencies.push(latency)
    else faults += 1
  })
  instance.on('reqError', () => (faults += 1))
  await done
  const took = (performance.now() - startedAt) / 1_000
  if (faults > 0 || latencies.length === 0) {
    throw new Error(`${faults} failures and ${latencies.length} responses at ${url}${target}`)
  }
  const { user, system } = process.cpuUsage(before)
  return {
    requests: latencies.length,
    seconds: took,
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
    cpu: (user + system) / 1e6,
  }
}

const CODES =
  'AUD BRL CAD CHF CNY CZK DKK EUR GBP HKD HUF IDR ILS INR JPY KRW MXN NOK NZD PLN'.split(' ')
const FIRST_DAY = Date.UTC(2019, 0, 1)
const DAYS = 2_000

/** Returns `target` with a number, a code and a day that together are new for 40,000 numbers. */
function fill(target: string, number: number): string {
  const day = FIRST_DAY + (Math.floor(number / CODES.length) % DAYS) * 86_400_000
  return target
    .replace('{number}', String(number))
    .replace('{code}', CODES[number % CODES.length] ?? '')
    .replace('{day}', new Date(day).toISOString().slice(0, 10))
}
