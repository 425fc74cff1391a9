// As a program, generates load with autocannon and prints a `LoadResult`; throws if a response is missing or not 200.
import autocannon from 'autocannon'

import { reportToParent, settingsFromParent, startChild } from '../../test/system/child.ts'
import { percentile } from '../figures.ts'
import { onOwnCore } from './cores.ts'

export interface LoadSettings {
  /** Root of the server. */
  url: string
  /** Path and query. If `distinct` is given, a number follows it, starting after that and incremented with every request. */
  target: string
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

/** Loads a server from a separate process, on its own core where the machine can do that. */
export async function load(settings: LoadSettings): Promise<LoadResult> {
  const [runtime = '', ...flags] = onOwnCore('load', [process.execPath])
  const child = startChild({ program: 'bench/wire/load.ts', settings, runtime, flags })
  try {
    const result: LoadResult = JSON.parse(await child.firstLine)
    return result
  } finally {
    await child.kill()
  }
}

if (import.meta.main) reportToParent(await run(JSON.parse(settingsFromParent())))

async function run(settings: LoadSettings): Promise<LoadResult> {
  const { url, target, distinct, connections, seconds, headers } = settings
  let number = distinct ?? 0
  let faults = 0
  const latencies: number[] = []
  const setupRequest = (request: autocannon.Request): autocannon.Request => {
    number += 1
    return { ...request, path: target + String(number) }
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
