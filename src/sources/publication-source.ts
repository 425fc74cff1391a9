import { startDeadline } from '../cache/read-through.ts'
import type { CacheResult, RequestOptions } from '../cache/read-through.ts'
import type { Publication } from '../rates/calendar.ts'
import { findWithdrawal } from '../rates/currency-code.ts'
import { commonDays, mergeHistory, spansOf } from '../rates/market-history.ts'
import { createPieces } from './history-pieces.ts'
import type {
  DefaultHistory,
  HistoryNeed,
  HistorySnapshot,
  PublicationState,
  Span,
} from './history-source.ts'
import { continues, createNewestDays } from './newest-days.ts'
import { createPublicationContext, described, lateDay } from './publication.ts'
import type { Paces, PublicationContext } from './publication.ts'
import type { References, SourcesOptions } from './source.ts'

export interface PublicationSource extends DefaultHistory {
  spans: PublicationState['spans']
  /** Returns whether rates that were due `lag` ms ago are missing. */
  isLate(): boolean
}

const MAX_JOINED = 32

interface ReferencesAndErrors {
  references: References
  paces: Paces
  throwUnavailable(error: unknown): never
}

export function createPublicationSource(
  options: SourcesOptions,
  publication: Publication,
  { references, paces, throwUnavailable }: ReferencesAndErrors,
): PublicationSource {
  const context = createPublicationContext(options, publication, references, paces)
  const newest = createNewestDays(context)
  const pieces = createPieces(context)
  const join = createJoin(context)

  function findNow(found: Found, need: HistoryNeed): Found | undefined {
    const known = knownNeed(publication, need, found.value)
    if (!known) return unknown(found, need)
    const parts = pieces.find(known, found.value)
    return parts && { ...found, value: join(known, parts, found.value) }
  }

  async function load(need: HistoryNeed, request?: RequestOptions): Promise<Found> {
    const found = await newest.get(request)
    const known = knownNeed(publication, need, found.value)
    if (!known) return unknown(found, need)
    const parts = await pieces.load(known, found.value)
    return { ...found, value: join(known, parts, found.value), hit: false }
  }

  async function loadInTime(need: HistoryNeed, request?: RequestOptions): Promise<Found> {
    let found: Found | undefined
    const loading = async (): Promise<void> => {
      found = await load(need, request)
    }
    const waitFor = startDeadline(options.runtime, request, options.waitUntil)
    await waitFor(loading()).catch(throwUnavailable)
    return found ?? throwUnavailable(undefined)
  }

  return {
    get(need, request) {
      const found = newest.state().value ? newest.get(request) : undefined
      const known = found && !(found instanceof Promise) ? findNow(found, need) : undefined
      return known ?? loadInTime(need, request)
    },
    state: newest.state,
    refresh: newest.refresh,
    spans: () => spansIn(newest.state().value, publication, pieces.spans()),
    isLate() {
      const last = newest.state().value?.newest
      return last !== undefined && last < lateDay(context)
    },
    close() {
      newest.close()
      pieces.close()
    },
  }
}

function unknown(found: Found, { codes }: HistoryNeed): Found {
  return codes.length > 0 ? { ...found, value: { ...found.value, isUnknown: true } } : found
}

/** Upper case, without the base; undefined without codes or with an unknown one, whose error lists the newest codes. */
function knownNeed(
  { since }: Publication,
  need: HistoryNeed,
  { history }: HistorySnapshot,
): HistoryNeed | undefined {
  const { base, columns } = history
  const codes = [...new Set(need.codes.map((code) => code.toUpperCase()))]
  const isKnown = (code: string): boolean =>
    code === base || columns.has(code) || (findWithdrawal(code)?.withdrawnAt ?? '') > since
  if (codes.length === 0 || !codes.every(isKnown)) return undefined
  return { ...need, codes: codes.filter((code) => code !== base) }
}

type Found = CacheResult<HistorySnapshot>

function spansIn(
  newest: HistorySnapshot | undefined,
  { since }: Publication,
  loaded: ReadonlyMap<string, Span>,
): ReadonlyMap<string, Span> {
  const spans = new Map<string, Span>()
  if (!newest) return spans
  for (const [code, { to }] of spansOf(newest.history)) spans.set(code, { from: null, to })
  spans.set(newest.history.base, { from: since, to: newest.newest ?? null })
  for (const [code, { from, to }] of loaded)
    spans.set(code, { from, to: spans.get(code)?.to ?? to })
  return spans
}

type Join = (
  need: HistoryNeed,
  parts: readonly HistorySnapshot[],
  newest: HistorySnapshot,
) => HistorySnapshot

/** Creates a function that joins pieces; it returns the same object for the same pieces, so that responses stay cached. */
function createJoin(context: PublicationContext): Join {
  const kept = new Map<string, { inputs: HistorySnapshot[]; output: HistorySnapshot }>()
  return ({ codes: needed, isWhole }, parts, newest) => {
    const codes = isWhole ? undefined : needed
    const inputs = [...parts, newest]
    const key = `${codes?.toSorted().join() ?? 'all'} ${parts.map(({ start }) => start).join()}`
    const last = kept.get(key)
    kept.delete(key)
    const isSame =
      last?.inputs.length === inputs.length && inputs.every((each, at) => each === last.inputs[at])
    const output = isSame ? last.output : joined(context, codes, inputs)
    kept.set(key, { inputs, output })
    for (const oldest of kept.keys()) {
      if (kept.size <= MAX_JOINED) break
      kept.delete(oldest)
    }
    return output
  }
}

function joined(
  context: PublicationContext,
  codes: readonly string[] | undefined,
  inputs: readonly HistorySnapshot[],
): HistorySnapshot {
  const newest = inputs.at(-1)
  if (!newest) throw new Error('nothing to join')
  const histories = inputs
    .map(({ history }) => history)
    .filter((history) => continues(newest.history, history))
  const history = codes
    ? commonDays(histories, codes)
    : histories.reduce((before, after) => mergeHistory(before, after, ''))
  const start = inputs.map((each) => each.start).sort()[0] ?? newest.start
  return described(context, { ...newest, history, start })
}
