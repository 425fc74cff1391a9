import { assertKnownOptions } from '../known-options.ts'
import type { HistoryProvider, LatestProvider } from '../providers/provider.ts'
import type { ContractCase } from './contract-case.ts'
import { CALLS, OFFLINE } from './provider/call-rules.ts'
import type { Rule } from './provider/call-rules.ts'
import { HISTORY, historyOf } from './provider/history-rules.ts'
import { LATEST, latestOf } from './provider/latest-rules.ts'
import { openTrial } from './provider/trial.ts'
import type { Subject } from './provider/trial.ts'
import { REQUESTS } from './provider/upstream-rules.ts'
import type { UpstreamFetch } from './provider/upstream.ts'

export type { UpstreamFetch } from './provider/upstream.ts'

/** What the contract of providers is given: providers of latest rates, of history or of both, and their upstream. */
export interface ProviderContractOptions {
  /** Makes the provider of latest rates, a new one for every case (default none). */
  latest?: (() => LatestProvider | Promise<LatestProvider>) | undefined
  /** Makes the provider of history, a new one for every case (default none). */
  history?: (() => HistoryProvider | Promise<HistoryProvider>) | undefined
  /** Stands in for the upstream when all is well (default none, for providers that make no requests). */
  fetch?: UpstreamFetch | undefined
  /** The clock by which the upstream's answers are current, ms since the Unix epoch (default `Date.now`). */
  now?: (() => number) | undefined
}

/**
 * What every provider must do, one case each, for any test runner:
 * `for (const { name, run } of providerContract({ latest, fetch })) test(name, run)`.
 *
 * With `fetch` come the cases of what goes wrong on the way: the contract puts its disasters between the provider and
 * `fetch`, which is to answer what it is asked for, ranges of days too. A provider fails as it must if it rejects, and
 * also if it resolves to what the handler refuses. Runs by the machine's timers, for half a second.
 *
 * @throws {TypeError} where there is nothing that makes a provider
 */
export function providerContract(given: ProviderContractOptions): ContractCase[] {
  const { latest, history, fetch, now } = given
  assertKnownOptions(given, { latest, history, fetch, now })
  requireMakers({ latest, history })
  const ofLatest = latest && { create: latest, subjectOf: latestOf, own: LATEST }
  const ofHistory = history && { create: history, subjectOf: historyOf, own: HISTORY }
  return [
    ...(ofLatest ? casesOf('fetchLatest()', given, ofLatest) : []),
    ...(ofHistory ? casesOf('fetchHistory()', given, ofHistory) : []),
  ]
}

function requireMakers(makers: Record<string, unknown>): void {
  const given = Object.entries(makers).filter(([, maker]) => maker !== undefined)
  if (given.length === 0) throw new TypeError('providerContract takes latest, history or both')
  for (const [name, maker] of given) {
    if (typeof maker === 'function') continue
    throw new TypeError(`${name} must be a function that makes a provider`)
  }
}

/** A method of providers, and how it is tried. */
interface Method<Provider, Answer> {
  create: () => Provider | Promise<Provider>
  subjectOf(provider: Provider): Subject<Answer>
  /** What is asked of this method alone. */
  own: Record<string, Rule<Answer, Provider>>
}

function casesOf<Provider, Answer>(
  name: string,
  { fetch, now }: ProviderContractOptions,
  { create, subjectOf, own }: Method<Provider, Answer>,
): ContractCase[] {
  const rules = { ...CALLS, ...own, ...(fetch ? REQUESTS : OFFLINE) }
  return Object.entries(rules).map(([what, rule]) => ({
    name: `${name} ${what}`,
    async run() {
      const provider = await create()
      const trial = openTrial(subjectOf(provider), now, fetch)
      try {
        await rule(trial, provider)
      } finally {
        trial.end()
      }
    },
  }))
}
