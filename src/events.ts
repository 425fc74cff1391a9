import { DAY_MS } from './rates/dates.ts'

/** The data of an event: latest rates or reference rates. */
export type DataSet = 'latest' | 'history'

/** Why a request got a 401 or 403. */
export type AccessRefusal =
  | 'missing_key'
  | 'malformed_key'
  | 'unknown_key'
  | 'expired_key'
  | 'unknown_plan'
  | 'forbidden_origin'

interface OfProvider {
  dataSet: DataSet
  provider: string
}

/**
 * A log or metrics event. A `reason` has at most 300 characters; from built-in providers it contains no text of an upstream.
 * Keep `error` and `dropped` private: they may contain text of upstreams.
 *
 * `rates_dropped`, `rates_deviating`, `rates_lost` and `rates_quarantined` name each code once a day (in UTC) per data set and
 * provider, so that a feed that stays wrong emits one event a day. A different code, or the same code in a different event,
 * is named at once.
 *
 * @example
 * ```ts
 * import { createRatesHandler } from 'ratesmith'
 * import type { RatesEvent } from 'ratesmith'
 *
 * const counts = new Map<RatesEvent['type'], number>()
 * const handler = createRatesHandler({
 *   onEvent: ({ type }) => counts.set(type, (counts.get(type) ?? 0) + 1),
 * })
 * ```
 */
export type RatesEvent =
  /** A provider is called. */
  | ({ type: 'upstream_request' } & OfProvider)
  /** A provider returned usable data, which are not served yet; `elapsed` in ms. */
  | ({ type: 'upstream_response'; elapsed: number } & OfProvider)
  /** A provider failed or returned no data; `elapsed` in ms. */
  | ({ type: 'upstream_failed'; elapsed: number; reason: string; error: unknown } & OfProvider)
  /** No provider returned usable data, or all are in backoff; `reason` names each. Cached data are still served. */
  | { type: 'refresh_failed'; dataSet: DataSet; reason: string; error: unknown }
  /** A provider has announced its end at `endsAt` (ms since the Unix epoch). */
  | ({ type: 'upstream_ending'; endsAt: number } & OfProvider)
  /** Data of a provider or a store failed validation; `provider` is absent for a store. */
  | {
      type: 'rates_rejected'
      dataSet: DataSet
      origin: 'upstream' | 'store'
      provider?: string
      reason: string
      error: unknown
    }
  /** Single rates or days were dropped from otherwise usable data. */
  | ({ type: 'rates_dropped'; dropped: string[] } & OfProvider)
  /**
   * Published rates contradict the ratio that a law fixed by more than 0.5 %; the corrected ones are served. Both are units for
   * one of the table's base.
   */
  | ({
      type: 'rates_deviating'
      corrections: { code: string; published: number; corrected: number }[]
    } & OfProvider)
  /**
   * A publication lacks these codes, or has unusable rates for them. Reference rates have the day: `2026-11-19 USD`. The
   * last good latest rates are served as long as `maxStale` allows.
   */
  | ({ type: 'rates_lost'; codes: string[] } & OfProvider)
  /**
   * Rates that moved far, are off their official peg or, as first ones, far from the usual are not served until another
   * source confirms them, or 2 to 14 publications in a row have them and no other source objects. Emitted for each
   * publication. Reference rates have the day: `2026-11-19 USD`, or only the day where all its rates are doubtful.
   */
  | ({ type: 'rates_quarantined'; codes: string[] } & OfProvider)
  /** The provider changed reference rates of cached days, such as `2026-11-19 USD`; the new ones are served. */
  | ({ type: 'rates_revised'; revised: string[] } & OfProvider)
  /**
   * The next rates were due at `due` (ms since the Unix epoch) and are missing for longer than a day, or the `lag` of their
   * publication; the last ones are served. Emitted once a day (in UTC). Reference rates have the `publication` and the `day`.
   */
  | ({ type: 'rates_late'; due: number; publication?: string; day?: string } & OfProvider)
  /**
   * Rates published at `updatedAt` are served from now on, after those published at `previousUpdatedAt`, or null for the first
   * ones (ms since the Unix epoch); emitted once per publication, also after a restore. Of reference rates, for the newest day.
   */
  | ({ type: 'rates_updated'; updatedAt: number; previousUpdatedAt: number | null } & OfProvider)
  /**
   * The newest `count` daily publications, up to that of `day`, have equal rates, as if the source had stopped; they are
   * served. Emitted once, at three or more, until they change.
   */
  | ({ type: 'rates_repeated'; day: string; count: number } & OfProvider)
  /**
   * A past `piece` of the history, a year (`2015`) or the series of a currency (`USD`), lacks more days in a row than the
   * calendar of its publication allows, or disagrees with its neighbours.
   */
  | ({
      type: 'history_incomplete'
      publication: string
      piece: string
      reason: string
    } & OfProvider)
  /** The address of a provider returns 404 or 410 at its root. Emitted once until it returns data again. */
  | ({ type: 'source_gone' } & OfProvider)
  /** Data were restored from the store; a process loaded them at `loadedAt` (ms since the Unix epoch). */
  | { type: 'rates_restored'; dataSet: DataSet; loadedAt: number }
  /** A response was served from data that are overdue, or whose next publication is late; `overdue` in ms. */
  | { type: 'stale_served'; dataSet: DataSet; overdue: number }
  /** The next refresh is due at `at` (ms since the Unix epoch); the next request, or `refresh()`, starts it. */
  | { type: 'refresh_scheduled'; dataSet: DataSet; at: number }
  /** A store operation failed or timed out; requests are not affected. */
  | { type: 'store_failed'; operation: 'get' | 'set' | 'claim'; key: string; error: unknown }
  /**
   * A request without a valid key, or with one that does not permit it, got a 401 or 403. `key` is the id of a known key,
   * never the key itself.
   */
  | { type: 'access_refused'; reason: AccessRefusal; key?: string }
  /** A client reached the limit named `limit` of its `plan` and got a 429; `key` is the id of its key, if it has one. */
  | { type: 'limit_reached'; plan: string; limit: string; key?: string }
  /**
   * Counters, a key store, the option `client` or a guard failed or timed out; `operation` is what was called. `reason` and
   * `error` contain no key and no client address.
   */
  | {
      type: 'counters_failed'
      operation: 'take' | 'give_back' | 'find_key' | 'find_client' | 'admit'
      reason: string
      error: unknown
    }
  /**
   * A private or loopback address forwards requests, and `trustedProxies` is not set: all clients behind that proxy share one
   * limit. Emitted once.
   */
  | { type: 'proxy_untrusted' }
  /** A request got a 503, while `waiting` others waited. */
  | { type: 'overloaded'; waiting: number }
  /** A request got a 500, or an operation of `handler.rates` rejected with `internal_error`. */
  | { type: 'internal_error'; error: unknown; requestId?: string }

/** Passes an event to `onEvent`; never throws. */
export type Emit = (event: RatesEvent) => void

/** The number of names remembered a day for each event type, data set and provider; further names are left out. */
const MAX_REMEMBERED = 1_000

/** Names are compared up to this length, because upstreams may send longer ones. */
const MAX_COMPARED = 40

/** Limits `emit`: leaves out codes that an event of the same type named earlier that day (in UTC, by the clock `now`). */
export function onceADay(emit: Emit, now: () => number): Emit {
  const remembered = new Map<string, Set<string>>()
  let day = NaN

  function newOf<Item extends string | { code: string }>(kind: string, items: Item[]): Item[] {
    const today = Math.floor(now() / DAY_MS)
    if (today !== day) remembered.clear()
    day = today
    const names = remembered.get(kind) ?? new Set()
    remembered.set(kind, names)
    const isFull = names.size >= MAX_REMEMBERED
    return items.filter((item) => {
      const name = (typeof item === 'string' ? item : item.code).slice(0, MAX_COMPARED)
      const isNew = !isFull && !names.has(name)
      if (names.size < MAX_REMEMBERED) names.add(name)
      return isNew
    })
  }

  return (event) => {
    const kind = 'provider' in event ? `${event.type} ${event.dataSet} ${event.provider}` : ''
    if (event.type === 'rates_dropped') {
      const dropped = newOf(kind, event.dropped)
      if (dropped.length > 0) emit({ ...event, dropped })
    } else if (event.type === 'rates_deviating') {
      const corrections = newOf(kind, event.corrections)
      if (corrections.length > 0) emit({ ...event, corrections })
    } else if ('codes' in event) {
      const codes = newOf(kind, event.codes)
      if (codes.length > 0) emit({ ...event, codes })
    } else emit(event)
  }
}

/** The longest chain of causes described: causes may be circular. */
const MAX_CAUSES = 4

/** The maximum length of a reason in an event, in characters. */
export const MAX_REASON = 300

/**
 * Describes a thrown value in at most 300 characters: the messages of an error and its causes, because `fetch` puts the
 * network error in the cause of "fetch failed". Of an `UpstreamError` the causes are omitted: they may quote the upstream,
 * as a JSON parser quotes invalid text.
 */
export function reasonOf(thrown: unknown): string {
  try {
    return shortened(describe(thrown, 0), MAX_REASON)
  } catch {
    return 'an error with unreadable properties'
  }
}

function describe(thrown: unknown, depth: number): string {
  if (typeof thrown === 'string') return thrown
  if (!(thrown instanceof Error)) return `thrown value is not an Error: ${typeof thrown}`
  if (thrown instanceof SyntaxError) return 'a syntax error in a parsed text'
  const { name, cause } = thrown
  const message = String(thrown.message)
  const hasMore = cause instanceof Error && depth < MAX_CAUSES && name !== 'UpstreamError'
  return hasMore ? `${message}: ${describe(cause, depth + 1)}` : message
}

export function shortened(text: string, length: number): string {
  if (text.length <= length) return text
  // The cut must not leave half of a surrogate pair.
  return `${text.slice(0, length - 1).replace(/[\ud800-\udbff]$/, '')}…`
}
