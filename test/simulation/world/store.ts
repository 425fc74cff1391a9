import type { CacheStore } from '../../../src/index.ts'
import type { StoreFault, StoreOperation } from '../../faults/store.ts'
import type { Scene } from './fleet.ts'
import type { EventLoop, Process } from './machine.ts'

/** Where the shared store is: a server behind a network, or a `Map` in the same machine. */
export type StoreKind = 'none' | 'remote' | 'map'

/** The store that all processes share. */
export interface SimStore {
  /** The store as `process` sees it; times to live are reckoned by its clock, as clients of real stores do. */
  clientFor(process: Process): CacheStore | undefined
  /** Forgets everything, as a restart without persistence. */
  wipe(): void
  /** Since when the text under `key` is there, in ms of virtual time. */
  storedSince(key: string): number | undefined
  /** Who may refresh what is under `key` now, and since when, in ms of virtual time. */
  holderOf(key: string): { process: Process; since: number } | undefined
  /** When an operation went wrong last, in ms of virtual time. */
  troubledAt(): number
  /** Since when `process` can know that all is well again: since an operation of its own that went well. */
  trustedSince(process: Process): number
}

/** Who hears of what becomes of operations. */
interface StoreWatch {
  /** What goes wrong with an operation of a process now, if anything. */
  faultOf(operation: keyof StoreFault, process: Process): StoreFault['get']
  /** Told of every value that a process is about to get. */
  onDelivery(process: Process, key: string, value: unknown): void
  /** Told of every claim that was granted or refused. */
  onClaim(process: Process, key: string, isGranted: boolean): void
}

/** To the server and back, in ms. */
const LONGEST_TRIP = 5

interface Kept {
  since: number
  expiresAt: number
}

interface Entry extends Kept {
  text: string
}

interface Claim extends Kept {
  process: Process
}

/** An empty store. */
export function createSimStore(
  { loop, random, store: kind, hasClaims }: Scene,
  { faultOf, onDelivery, onClaim }: StoreWatch,
): SimStore {
  const entries = new Map<string, Entry>()
  const replaced = new Map<string, string>()
  const claims = new Map<string, Claim>()
  const trusted = new Map<Process, number>()
  let troubledAt = -Infinity

  function read(key: string): string | undefined {
    const entry = entries.get(key)
    return entry && entry.expiresAt > loop.now() ? entry.text : undefined
  }

  function write(key: string, text: string, lifetime: number): string {
    const before = entries.get(key)
    if (before) replaced.set(key, before.text)
    entries.set(key, { text, since: loop.now(), expiresAt: loop.now() + Math.max(1, lifetime) })
    return 'OK'
  }

  function holderOf(key: string): Claim | undefined {
    const claim = claims.get(key)
    return claim && claim.expiresAt > loop.now() ? claim : undefined
  }

  function claim(process: Process, key: string, lifetime: number): boolean {
    const isGranted = !holderOf(key)
    onClaim(process, key, isGranted)
    if (!isGranted) return false
    claims.set(key, { process, since: loop.now(), expiresAt: loop.now() + Math.max(1, lifetime) })
    return true
  }

  /** Does `work` for `process` as its connection to the store is just now. */
  function operate(
    process: Process,
    name: keyof StoreFault,
    key: string,
    work: () => unknown,
  ): unknown {
    const connection = createConnection(loop, process)
    const reply = (result: () => unknown): unknown =>
      kind === 'map' ? result() : connection.later(random.magnitude(0.2, LONGEST_TRIP), result)
    const fault = faultOf(name, process)
    if (!fault) {
      if (trusted.get(process) === Infinity) trusted.set(process, loop.now() + LONGEST_TRIP)
      return reply(work)
    }
    troubledAt = loop.now()
    trusted.set(process, Infinity)
    return fault({
      key,
      work,
      pick: random.pick,
      reply,
      later: connection.later,
      stored: (other = key) => read(other),
      storedBefore: () => replaced.get(key),
    })
  }

  /** Tells of what a process gets at the moment at which it gets it. */
  function delivered(process: Process, key: string, result: unknown): unknown {
    if (!(result instanceof Promise)) {
      onDelivery(process, key, result)
      return result
    }
    return result.then((value: unknown) => {
      onDelivery(process, key, value)
      return value
    })
  }

  return {
    clientFor(process) {
      if (kind === 'none') return undefined
      const lifetime = (expiresAt: number): number => expiresAt - process.clock.now()
      const client: CacheStore = {
        get: (key) =>
          delivered(
            process,
            key,
            operate(process, 'get', key, () => read(key)),
          ),
        set(key, text, expiresAt) {
          const left = lifetime(expiresAt)
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
    storedSince: (key) => (read(key) === undefined ? undefined : entries.get(key)?.since),
    holderOf,
    troubledAt: () => troubledAt,
    trustedSince: (process) => trusted.get(process) ?? -Infinity,
  }
}

/** A connection of `process` to a server: what is on its way to the server arrives even if the process dies meanwhile. */
function createConnection(loop: EventLoop, process: Process): Pick<StoreOperation, 'later'> {
  return {
    later: (delay, work) =>
      new Promise((resolve, reject) => {
        loop.after(delay / 2, () => {
          const settle = outcomeOf(work, resolve, reject)
          loop.after(delay / 2, settle, process)
        })
      }),
  }
}

function outcomeOf(
  work: () => unknown,
  resolve: (result: unknown) => void,
  reject: (error: unknown) => void,
): () => void {
  try {
    const result = work()
    return () => resolve(result)
  } catch (error) {
    return () => reject(error)
  }
}
