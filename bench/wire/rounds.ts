import { load } from './load.ts'
import { HEADERS, SHEETS, referenceOf } from './rows.ts'
import type { Row, SheetName } from './rows.ts'
import { withPreparedResponse, withServers } from './running.ts'
import type { RunningRow } from './running.ts'

export interface Measuring {
  connections: number
  rounds: number
  /** Duration of each measurement. */
  seconds: number
  /** The most measurements of each server before the first that counts: until two in succession agree. */
  maxWarmUps: number
  /** Id of the row whose server writes a CPU profile of V8 or JavaScriptCore into `build/` (default none). */
  profile?: string
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

/** Amounts reserved for each measurement; more than any server can respond to. */
const AMOUNTS = 10_000_000

/** The largest difference in CPU time between two measurements that agree. */
const AGREEMENT = 0.03

/**
 * Measures each row with its reference, while no other server runs: even idle ones change the figures of a machine with
 * two cores. Then it measures `others`, which run already. Returns the samples by row id.
 */
export function measureRows(
  name: SheetName,
  rows: readonly Row[],
  how: Measuring,
  others: readonly RunningRow[] = [],
): Promise<Map<string, Sample[]>> {
  const { target } = SHEETS[name]
  return withPreparedResponse(target, async (prepared) => {
    const samples = new Map<string, Sample[]>()
    for (const row of rows) {
      const both = [row, ...referenceOf(row)]
      const measure = (running: RunningRow[]) => measureRounds(running, name, how)
      samples.set(row.id, await withServers(prepared, both, measure, how.profile))
    }
    for (const other of others) {
      const measure = (running: RunningRow[]) => measureRounds([other, ...running], name, how)
      samples.set(other.row.id, await withServers(prepared, referenceOf(other.row), measure))
    }
    return samples
  })
}

/** Measures a server once per round, right after the second, its reference. */
async function measureRounds(
  [own, other]: readonly RunningRow[],
  name: SheetName,
  how: Measuring,
): Promise<Sample[]> {
  const samples: Sample[] = []
  if (!own) return samples
  let measurements = 0
  const measure = (each: RunningRow) => measureOnce(each, name, how, (measurements += 1))
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

async function measureOnce(
  { row, server }: RunningRow,
  name: SheetName,
  { connections, seconds }: Measuring,
  measurement: number,
): Promise<Sample> {
  const { target, distinct } = SHEETS[name]
  const isNumbered = row.isDistinct && distinct !== undefined
  const before = await server.usage()
  const loaded = await load({
    url: server.url,
    connections,
    seconds,
    headers: { ...HEADERS[row.headers ?? 'lean'], ...row.authorization },
    target: isNumbered ? distinct : (row.target ?? target),
    distinct: isNumbered ? measurement * AMOUNTS : undefined,
  })
  const after = await server.usage()
  return {
    rate: loaded.requests / loaded.seconds,
    cpu: (after.cpu - before.cpu) / loaded.requests,
    p50: loaded.p50,
    p99: loaded.p99,
    rss: after.rss,
    loadShare: loaded.cpu / loaded.seconds,
  }
}
