/**
 * Which data an event is about: latest rates, the reference rates of the last five years, or all of them since 1999, which
 * are loaded when earlier days are first asked for.
 */
export type DataSet = 'latest' | 'history' | 'archive'

/**
 * Everything an operator may want to log or count. A `reason` has at most 300 characters and, of a built-in provider, none
 * that an upstream wrote. Private: `error`, and lists of what was dropped, may hold texts of upstreams.
 *
 * `rates_dropped`, `rates_corrected`, `rates_lost` and `rates_quarantined` name a code once a day (in UTC) for each data set and
 * provider, so that a feed that stays wrong is one event a day. Another code, or the same one in another of these events, is
 * named at once.
 */
export type RatesEvent =
  /** A provider is being asked. */
  | { type: 'upstream_request'; dataSet: DataSet; provider: string }
  /** A provider answered with usable data; `elapsed` in ms. */
  | { type: 'upstream_response'; dataSet: DataSet; provider: string; elapsed: number }
  /** A provider did not answer, or not with data; `elapsed` in ms. */
  | {
      type: 'upstream_failed'
      dataSet: DataSet
      provider: string
      elapsed: number
      reason: string
      error: unknown
    }
  /** No provider had usable data, or none might be asked; `reason` says of each why. What is held is served on. */
  | { type: 'refresh_failed'; dataSet: DataSet; reason: string; error: unknown }
  /** A provider has announced to stop at `endsAt` (ms since the Unix epoch). */
  | { type: 'upstream_ending'; dataSet: DataSet; provider: string; endsAt: number }
  /** Data that a provider answered with, or that a store held, were found unusable; `provider` is absent for a store. */
  | {
      type: 'rates_rejected'
      dataSet: DataSet
      origin: 'upstream' | 'store'
      provider?: string
      reason: string
      error: unknown
    }
  /** Single rates or days were dropped from an answer that is good as a whole. */
  | { type: 'rates_dropped'; dataSet: DataSet; provider: string; dropped: string[] }
  /** Withdrawn currencies whose rates contradict the ratios that law has fixed: units for one of the table's base. */
  | {
      type: 'rates_corrected'
      dataSet: DataSet
      provider: string
      corrections: { code: string; published: number; corrected: number }[]
    }
  /**
   * Codes that a publication lacks, or has no usable rate of; of reference rates with the day, as `2026-11-19 USD`. The last
   * good latest rates are served as long as `maxStale` allows.
   */
  | { type: 'rates_lost'; dataSet: DataSet; provider: string; codes: string[] }
  /**
   * Rates moved so far that they are not served until the next publication confirms them; of reference rates with the day,
   * as `2026-11-19 USD`, or the day alone where it is doubtful as a whole.
   */
  | { type: 'rates_quarantined'; dataSet: DataSet; provider: string; codes: string[] }
  /** Rates that are too far from those of a `reference` on the day `date`: see `crossCheck`. They are served as published. */
  | {
      type: 'rates_deviating'
      dataSet: DataSet
      provider: string
      reference: string
      date: string
      deviations: string[]
    }
  /** A table could not be compared with those of a `reference`; it is served all the same. */
  | {
      type: 'check_failed'
      dataSet: DataSet
      provider: string
      reference: string
      reason: string
      error: unknown
    }
  /** Reference rates of days that were held already are others now, as `2026-11-19 USD`: the new ones are served. */
  | { type: 'rates_revised'; dataSet: DataSet; provider: string; revised: string[] }
  /** Data from the store are held now; whichever process loaded them did so at `loadedAt` (ms since the Unix epoch). */
  | { type: 'rates_restored'; dataSet: DataSet; loadedAt: number }
  /** An answer was given with data whose refresh is overdue by so many ms. */
  | { type: 'stale_served'; dataSet: DataSet; overdue: number }
  /** The next refresh is due at `at` (ms since the Unix epoch); it takes a request, or `refresh()`, to start it. */
  | { type: 'refresh_scheduled'; dataSet: DataSet; at: number }
  /** A store operation failed or took too long; the request did not notice. */
  | { type: 'store_failed'; operation: 'get' | 'set' | 'claim'; key: string; error: unknown }
  /** A request for expensive work was answered with 503, while `waiting` others waited for theirs. */
  | { type: 'overloaded'; waiting: number }
  /** A request was answered with 500, or one of `rates` rejected with `internal_error`. */
  | { type: 'internal_error'; error: unknown }

/** Passes an event to `onEvent`; never throws. */
export type Emit = (event: RatesEvent) => void

const DAY_MS = 86_400_000

/** Names remembered of each kind of event, data set and provider in a day; all further ones are left out until the next. */
const MAX_REMEMBERED = 1_000

/** Names that an upstream made up are compared up to this many characters. */
const MAX_COMPARED = 40

/** Limits `emit`: an event leaves out the codes that one of the same kind named earlier on this day (in UTC, by the clock `now`). */
export function onceADay(emit: Emit, now: () => number): Emit {
  const remembered = new Map<string, Set<string>>()
  let day = NaN

  /** Returns the items whose names are new today. */
  function newOf<Item>(kind: string, items: Item[], nameOf: (item: Item) => string): Item[] {
    const today = Math.floor(now() / DAY_MS)
    if (today !== day) remembered.clear()
    day = today
    const names = remembered.get(kind) ?? new Set()
    remembered.set(kind, names)
    const isFull = names.size >= MAX_REMEMBERED
    return items.filter((item) => {
      const name = nameOf(item).slice(0, MAX_COMPARED)
      const isNew = !isFull && !names.has(name)
      if (names.size < MAX_REMEMBERED) names.add(name)
      return isNew
    })
  }

  return (event) => {
    const left = reduced(event, newOf)
    if (left) emit(left)
  }
}

/** Returns `event` with the new codes alone, or undefined without any. */
function reduced(
  event: RatesEvent,
  newOf: <Item>(kind: string, items: Item[], nameOf: (item: Item) => string) => Item[],
): RatesEvent | undefined {
  if (!('provider' in event)) return event
  const kind = `${event.type} ${event.dataSet} ${event.provider}`
  switch (event.type) {
    case 'rates_dropped': {
      const dropped = newOf(kind, event.dropped, (name) => name)
      return dropped.length > 0 ? { ...event, dropped } : undefined
    }
    case 'rates_corrected': {
      const corrections = newOf(kind, event.corrections, ({ code }) => code)
      return corrections.length > 0 ? { ...event, corrections } : undefined
    }
    case 'rates_lost':
    case 'rates_quarantined': {
      const codes = newOf(kind, event.codes, (name) => name)
      return codes.length > 0 ? { ...event, codes } : undefined
    }
    default:
      return event
  }
}
