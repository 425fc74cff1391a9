import { runInBackground, sleep } from '../async.ts'
import type { Runtime } from '../async.ts'
import { REFRESH_TIMEOUT_MS, createSingleFlight } from '../cache/refresh.ts'
import type { Day } from '../rates/dates.ts'
import type { HistoryProvider } from '../upstream/provider.ts'
import { snapshotFormat } from './history-source.ts'
import type { Checks, HistorySnapshot } from './history-source.ts'
import { isSameSource, storedIn } from './source.ts'
import type { SourcesOptions } from './source.ts'

/** A part of a history: some days of one currency or of all, loaded when they are first needed. */
export interface Piece {
  /** Returns the loaded days. */
  value(): HistorySnapshot | undefined
  /**
   * Loads the days from `since` on, unless `isEnough` returns true for those in memory or in the store.
   *
   * @throws {UnavailableError} where that fails, and during backoff
   */
  load(since: Day, isEnough: (value: HistorySnapshot) => boolean): Promise<void>
  close(): void
}

/** Options of `createPiece`. */
export interface PieceOptions {
  options: SourcesOptions
  providers: readonly HistoryProvider[]
  checks: Checks
  /** Key in the store. */
  key: string
  /** Fetches the days from `since` on that `current` lacks, and returns both. */
  fetchDays(
    since: Day,
    current: HistorySnapshot | undefined,
    signal: AbortSignal,
  ): Promise<HistorySnapshot>
}

/** Pieces stay in the store for as long as they are read: a year after they were written. */
const STORED_FOR_MS = 366 * 86_400_000

/** How often, and how long, the store is polled in ms while another process loads the piece. */
const POLL_INTERVAL_MS = 100
const POLL_TIMEOUT_MS = 4_000

/** Creates a piece that all requests and processes load once. */
export function createPiece(pieceOptions: PieceOptions): Piece {
  const { options, providers, checks, key, fetchDays } = pieceOptions
  const { runtime, waitUntil } = options
  const stored = storedIn(options, 'history', snapshotFormat(options, providers), key)
  let value: HistorySnapshot | undefined
  let wanted: { since: Day; isEnough: (value: HistorySnapshot) => boolean } | undefined
  let leaseUntil = -Infinity

  const isLoaded = (): boolean => value !== undefined && wanted?.isEnough(value) === true

  async function readStore(): Promise<void> {
    await stored?.read(async ({ value: found }) => {
      const provider = providers.find((each) => isSameSource(each.attribution, found.attribution))
      const checked = provider ? await checks.ofWhole(provider, found.history) : found
      if (!value || !isLoaded()) value = { ...found, history: checked.history }
    })
  }

  async function waitForLease(signal: AbortSignal): Promise<void> {
    if (!stored || runtime.monotonic() < leaseUntil) return
    const startedAt = runtime.monotonic()
    while (runtime.monotonic() - startedAt < POLL_TIMEOUT_MS) {
      if (await stored.tryAcquireLease(runtime.now() + REFRESH_TIMEOUT_MS)) break
      await sleep(runtime, POLL_INTERVAL_MS, signal)
      await readStore()
      if (isLoaded()) return
    }
    leaseUntil = runtime.monotonic() + REFRESH_TIMEOUT_MS
  }

  const flight = createSingleFlight({
    runtime,
    onBackoff: () => undefined,
    async task(signal) {
      await readStore()
      if (isLoaded()) return 'restored'
      await waitForLease(signal)
      if (isLoaded() || !wanted) return 'restored'
      value = await fetchDays(wanted.since, value, signal)
      const loadedAt = runtime.now()
      const write = stored?.write({ value, loadedAt }, loadedAt + STORED_FOR_MS)
      if (write) runInBackground(write, waitUntil)
      return 'loaded'
    },
  })

  return {
    value: () => value,
    async load(since, isEnough) {
      if (value && isEnough(value)) return
      // A load in progress may have started for fewer days.
      if (!flight.canStart()) await flight.run()
      if (value && isEnough(value)) return
      wanted = { since, isEnough }
      await flight.run()
    },
    close: flight.close,
  }
}

/** Runs work one after another. */
export type Queue = <Result>(work: () => Promise<Result>, signal: AbortSignal) => Promise<Result>

/** Creates a queue that starts each work at least `gap` ms after the one before, and when that has ended. */
export function createQueue(runtime: Runtime, gap: number): Queue {
  let last: Promise<unknown> = Promise.resolve()
  let startedAt = -Infinity
  return (work, signal) => {
    const run = last.then(async () => {
      const wait = startedAt + gap - runtime.monotonic()
      if (wait > 0) await sleep(runtime, wait, signal)
      signal.throwIfAborted()
      startedAt = runtime.monotonic()
      return work()
    })
    last = run.catch(() => undefined)
    return run
  }
}
