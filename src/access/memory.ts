import { assertKnownOptions, widerNetwork } from '../core.ts'
import { CountedDecision, count, isWhole, taking, termsOf } from './count.ts'
import type { Change, State, Terms } from './count.ts'
import type { Counters, CountersContext, Decision, Limit } from './counters.ts'

/** Options of `createMemoryCounters`. */
export interface MemoryCountersOptions {
  /**
   * The number of clients that are counted one by one, at about 250 bytes each: keys, and as many addresses; only clients
   * whose limits are not whole again need an entry. While half of the entries are in use, new IPv6 clients share one for
   * each /48 network, from three quarters on one for each /32; while all are in use, all new clients of a plan share one
   * more (default 100,000).
   */
  maxClients?: number | undefined
}

const MAX_CLIENTS = 100_000

/** Entries that are checked with each new client: more than one, so that dropping is faster than adding. */
const CHECKED_PER_NEW_CLIENT = 2
const CHECKED_AT_CAPACITY = 16

/** Bits of the networks by which new IPv6 clients are counted, from these shares of the entries on. */
const WIDER = [
  { bits: 48, share: 1 / 2 },
  { bits: 32, share: 3 / 4 },
]

/**
 * Creates counters in the memory of this process (the default of `createAccess`). Handlers that share them count together.
 *
 * @throws {TypeError} that names the invalid option
 * @example
 * ```ts
 * import { createAccess, createMemoryCounters } from 'ratesmith/access'
 *
 * const access = createAccess({
 *   anonymous: 'public',
 *   plans: { public: '60/min' },
 *   counters: createMemoryCounters({ maxClients: 1_000_000 }),
 * })
 * ```
 */
export function createMemoryCounters(options: MemoryCountersOptions = {}): Counters {
  const { maxClients = MAX_CLIENTS } = options
  assertKnownOptions(options, { maxClients })
  if (!Number.isSafeInteger(maxClients) || maxClients < 1) {
    throw new TypeError(
      `maxClients must be a whole number of clients, 1 or more, got ${String(maxClients)}`,
    )
  }
  return createLocalCounters(maxClients)
}

/** Memory counters, which need no promise. */
export interface LocalCounters {
  take(client: string, limits: readonly Limit[], cost: number): Decision
  close(): void
}

export function createLocalCounters(maxClients: number): {
  open(context: Pick<CountersContext, 'runtime'>): LocalCounters
} {
  const keys = createTable(maxClients)
  // Separate, because attackers may have more addresses than entries.
  const others = createTable(maxClients)
  return {
    open({ runtime }) {
      let now = 0
      return {
        take(client, limits, cost) {
          const time = Math.floor(runtime.now())
          // A clock that is not a number stops.
          if (Number.isFinite(time)) now = time
          const terms = termsOf(limits)
          const find = client.startsWith('key:') ? keys : others
          const entry = find(client, terms, now, cost > 0)
          const counted = count(entry.state, terms, taking(cost), now)
          entry.state = counted
          return new CountedDecision(limits, counted, cost, entry)
        },
        close() {},
      }
    },
  }
}

class Entry {
  state: State | undefined

  giveBack(change: Change, terms: Terms): void {
    if (this.state) this.state = count(this.state, terms, change, this.state.at)
  }
}

/** Returns the entry of a client; one that is not kept only if `isKept` is false. */
type FindEntry = (client: string, terms: Terms, now: number, isKept: boolean) => Entry

function createTable(maxClients: number): FindEntry {
  const entries = new Map<string, Entry>()
  /** Counts all clients without an entry, by plan. */
  const overflow = new WeakMap<Terms, Entry>()
  let cursor = entries.entries()

  function sweep(checks: number, now: number): void {
    for (let checked = 0; checked < checks; checked += 1) {
      const { done, value } = cursor.next()
      if (done) {
        cursor = entries.entries()
        return
      }
      const [client, { state }] = value
      if (!state || isWhole(state, now)) entries.delete(client)
    }
  }

  function entryFor(client: string, terms: Terms, now: number): Entry {
    sweep(CHECKED_PER_NEW_CLIENT, now)
    if (entries.size >= maxClients) sweep(CHECKED_AT_CAPACITY, now)
    let name = client
    for (const { bits, share } of WIDER) {
      const wider = widerName(client, bits)
      const shared = wider === undefined ? undefined : entries.get(wider)
      // Also without pressure, so that no client gets a used limit again.
      if (shared) return shared
      if (wider !== undefined && entries.size >= share * maxClients) name = wider
    }
    const isFull = entries.size >= maxClients
    const entry = (isFull && overflow.get(terms)) || new Entry()
    if (isFull) overflow.set(terms, entry)
    else entries.set(name, entry)
    return entry
  }

  return (client, terms, now, isKept) =>
    entries.get(client) ?? (isKept ? entryFor(client, terms, now) : new Entry())
}

const PREFIX = 'address:'

function widerName(client: string, bits: number): string | undefined {
  if (!client.startsWith(PREFIX)) return undefined
  const network = widerNetwork(client.slice(PREFIX.length), bits)
  return network === undefined ? undefined : PREFIX + network
}
