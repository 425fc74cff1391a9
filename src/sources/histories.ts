import { TimeoutError, sleep, withTimeout } from '../async.ts'
import type { Runtime } from '../async.ts'
import { REQUEST_TIMEOUT_MS, UnavailableError } from '../cache/refresh.ts'
import { RatesError, invalidParameter } from '../errors.ts'
import { groupsOf } from '../rates/calendar.ts'
import { MAX_DAYS_AWAY, addDays } from '../rates/dates.ts'
import type { Day, DaySpan } from '../rates/dates.ts'
import { quotesAll, rowsOf } from '../rates/market-history.ts'
import type {
  HistoryNeed,
  HistoryRequest,
  HistorySnapshot,
  PublicationSource,
  PublicationState,
  UseHistory,
} from './history.ts'
import { createPublicationSource } from './publication-source.ts'
import { createPublicationContext } from './publication.ts'
import { notInTime, unavailable } from './source.ts'
import type { References, SourcesOptions } from './source.ts'

/** All publications of reference rates, in order of preference. */
export interface Histories {
  /**
   * Returns the result of `use`, called with the reference rates of the first publication that has what `need` names. Where
   * the rates are unavailable or incomplete, or `use` throws `no_data` or `unsupported_currency`, the next publication follows.
   * Synchronous where nothing has to be loaded and `use` is.
   *
   * @throws {RatesError} `invalid_parameter` for an unknown source
   */
  use<Result>(
    need: HistoryNeed,
    request: HistoryRequest | undefined,
    use: UseHistory<Result>,
  ): Result | Promise<Result>
  /**
   * Returns access to whole ranges of days of every publication, or of those that `source` names, in order of preference.
   *
   * @throws {RatesError} `invalid_parameter` for an unknown source
   */
  ranges(source: string | undefined): readonly Range[]
  publications(): readonly PublicationState[]
  /** Loads the newest days of all. Never rejects. */
  load(): Promise<void>
  /** Refreshes those that are due, but for the one with the id `except`. Never rejects. */
  refresh(except?: string): Promise<void>
  close(): void
}

/** The days of a publication. */
export interface Range extends Pick<PublicationSource, 'id' | 'since' | 'lacks'> {
  /**
   * Returns days with all rates from `start` to `end`, and possibly others; `codes`, which it does not lack, are those that
   * matter (none for all).
   *
   * @throws {RatesError} `provider_unavailable` where any rate is missing or doubtful
   */
  read(need: RangeNeed, signal: AbortSignal | undefined): Promise<HistorySnapshot>
}

export interface RangeNeed extends DaySpan {
  codes: readonly string[]
  /** Whether to repeat loads that fail, for a minute (default false). */
  isPatient?: boolean
}

export function createHistories(options: SourcesOptions, references: References): Histories {
  const { runtime, historyProviders } = options
  const paces = new Map()
  const members = groupsOf(historyProviders).map(({ providers }) =>
    createPublicationSource(
      createPublicationContext({ ...options, historyProviders: providers }, references, paces),
    ),
  )
  return {
    use(need, request, use) {
      const steps = inOrder(membersOf(members, need.source), need, use)
      const first = steps.next()
      if (first.done) return first.value
      return request?.defer
        ? deferred(steps, first.value, need, request)
        : wait(runtime, steps, first.value, need, request)
    },
    ranges: (source) =>
      membersOf(members, source).map((member) => {
        const { id, since, lacks } = member
        const client = {}
        return {
          id,
          since,
          lacks,
          read: async (need, signal) => readRange(runtime, member, need, { client, signal }),
        }
      }),
    publications: () => members.map(({ state }) => state()),
    async load() {
      await Promise.allSettled(members.map(({ load }) => load({ codes: [] }, {})))
    },
    async refresh(except) {
      const due = members.filter(({ id }) => id !== except)
      await Promise.all(due.map(({ refresh }) => refresh()))
    },
    close() {
      for (const { close } of members) close()
    },
  }
}

/** @throws {RatesError} `invalid_parameter` if there is none */
function membersOf(
  members: readonly PublicationSource[],
  source: string | undefined,
): readonly PublicationSource[] {
  if (source === undefined) return members
  const exact = members.filter(({ id }) => id === source)
  if (exact.length > 0) return exact
  const named = members.filter(({ id }) => id.startsWith(`${source}-`))
  if (named.length > 0) return named
  throw invalidParameter('source', `must be one of ${members.map(({ id }) => id).join(', ')}`)
}

/** What a request has to wait for: the rates of a publication, or the result of `use`. */
type Wait =
  | { member: PublicationSource; remaining: number; result?: undefined }
  | { result: Promise<unknown>; remaining?: undefined }

/** Receives for a publication whether its rates did not have to be fetched. */
type Steps<Result> = Generator<Wait, Result | Promise<Result>, unknown>

/** Tries the publications one after another; yields what has to be waited for. */
function* inOrder<Result>(
  chosen: readonly PublicationSource[],
  need: HistoryNeed,
  use: UseHistory<Result>,
): Steps<Result> {
  let failure: RatesError | undefined
  let incomplete: ReturnType<PublicationSource['find']>
  let remaining = chosen.length + 1
  for (const member of chosen) {
    remaining -= 1
    // Without the cost of an error.
    if (remaining > 1 && member.lacks(need.codes)) continue
    let found = member.find(need)
    try {
      if (!found) {
        const hit = yield { member, remaining }
        found = member.find(need)
        if (!found) throw unavailable(undefined)
        found = { ...found, hit: hit === true }
      }
      if (found.value.isIncomplete) {
        incomplete ??= found
        throw unavailable(undefined)
      }
      if (remaining > 1 && !hasCodes(found.value, need.codes)) continue
      const result = use(found)
      // Its error may lead to another publication.
      if (chosen.length > 1 && result instanceof Promise) yield { result }
      return result
    } catch (error) {
      failure = laterInList(failure, error)
      if (found && found !== incomplete && isClosed(failure, found.value, need)) break
    }
  }
  if (incomplete) {
    try {
      const result = use(incomplete)
      if (result instanceof Promise) yield { result }
      return result
    } catch (error) {
      // The missing days may have the rates.
      failure = laterInList(failure, error)
    }
  }
  throw failure ?? unavailable(undefined)
}

async function wait<Result>(
  runtime: Runtime,
  steps: Steps<Result>,
  first: Wait,
  need: HistoryNeed,
  request: HistoryRequest | undefined,
): Promise<Result> {
  const deadline = runtime.monotonic() + REQUEST_TIMEOUT_MS
  const client = {}
  for (let next = first; ;) {
    let step: IteratorResult<Wait, Result | Promise<Result>>
    try {
      // The other publications need time to be asked, too.
      const limit = (deadline - runtime.monotonic()) / (next.remaining ?? 1)
      step = steps.next(
        await (next.result ?? load(next.member, { runtime, limit, client }, need, request)),
      )
    } catch (error) {
      step = steps.throw(error)
    }
    if (step.done) return step.value
    next = step.value
  }
}

/** @throws {RatesError} `provider_unavailable` */
async function load(
  member: PublicationSource,
  { runtime, limit, client }: { runtime: Runtime; limit: number; client: object },
  need: HistoryNeed,
  request: HistoryRequest | undefined,
): Promise<boolean> {
  try {
    request?.signal?.throwIfAborted()
    return await withTimeout(runtime, limit, member.load(need, client), request?.signal)
  } catch (error) {
    throw notInTime(error)
  }
}

const RANGE_TIMEOUT_MS = 60_000
const MIN_PAUSE_MS = 500

const NEVER = { retryInMs: Infinity, cause: undefined }

interface Reader {
  client: object
  signal: AbortSignal | undefined
}

/** @throws {RatesError} `provider_unavailable` */
async function readRange(
  runtime: Runtime,
  member: PublicationSource,
  { start, end, codes, isPatient = false }: RangeNeed,
  { client, signal }: Reader,
): Promise<HistorySnapshot> {
  const need: HistoryNeed = { since: start, until: end, codes, whole: 'range' }
  const until = runtime.monotonic() + RANGE_TIMEOUT_MS
  let isLoaded = false
  for (;;) {
    signal?.throwIfAborted()
    const found = member.find(need)
    if (found && !found.value.isIncomplete) return found.value
    if (found || isLoaded) throw unavailable(undefined)
    const left = until - runtime.monotonic()
    try {
      await withTimeout(runtime, left, member.load(need, client), signal)
      isLoaded = true
    } catch (error) {
      signal?.throwIfAborted()
      const { retryInMs, cause } = error instanceof UnavailableError ? error : NEVER
      const pause = Math.max(retryInMs, MIN_PAUSE_MS)
      // Many calls of a host take turns.
      const isQueued = cause instanceof TimeoutError
      const isRepeated = isPatient || isQueued
      if (!isRepeated || pause > until - runtime.monotonic()) throw unavailable(error)
      await sleep(runtime, pause, signal)
    }
  }
}

/** @throws {RatesError} `provider_unavailable` where a load has been started */
function deferred<Result>(
  steps: Steps<Result>,
  first: Wait,
  need: HistoryNeed,
  request: HistoryRequest,
): Result | Promise<Result> {
  for (let next = first; ;) {
    if (next.result) throw new Error('a deferred request must not wait')
    const { member } = next
    const error = unavailable(new UnavailableError(REQUEST_TIMEOUT_MS, undefined))
    const { defer } = request
    if (defer?.start(member.id, () => member.load(need, defer))) throw error
    const step = steps.throw(error)
    if (step.done) return step.value
    next = step.value
  }
}

function hasCodes({ history }: HistorySnapshot, codes: readonly string[]): boolean {
  return codes.every((code) => {
    const known = code.toUpperCase()
    return known === history.base || history.columns.has(known)
  })
}

/**
 * Returns whether a publication with the requested codes was closed, or its rule or age excludes its days: then no other one
 * takes its place. Where it was open and did not quote a code, another one may.
 */
function isClosed(
  error: RatesError,
  { history, needed = [], daysBack = MAX_DAYS_AWAY }: HistorySnapshot,
  { since, until = history.dates.at(-1) }: HistoryNeed,
): boolean {
  if (error.code !== 'no_data' || since === undefined || until === undefined) return false
  const isQuoted = quotesAll(history, needed)
  const hasDays = (start: Day, end: Day): boolean => {
    const [first, last] = rowsOf(history, start, end)
    for (let row = first; row < last; row += 1) if (isQuoted(row)) return true
    return false
  }
  if (error.parameter !== 'date' && hasDays(since, until)) return false
  return hasDays(addDays(since, -daysBack), addDays(until, daysBack))
}

/** Errors after which the next publication is asked; the later one in this list counts, if none has the rates. */
const MISSING = ['unsupported_currency', 'no_data', 'provider_unavailable']

function laterInList(one: RatesError | undefined, thrown: unknown): RatesError {
  if (!(thrown instanceof RatesError) || !MISSING.includes(thrown.code)) throw thrown
  return one && MISSING.indexOf(one.code) > MISSING.indexOf(thrown.code) ? one : thrown
}
