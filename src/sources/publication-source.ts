import type { CacheResult } from '../cache/read-through.ts'
import { findWithdrawal } from '../rates/currency-code.ts'
import { DISCONTINUED_CODES, periodOf } from '../rates/dates.ts'
import { spansOf } from '../rates/market-history.ts'
import type { HistoryNeed, HistorySnapshot, PublicationSource, Span } from './history.ts'
import { createNewestDays } from './newest-days.ts'
import { createPieces } from './pieces.ts'
import type { PublicationContext } from './publication.ts'

export function createPublicationSource(context: PublicationContext): PublicationSource {
  const { id, since, isInOneCall, isDeclared } = context
  const newest = createNewestDays(context)
  const pieces = createPieces(context)

  function find(need: HistoryNeed): Found | undefined {
    const found = newest.current(isFinalFor(need))
    if (!found) return undefined
    const { value } = found
    // The days in memory have all currencies.
    const isInMemory = need.since === undefined || need.since >= value.start
    if (!isDeclared && isInOneCall && isInMemory) return found
    const known = isDeclared ? knownNeed(context, need, value) : need
    if (known) return pieces.find(known, found)
    if (need.codes.length === 0) return found
    const isIncomplete = need.codes.some((code) => value.unconfirmed?.[code.toUpperCase()])
    return { ...found, value: { ...value, isUnknown: true, isIncomplete } }
  }

  return {
    id,
    since,
    lacks(codes) {
      const value = newest.value()
      return value !== undefined && !codes.every((code) => isKnown(context, value, code))
    },
    find,
    async load(need, client) {
      const { value, hit } = newest.current(isFinalFor(need)) ?? (await newest.get())
      if (find(need)) return hit
      const known = isDeclared ? knownNeed(context, need, value) : need
      if (known) await pieces.load(known, value, client)
      return false
    },
    state: () => ({
      newest: newest.state(),
      spans: () => spansIn(context, newest.value(), pieces.spans()),
    }),
    refresh: newest.refresh,
    close() {
      newest.close()
      pieces.close()
    },
  }
}

/** Whether the requested days are published, so that later ones change nothing. */
function isFinalFor({ since, until, rule }: HistoryNeed): (value: HistorySnapshot) => boolean {
  const last = (rule === 'next' ? since : until) ?? '9999'
  return ({ history }) => last <= (history.dates.at(-1) ?? '')
}

type Found = CacheResult<HistorySnapshot>

/** Whether one of the newest days quotes a code, in either case, or earlier ones may. */
function isKnown(
  { since, isDeclared }: PublicationContext,
  { history }: HistorySnapshot,
  code: string,
): boolean {
  const { base, columns } = history
  const known = code.toUpperCase()
  if (known === base || columns.has(known)) return true
  if (!isDeclared) return DISCONTINUED_CODES.has(known)
  return (findWithdrawal(known)?.withdrawnAt ?? '') > since
}

/** Upper case, without the base; undefined without any needed code or with an unknown one, whose error lists the newest codes. */
function knownNeed(
  context: PublicationContext,
  need: HistoryNeed,
  value: HistorySnapshot,
): HistoryNeed | undefined {
  const known = new Set<string>()
  for (const code of need.codes) {
    if (!isKnown(context, value, code)) return undefined
    known.add(code.toUpperCase())
  }
  if (known.size === 0 && need.whole !== 'range') return undefined
  known.delete(value.history.base)
  const { rule, until } = need
  const end = until && rule === 'period-end' ? periodOf(until, context.periodMonths).last : until
  return { ...need, until: end, codes: [...known] }
}

/** Days that the European Central Bank quoted currencies, where they are not all since 1999. */
const REFERENCE_SPANS = [
  'BGN 2000-07-19 2025-12-31, BRL 2008-01-02, CNY 2005-04-01, CYP 1999-01-04 2007-12-31, EEK 1999-01-04 2010-12-31',
  'HRK 2005-04-01 2022-12-30, IDR 2005-04-01, ILS 2011-01-03, INR 2009-01-02, LTL 1999-01-04 2014-12-31',
  'LVL 1999-01-04 2013-12-31, MTL 1999-01-04 2007-12-31, MXN 2008-01-02, MYR 2005-04-01, PHP 2005-04-01',
  'ROL 1999-01-04 2005-06-30, RON 2005-07-01, RUB 2005-04-01 2022-03-01, SIT 1999-01-04 2006-12-29',
  'SKK 1999-01-04 2008-12-31, THB 2005-04-01, TRL 1999-01-04 2004-12-31, TRY 2005-01-03',
].flatMap((line) => line.split(', '))

function spansIn(
  { since, isDeclared }: PublicationContext,
  newest: HistorySnapshot | undefined,
  loaded: ReadonlyMap<string, Span> = new Map(),
): ReadonlyMap<string, Span> {
  const spans = new Map<string, Span>()
  if (!newest) return spans
  const from = isDeclared ? null : since
  for (const [code, { to }] of spansOf(newest.history)) spans.set(code, { from, to })
  spans.set(newest.history.base, {
    from: since,
    to: newest.newest ?? newest.history.dates.at(-1) ?? null,
  })
  for (const [code, { from, to }] of loaded) {
    spans.set(code, { from, to: spans.get(code)?.to ?? to })
  }
  for (const line of isDeclared ? [] : REFERENCE_SPANS) {
    const [code = '', from = '', ended] = line.split(' ')
    spans.set(code, { from, to: spans.get(code)?.to ?? ended ?? null })
  }
  return spans
}
