import { SHARED_STORE_FAULTS, STORE_FAULTS, UPSTREAM_FAULTS } from '../../faults/all.ts'
import type { DataSet, Fault, FaultCase } from '../../faults/fault.ts'
import { storeFaultOf } from '../../faults/store.ts'
import type { StoreFault } from '../../faults/store.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../../virtual-runtime.ts'
import { BANK_FAULTS } from './banks.ts'
import { close } from './fleet.ts'
import type { Fleet, Scene } from './fleet.ts'
import type { Process } from './machine.ts'
import type { Random } from './random.ts'
import type { SimStore } from './store.ts'

const OF_UPSTREAMS = UPSTREAM_FAULTS.flatMap((each) =>
  withForms(each, ({ inject, isSimulated = true }) => inject !== undefined && isSimulated),
)

const OF_STORES = [...STORE_FAULTS, ...SHARED_STORE_FAULTS].flatMap((each) =>
  withForms(each, (form) => form.store !== undefined || form.holds !== undefined),
)

export const FAULT_NAMES: readonly string[] = [
  ...[...OF_UPSTREAMS, ...OF_STORES].map(({ id }) => id),
  ...BANK_FAULTS,
]

export type Nemesis = ReturnType<typeof createNemesis>

/** Decides which faults happen and when. Every seed enables another random part of them, so that rare pairs meet. */
export function createNemesis(scene: Scene) {
  const { loop, random } = scene
  const injected = new Map<string, number>()
  const storms = {
    latest: createStorms(scene, OF_UPSTREAMS, 'latest', isAbout('latest')),
    history: createStorms(scene, OF_UPSTREAMS, 'history', isAbout('history')),
    store: createStorms(scene, OF_STORES, 'store', () => true),
  }

  function note(name: string): void {
    injected.set(name, (injected.get(name) ?? 0) + 1)
  }

  function inject(storm: Storm | undefined, isWanted: (form: Fault) => boolean): Fault | undefined {
    const faults = storm?.faults.flatMap((each) => withForms(each, isWanted)) ?? []
    if (!storm || faults.length === 0 || !random.chance(storm.intensity)) return undefined
    const { id, forms } = random.pick(faults)
    note(id)
    return random.pick(forms)
  }

  return {
    upstreamFault: (dataSet: DataSet) => inject(storms[dataSet](loop.now()), isAbout(dataSet)),
    /** Returns a fault for a store operation of the process on `host`: a partition spares some hosts. */
    storeFault(operation: keyof StoreFault, host: number, isOfBank: boolean) {
      const storm = storms.store(loop.now())
      if (!storm?.hosts.has(host)) return undefined
      // Nothing contradicts poisoned newest days of a bank that has no others.
      const faults = storm.faults.filter(({ id }) => !isOfBank || id !== 'store-poisoned')
      const isWanted = (form: Fault): boolean => storeFaultOf(form, operation) !== undefined
      const form = inject({ ...storm, faults }, isWanted)
      return form && storeFaultOf(form, operation)
    },
    injected,
    note,
  }
}

function isAbout(dataSet: DataSet): (form: Fault) => boolean {
  return ({ dataSets = ['latest'] }) => dataSets.includes(dataSet)
}

function withForms(fault: FaultCase, isWanted: (form: Fault) => boolean): FaultCase[] {
  const forms = fault.forms.filter(isWanted)
  return forms.length > 0 ? [{ ...fault, forms }] : []
}

function createStorms(
  scene: Scene,
  faults: readonly FaultCase[],
  name: string,
  isWanted: (form: Fault) => boolean,
): (time: number) => Storm | undefined {
  const random = scene.random.fork(name)
  const wanted = faults.flatMap((each) =>
    withForms(each, (form) => isWanted(form) && scene.faultNames.test(`${each.id}: ${form.name}`)),
  )
  const storms = plan(scene, random, random.some(wanted, scene.faultShare))
  return (time) => {
    while (storms[0] && storms[0].to <= time) storms.shift()
    return storms[0] && storms[0].from <= time ? storms[0] : undefined
  }
}

/** A period in which a share of operations (`intensity`) on `hosts` is hit by one of `faults`. */
type Storm = ReturnType<typeof plan>[number]

function plan({ calmFrom: until, hosts }: Scene, random: Random, faults: readonly FaultCase[]) {
  if (faults.length === 0) return []
  const storms = []
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

type Victims = {
  fleet: Fleet
  simStore: SimStore
  nemesis: Nemesis
  onDrained: (of: Process) => void
}

/** Schedules mishaps until `calmFrom`. After that, every process runs and every clock is right. */
export function scheduleMishaps(scene: Scene, victims: Victims): void {
  const { loop, random, hosts, mishapEvery, calmFrom, trace } = scene
  const { fleet, nemesis } = victims
  const all = Array.from({ length: hosts }, (_, host) => host)
  const kinds = random.some(Object.entries(mishaps(scene, victims)), 0.6)

  function next(): void {
    const wait = random.wait(mishapEvery / hosts)
    if (kinds.length === 0 || !(loop.now() + wait < calmFrom)) return
    loop.after(wait, () => {
      const [name, happen] = random.pick(kinds)
      const host = random.whole(0, hosts - 1)
      nemesis.note(name)
      trace.record(loop.now(), host, 'has a mishap:', name)
      happen(host)
      next()
    })
  }

  for (const host of all) fleet.start(host)
  next()
  loop.after(calmFrom, () => {
    for (const host of all) {
      if (!fleet.servers[host]) fleet.start(host)
      fleet.mend(host)
    }
  })
}

function mishaps(
  { loop, random, calmFrom }: Scene,
  { fleet, simStore, onDrained }: Victims,
): Record<string, (host: number) => void> {
  const untilCalm = (): number => Math.max(0, calmFrom - loop.now())

  function startLater(host: number, delay: number): void {
    loop.after(Math.min(delay, untilCalm()), () => {
      if (!fleet.servers[host]) fleet.start(host)
    })
  }

  function crash(host: number): void {
    fleet.kill(host)
    startLater(host, random.magnitude(SECOND, 6 * HOUR))
  }

  /** The old server still gets requests for half a minute after SIGTERM, until the load balancer notices. */
  function restart(host: number): void {
    const server = fleet.servers[host]
    if (!server || server.process.isClosed) return
    close(server)
    loop.after(Math.min(30 * SECOND, untilCalm()), () => {
      if (fleet.servers[host] !== server) return
      fleet.servers[host] = undefined
      loop.after(2 * SECOND, () => {
        onDrained(server.process)
        server.process.kill()
        if (!fleet.servers[host]) fleet.start(host)
      })
    })
  }

  return {
    crash,
    restart,
    'crash of all': () => fleet.clocks.forEach((_, host) => crash(host)),
    deployment: () => fleet.clocks.forEach((_, host) => restart(host)),
    pause(host) {
      const duration = random.magnitude(100, 20 * MINUTE)
      fleet.servers[host]?.process.pause(Math.min(duration, untilCalm()))
    },
    'clock set': (host) => {
      const far = random.pick([MINUTE, HOUR, DAY])
      fleet.clocks[host]?.set(random.between(-far, far))
      const duration = random.magnitude(MINUTE, 3 * DAY)
      loop.after(Math.min(duration, untilCalm()), () => fleet.mend(host))
    },
    'store wiped': () => simStore.wipe(),
  }
}
