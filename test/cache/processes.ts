import { guardStore } from '../../src/cache/guarded-store.ts'
import { createReadThrough } from '../../src/cache/read-through.ts'
import type { ReadThrough } from '../../src/cache/read-through.ts'
import { createStoredValue } from '../../src/cache/stored-value.ts'
import type { CacheStore } from '../../src/cache/store.ts'
import { settled, virtualRuntime } from '../virtual-runtime.ts'
import type { VirtualRuntime } from '../virtual-runtime.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** When the clock of every fleet starts, in ms since the Unix epoch. */
export const START = Date.UTC(2026, 10, 20, 12)

/** A store that several processes share, with claims that run out. */
interface SharedStore extends CacheStore {
  values: Map<string, string>
  claims: Map<string, number>
  reads: number
}

function sharedStore(runtime: VirtualRuntime): SharedStore {
  const values = new Map<string, string>()
  const claims = new Map<string, number>()
  return {
    values,
    claims,
    reads: 0,
    get(key) {
      this.reads += 1
      return values.get(key)
    },
    set: (key, value) => values.set(key, value),
    claim(key, expiresAt) {
      if ((claims.get(key) ?? 0) > runtime.now()) return false
      claims.set(key, expiresAt)
      return true
    },
  }
}

/** Puts `data` into the store, as if a process had saved them at `savedAt`. */
export function save(store: SharedStore, savedAt: number, data: number): void {
  store.values.set('number', JSON.stringify({ v: 1, key: 'number', savedAt, data }))
}

/** Processes that share all but their memory. */
export interface Fleet {
  runtime: VirtualRuntime
  store: SharedStore
  upstream: { calls: number; mode: 'answer' | 'fail' | 'hang'; finish(): void; failure: unknown }
  start(): ReadThrough<number>
}

/** Processes over one store and one upstream, which counts its calls and answers with their number. */
export function fleet(random = 0): Fleet {
  const runtime = virtualRuntime(START, random)
  const store = sharedStore(runtime)
  const upstream: Fleet['upstream'] = {
    calls: 0,
    mode: 'answer',
    failure: new Error('refused'),
    finish() {},
  }
  const start = (): ReadThrough<number> =>
    createReadThrough<number>({
      runtime,
      async load() {
        upstream.calls += 1
        const answer = upstream.calls
        if (upstream.mode === 'fail') throw upstream.failure
        if (upstream.mode === 'hang') {
          await new Promise<void>((resolve) => {
            upstream.finish = resolve
          })
        }
        return answer
      },
      lifetime: ({ loadedAt }) => ({ nextUpdateAt: loadedAt + HOUR, longestLife: 25 * HOUR }),
      publishedAt: (number) => number,
      maxStale: 7 * DAY,
      stored: createStoredValue<number>({
        store: guardStore(store, runtime, () => {}),
        key: 'number',
        runtime,
        toData: (number) => number,
        fromData: Number,
        onRejected() {},
      }),
      waitUntil: undefined,
      onRestored() {},
      onScheduled() {},
      onStale() {},
    })
  return { runtime, store, upstream, start }
}

/** What each of `processes` answers with. */
export async function valuesOf(processes: ReadThrough<number>[]): Promise<number[]> {
  const readings = await Promise.all(processes.map(async (process) => process.get()))
  await settled()
  return readings.map(({ value }) => value)
}
