import { readFileSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

import { startChild } from '../child.ts'
import { percentile } from '../../../bench/figures.ts'

export interface OverloadSettings {
  url: string
  connections: number
  /** How long new requests are sent, in ms. */
  duration: number
  acceptEncoding: string
}

export interface OverloadLine {
  statuses: Record<string, number>
  /** Responses with status 200 by content coding. */
  codings: Record<string, number>
  /** In ms. */
  slowest: number
  wrong: string[]
}

export interface OverloadReport extends OverloadLine {
  /** Latency of plain conversions during the overload, in ms. */
  p99: number
  /** Delay of this process in sending plain conversions (p99), in ms. It adds to their latencies. */
  late: number
  plainStatuses: (number | string)[]
  /** Peak of resident memory, in MB. Linux only. */
  peakRss: number
}

const PLAIN_EVERY_MS = 20

/** Connections of plain conversions; all but the first are opened under load. */
const PLAIN_CONNECTIONS = 4

/** Overloads the server with process id `pid`, and requests plain conversions meanwhile. */
export async function overload(settings: OverloadSettings, pid: number): Promise<OverloadReport> {
  const { url, duration } = settings
  const agent = new Agent({ keepAlive: true, maxSockets: PLAIN_CONNECTIONS })
  const convert = (amount: number): Promise<number> =>
    statusOf(`${url}/api/v1/convert?from=USD&to=EUR&amount=${amount}`, agent)
  // Loads all data before the measurement.
  await statusOf(`${url}/api/v1/history?from=USD&to=EUR&start=1999-01-04`, agent)
  await convert(1)
  process.kill(pid, 'SIGUSR2')
  const load = startChild({ program: 'test/system/load/overload-program.ts', settings })
  const latencies: number[] = []
  const late: number[] = []
  const conversions: Promise<number | string>[] = []
  const startedAt = performance.now()
  for (let dueAt = startedAt; dueAt < startedAt + duration; dueAt += PLAIN_EVERY_MS) {
    await sleep(Math.max(0, dueAt - performance.now()))
    late.push(performance.now() - dueAt)
    conversions.push(
      convert(conversions.length + 2)
        .finally(() => latencies.push(performance.now() - dueAt))
        .catch(String),
    )
  }
  const line: OverloadLine = JSON.parse(await load.firstLine)
  const plainStatuses = await Promise.all(conversions)
  agent.destroy()
  return {
    ...line,
    p99: percentile(latencies, 0.99),
    late: percentile(late, 0.99),
    plainStatuses,
    peakRss: peakRssOf(pid),
  }
}

function statusOf(url: string, agent: Agent): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = get(url, { agent }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? NaN))
    })
    request.on('error', reject)
  })
}

function peakRssOf(pid: number): number {
  const [, kilobytes] = /^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) / 1_024
}
