import { parseLongJson, runInSlices } from '../async.ts'
import type { LongJson, Slices } from '../async.ts'
import type { CacheResult, ReadThroughState, RequestOptions } from '../cache/read-through.ts'
import { FIRST_REFERENCE_DAY, addDays, isDay } from '../rates/dates.ts'
import type { Calendar, DateRule, Day, Period, Reach } from '../rates/dates.ts'
import { checkHistory } from '../rates/history-checks.ts'
import type { CheckedHistory, HistoryToCheck } from '../rates/history-checks.ts'
import { findRevisions, marketDays, mergeHistories, ratesOf } from '../rates/market-history.ts'
import type { MarketHistory } from '../rates/market-history.ts'
import { hasUnusualRates, moveFromOthers, moveFromUsual } from '../rates/moves.ts'
import type { RateTable } from '../rates/rate-table.ts'
import { RejectedError, requireObject, validateHistoryInSlices } from '../rates/validate.ts'
import type { Attribution, HistoryProvider, ProviderContext } from '../upstream/provider.ts'
import { firstComparedDay, requireAttribution } from './source.ts'
import type { References, SourcesOptions } from './source.ts'

export interface HistorySnapshot extends Reach {
  history: MarketHistory
  attribution: Attribution
  /** Source of the days, if not that of the provider, `attribution`. */
  servedBy?: Attribution | undefined
  start: Day
  /** The last day of a piece, if all up to it were published when it was loaded. */
  end?: Day | undefined
  /** The first doubtful day of a full download or a stored value; the next refresh fetches all days from there. */
  doubtfulSince?: Day | undefined
  /** Rates of the newest days that are quarantined, in units for one of the base. */
  unconfirmed?: Readonly<Record<string, number>> | undefined
  /** All codes of the publication, where `history` has only some. */
  codes?: readonly string[] | undefined
  /** Id of the publication, if not that of the European Central Bank. */
  id?: string | undefined
  /** When the rates are published, if not by the European Central Bank. */
  calendar?: Calendar | undefined
  /** The codes, in upper case, that a day must quote: days without one of them do not count. */
  needed?: readonly string[] | undefined
  /** Whether a requested code is unknown: then the days are not the requested ones, and serve only the error. */
  isUnknown?: boolean | undefined
  /** Whether requested rates that the source has published are missing or doubtful. */
  isIncomplete?: boolean | undefined
  /** The next day of the publication after the newest one with all `needed` codes; absent where they have ended. */
  awaited?: Day | undefined
  /** Newest day of the publication, where `history` may end earlier. */
  newest?: Day | undefined
  /** Returns the rates of a row that has only corrections, with the older rates of the last whole table. */
  carriedTo?: ((row: number) => Pick<RateTable, 'rates' | 'older'> | undefined) | undefined
}

export interface HistoryNeed {
  /** First day (default that of `period`). */
  since?: Day | undefined
  /** Length up to the newest day (default five years). */
  period?: Period | undefined
  /** Last day (default the newest). */
  until?: Day | undefined
  /** Codes in either case. */
  codes: readonly string[]
  /**
   * Whether all other currencies are needed, too: on one `day` of the range, or on all its days (`range`), where `codes` are
   * only those that matter, none for all (default the `codes` alone).
   */
  whole?: 'day' | 'range' | undefined
  /** Which day of the range is needed (default all). */
  rule?: DateRule | undefined
  /** Id of the only publication to ask, or the part of several before a hyphen (default all, in order). */
  source?: string | undefined
}

/** @internal A result that is in memory, or a promise of one. */
export type ResultOrPromise<Value> = CacheResult<Value> | Promise<CacheResult<Value>>

/** The days that quote a currency; null while unknown. */
export interface Span {
  from: Day | null
  to: Day | null
}

export interface PublicationState {
  newest: ReadThroughState<HistorySnapshot>
  /** Returns the days that quote each currency ever quoted, as far as they are known. */
  spans(): ReadonlyMap<string, Span>
}

/** Collects loads instead of waiting for them one after another. */
export interface Deferral {
  /** Starts a load for which the caller asks again later; returns false if it did before for `key`, or has no time left. */
  start(key: string, load: () => Promise<unknown>): boolean
}

export interface HistoryRequest extends RequestOptions {
  /** Given, nothing is waited for: where rates have to be loaded, `use` is not called. */
  readonly defer?: Deferral
}

export type UseHistory<Result> = (found: CacheResult<HistorySnapshot>) => Result | Promise<Result>

/** A publication: rates with the same calendar, from one or several providers. */
export interface PublicationSource {
  id: string
  /** First day with rates. */
  since: Day
  /** Whether it never quoted one of `codes`, in either case, as far as is known without a load. */
  lacks(codes: readonly string[]): boolean
  /** Returns the rates in memory, undefined where they have to be loaded. */
  find(need: HistoryNeed): CacheResult<HistorySnapshot> | undefined
  /**
   * Loads rates for a client, whose loads take turns with those of others. Returns whether they did not have to be fetched.
   *
   * @throws {UnavailableError} where they cannot be loaded
   */
  load(need: HistoryNeed, client: object): Promise<boolean>
  state(): PublicationState
  /** Refreshes the newest days if that is due. Never rejects. */
  refresh(): Promise<void>
  close(): void
}

export function snapshotFormat(
  { runtime }: SourcesOptions,
  providers: readonly HistoryProvider[],
): {
  toJson(snapshot: HistorySnapshot): Promise<string>
  fromJson(json: string): Promise<HistorySnapshot>
} {
  const inSlices = <Result>(work: Slices<Result>): Promise<Result> =>
    runInSlices(work, runtime.yieldToEventLoop)
  return {
    toJson: (snapshot) => inSlices(snapshotJson(snapshot)),
    async fromJson(json) {
      const stored = await inSlices(parseLongJson(json, SNAPSHOT))
      const { start, end, doubtfulSince, attribution, servedBy, ...days } = requireObject(
        stored,
        'the stored data are',
      )
      const { data: history } = await inSlices(validateHistoryInSlices(days, runtime.now()))
      return {
        attribution: requireAttribution(attribution, providers),
        servedBy: toAttribution(servedBy),
        start: requireDay('start', start),
        ...(end !== undefined && { end: requireDay('end', end) }),
        ...(doubtfulSince !== undefined && {
          doubtfulSince: requireDay('doubtfulSince', doubtfulSince),
        }),
        history,
      }
    },
  }
}

/** Returns undefined for anything that is not one. */
function toAttribution(given: unknown): Attribution | undefined {
  const { name, url } = Object(given)
  const isGiven = typeof name === 'string' && typeof url === 'string' && URL.canParse(url)
  return isGiven ? { name, url } : undefined
}

function requireDay(name: string, value: unknown): Day {
  if (typeof value === 'string' && isDay(value)) return value
  throw new RejectedError(`${name} must be a date, YYYY-MM-DD`)
}

/** The sanity checks of a full download or a stored value, and of new days against cached ones; without `sanityChecks`, they accept all. */
export interface Checks {
  /** The rates of a piece are not compared with usual ones: its neighbours and the newest days decide. */
  ofWhole(
    provider: HistoryProvider,
    history: MarketHistory,
    options?: { signal?: AbortSignal; isPiece?: boolean },
  ): Promise<CheckedDays>
  /** Merges the days from `start` on. Emits an event for revised rates. */
  ofUpdate(
    provider: HistoryProvider,
    days: { previous: MarketHistory; added: MarketHistory; start: Day },
    signal: AbortSignal,
  ): Promise<CheckedDays>
}

interface CheckedDays extends Pick<HistorySnapshot, 'history' | 'doubtfulSince' | 'unconfirmed'> {
  /** Whether an update changed nothing. */
  isSame?: boolean
}

interface DaysToCheck extends HistoryToCheck {
  isPiece?: boolean
}

/** Creates a function that checks days, and loads other sources for doubtful rates, once per publication. */
function createComparison({ runtime }: SourcesOptions, references: References, id: string) {
  let comparedLast = ''

  return async function compare(
    { attribution, publication, sanityChecks }: HistoryProvider,
    { isPiece, ...days }: DaysToCheck,
    signal: AbortSignal | undefined,
  ): Promise<CheckedHistory> {
    const { base, dates } = days.added
    const since = firstComparedDay(runtime.now())
    const check = async (): Promise<CheckedHistory> => {
      const others = references.current(attribution)
      const work = checkHistory({
        ...days,
        frequency: publication?.frequency,
        mayLackRates: sanityChecks === 'rates',
        moveFromOthers: (date, code, rate) =>
          date < since ? NaN : moveFromOthers(others, { base, code, rate }),
        moveFromUsual: (date, code, rate) =>
          isPiece || date < since ? NaN : moveFromUsual({ base, code, rate }, date),
      })
      return runInSlices(work, runtime.yieldToEventLoop, signal)
    }
    const checked = await check()
    const newest = dates.at(-1) ?? ''
    const isDoubtful =
      checked.quarantined.some((each) => each >= since) ||
      (!isPiece && !days.previous && hasUnusual(days.added))
    if (newest <= comparedLast || newest < since || !isDoubtful) return checked
    comparedLast = newest
    await references.load(attribution, id)
    return check()
  }
}

/** Whether a rate of the newest day may have a wrong unit. */
function hasUnusual({ base, priced, ...history }: MarketHistory): boolean {
  const newest = history.dates.at(-1) ?? ''
  const rates = Array.from(ratesOf({ base, ...history }, newest), ([code, quote]) => {
    return [code, priced?.has(code) ? 1 / quote : quote] as const
  })
  const derived = history.derived?.get(newest)
  return hasUnusualRates({ base, rates: Object.fromEntries(rates), derived }, newest)
}

export function createChecks(options: SourcesOptions, references: References, id: string): Checks {
  const { emit } = options
  const compare = createComparison(options, references, id)
  let reported: readonly string[] = []

  async function check(
    provider: HistoryProvider,
    days: DaysToCheck,
    signal?: AbortSignal,
  ): Promise<CheckedHistory> {
    const checked = await compare(provider, days, signal)
    const about = { dataSet: 'history', provider: provider.attribution.name } as const
    // Refreshes fetch the same days repeatedly; each problem is reported once.
    const codes = checked.quarantined.filter((each) => !reported.includes(each))
    reported = checked.quarantined
    if (codes.length > 0) emit({ type: 'rates_quarantined', ...about, codes })
    if (checked.lost.length > 0) emit({ type: 'rates_lost', ...about, codes: checked.lost })
    return checked
  }

  return {
    async ofWhole(provider, history, { signal, isPiece = false } = {}) {
      if (!provider.sanityChecks) return { history }
      const days = { merged: history, added: history, previous: undefined, isPiece }
      const checked = await check(provider, days, signal)
      const [doubtfulSince] = checked.quarantined.map((each) => each.slice(0, 10)).sort()
      const unconfirmed = newestUnconfirmed(history, checked.history)
      return { history: checked.history, unconfirmed, ...(doubtfulSince && { doubtfulSince }) }
    },
    async ofUpdate(provider, { previous, added, start }, signal) {
      const merged = mergeHistories([previous, added], start)
      const { history } = provider.sanityChecks
        ? await check(provider, { merged, added, previous }, signal)
        : { history: merged }
      const { revised, isSame } = findRevisions(previous, history, added.dates[0] ?? '')
      const about = { dataSet: 'history', provider: provider.attribution.name } as const
      if (revised.length > 0) emit({ type: 'rates_revised', ...about, revised })
      const doubtfulSince = firstDoubtful(added, history)
      const unconfirmed = newestUnconfirmed(added, history)
      return { history, isSame, unconfirmed, ...(doubtfulSince && { doubtfulSince }) }
    },
  }
}

/** Days before the newest one that are fetched again until their doubtful rates are confirmed. */
const DOUBTFUL_DAYS = 31

/** Returns the first of the last days with rates that the checks have not accepted. */
function firstDoubtful(added: MarketHistory, accepted: MarketHistory): Day | undefined {
  const first = addDays(added.dates.at(-1) ?? FIRST_REFERENCE_DAY, -DOUBTFUL_DAYS)
  return added.dates.find((date, row) => {
    if (date < first) return false
    const rates = ratesOf(accepted, date)
    return [...added.columns].some(
      ([code, column]) => !Number.isNaN(column[row] ?? NaN) && !rates.has(code),
    )
  })
}

/** Returns the newest of the `added` rates that the checks have not accepted. */
function newestUnconfirmed(
  { dates, columns, priced }: MarketHistory,
  accepted: MarketHistory,
): Record<string, number> {
  const newest = [...columns].map(([code, column]) => {
    const row = column.findLastIndex((quote) => !Number.isNaN(quote))
    const isAccepted = row < 0 || ratesOf(accepted, dates[row] ?? '').has(code)
    const { [row]: quote = NaN } = column
    return [code, isAccepted ? NaN : priced?.has(code) ? 1 / quote : quote] as const
  })
  return Object.fromEntries(newest.filter(([, rate]) => !Number.isNaN(rate)))
}

export async function acceptDays(
  { runtime, emit }: SourcesOptions,
  { attribution }: HistoryProvider,
  { signal, now }: ProviderContext,
  published: unknown,
): Promise<MarketHistory> {
  // A response that arrives too late is discarded, and emits no events.
  signal.throwIfAborted()
  const checks = validateHistoryInSlices(published, now())
  const { data, dropped } = await runInSlices(checks, runtime.yieldToEventLoop, signal)
  const about = { dataSet: 'history', provider: attribution.name } as const
  if (dropped.length > 0) emit({ type: 'rates_dropped', ...about, dropped })
  return data
}

/** The stored form of a snapshot: `{"attribution":{…},"start":"1999-01-04","base":"EUR","days":[…]}`. */
const SNAPSHOT: LongJson = {
  opening: '"days":[',
  closing: ']}',
  itemsOf: (data) => Object(data).days,
  withItems: (data, parts) => ({ ...Object(data), days: parts.flat() }),
}

/** Five years of days are serialized at once; more in slices of this size, a few ms each. */
const DAYS_AT_ONCE = 2_000
const DAYS_PER_SLICE = 500

function* snapshotJson({
  history,
  attribution,
  servedBy,
  start,
  end,
  doubtfulSince,
}: HistorySnapshot): Slices<string> {
  const { length } = history.dates
  const isLong = length > DAYS_AT_ONCE
  const perSlice = isLong ? DAYS_PER_SLICE : DAYS_AT_ONCE
  const parts: string[] = []
  for (let first = 0; first < length; first += perSlice) {
    if (isLong) yield
    const days = marketDays(history, first, first + perSlice)
    const plain = days.map(({ date, rates }) => {
      const tableNumber = history.tableNumbers?.get(date)
      const derived = history.derived?.get(date)
      return { date, tableNumber, derived, ...quotesOf(rates, history.priced) }
    })
    parts.push(JSON.stringify(plain).slice(1, -1))
  }
  const { base } = history
  const head = JSON.stringify({ attribution, servedBy, start, end, doubtfulSince, base })
  return `${head.slice(0, -1)},"days":[${parts.join()}]}`
}

function quotesOf(
  rates: ReadonlyMap<string, number>,
  priced: ReadonlySet<string> | undefined,
): { rates: Record<string, number>; prices?: Record<string, number> } {
  if (!priced) return { rates: Object.fromEntries(rates) }
  const [direct, prices] = [true, false].map((isDirect) =>
    Object.fromEntries([...rates].filter(([code]) => priced.has(code) !== isDirect)),
  )
  return { rates: direct ?? {}, prices: prices ?? {} }
}
