import { sleep } from '../async.ts'
import type { Runtime } from '../async.ts'
import { DAYS_BACK, createCalendar, daysFrom } from '../rates/calendar.ts'
import type { Publication } from '../rates/calendar.ts'
import { findSuccession } from '../rates/currency-code.ts'
import {
  DAY_MS,
  ECB_CALENDAR,
  ECB_ID,
  FIRST_REFERENCE_DAY,
  addDays,
  nextPublication,
  piecesOf,
} from '../rates/dates.ts'
import type { Calendar, Day, DaySpan } from '../rates/dates.ts'
import {
  DayRates,
  mergeHistories,
  rowByRule,
  turnedCodes,
  withLegalRatios,
} from '../rates/market-history.ts'
import type { MarketHistory } from '../rates/market-history.ts'
import type { CodedPublications } from '../rates/rate-table.ts'
import { RejectedError } from '../rates/validate.ts'
import type { Attribution, HistoryProvider, ProviderContext } from '../upstream/provider.ts'
import { acceptDays, createChecks } from './history.ts'
import type { Checks, HistorySnapshot } from './history.ts'
import type { References, SourcesOptions } from './source.ts'

/** Time between the starts of two calls of a host, in ms. */
export const CALL_GAP_MS = 200

export interface PublicationContext {
  options: SourcesOptions
  /** In order of preference; all publish the same rates. */
  providers: readonly HistoryProvider[]
  id: string
  /** Whether a provider declares the publication: else it is that of the European Central Bank. */
  isDeclared: boolean
  frequency: Publication['frequency']
  /** First day with rates. */
  since: Day
  calendar: Calendar
  /** Time after which missing rates are late, in ms. */
  lag: number
  daysBack: number
  periodMonths: number
  /** Whether one call returns any range of all currencies. */
  isInOneCall: boolean
  checks: Checks
  pace: Pace
}

/** Waits until the next call of a host may start; rejects with the reason of `signal` when it aborts. */
type Pace = (signal: AbortSignal) => Promise<void>

/** Publications of the same host share its pace. */
export function createPublicationContext(
  options: SourcesOptions,
  references: References,
  paces: Map<string, Pace>,
): PublicationContext {
  const { runtime, historyProviders: providers } = options
  const [first] = providers
  const declared = first?.publication
  const { frequency = 'daily', since = FIRST_REFERENCE_DAY, lag = DAY_MS } = declared ?? {}
  const { host } = new URL(first?.attribution.url ?? '')
  const pace = paces.get(host) ?? createPace(runtime)
  paces.set(host, pace)
  return {
    options,
    providers,
    id: declared?.id ?? ECB_ID,
    isDeclared: declared !== undefined,
    frequency,
    since,
    calendar: declared ? createCalendar(declared) : ECB_CALENDAR,
    lag,
    daysBack: DAYS_BACK[frequency],
    periodMonths: frequency === 'quarterly' ? 3 : 1,
    isInOneCall: first?.fetchSeries === undefined && (first?.maxDays ?? Infinity) === Infinity,
    checks: createChecks(options, references, declared?.id ?? ECB_ID),
    pace,
  }
}

/** Returns the snapshot with what a declared publication has besides its days, and with the day that comes next. */
export function described(context: PublicationContext, snapshot: HistorySnapshot): HistorySnapshot {
  const { isDeclared, id, frequency, calendar, daysBack, periodMonths } = context
  const { history } = snapshot
  const awaited = awaitedDay(context, history)
  if (!isDeclared) return { ...snapshot, awaited }
  const codes = snapshot.codes ?? [history.base, ...history.columns.keys()].sort()
  const newest = snapshot.newest ?? history.dates.at(-1)
  const isCorrected = frequency === 'monthly' || frequency === 'quarterly'
  const carriedTo = isCorrected ? (row: number) => carried(history, row, calendar) : undefined
  return { ...snapshot, id, calendar, codes, newest, daysBack, periodMonths, awaited, carriedTo }
}

/** Returns the next day after the newest one with all `codes`, in upper case; undefined where they are not quoted any more. */
export function awaitedDay(
  { calendar, daysBack }: PublicationContext,
  history: MarketHistory,
  codes?: readonly string[],
): Day | undefined {
  const last = history.dates.at(-1)
  const recent = last && { first: addDays(last, -2 * daysBack), last }
  // A missing day before a day with rates has none.
  let day = recent && history.dates[rowByRule(history, recent, 'on-or-before', codes)]
  do day &&= addDays(day, 1)
  while (day !== undefined && !calendar.isPublished(day))
  return day
}

/** Monthly and quarterly rates are corrected in between: the other rates are those of the last whole table. */
function carried(
  history: MarketHistory,
  last: number,
  calendar: Calendar,
): ReturnType<NonNullable<HistorySnapshot['carriedTo']>> {
  if (calendar.isPublished(history.dates[last] ?? '')) return undefined
  const rates = new Map<string, number>()
  const older: CodedPublications = {}
  const whole = history.dates.findLastIndex((day, row) => row < last && calendar.isPublished(day))
  for (let row = Math.max(0, whole); row <= last; row += 1) {
    const updatedAt = calendar.publishedAt(history.dates[row] ?? '')
    const times = { updatedAt, nextUpdateAt: nextPublication(updatedAt, calendar) }
    for (const [code, rate] of new DayRates(history, row)) {
      rates.set(code, rate)
      if (row < last) older[code] = times
      else delete older[code]
    }
  }
  return { rates, older }
}

/** Returns whether days due by the calendar are missing between two. */
export function isGap({ isPublished }: Calendar, last: Day | undefined, next: Day): boolean {
  return last === undefined || daysFrom(addDays(last, 1), addDays(next, -1)).some(isPublished)
}

/** Whether the days of two histories can be joined: their base and the directions of their quotes are the same. */
export function continues(previous: MarketHistory, added: MarketHistory): boolean {
  return previous.base === added.base && turnedCodes(previous, added).length === 0
}

export interface ProviderCall {
  provider: HistoryProvider
  call: ProviderContext
}

export type DayRange = DaySpan & { code?: string | undefined }

export interface FetchedDays {
  history: MarketHistory
  /** Source of the days, if not the provider's. */
  servedBy: Attribution | undefined
}

/**
 * Fetches days in as many calls as the provider needs, and validates them. With sanity checks, withdrawn currencies have their
 * legally fixed ratios.
 */
export async function fetchRange(
  context: PublicationContext,
  providerCall: ProviderCall,
  { code, ...range }: DayRange,
): Promise<FetchedDays> {
  const { options, isDeclared, pace } = context
  const { provider, call } = providerCall
  const { fetchSeries, maxDays = Infinity } = provider
  const histories: MarketHistory[] = []
  let servedBy: Attribution | undefined
  for (const span of code === undefined ? piecesOf(range, maxDays) : [range]) {
    if (isDeclared) await pace(call.signal)
    const published =
      code !== undefined && fetchSeries
        ? await fetchSeries.call(provider, { code, ...span }, call)
        : await provider.fetchHistory(span, call)
    const history = await acceptDays(options, provider, call, published)
    const isIn = history.dates.every((date) => date >= span.start && date <= span.end)
    if (isDeclared && !isIn) throw new RejectedError(`days outside of ${span.start} to ${span.end}`)
    histories.push(history)
    servedBy = published.attribution
  }
  const [only] = histories
  const history = only && histories.length === 1 ? only : mergeHistories(histories)
  if (!provider.sanityChecks) return { history, servedBy }
  const last = history.dates.at(-1) ?? ''
  const { successor } = (fetchSeries && code && findSuccession(code, last)) || {}
  if (successor === undefined || successor === history.base)
    return { history: withLegalRatios(history), servedBy }
  const others = await fetchRange(context, providerCall, { ...range, code: successor })
  return { history: withLegalRatios(history, others.history), servedBy }
}

function createPace(runtime: Runtime): Pace {
  let last: Promise<unknown> = Promise.resolve()
  let startedAt = -Infinity
  return (signal) => {
    const waitAfter = async (before: Promise<unknown>): Promise<void> => {
      await before
      for (;;) {
        signal.throwIfAborted()
        const wait = startedAt + CALL_GAP_MS - runtime.monotonic()
        if (wait <= 0) break
        await sleep(runtime, wait, signal)
      }
      startedAt = runtime.monotonic()
    }
    const turn = waitAfter(last)
    last = turn.catch(() => undefined)
    return turn
  }
}
