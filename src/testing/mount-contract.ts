import type { ContractCase } from './contract.ts'
import { HEADERS, RECORDS, REFUSALS } from './mount-rules.ts'
import { openTrial } from './mount-trial.ts'
import type { MountContractOptions } from './mount-trial.ts'

export type { MountContractOptions } from './mount-trial.ts'

/**
 * Returns test cases, for any test runner, that check the responses of a mounted handler. They send a few hundred requests
 * that change nothing. The rates must not change meanwhile; `fakeProviders()` needs no network. Every case calls `open`.
 *
 * Cases fail if something in front of the handler changes responses, for example a router that decodes paths, a middleware
 * that adds CORS headers, or a framework that responds to `OPTIONS`. A host may redirect `//` and a trailing slash to the
 * correct path (301, 307 or 308), add `Accept-Encoding` to `Vary`, and reject methods other than `GET`, `HEAD` and `OPTIONS`
 * unless the content type is JSON.
 *
 * @throws {TypeError} when a case runs, for an unknown option that `open` returns
 *
 * @example
 * ```ts
 * import { test } from 'node:test'
 * import { mountContract } from 'ratesmith/testing'
 *
 * const cases = mountContract(() => ({ url: 'http://127.0.0.1:3000/api' }))
 * for (const { name, run } of cases) test(name, run)
 * ```
 */
export function mountContract(
  open: () => MountContractOptions | Promise<MountContractOptions>,
): ContractCase[] {
  return Object.entries({ ...RECORDS, ...HEADERS, ...REFUSALS }).map(([name, rule]) => ({
    name,
    run: async () => rule(openTrial(await open())),
  }))
}
