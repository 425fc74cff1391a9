// Generates load with autocannon and prints a `LoadResult`; throws if a response is missing or not 200.
import autocannon from 'autocannon'

import { reportToParent, settingsFromParent } from '../../test/system/child.ts'
import { percentile } from '../figures.ts'
import type { LoadResult, LoadSettings } from './load.ts'

const settings: LoadSettings = JSON.parse(settingsFromParent())
const { url, target, distinct, distinctCount = Infinity, connections, seconds, headers } = settings
let number = distinct ?? 0
let faults = 0
const latencies: number[] = []

const before = process.cpuUsage()
const startedAt = performance.now()
const { promise: done, resolve } = Promise.withResolvers<void>()
const distinctRequests = { requests: [{ setupRequest: nextRequest }] }
const instance = autocannon(
  {
    url: url + target,
    connections,
    duration: seconds,
    ...(headers && { headers }),
    ...(distinct === undefined ? {} : distinctRequests),
  },
  () => resolve(),
)
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
reportToParent({
  requests: latencies.length,
  seconds: took,
  p50: percentile(latencies, 0.5),
  p99: percentile(latencies, 0.99),
  cpu: (user + system) / 1e6,
} satisfies LoadResult)

function nextRequest(request: autocannon.Request): autocannon.Request {
  number = number < distinctCount ? number + 1 : 1
  return { ...request, path: target + String(number) }
}
