import { mergeHistories } from '../rates/market-history.ts'
import type { MarketHistory } from '../rates/market-history.ts'
import type { HistoryNeed, HistorySnapshot } from './history.ts'
import type { Plan } from './piece-plans.ts'
import { awaitedDay, described } from './publication.ts'
import type { PublicationContext } from './publication.ts'

const MAX_VIEWS = 64
const MAX_VARIANTS = 1_000

export interface Part {
  plan: Plan
  history: MarketHistory
}

export interface Views {
  /** Returns the same object for the same pieces and need, so that responses stay cached. */
  view(
    need: HistoryNeed,
    parts: readonly Part[],
    newest: HistorySnapshot,
    isIncomplete: boolean,
  ): HistorySnapshot
}

interface View {
  parts: ReadonlyMap<string, MarketHistory>
  /** The days of all parts. */
  history: MarketHistory | undefined
  newest: HistorySnapshot
  joined: HistorySnapshot
  variants: Map<string, HistorySnapshot>
}

/** One join of pieces serves every need for them: its currencies are chosen later. */
export function createViews(context: PublicationContext): Views {
  const views = new Map<string, View>()

  function viewOf(parts: readonly Part[], newest: HistorySnapshot): View {
    // All series are in one view, which grows.
    const isSeries = parts[0]?.plan.kind === 'series'
    const key = isSeries ? 'series' : parts.map(({ plan }) => plan.id).join()
    const known = views.get(key)
    const [only] = parts
    const isSame = parts.length === 1 && only && known?.parts.get(only.plan.id) === only.history
    // Nearly always, of many rows.
    if (isSame && known?.newest === newest) return known
    const changed = parts.filter(({ plan, history }) => known?.parts.get(plan.id) !== history)
    if (known?.newest === newest && changed.length === 0) return known
    const all = new Map([
      ...(known?.parts ?? []),
      ...parts.map(({ plan, history }) => [plan.id, history] as const),
    ])
    const isOnlyMore = changed.every(({ plan }) => !known?.parts.has(plan.id))
    const added = changed.map(({ history }) => history)
    const histories = known?.history && isOnlyMore ? [known.history, ...added] : [...all.values()]
    const history = histories.length > 1 ? mergeHistories(histories) : histories[0]
    const joined = described(context, {
      ...newest,
      ...(history && { history: mergeHistories([history, newest.history]) }),
      start: parts.map(({ plan }) => plan.start).sort()[0] ?? newest.start,
    })
    const view = { parts: all, history, newest, joined, variants: new Map() }
    views.delete(key)
    views.set(key, view)
    for (const oldest of views.keys()) {
      if (views.size <= MAX_VIEWS) break
      views.delete(oldest)
    }
    return view
  }

  return {
    view({ codes, whole }, parts, newest, isIncomplete) {
      const needed = context.isDeclared && !whole && codes.length > 0 ? codes : undefined
      if (parts.length === 0 && !needed) return newest
      const { joined, variants } = viewOf(parts, newest)
      if (!needed && !isIncomplete) return joined
      const key = `${needed?.join() ?? ''} ${isIncomplete}`
      const known = variants.get(key)
      if (known) return known
      if (variants.size >= MAX_VARIANTS) variants.clear()
      const about = aboutCodes(context, withCorrections(context, joined.history, needed), needed)
      const variant = { ...joined, ...about, needed, isIncomplete }
      variants.set(key, variant)
      return variant
    },
  }
}

/**
 * Monthly and quarterly rates are corrected in between: on the day of a correction of one of `codes`, the others have their
 * rates of the last whole table.
 */
function withCorrections(
  { frequency, calendar }: PublicationContext,
  history: MarketHistory,
  codes: readonly string[] = [],
): MarketHistory {
  const { dates, columns } = history
  if (frequency === 'daily' || frequency === 'weekly' || codes.length < 2) return history
  const isWhole = dates.map(calendar.isPublished)
  const quotes = codes.flatMap((code) => columns.get(code) ?? [])
  const isCorrected = dates.map((_date, row) =>
    quotes.some((column) => !isWhole[row] && !Number.isNaN(column[row])),
  )
  const filled = codes.map((code) => {
    let last = NaN
    const column = columns.get(code)?.map((quote, row) => {
      if (isWhole[row] || !Number.isNaN(quote)) last = quote
      return isCorrected[row] ? last : quote
    })
    return [code, column ?? new Float64Array()] as const
  })
  return { ...history, columns: new Map([...columns, ...filled]) }
}

/** Adds an empty column for each code that has no rate in the days: it may have some on others. */
function aboutCodes(
  context: PublicationContext,
  history: MarketHistory,
  codes: readonly string[] = [],
): Pick<HistorySnapshot, 'history' | 'awaited'> {
  const awaited = awaitedDay(context, history, codes)
  const missing = codes.filter((code) => !history.columns.has(code))
  if (missing.length === 0) return { history, awaited }
  const empty = missing.map((code) => [code, new Float64Array()] as const)
  return { history: { ...history, columns: new Map([...history.columns, ...empty]) }, awaited }
}
