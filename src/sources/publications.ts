import { TimeoutError, withTimeout } from '../async.ts'
import { REQUEST_TIMEOUT_MS } from '../cache/refresh.ts'
import { RatesError } from '../errors.ts'
import type { HistoryProvider } from '../upstream/provider.ts'
import type { DefaultHistory, Histories } from './history-source.ts'
import { createPublicationSource } from './publication-source.ts'
import { throwUnavailable } from './source.ts'
import type { LatestSnapshot, SourcesOptions } from './source.ts'

interface Member extends DefaultHistory {
  isLate(): boolean
}

/**
 * Creates the history of several publications, each with its providers: those without a declared publication have the rates
 * of the European Central Bank, and `createDefault` creates their history.
 */
export function joinPublications(
  options: SourcesOptions,
  latest: () => LatestSnapshot | undefined,
  createDefault: (given: SourcesOptions) => DefaultHistory,
): Histories {
  const { runtime } = options
  const members = groupsOf(options.historyProviders).map((group): Member => {
    const given = { ...options, historyProviders: group }
    const publication = group[0]?.publication
    return publication
      ? createPublicationSource(given, publication, latest)
      : { ...createDefault(given), isLate: () => false }
  })

  return {
    async use(need, request, use) {
      let failure: unknown
      for (const [index, member] of members.entries()) {
        const others = members.length - index - 1
        try {
          const load = Promise.resolve(member.get(need, request))
          // The other publications need time to be asked, too.
          const limit = REQUEST_TIMEOUT_MS / (others + 1)
          return await use(others > 0 ? await withTimeout(runtime, limit, load) : await load)
        } catch (error) {
          failure = laterInList(failure, asRatesError(error))
        }
      }
      throw failure
    },
    state: () => members[0]?.state(),
    publications: () =>
      members.map((member) => ({ newest: member.state(), isLate: member.isLate() })),
    async refresh() {
      await Promise.all(members.map((member) => member.refresh()))
    },
    close() {
      for (const member of members) member.close()
    },
  }
}

/** Groups the providers of the same publication, in the order of the first of each. */
function groupsOf(providers: readonly HistoryProvider[]): HistoryProvider[][] {
  const groups = new Map<string | undefined, HistoryProvider[]>()
  for (const provider of providers) {
    const id = provider.publication?.id
    groups.set(id, [...(groups.get(id) ?? []), provider])
  }
  return [...groups.values()]
}

/** Errors after which the next publication is asked; the later one in this list counts, if none has the rates. */
const MISSING = ['unsupported_currency', 'no_data', 'provider_unavailable']

/** Throws errors that another publication cannot avert. */
function asRatesError(error: unknown): RatesError {
  if (error instanceof TimeoutError) return unavailableOf(error)
  if (error instanceof RatesError && MISSING.includes(error.code)) return error
  throw error
}

function unavailableOf(error: unknown): RatesError {
  try {
    return throwUnavailable(error)
  } catch (thrown) {
    if (thrown instanceof RatesError) return thrown
    throw thrown
  }
}

function laterInList(one: unknown, other: RatesError): RatesError {
  if (!(one instanceof RatesError)) return other
  return MISSING.indexOf(one.code) > MISSING.indexOf(other.code) ? one : other
}
