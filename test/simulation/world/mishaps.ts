import type { EventLoop } from './event-loop.ts'
import { close } from './fleet.ts'
import type { Fleet } from './fleet.ts'
import type { Nemesis } from './nemesis.ts'
import type { Trace } from '../trace.ts'
import type { Process } from './process.ts'
import type { Random } from './random.ts'
import type { Settings } from './settings.ts'
import type { SimStore } from './store.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** What mishaps befall. */
export interface MishapsOptions extends Settings {
  loop: EventLoop
  random: Random
  fleet: Fleet
  simStore: SimStore
  nemesis: Nemesis
  trace: Trace
  /** Told of a process that was closed some time ago and gets no requests any more. */
  onDrained(process: Process): void
}

/**
 * Lets things happen to processes until the calm begins: crashes, restarts, pauses, clocks that are set, a store that
 * loses everything. Then every process runs and every clock is right.
 */
export function scheduleMishaps(options: MishapsOptions): void {
  const { loop, random, fleet, nemesis, hosts, mishapEvery, calmFrom } = options
  const all = Array.from({ length: hosts }, (_, host) => host)
  const kinds = random.some(Object.entries(mishaps(options)), 0.6)

  function next(): void {
    const wait = random.wait(mishapEvery / hosts)
    if (kinds.length === 0 || !(loop.now() + wait < calmFrom)) return
    loop.after(wait, () => {
      const [name, happen] = random.pick(kinds)
      const host = random.whole(0, hosts - 1)
      nemesis.note(name)
      options.trace.record(loop.now(), host, 'meets with a', name)
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

function mishaps(options: MishapsOptions): Record<string, (host: number) => void> {
  const { loop, random, fleet, simStore, onDrained, hosts, calmFrom } = options
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

  /** The old server still answers for half a minute after it was told to end, until the balancer has noticed. */
  function restart(host: number): void {
    const server = fleet.servers[host]
    if (!server || server.process.isClosed) return
    close(server)
    loop.after(Math.min(30 * SECOND, untilCalm()), () => {
      if (fleet.servers[host] !== server) return
      fleet.detach(host)
      loop.after(2 * SECOND, () => {
        onDrained(server.process)
        server.process.kill()
        if (!fleet.servers[host]) fleet.start(host)
      })
    })
  }

  function setClock(host: number, offset: number, duration: number): void {
    fleet.clocks[host]?.set(offset)
    loop.after(Math.min(duration, untilCalm()), () => fleet.mend(host))
  }

  return {
    crash,
    restart,
    'crash of all': () => {
      for (let host = 0; host < hosts; host += 1) crash(host)
    },
    deployment: () => {
      for (let host = 0; host < hosts; host += 1) restart(host)
    },
    pause(host) {
      const duration = random.magnitude(100, 20 * MINUTE)
      fleet.servers[host]?.process.pause(Math.min(duration, untilCalm()))
    },
    'clock set': (host) => {
      const far = random.pick([MINUTE, HOUR, DAY])
      setClock(host, random.between(-far, far), random.magnitude(MINUTE, 3 * DAY))
    },
    'store wiped': () => simStore.wipe(),
  }
}
