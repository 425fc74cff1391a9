import { runInBackground } from '../async.ts'
import type { CacheResult, RequestOptions } from '../cache/read-through.ts'
import { UnavailableError } from '../cache/refresh.ts'
import { spansOf } from '../rates/market-history.ts'
import type { MarketHistory } from '../rates/market-history.ts'
import type { HistoryNeed, HistorySnapshot, Span } from './history.ts'
import { UNSETTLED_MS, createPieceMap, loadAgain } from './piece.ts'
import type { PieceMap } from './piece.ts'
import { plansFor } from './piece-plans.ts'
import type { Plan } from './piece-plans.ts'
import { createVerdicts, problemIn } from './piece-verdicts.ts'
import type { Verdicts } from './piece-verdicts.ts'
import { createViews } from './piece-views.ts'
import type { Part } from './piece-views.ts'
import { continues, isGap } from './publication.ts'
import type { PublicationContext } from './publication.ts'

/** The days before the newest ones, in pieces that are loaded when they are first needed. */
export interface Pieces {
  /** Returns the rates in memory, undefined where pieces have to be loaded. */
  find(
    need: HistoryNeed,
    newest: CacheResult<HistorySnapshot>,
  ): CacheResult<HistorySnapshot> | undefined
  /** @throws {UnavailableError} where one cannot be loaded */
  load(need: HistoryNeed, newest: HistorySnapshot, client: object): Promise<void>
  spans(): ReadonlyMap<string, Span>
  close(): void
}

export function createPieces(context: PublicationContext): Pieces {
  const { options, since } = context
  const pieces = createPieceMap(context)
  const verdicts = createVerdicts(context, pieces)
  const views = createViews(context)
  const loadPlans = createLoader(context, pieces, verdicts)

  function plansAt(need: HistoryNeed, { history }: HistorySnapshot): Plan[] {
    pieces.setNewest(history)
    return plansFor(context, need, history)
  }

  return {
    find(need, newest) {
      const { value } = newest
      let isIncomplete = false
      const parts: Part[] = []
      for (const plan of plansAt(need, value)) {
        const piece = pieces.get(plan.id)
        // A refresh that is due begins.
        const part = piece?.cached.current()?.value
        if (!piece || !part || !isUsable(context, pieces, plan, value.history)) return undefined
        const verdict = verdicts.of(piece, part, value.history)
        const isSettled = piece.settled === part
        if (problemIn(verdict, need, isSettled) !== undefined) {
          if (!isSettled) return undefined
          runInBackground(loadAgain(piece), options.waitUntil)
          isIncomplete = true
        }
        parts.push({ plan, history: verdict.history })
        if (plan.kind === 'table' && part.history.dates.length > 0) break
      }
      return { ...newest, value: views.view(need, parts, value, isIncomplete) }
    },
    async load(need, newest, client) {
      await loadPlans(plansAt(need, newest), {
        need,
        newest: newest.history,
        request: { owner: client },
      })
    },
    spans() {
      const whole = pieces.values().filter(({ start }) => start <= since)
      return new Map(whole.flatMap(({ history }) => [...spansOf(history)]))
    },
    close: pieces.close,
  }
}

/** Whether a value can be joined with the newest days. A day without rates may be a holiday, or late. */
function isUsable(
  { calendar }: PublicationContext,
  pieces: PieceMap,
  plan: Plan,
  newest: MarketHistory,
): boolean {
  const value = pieces.valueOf(plan)
  if (!value || value.start > plan.start || !continues(newest, value.history)) return false
  if (plan.start === plan.end) {
    return value.history.dates.length > 0 || pieces.get(plan.id)?.cached.state().stale === false
  }
  // Days between the piece and the newest ones must not be missing.
  return (value.end ?? '') >= plan.needed || !isGap(calendar, value.end, newest.dates[0] ?? '')
}

interface Loading {
  need: HistoryNeed
  newest: MarketHistory
  request: RequestOptions
}

function createLoader(
  context: PublicationContext,
  pieces: PieceMap,
  verdicts: Verdicts,
): (plans: readonly Plan[], loading: Loading) => Promise<void> {
  /** Returns the piece, once what is wrong with it is settled. */
  async function load(plan: Plan, { need, newest, request }: Loading): Promise<HistorySnapshot> {
    const piece = pieces.of(plan)
    await piece.cached.get(request)
    if (!isUsable(context, pieces, plan, newest)) await loadAgain(piece, request)
    const value = pieces.valueOf(plan)
    if (!value || !isUsable(context, pieces, plan, newest)) {
      throw new UnavailableError(UNSETTLED_MS, new Error(`no days after ${value?.end}`))
    }
    if (problemIn(verdicts.of(piece, value, newest), need, false) === undefined) piece.retry.reset()
    else await verdicts.settle(piece, need, newest, request)
    return value
  }

  return async (plans, loading) => {
    if (plans[0]?.kind !== 'table') {
      await Promise.all(plans.map((plan) => load(plan, loading)))
      return
    }
    // The nearest day with rates is enough.
    for (const plan of plans) if ((await load(plan, loading)).history.dates.length > 0) return
  }
}
