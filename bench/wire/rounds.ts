import { GENERATORS } from './load.ts'
import type { GeneratorName, LoadSettings } from './load.ts'
import { HEADERS, referenceOf } from './rows.ts'
import type { Row } from './rows.ts'
import { withPreparedResponse, withServers } from './running.ts'
import type { RunningRow } from './running.ts'

export interface Measuring {
  generator: GeneratorName
  connections: number
  rounds: number
  /** Duration of each measurement. */
  seconds: number
  /** The most measurements of each server before the first that counts: until two in succession agree. */
  maxWarmUps: number
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
  /** The measurement of the reference immediately before: the speed of a shared machine changes within seconds. */
  reference?: Sample
}

/** The requests to the servers of a table. */
export interface Targets {
  target: string
  /** The target of rows with a new number in each request. */
  distinct?: string
  /** With this, every row gets a number up to it in each request. */
  distinctCount?: number | undefined
}

/** Amounts reserved for each measurement; more than any server can respond to. */
const AMOUNTS = 10_000_000

/** The largest difference in CPU time between two measurements that agree. */
const AGREEMENT = 0.03

/**
 * Measures each row with its reference, while no other server runs: even idle ones change the figures of a machine with
 * two cores. Then it measures `others`, which run already. Returns the samples by row id.
 */
export function measureRows(
  rows: readonly Row[],
  targets: Targets,
  how: Measuring,
  others: readonly RunningRow[] = [],
): Promise<Map<string, Sample[]>> {
  return withPreparedResponse(targets.target, async (prepared) => {
    const samples = new Map<string, Sample[]>()
    for (const row of rows) {
      const both = [row, ...referenceOf(row)]
      const measure = (running: RunningRow[]) => measureRounds(running, targets, how)
      samples.set(row.id, await withServers(prepared, both, measure))
    }
    for (const other of others) {
      const measure = (running: RunningRow[]) => measureRounds([other, ...running], targets, how)
      samples.set(other.row.id, await withServers(prepared, referenceOf(other.row), measure))
    }
    return samples
  })
}

/** Measures a server once per round, right after the second, its reference. */
export async function measureRounds(
  [own, other]: readonly RunningRow[],
  targets: Targets,
  how: Measuring,
): Promise<Sample[]> {
  const samples: Sample[] = []
  if (!own) return samples
  const measure = createMeasure(targets, how)
  for (const each of other ? [other, own] : [own]) await warmUp(() => measure(each), how.maxWarmUps)
  for (let round = 0; round < how.rounds; round += 1) {
    const reference = other && (await measure(other))
    samples.push({ ...(await measure(own)), ...(reference && { reference }) })
  }
  return samples
}

async function warmUp(measure: () => Promise<Sample>, max: number): Promise<void> {
  let before = NaN
  for (let count = 0; count < max; count += 1) {
    const { cpu } = await measure()
    if (Math.abs(cpu / before - 1) <= AGREEMENT) return
    before = cpu
  }
}

/** Creates a function that measures a server once. */
function createMeasure(
  targets: Targets,
  { generator, connections, seconds }: Measuring,
): (each: RunningRow) => Promise<Sample> {
  let measurements = 0

  function numbered(target: string): Partial<LoadSettings> {
    const { distinctCount } = targets
    measurements += 1
    // A load that always started with 1 would never reach the last of many numbers.
    const distinct = distinctCount
      ? Math.floor(Math.random() * distinctCount)
      : measurements * AMOUNTS
    return { target, distinct, distinctCount }
  }

  return async ({ row, server }) => {
    const { target = targets.target, isDistinct } = row
    const isNumbered = targets.distinctCount !== undefined || isDistinct
    const before = await server.usage()
    const load = await GENERATORS[generator]({
      url: server.url,
      connections,
      seconds,
      target,
      headers: { ...HEADERS[row.headers ?? 'lean'], ...row.authorization },
      ...(isNumbered && targets.distinct !== undefined && numbered(targets.distinct)),
    })
    const after = await server.usage()
    return {
      rate: load.requests / load.seconds,
      cpu: (after.cpu - before.cpu) / load.requests,
      p50: load.p50,
      p99: load.p99,
      rss: after.rss,
      loadShare: load.cpu / load.seconds,
    }
  }
}
