/**
 * Which data an event is about: latest rates, the reference rates of the last five years, or all of them since 1999, which
 * are loaded when earlier days are first asked for.
 */
export type DataSet = 'latest' | 'history' | 'archive'

/**
 * Everything an operator may want to log or count. A `reason` has at most 300 characters and, of a built-in provider, none
 * that an upstream wrote. Private: `error`, and lists of what was dropped, may hold texts of upstreams.
 */
export type RatesEvent =
  /** A provider is being asked. */
  | { type: 'upstream_asked'; dataSet: DataSet; provider: string }
  /** A provider answered with usable data; `elapsed` in ms. */
  | { type: 'upstream_answered'; dataSet: DataSet; provider: string; elapsed: number }
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
  | { type: 'rates_held_back'; dataSet: DataSet; provider: string; codes: string[] }
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

/** Tells an event to whoever listens; never throws. */
export type Emit = (event: RatesEvent) => void
