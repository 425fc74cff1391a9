/** Who is named as the source of rates, wherever they are shown. */
export interface Attribution {
  /** Text to display, for example `Rates By Exchange Rate API`. */
  name: string
  /** Where the text links to: an absolute http or https URL. */
  url: string
}

/** One publication of a latest-rates provider. */
export interface LatestTable {
  /** ISO 4217 code against which `rates` are quoted. */
  base: string
  /** When the provider published, in ms since the Unix epoch. */
  updatedAt: number
  /** When the provider will publish next, in ms since the Unix epoch. */
  nextUpdateAt: number
  /** Units of each currency for one unit of `base`, by upper-case code. */
  rates: Record<string, number>
  /**
   * Rates that were published but look wrong, by code: `rates` has the value before in their place until a later
   * publication confirms them. They come back in `ProviderContext.previous`.
   */
  unconfirmed?: Readonly<Record<string, number>>
  /** Set in `ProviderContext.previous`: the earlier of `updatedAt` and the time at which the handler accepted the table, in ms since the Unix epoch. */
  publishedAt?: number
  /** Set in `ProviderContext.previous`: the publications of those `rates` that are from an earlier one, by code. */
  older?: Readonly<Record<string, { readonly updatedAt: number; readonly nextUpdateAt: number }>>
  /** Set in `ProviderContext.previous`: codes that were published before, and have no usable rate now. */
  unavailable?: readonly string[]
  /** When the provider has announced to publish no more, in ms since the Unix epoch; becomes an event. */
  endsAt?: number
  /** What came of comparing it with reference rates, as `crossCheck` does; becomes an event, and is not kept. */
  check?: CrossCheck
}

/** What came of comparing a table with the reference rates of `reference`, by name. */
export type CrossCheck =
  | {
      reference: string
      /** The day whose rates were compared, `YYYY-MM-DD`. */
      date: string
      /** What is further apart than it may be, as `USD +5.0 %`: so much higher is the rate against the euro. */
      deviations: string[]
    }
  /** They were not compared, because of `error`. */
  | { reference: string; error: unknown }

/** The reference rates of one published day. */
export interface HistoryDay {
  /** `YYYY-MM-DD`. */
  date: string
  /** Units of each currency for one unit of the base, by upper-case code. */
  rates: Record<string, number>
}

/** Reference rates of several days, as a history provider answers them. */
export interface HistoryDays {
  /** ISO 4217 code against which every day's rates are quoted. */
  base: string
  /** The published days, ascending. */
  days: HistoryDay[]
}

/** What a provider is given for one call. */
export interface ProviderContext {
  /** Use this for every upstream call, so that the handler's `fetch` option reaches it. */
  fetch: typeof fetch
  /**
   * Aborted when the call's time is up (5 s for latest rates, 10 s for history, 15 s for all of it), another provider has
   * answered first or the handler is closed.
   */
  signal: AbortSignal
  /** The clock, ms since the Unix epoch. */
  now: () => number
  /** The table of this provider that was accepted last, from wherever it came, to compare with; absent once it is too old to be served. */
  previous?: LatestTable
  /** Tables of other sources that are in hand, such as the newest reference rates: what they agree with may have happened. */
  references?: readonly ReferenceTable[]
}

/** Rates of another source, to compare with. */
export interface ReferenceTable {
  /** ISO 4217 code against which `rates` are quoted. */
  readonly base: string
  /** Units of each currency for one unit of `base`, by upper-case code. */
  readonly rates: ReadonlyMap<string, number>
}

/**
 * A source of latest rates. An error that it rejects with may have a `retryAfterMs`: for how many ms, from a second to six
 * hours, not to ask again.
 */
export interface LatestProvider {
  /** Who is named beside its rates. */
  readonly attribution: Attribution
  /** The whole table as last published; rejects when there is none to be had. */
  fetchLatest(context: ProviderContext): Promise<LatestTable>
  /**
   * Optional: what the provider's own gates make of a table of its own that comes out of a store, where another process
   * may have put it; throws to refuse it. `previous` and `references` are as in `ProviderContext`.
   */
  validateStored?(
    table: LatestTable,
    previous: LatestTable | undefined,
    references?: readonly ReferenceTable[],
  ): LatestTable
}

/** A source of daily reference rates. Its errors may have a `retryAfterMs` too. */
export interface HistoryProvider {
  /** Who is named beside its rates. */
  readonly attribution: Attribution
  /**
   * Optional: whether its days are those of a real market and have to pass the sanity checks, day against day (default
   * false). Doubtful days and rates are then held back until the next published day confirms them.
   */
  readonly sanityChecks?: boolean
  /** Every published day from `start` to `end` (`YYYY-MM-DD`, inclusive), ascending; rejects when they cannot be had. */
  fetchHistory(
    range: { start: string; end: string },
    context: ProviderContext,
  ): Promise<HistoryDays>
}

/**
 * Checks that `provider`, which the caller passed as `option`, has the function `method` and an attribution to show.
 *
 * @throws {TypeError} naming `option`
 */
export function requireProvider(option: string, method: string, provider: unknown): void {
  const { [method]: fetchRates, attribution } = Object(provider)
  const { name, url } = Object(attribution)
  const hasAll =
    typeof fetchRates === 'function' && typeof name === 'string' && typeof url === 'string'
  if (!hasAll)
    throw new TypeError(`${option} must be a provider with ${method}() and an attribution`)
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return
  throw new TypeError(
    `${option}.attribution.url must be an absolute http or https URL, got ${JSON.stringify(url)}`,
  )
}
