import type { RequestOptions } from '../cache/read-through.ts'
import { DAY_MS } from '../rates/dates.ts'
import type { DaySpan } from '../rates/dates.ts'
import type { MarketHistory } from '../rates/market-history.ts'
import {
  findDisagreements,
  findDisagreementsOfTable,
  gapsIn,
  withoutYears,
} from '../rates/seams.ts'
import type { Disagreements, YearOfCode } from '../rates/seams.ts'
import type { HistoryNeed, HistorySnapshot } from './history.ts'
import { concernsOnePiece } from './load-queue.ts'
import { providerOf } from './newest-days.ts'
import { loadAgain } from './piece.ts'
import type { Piece, PieceMap, Verdict } from './piece.ts'
import { neighboursOf, seriesPlan } from './piece-plans.ts'
import type { Neighbours, Plan } from './piece-plans.ts'
import type { PublicationContext } from './publication.ts'

export interface Verdicts {
  of(piece: Piece, value: HistorySnapshot, newest: MarketHistory): Verdict
  /**
   * Loads the neighbours that may confirm a doubtful piece, then the piece itself, where that was not done lately. What is
   * still wrong then is an event.
   */
  settle(
    piece: Piece,
    need: HistoryNeed,
    newest: MarketHistory,
    request: RequestOptions,
  ): Promise<void>
}

/** Returns what is wrong with the rates that `need` needs. Neighbours that are not there confirm nothing, once it `isSettled`. */
export function problemIn(
  { doubted, unconfirmed, gaps }: Verdict,
  { codes, since = '', until = '9999', whole }: HistoryNeed,
  isSettled: boolean,
): string | undefined {
  const isAny = whole === 'day' || (whole === 'range' && codes.length === 0)
  const isNeeded = ({ code, year }: YearOfCode): boolean =>
    year >= since.slice(0, 4) &&
    year <= until.slice(0, 4) &&
    (isAny || codes.some((each) => each.toUpperCase() === code))
  const wrong = doubted.find(isNeeded) ?? (isSettled ? undefined : unconfirmed.find(isNeeded))
  if (wrong) return `${wrong.code} of ${wrong.year} disagrees with the rates before and after`
  const gap = gaps.find(({ start, end }) => end >= since && start <= until)
  return gap && `no rates from ${gap.start} to ${gap.end}`
}

export function createVerdicts(context: PublicationContext, pieces: PieceMap): Verdicts {
  const { providers, daysBack } = context

  /** Rates that are doubted after all do not confirm others. */
  function believed(plan: Plan | undefined): MarketHistory | undefined {
    const piece = plan && pieces.get(plan.id)
    const value = plan && pieces.valueOf(plan)
    return piece?.settled === value ? (piece?.verdict?.history ?? value?.history) : value?.history
  }

  function verdictOf(piece: Piece, value: HistorySnapshot, newest: MarketHistory): Verdict {
    const [earlier, later] = around(context, piece, newest)
    const before = believed(earlier)
    const after = later ? believed(later) : newest
    const inputs = [value, before, after, newest, piece.settled]
    const known = piece.verdict
    if (known && inputs.every((each, index) => each === known.inputs[index])) return known
    const { history } = value
    // Only what a real market has published has to look like one.
    const isReal = providerOf(providers, value)?.sanityChecks
    const find = (): Disagreements =>
      piece.kind === 'table'
        ? findDisagreementsOfTable(history, newest, (code) => seriesOf(code, newest))
        : findDisagreements(history, { before, after, newest }, daysBack * 2)
    const found = isReal ? find() : { doubted: [], unconfirmed: [] }
    const gaps = isReal && piece.kind !== 'table' ? gapsOf(context, piece, value) : []
    const left = withoutYears(history, found.doubted)
    return (piece.verdict = { ...found, inputs, gaps, history: left })
  }

  function seriesOf(code: string, newest: MarketHistory): MarketHistory | undefined {
    const series = pieces.get(code)
    const value = series?.cached.value()
    return series && value && verdictOf(series, value, newest).history
  }

  return { of: verdictOf, settle: createSettle(context, pieces, verdictOf) }
}

function createSettle(
  context: PublicationContext,
  pieces: PieceMap,
  verdictOf: Verdicts['of'],
): Verdicts['settle'] {
  const { options, since, id } = context

  /** The pieces that may confirm one. */
  function confirming(piece: Piece, newest: MarketHistory): (Plan | undefined)[] {
    if (piece.kind !== 'table') return around(context, piece, newest).toReversed()
    return (piece.verdict?.unconfirmed ?? []).map(({ code }) => seriesPlan(code, since, since))
  }

  function report(piece: Piece, problem = ''): void {
    if (problem !== '' && problem !== piece.reported) {
      const provider = piece.settled?.attribution.name ?? ''
      const about = { provider, publication: id, piece: piece.id, reason: problem }
      options.emit({ type: 'history_incomplete', dataSet: 'history', ...about })
    }
    piece.reported = problem
  }

  return async (piece, need, newest, request) => {
    const problem = (isSettled: boolean): string | undefined => {
      const value = pieces.valueOf(piece)
      return value && problemIn(verdictOf(piece, value, newest), need, isSettled)
    }
    for (const plan of confirming(piece, newest)) {
      // Neighbours do not fill a gap.
      if (!plan || pieces.valueOf(plan) || !problem(false)?.includes('disagrees')) continue
      // Without a neighbour that is only late, nothing is known.
      if (!(await isLoadedOrAbsent(pieces.of(plan), request))) return
    }
    // Of a table, more is known now.
    delete piece.verdict
    if (problem(true) !== undefined) await loadAgain(piece, request)
    const left = problem(true)
    piece.settled = pieces.valueOf(piece)
    if (left === undefined) piece.retry.reset()
    report(piece, left)
  }
}

/** Computed once: many rows need the same pieces. */
function around(context: PublicationContext, piece: Piece, newest: MarketHistory): Neighbours {
  const firstKept = newest.dates[0] ?? ''
  if (piece.around?.firstKept !== firstKept) {
    piece.around = { firstKept, neighbours: neighboursOf(context, piece, firstKept) }
  }
  return piece.around.neighbours
}

async function isLoadedOrAbsent({ cached }: Piece, request: RequestOptions): Promise<boolean> {
  try {
    await cached.get(request)
    return true
  } catch (error) {
    return concernsOnePiece(error)
  }
}

/** Before and after its days, a series may have none: the currency was introduced, or withdrawn. */
function gapsOf(
  { calendar, frequency, since, lag }: PublicationContext,
  { kind }: Plan,
  { history, start, end = start }: HistorySnapshot,
): DaySpan[] {
  const [first = end, last = end] = [history.dates[0], history.dates.at(-1)]
  const whole = { start: start < since ? since : start, end }
  const days = kind === 'series' ? { start: first, end: last } : whole
  const late = Math.ceil(lag / DAY_MS) + 1
  return gapsIn(history.dates, days, calendar, { frequency, late })
}
