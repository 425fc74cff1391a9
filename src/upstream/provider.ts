import type { Publication } from '../rates/calendar.ts'
import type {
  Derivation,
  Derivations,
  ReferenceTable,
  UnconfirmedRate,
} from '../rates/rate-table.ts'

export type { Derivation, ReferenceTable, UnconfirmedRate }

/** @internal An absolute http or https URL. */
type Url = string

/** Source of rates, which must be shown with them, for example `Rates By Exchange Rate API`. */
export interface Attribution {
  /** Text to display. */
  name: string
  /** Link target of the text. */
  url: Url
}

/** @internal The attribution of a provider that adds rates to those of its source. */
export interface DerivedAttribution extends Attribution {
  /** Source of rates that replace those of the provider. */
  overlay?: Attribution
  /** Digest of what is added: stored data with another one, or without one, are of other rates. */
  revision?: string
}

/** A publication of latest rates. */
export interface LatestTable {
  /** ISO 4217 code against which `rates` are quoted. */
  base: string
  /** Time of publication, in ms since the Unix epoch. */
  updatedAt: number
  /** Time of the next publication, in ms since the Unix epoch. */
  nextUpdateAt: number
  /** From when the next publication is late, in ms since the Unix epoch (default a day after `nextUpdateAt`). */
  lateAt?: number
  /** Units of each currency for one unit of `base`, by upper-case code. */
  rates: Record<string, number>
  /**
   * Units of `base` for one unit of each currency, by code, from a source that quotes the base; `rates` has 1 / price of each.
   * Responses then have the published digits (default none).
   */
  prices?: Readonly<Record<string, number>> | undefined
  /** Codes whose rates are not in the publication of the source; responses say so (default none). */
  derived?: Derivations | undefined
  /** Number of the table, such as `041/A/NBP/2026`: up to 40 letters, digits, spaces and `./-_` (default none). */
  tableNumber?: string
  /**
   * Published rates that are quarantined because they look wrong, by code. `rates` has the previous value of each until the new
   * one is confirmed. Returned to the provider in `ProviderContext.previous`.
   */
  unconfirmed?: Readonly<Record<string, UnconfirmedRate>>
  /** Set in `ProviderContext.previous`: the earlier of `updatedAt` and the time the handler accepted the table, in ms since the Unix epoch. */
  publishedAt?: number
  /** Set in `ProviderContext.previous`: publication times of `rates` from earlier publications, by code. */
  older?: Readonly<Record<string, { readonly updatedAt: number; readonly nextUpdateAt: number }>>
  /** Set in `ProviderContext.previous`: codes that were published before and have no usable rate now. */
  unavailable?: readonly string[]
  /** Announced end of the provider, in ms since the Unix epoch; emitted as an event. */
  endsAt?: number
}

/** Reference rates of one published day. Every code is in `rates` or in `prices`, as the bank quotes it, on all days. */
export interface HistoryDay {
  /** Date as `YYYY-MM-DD`. */
  date: string
  /** Units of each currency for one unit of the base, by upper-case code. */
  rates: Record<string, number>
  /** Units of the base for one unit of each currency, by upper-case code, from a bank that quotes the base (default none). */
  prices?: Record<string, number> | undefined
  /** Number of the table, as in `LatestTable` (default none). */
  tableNumber?: string | undefined
  /** Codes whose rates of the day are not in the publication of the source; responses say so (default none). */
  derived?: Derivations | undefined
}

/** Reference rates of several days, returned by a history provider. */
export interface HistoryDays {
  /** ISO 4217 code against which every day's rates are quoted. */
  base: string
  /** The published days, ascending. */
  days: HistoryDay[]
  /** Source of these days, if it is not the provider's (default the provider's). */
  attribution?: Attribution
}

/** Context of one call of a provider. */
export interface ProviderContext {
  /** Use this `fetch` for every upstream request: it is the handler's `fetch` option. */
  fetch: typeof fetch
  /**
   * Aborts when the call times out (5 s for latest rates, 10 s for history, 15 s for a whole history), when another provider
   * has responded first, or when the handler is closed.
   */
  signal: AbortSignal
  /** Returns the current time, in ms since the Unix epoch. */
  now: () => number
  /** Last accepted table of this provider, from memory or a store; absent once it is too old to be served. */
  previous?: LatestTable
  /** Rates of other sources of the last ten days, such as reference rates: they confirm a large move, or contradict it. */
  references?: readonly ReferenceTable[]
  /** Optional. Reports the failure of one of several addresses; the call continues with the next one. */
  onFailure?: (error: unknown) => void
}

/**
 * A source of latest rates. Its errors may have a property `retryAfterMs`: ms until the next request, from 1 s to 6 h.
 */
export interface LatestProvider {
  /** Source displayed with the rates. */
  readonly attribution: Attribution
  /** Fetches the whole table as last published; rejects if that fails. */
  fetchLatest(context: ProviderContext): Promise<LatestTable>
  /**
   * Optional. Validates a table of this provider loaded from the store, where another process may have put it. Returns the
   * table to use or a promise of it, or throws to reject it. `previous` and `references` are as in `ProviderContext`.
   */
  validateStored?(
    table: LatestTable,
    previous: LatestTable | undefined,
    references?: readonly ReferenceTable[],
  ): LatestTable | Promise<LatestTable>
}

/** A source of reference rates. Its errors may have a property `retryAfterMs`, as those of `LatestProvider`. */
export interface HistoryProvider {
  /** Source displayed with the rates. */
  readonly attribution: Attribution
  /** Optional. Page with the terms of use of the rates: an absolute http or https URL. */
  readonly terms?: string
  /**
   * Optional. Whether the days come from a real market and must pass the sanity checks, day against day (default false).
   * Doubtful days and rates are quarantined until they are confirmed. `'rates'` does not check whether days lack currencies,
   * for a source that says so where it has no rate.
   */
  readonly sanityChecks?: boolean | 'rates'
  /** Optional. What it publishes (default: the daily reference rates of the European Central Bank). */
  readonly publication?: Publication
  /**
   * Optional. The longest range of one call of `fetchHistory`, in days; 1 for a table per day (default unlimited). Used with a
   * `publication`.
   */
  readonly maxDays?: number
  /** Fetches every published day from `start` to `end` (`YYYY-MM-DD`, inclusive), ascending; rejects if that fails. */
  fetchHistory(
    range: { start: string; end: string },
    context: ProviderContext,
  ): Promise<HistoryDays>
  /**
   * Optional. Fetches the days of one currency, as `fetchHistory` does. With it, `fetchHistory` is called only for the newest
   * days and for whole tables. Used with a `publication`.
   */
  fetchSeries?(
    range: { code: string; start: string; end: string },
    context: ProviderContext,
  ): Promise<HistoryDays>
}

/** Patterns of the properties of a publication, as JSON. Without these forms, requests would fail or never end. */
const PUBLICATION_FORMS = {
  id: /^"[a-z\d-]+"$/,
  frequency: /^"(daily|weekly|monthly|quarterly)"$/,
  // At most six days.
  weekend: /^(\[[1-7,]{0,11}\]|undefined)$/,
  holidays:
    /^\[("(\d{4}-[01]\d-\d\d|([01]\d-\d\d(\/[1-7]|@[1-7]{1,7})?|(easter|orthodox)([+-]\d+)?)( \d{0,4}-\d{0,4})?)",?)*\]$/,
  time: /^"([01]\d|2[0-3]):[0-5]\d"$/,
  since: /^"\d{4}-\d\d-\d\d"$/,
  lag: /^(\d+|undefined)$/,
  dated: /^("(publication|effect|next-working-day|period-end)"|undefined)$/,
  delayDays: /^(\d{1,3}|undefined)$/,
}

/** @throws {TypeError} naming `option` */
export function requireProvider(option: string, method: string, provider: unknown): void {
  const { [method]: fetchRates, attribution, publication, terms = null } = Object(provider)
  const { name, url } = Object(attribution)
  const hasAll =
    typeof fetchRates === 'function' && typeof name === 'string' && typeof url === 'string'
  if (!hasAll) throw new TypeError(`${option} must be a provider with ${method}() and attribution`)
  for (const [property, link] of Object.entries({ 'attribution.url': url, terms: terms ?? url })) {
    if (URL.canParse(link) && /^https?:$/.test(new URL(link).protocol)) continue
    const got = JSON.stringify(link)
    throw new TypeError(`${option}.${property} must be an absolute http or https URL, got ${got}`)
  }
  if (publication) requirePublication(option, Object(provider))
}

function requirePublication(option: string, { publication, maxDays = 1 }: HistoryProvider): void {
  if (!(maxDays >= 1)) throw new TypeError(`${option}.maxDays must be 1 or more, got ${maxDays}`)
  const given = Object(publication)
  for (const [property, form] of Object.entries(PUBLICATION_FORMS)) {
    const value = JSON.stringify(given[property])
    if (form.test(value)) continue
    throw new TypeError(`${option}.publication.${property} must match ${form.source}, got ${value}`)
  }
  try {
    Intl.DateTimeFormat('en', { timeZone: String(given.timeZone) })
  } catch (cause) {
    throw new TypeError(`${option}.publication.timeZone must be an IANA time zone`, { cause })
  }
}
