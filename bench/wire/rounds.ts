import type { GeneratorName, LoadSettings } from './load.ts'
import { GENERATORS } from './load.ts'
import type { RunningRow } from './running.ts'

/** How servers are measured. */
export interface Measuring {
  generator: GeneratorName
  connections: number
  rounds: number
  /** Of each measurement. */
  seconds: number
  /** Of the load that each server has before its first. */
  warmUp: number
}

/** One measurement of a server. */
export interface Sample {
  /** Requests a second. */
  rate: number
  /** Processor time of the server for a request, in µs. */
  cpu: number
  /** Percentiles of the latency, in ms. */
  p50: number
  p99: number
  /** Resident memory of the server after it, in bytes. */
  rss: number
  /** How much of a core the load took. */
  loadShare: number
}

/** What is asked of the servers of a table. */
export interface Targets {
  target: string
  distinct?: string
}

/** So many amounts are kept for each measurement; no server answers as many in one. */
const AMOUNTS = 10_000_000

/** Measures every server once a round, in an order that turns from round to round; the samples by the rows' ids. */
export async function measureRounds(
  running: readonly RunningRow[],
  targets: Targets,
  how: Measuring,
): Promise<Map<string, Sample[]>> {
  const { generator, connections, rounds, seconds, warmUp } = how
  const samples = new Map(running.map(({ row }) => [row.id, [] as Sample[]]))
  for (const each of running) {
    if (warmUp > 0) await GENERATORS[generator](settingsOf(each, 0, warmUp))
  }
  for (let round = 0; round < rounds; round += 1) {
    for (let place = 0; place < running.length; place += 1) {
      const each = running[(place + round) % running.length]
      if (!each) continue
      const sample = await measure(each.server, generator, settingsOf(each, round + 1, seconds))
      samples.get(each.row.id)?.push(sample)
    }
  }
  return samples

  function settingsOf({ row, server }: RunningRow, turn: number, time: number): LoadSettings {
    const { target, distinct } = targets
    const settings = { url: server.url, connections, seconds: time }
    if (!row.isDistinct || distinct === undefined) return { ...settings, target }
    return { ...settings, target: distinct, distinct: (turn + 1) * AMOUNTS }
  }
}

async function measure(
  server: RunningRow['server'],
  generator: GeneratorName,
  settings: LoadSettings,
): Promise<Sample> {
  const before = await server.usage()
  const { requests, seconds, p50, p99, cpu } = await GENERATORS[generator](settings)
  const after = await server.usage()
  return {
    rate: requests / seconds,
    cpu: (after.cpu - before.cpu) / requests,
    p50,
    p99,
    rss: after.rss,
    loadShare: cpu / seconds,
  }
}
