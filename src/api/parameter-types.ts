import type { DateRule, Interval, Period } from '../rates/dates.ts'
import type { CurrencyCode } from '../rates/iso-4217.ts'
import type { IntervalValue } from '../rates/series.ts'
import type { Rounding } from './rounded.ts'

/** Chooses reference rates of a day instead of latest rates. */
export type DayChoice =
  | {
      /** Day of the reference rates, `YYYY-MM-DD`; without rates on that day, the last day before (default: latest rates). */
      date: string
      /** Which published day has the rates for `date` (default `on-or-before`). */
      rule?: DateRule | undefined
      /**
       * Largest age of the rates on `date`, in days from 0 to 36,600; for `period-end`, on the last day of the period
       * (default any).
       */
      maxAge?: number | undefined
      /** Id of the source of the rates on `date`, as in `/v1/sources` (default the first with the currencies). */
      source?: string | undefined
    }
  | { date?: undefined; rule?: undefined; maxAge?: undefined; source?: undefined }

/** @internal One target currency, or an array of them. */
export type Targets = CurrencyCode | readonly CurrencyCode[]

/** Parameters of a snapshot of rates. Codes have three letters in either case, but not the form `GBp`. */
export type SnapshotParams<Symbols extends readonly CurrencyCode[] = readonly CurrencyCode[]> = {
  /** Base currency (default `USD`). */
  base?: CurrencyCode | undefined
  /** Codes to include (default: all). */
  symbols?: Symbols | undefined
} & DayChoice

/** Parameters of a table of rates. */
export type LatestParams<Symbols extends readonly CurrencyCode[] = readonly CurrencyCode[]> = {
  /**
   * Adds the change of the reference rates to the newest published day, or to that of `date`: since the published day before
   * it (`1D`), over a week, a month or a year, or since a day, `YYYY-MM-DD` (default: no change).
   */
  change?: '1D' | '1W' | '1M' | '1Y' | (string & {}) | undefined
} & SnapshotParams<Symbols>

/** Parameters of a conversion by a snapshot. Codes have three letters in either case, but not the form `GBp`. */
export interface SnapshotConversionParams<To extends Targets = Targets> {
  /** Source currency. */
  from: CurrencyCode
  /** Target currency, or a non-empty array of at most 250. */
  to: To
  /** Amount of `from`, finite and not negative: a number, or a decimal such as `'12.50'`, which keeps its digits (default 1). */
  amount?: number | string | undefined
  /** Whether `amount` is in `to`, and `result` the amount of `from` that gives it (default false). */
  reverse?: boolean | undefined
  /** Whether to add `rounded` to each result: to the `minor` unit of its currency, or to amounts in `cash` (default neither). */
  round?: Rounding | undefined
}

/** Parameters of a conversion. */
export type ConversionParams<To extends Targets = Targets> = {
  /** `sources` adds the rate of every source of reference rates; for one target currency only (default nothing). */
  expand?: 'sources' | undefined
} & SnapshotConversionParams<To> &
  DayChoice

/** Parameters of a quote. At most ten target currencies. */
export type QuoteParams<To extends Targets = Targets> = Omit<
  SnapshotConversionParams<To>,
  'reverse'
> & {
  /** What the quote is for, such as a cart or user: 1 to 256 characters, which its conversion has to repeat (default anything). */
  context?: string | undefined
}

/** Parameters of a conversion by a quote. What is given must agree with the quote, except `amount` and `round`. */
export type QuotedParams<To extends Targets = Targets> = Partial<QuoteParams<To>>

/** One of many conversions, by a quote; its amount may be negative. */
export type QuotedRow<To extends Targets = Targets> = QuotedParams<To> & { quote: string }

/** One of many conversions, whose amount may be negative. */
export type ConversionRow<To extends Targets = Targets> = Omit<
  ConversionParams<To>,
  'expand' | keyof DayChoice
> &
  DayChoice

/**
 * Parameters of the history of one currency pair, or of several if `to` is an array: for a `period`, or from `start` to
 * `end`. Codes have three letters in either case, but not the form `GBp`.
 */
export type HistoryParams<To extends Targets = CurrencyCode> = AnyHistoryParams<To> &
  ({ start?: undefined; end?: undefined } | { period?: undefined; start: string })

/** @internal Parameters that may exclude each other. */
export interface AnyHistoryParams<To extends Targets = CurrencyCode> {
  /** Source currency. */
  from: CurrencyCode
  /** Target currency, or an array of at most 20. */
  to: To
  /** Length of the history, up to the newest published day (default `1M`). Not allowed with `start`. */
  period?: Period | undefined
  /** First day, `YYYY-MM-DD`; reference rates begin on 1999-01-04. */
  start?: string | undefined
  /** Last day, `YYYY-MM-DD` (default: the newest published day). Needs `start`. */
  end?: string | undefined
  /** One point per published day, or one for each week, month, quarter or year (default `day`). */
  interval?: Interval | undefined
  /**
   * Rate of an interval longer than a day: its `last`, the `average` of its days to 10 significant digits, `open` (its
   * first), `high` or `low` (default `last`).
   */
  value?: IntervalValue | undefined
  /**
   * `previous` adds a point for every other calendar day, with the rate of the last published day before it, at most 14
   * days earlier, or 28, 62 or 186 of weekly, monthly or quarterly sources. For daily points only (default: no other points).
   */
  fill?: 'previous' | undefined
  /** Id of the source of the rates, as in `/v1/sources` (default the first with the currencies). */
  source?: string | undefined
}

/** Parameters of a stream of days. Codes have three letters in either case, but not the form `GBp`. */
export interface DaysParams {
  /** First day, `YYYY-MM-DD`; reference rates begin on 1999-01-04. */
  start: string
  /** Last day, `YYYY-MM-DD` (default: the newest published day). */
  end?: string | undefined
  /** Codes to include (default: all). */
  symbols?: readonly CurrencyCode[] | undefined
  /** Id of the only source, as in `/v1/sources` (default all: a code has the rate of the first that quotes it on a day). */
  source?: string | undefined
  /** Ends the iteration with its reason. */
  signal?: AbortSignal | undefined
}

/** Parameters of the list of currencies. */
export interface CurrenciesParams {
  /** Codes to include (default: all). */
  symbols?: readonly CurrencyCode[] | undefined
}
