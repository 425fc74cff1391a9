import type { ContractCase } from './contract-case.ts'
import { HEADERS } from './mount/headers.ts'
import { RECORDS } from './mount/records.ts'
import { REFUSALS } from './mount/refusals.ts'
import { openTrial } from './mount/trial.ts'
import type { Mount } from './mount/trial.ts'

export type { Mount } from './mount/trial.ts'

/**
 * What a handler must answer wherever it is mounted, one case each, for any test runner:
 * `for (const { name, run } of mountContract(() => ({ url }))) test(name, run)`.
 *
 * Some hundred requests, none of which changes anything. The rates may be any that do not change meanwhile, but the
 * synthetic ones of `fakeProviders()` need no network. A mount that fails a case has something in front of the handler:
 * a router that decodes paths, a middleware that adds CORS headers, a framework that answers `OPTIONS` itself.
 */
export function mountContract(open: () => Mount | Promise<Mount>): ContractCase[] {
  return Object.entries({ ...RECORDS, ...HEADERS, ...REFUSALS }).map(([name, rule]) => ({
    name,
    run: async () => rule(openTrial(await open())),
  }))
}
