import { GENERATORS } from './load.ts'
import type { GeneratorName, LoadSettings } from './load.ts'
import type { RunningRow } from './running.ts'

export interface Measuring {
  generator: GeneratorName
  connections: number
  rounds: number
  /** Duration of each measurement. */
  seconds: number
  /** Duration of the load before the first measurement of each server. */
  warmUp: number
}

/** One measurement of a server. */
export interface Sample {
  /** Requests per second. */
  rate: number
  /** CPU time of the server per request, in µs. */
  cpu: number
  /** Percentiles of the latency, in ms. */
  p50: number
  p99: number
  /** Resident memory of the server after the measurement, in bytes. */
  rss: number
  /** Share of a core that the load generator used. */
  loadShare: number
}

/** The requests to the servers of a table. */
export interface Targets {
  target: string
  distinct?: string
}

/** Amounts reserved for each measurement; more than any server can respond to. */
const AMOUNTS = 10_000_000

/** Measures every server once per round, in a rotating order; returns the samples by row id. */
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

  function settingsOf(
    { row, server }: RunningRow,
    measurement: number,
    time: number,
  ): LoadSettings {
    const { target, distinct } = targets
    const settings = { url: server.url, connections, seconds: time, key: row.key }
    if (!row.isDistinct || distinct === undefined) return { ...settings, target }
    return { ...settings, target: distinct, distinct: (measurement + 1) * AMOUNTS }
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
