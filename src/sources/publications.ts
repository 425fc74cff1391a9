import { TimeoutError, withTimeout } from '../async.ts'
import type { CacheResult } from '../cache/read-through.ts'
import { REQUEST_TIMEOUT_MS, UnavailableError } from '../cache/refresh.ts'
import { RatesError } from '../errors.ts'
import { groupsOf } from '../rates/calendar.ts'
import { ECB_ID, FIRST_REFERENCE_DAY, addDays, newestPublishedDay } from '../rates/dates.ts'
import type { Day } from '../rates/dates.ts'
import { rowsOf, spansOf } from '../rates/market-history.ts'
import type { MarketHistory } from '../rates/market-history.ts'
import type {
  DefaultHistory,
  Histories,
  HistoryNeed,
  HistorySnapshot,
  PublicationState,
  Span,
} from './history-source.ts'
import { membersOf } from './history-source.ts'
import { createPublicationSource } from './publication-source.ts'
import type { References, SourcesOptions } from './source.ts'

export interface SharedWithSources {
  createDefault(given: SourcesOptions): DefaultHistory
  throwUnavailable(error: unknown): never
}

interface Member extends DefaultHistory {
  id: string
  isLate(): boolean
  spans: PublicationState['spans']
}

/** Providers without a declared publication have the rates of the European Central Bank, by `createDefault`. */
export function joinPublications(
  options: SourcesOptions,
  references: References,
  { createDefault, throwUnavailable }: SharedWithSources,
): Histories {
  const { runtime, historyProviders } = options
  const shared = { references, throwUnavailable, paces: new Map() }
  const members = groupsOf(historyProviders).map(({ id, providers }): Member => {
    const given = { ...options, historyProviders: providers }
    const [{ publication } = {}] = providers
    if (!publication) return referenceRates(createDefault(given), options)
    return { ...createPublicationSource(given, publication, shared), id }
  })

  async function waitFor<Value>(load: Promise<Value>, limit: number): Promise<Value> {
    return withTimeout(runtime, limit, load).catch((error: unknown) => {
      if (!(error instanceof TimeoutError)) throw error
      return throwUnavailable(new UnavailableError(REQUEST_TIMEOUT_MS, error))
    })
  }

  return {
    async use(need, request, use) {
      const deadline = runtime.monotonic() + REQUEST_TIMEOUT_MS
      let failure: RatesError | undefined
      const chosen = membersOf(members, need.source)
      for (const [index, member] of chosen.entries()) {
        // The other publications need time to be asked, too.
        const limit = (deadline - runtime.monotonic()) / (chosen.length - index)
        let found: CacheResult<HistorySnapshot> | undefined
        try {
          const load = member.get(need, request)
          found = load instanceof Promise ? await waitFor(load, limit) : load
          // Without the cost of an error.
          const isSkipped = index < chosen.length - 1 && !hasCodes(found.value.history, need.codes)
          if (!isSkipped) return await use(found)
        } catch (error) {
          failure = laterInList(failure, error)
          if (request?.signal?.aborted || isClosed(failure, found?.value, need)) break
        }
      }
      throw failure
    },
    state: () => members[0]?.state(),
    publications: () => members.map(stateOf),
    async load(request) {
      await Promise.allSettled(members.map(async ({ get }) => get({ codes: [] }, request)))
    },
    refresh: async () => void (await Promise.all(members.map((member) => member.refresh()))),
    close() {
      for (const member of members) member.close()
    },
  }
}

function stateOf({ state, isLate, spans }: Member): PublicationState {
  return { newest: state(), isLate: isLate(), spans }
}

/** Missing rates of the European Central Bank count as late after a day. */
const LAG_MS = 86_400_000

/** Days that the European Central Bank quoted currencies, where they are not all since 1999. */
const REFERENCE_SPANS = [
  'BGN 2000-07-19 2025-12-31, BRL 2008-01-02, CNY 2005-04-01, CYP 1999-01-04 2007-12-31, EEK 1999-01-04 2010-12-31',
  'HRK 2005-04-01 2022-12-30, IDR 2005-04-01, ILS 2011-01-03, INR 2009-01-02, LTL 1999-01-04 2014-12-31',
  'LVL 1999-01-04 2013-12-31, MTL 1999-01-04 2007-12-31, MXN 2008-01-02, MYR 2005-04-01, PHP 2005-04-01',
  'ROL 1999-01-04 2005-06-30, RON 2005-07-01, RUB 2005-04-01 2022-03-01, SIT 1999-01-04 2006-12-29',
  'SKK 1999-01-04 2008-12-31, THB 2005-04-01, TRL 1999-01-04 2004-12-31, TRY 2005-01-03',
].flatMap((line) => line.split(', '))

function referenceRates(history: DefaultHistory, { runtime }: SourcesOptions): Member {
  return {
    ...history,
    id: ECB_ID,
    isLate() {
      const last = history.state().value?.history.dates.at(-1)
      return last !== undefined && last < newestPublishedDay(runtime.now() - LAG_MS)
    },
    spans() {
      const { value } = history.state()
      if (!value) return new Map()
      const spans = new Map<string, Span>()
      for (const [code, { to }] of spansOf(value.history)) {
        spans.set(code, { from: FIRST_REFERENCE_DAY, to })
      }
      for (const line of REFERENCE_SPANS) {
        const [code = '', from = '', ended] = line.split(' ')
        const to = spans.get(code)?.to ?? ended ?? null
        spans.set(code, { from, to })
      }
      return spans
    },
  }
}

function hasCodes({ base, columns }: MarketHistory, codes: readonly string[]): boolean {
  return codes.every((code) => {
    const known = code.toUpperCase()
    return known === base || columns.has(known)
  })
}

/** The most days around a requested day in which a publication in progress has some. */
const DAYS_AROUND = 14

/**
 * Returns whether a publication with the requested codes was closed, or its rule or age excludes its days: then no other one
 * takes its place. Where it was open and did not quote a code, another one may.
 */
function isClosed(
  error: RatesError,
  snapshot: HistorySnapshot | undefined,
  need: HistoryNeed,
): boolean {
  const { since, until = snapshot?.history.dates.at(-1) } = need.requested ?? need
  if (error.code !== 'no_data' || !snapshot || since === undefined || until === undefined) {
    return false
  }
  const countIn = (start: Day, end: Day): number => {
    const [first, last] = rowsOf(snapshot.history, start, end)
    return last - first
  }
  if (error.parameter !== 'date' && countIn(since, until) > 0) return false
  return countIn(addDays(since, -DAYS_AROUND), addDays(until, DAYS_AROUND)) > 0
}

/** Errors after which the next publication is asked; the later one in this list counts, if none has the rates. */
const MISSING = ['unsupported_currency', 'no_data', 'provider_unavailable']

function laterInList(one: RatesError | undefined, thrown: unknown): RatesError {
  if (!(thrown instanceof RatesError) || !MISSING.includes(thrown.code)) throw thrown
  return one && MISSING.indexOf(one.code) > MISSING.indexOf(thrown.code) ? one : thrown
}
