import { HISTORY_FAULTS } from '../faults/history-faults.ts'
import { HTTP_FAULTS } from '../faults/http-faults.ts'
import { LATEST_FAULTS } from '../faults/latest-faults.ts'
import { STORE_FAULTS } from '../faults/store-faults.ts'
import type { StoreFault } from '../faults/store-faults.ts'
import { TRANSPORT_FAULTS } from '../faults/transport-faults.ts'
import type { DataSet, UpstreamFault } from '../faults/upstream-fault.ts'
import type { EventLoop } from './event-loop.ts'
import type { Random } from './random.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/**
 * Decides what goes wrong and when. Swarm: every seed enables another random part of the faults, so that rare pairs of
 * them meet.
 */
export interface Nemesis {
  upstreamFault(dataSet: DataSet): UpstreamFault | undefined
  /** What goes wrong with an operation of the process on `host`: a partition spares some. */
  storeFault(operation: StoreFault['operations'][number], host: number): StoreFault | undefined
  /** How often each fault was injected. */
  readonly injected: ReadonlyMap<string, number>
  /** Counts what goes wrong elsewhere. */
  note(name: string): void
}

/** What a nemesis is made from. */
export interface NemesisOptions {
  loop: EventLoop
  random: Random
  hosts: number
  /** From here on nothing goes wrong, in ms of virtual time. */
  calmFrom: number
  /** The share of the faults that are enabled; 0 for none at all. */
  faultShare: number
  /** The names of the faults that there are to choose from. */
  faultNames: RegExp
}

/** The names of all faults that there are. */
export const FAULT_NAMES: readonly string[] = [
  ...TRANSPORT_FAULTS,
  ...HTTP_FAULTS,
  ...LATEST_FAULTS,
  ...HISTORY_FAULTS,
  ...STORE_FAULTS,
].map(({ name }) => name)

/** A time in which things go wrong. */
interface Storm<Fault> {
  from: number
  to: number
  faults: readonly Fault[]
  /** The share of operations that are hit. */
  intensity: number
  hosts: ReadonlySet<number>
}

/** A nemesis for one simulation. */
export function createNemesis(options: NemesisOptions): Nemesis {
  const { loop, random } = options
  const injected = new Map<string, number>()
  const upstreamFaults = [...TRANSPORT_FAULTS, ...HTTP_FAULTS, ...LATEST_FAULTS, ...HISTORY_FAULTS]
  const faultsOf = (dataSet: DataSet): UpstreamFault[] =>
    upstreamFaults.filter((fault) => fault.dataSets.includes(dataSet))
  const latest = createStorms(options, faultsOf('latest'), 'latest')
  const history = createStorms(options, faultsOf('history'), 'history')
  const store = createStorms(options, STORE_FAULTS, 'store')

  function note(name: string): void {
    injected.set(name, (injected.get(name) ?? 0) + 1)
  }

  function inject<Fault extends { name: string }>(
    storm: Storm<Fault> | undefined,
    faults: readonly Fault[] | undefined = storm?.faults,
  ): Fault | undefined {
    if (!storm || !faults || faults.length === 0 || !random.chance(storm.intensity))
      return undefined
    const fault = random.pick(faults)
    note(fault.name)
    return fault
  }

  return {
    upstreamFault: (dataSet) => inject((dataSet === 'latest' ? latest : history)(loop.now())),
    storeFault(operation, host) {
      const storm = store(loop.now())
      if (!storm?.hosts.has(host)) return undefined
      return inject(
        storm,
        storm.faults.filter((fault) => fault.operations.includes(operation)),
      )
    },
    injected,
    note,
  }
}

/** The storm at any time, of which there are some between calms; to be asked in the order of time. */
function createStorms<Fault extends { name: string }>(
  options: NemesisOptions,
  faults: readonly Fault[],
  name: string,
): (time: number) => Storm<Fault> | undefined {
  const random = options.random.fork(name)
  const wanted = faults.filter((fault) => options.faultNames.test(fault.name))
  const storms = plan(options, random, random.some(wanted, options.faultShare))
  return (time) => {
    while (storms[0] && storms[0].to <= time) storms.shift()
    return storms[0] && storms[0].from <= time ? storms[0] : undefined
  }
}

function plan<Fault>(
  { calmFrom: until, hosts }: NemesisOptions,
  random: Random,
  faults: readonly Fault[],
): Storm<Fault>[] {
  const storms: Storm<Fault>[] = []
  if (faults.length === 0) return storms
  const calm = random.magnitude(2 * HOUR, 5 * DAY)
  for (let from = random.chance(0.3) ? 0 : random.wait(calm); from < until;) {
    const to = Math.min(from + random.magnitude(MINUTE, 12 * DAY), until)
    const all = Array.from({ length: hosts }, (_, host) => host)
    const hit = random.chance(0.5) ? all : random.some(all, 0.5)
    storms.push({
      from,
      to,
      faults: Array.from({ length: random.whole(1, 3) }, () => random.pick(faults)),
      intensity: random.pick([1, 1, 0.5, 0.1]),
      hosts: new Set(hit),
    })
    from = to + random.wait(calm)
  }
  return storms
}
