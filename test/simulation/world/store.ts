import type { CacheStore } from '../../../src/index.ts'
import type { DataSet } from '../../faults/fault.ts'
import type { StoreFault } from '../../faults/store.ts'
import type { UpstreamWatch } from '../invariants/upstream-watch.ts'
import type { Scene } from './fleet.ts'
import type { EventLoop, Process } from './machine.ts'
import type { Nemesis } from './nemesis.ts'

/** The shared store: none, a server behind a network, or a `Map` in the same machine. */
export type StoreKind = 'none' | 'remote' | 'map'

const MAX_ROUND_TRIP = 5

type Kept<Value> = { value: Value; since: number; expiresAt: number }

export type SimStore = ReturnType<typeof createSimStore>

export function createSimStore(
  { loop, random, store: kind, hasClaims }: Scene,
  { storeFault }: Nemesis,
  watch: () => UpstreamWatch,
) {
  const entries = new Map<string, Kept<string>>()
  const replaced = new Map<string, string>()
  const claims = new Map<string, Kept<Process>>()
  const trusted = new Map<Process, number>()
  let troubledAt = -Infinity

  function keep<Value>(value: Value, lifetime: number): Kept<Value> {
    return { value, since: loop.now(), expiresAt: loop.now() + Math.max(1, lifetime) }
  }

  function findIn<Value>(kept: ReadonlyMap<string, Kept<Value>>, key: string) {
    const found = kept.get(key)
    return found && found.expiresAt > loop.now() ? found : undefined
  }

  function write(key: string, text: string, lifetime: number): string {
    const before = entries.get(key)
    if (before) replaced.set(key, before.value)
    entries.set(key, keep(text, lifetime))
    return 'OK'
  }

  function claim(process: Process, key: string, lifetime: number): boolean {
    const isGranted = !findIn(claims, key)
    watch().onClaim(process, dataSetOf(key), isGranted)
    if (isGranted) claims.set(key, keep(process, lifetime))
    return isGranted
  }

  function operate(process: Process, name: keyof StoreFault, key: string, work: () => unknown) {
    const later = (delay: number, result: () => unknown): Promise<unknown> =>
      travel(loop, process, delay, result)
    const reply = (result: () => unknown): unknown =>
      kind === 'map' ? result() : later(random.magnitude(0.2, MAX_ROUND_TRIP), result)
    const fault = storeFault(name, process.host, !dataSetOf(key))
    if (!fault) {
      if (trusted.get(process) === Infinity) trusted.set(process, loop.now() + MAX_ROUND_TRIP)
      return reply(work)
    }
    troubledAt = loop.now()
    trusted.set(process, Infinity)
    // The process may be denied the lease, or not receive the grant.
    if (name === 'claim') watch().onClaim(process, dataSetOf(key), false)
    return fault({
      key,
      work,
      pick: random.pick,
      reply,
      later,
      stored: (other = key) => findIn(entries, other)?.value,
      storedBefore: () => replaced.get(key),
    })
  }

  function delivered(process: Process, key: string, result: unknown): unknown {
    const deliver = (value: unknown): unknown => {
      watch().onDelivery(process, dataSetOf(key), value)
      return value
    }
    return result instanceof Promise ? result.then(deliver) : deliver(result)
  }

  return {
    /** Returns the store as `process` sees it: lifetimes are computed by the clock of the process. */
    clientFor(process: Process): CacheStore | undefined {
      if (kind === 'none') return undefined
      const lifetime = (expiresAt: number): number => expiresAt - process.clock.now()
      const client: CacheStore = {
        get(key) {
          const read = (): unknown => findIn(entries, key)?.value
          return delivered(process, key, operate(process, 'get', key, read))
        },
        set(key, text, expiresAt) {
          const left = lifetime(expiresAt)
          // Even if the write fails.
          watch().onWrite(process, dataSetOf(key), text)
          return operate(process, 'set', key, () => write(key, text, left))
        },
      }
      if (!hasClaims) return client
      return Object.assign(client, {
        claim(key: string, expiresAt: number): unknown {
          const left = lifetime(expiresAt)
          return operate(process, 'claim', key, () => claim(process, key, left))
        },
      })
    },
    wipe() {
      entries.clear()
      claims.clear()
      troubledAt = loop.now()
    },
    storedSince: (key: string) => findIn(entries, key)?.since,
    holderOf: (key: string) => findIn(claims, key)?.value,
    troubledAt: () => troubledAt,
    /** Since when `process` can know that the store works again: the time of its first successful operation. */
    trustedSince: (process: Process) => trusted.get(process) ?? -Infinity,
  }
}

function dataSetOf(key: string): DataSet | undefined {
  return (['latest', 'history'] as const).find((dataSet) => key === `rates:v1:${dataSet}`)
}

/** Sends `work` to the server and the result back. The request arrives even if `process` dies meanwhile. */
function travel(loop: EventLoop, process: Process, delay: number, work: () => unknown) {
  return new Promise((resolve) => {
    loop.after(delay / 2, () => {
      const outcome = new Promise((done) => done(work()))
      // A rejection is handled when it arrives.
      outcome.catch(() => {})
      loop.after(delay / 2, () => resolve(outcome), process)
    })
  })
}
