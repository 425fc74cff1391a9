import { assertKnownOptions } from '../known-options.ts'
import type { HistoryProvider, LatestProvider } from '../upstream/provider.ts'
import { show } from './contract.ts'
import type { ContractCase } from './contract.ts'
import { REQUESTS } from './provider-faults.ts'
import { CALLS, HISTORY, LATEST, OFFLINE, historyOf, latestOf } from './provider-rules.ts'
import type { Rule } from './provider-rules.ts'
import { openTrial } from './provider-trial.ts'
import type { Subject, UpstreamFetch } from './provider-trial.ts'

export type { UpstreamFetch } from './provider-trial.ts'

/** Options of `providerContract`: `latest`, `history` or both, and their upstream. */
export interface ProviderContractOptions {
  /** Creates the provider of latest rates, once per case (default: none). */
  latest?: (() => LatestProvider | Promise<LatestProvider>) | undefined
  /** Creates the provider of history, once per case (default: none). */
  history?: (() => HistoryProvider | Promise<HistoryProvider>) | undefined
  /** Simulates a healthy upstream (default: none, for providers that send no requests). */
  fetch?: UpstreamFetch | undefined
  /** Clock at which the responses of the upstream are current, in ms since the Unix epoch (default `Date.now`). */
  now?: (() => number) | undefined
}

/**
 * Returns test cases, for any test runner, that check what every provider must do.
 *
 * With `fetch` they include upstream failures, which the contract injects between the provider and `fetch`; `fetch` must
 * return what the provider requests, including ranges of days. In these cases the provider must reject, or resolve to data
 * that the handler rejects. The cases use real timers and take half a second.
 *
 * @throws {TypeError} for an unknown option, or without a function that creates a provider
 * @example
 * ```ts
 * import { readFile } from 'node:fs/promises'
 * import { test } from 'node:test'
 * import { createExchangeRateApiProvider } from 'ratesmith'
 * import { providerContract } from 'ratesmith/testing'
 *
 * const latest = () => createExchangeRateApiProvider()
 * const fetch = async () => new Response(await readFile('recorded.json', 'utf8'))
 * const now = () => Date.UTC(2026, 10, 20, 18) // the time of the recording
 * for (const { name, run } of providerContract({ latest, fetch, now })) test(name, run)
 * ```
 */
export function providerContract(given: ProviderContractOptions): ContractCase[] {
  const { latest, history, fetch, now } = given
  assertKnownOptions(given, { latest, history, fetch, now })
  requireMakers({ latest, history })
  const ofLatest = latest && { create: latest, subjectOf: latestOf, ownRules: LATEST }
  const ofHistory = history && { create: history, subjectOf: historyOf, ownRules: HISTORY }
  return [
    ...(ofLatest ? casesOf('fetchLatest()', given, ofLatest) : []),
    ...(ofHistory ? casesOf('fetchHistory()', given, ofHistory) : []),
  ]
}

function requireMakers(makers: Record<string, unknown>): void {
  const given = Object.entries(makers).filter(([, maker]) => maker !== undefined)
  if (given.length === 0) throw new TypeError('providerContract requires latest, history or both')
  for (const [name, maker] of given) {
    if (typeof maker === 'function') continue
    throw new TypeError(`${name} must be a function that returns a provider, got ${show(maker)}`)
  }
}

interface Method<Provider, Data> {
  create: () => Provider | Promise<Provider>
  subjectOf(provider: Provider): Subject<Data>
  ownRules: Record<string, Rule<Data, Provider>>
}

function casesOf<Provider, Data>(
  method: string,
  { fetch, now }: ProviderContractOptions,
  { create, subjectOf, ownRules }: Method<Provider, Data>,
): ContractCase[] {
  const rules = { ...CALLS, ...ownRules, ...(fetch ? REQUESTS : OFFLINE) }
  return Object.entries(rules).map(([name, rule]) => ({
    name: `${method} ${name}`,
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
