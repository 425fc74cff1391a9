import type { ContractCase } from '../../src/testing/contract.ts'
import { HEADERS, RECORDS, REFUSALS } from './mount-rules.ts'
import { openTrial } from './mount-trial.ts'
import type { MountContractOptions } from './mount-trial.ts'

export type { MountContractOptions } from './mount-trial.ts'

/**
 * Returns cases that check the responses of a mounted handler. They send a few hundred requests that change nothing; the
 * rates must not change meanwhile. Every case calls `open`.
 *
 * Cases fail if something in front of the handler changes responses, for example a router that decodes paths, a middleware
 * that adds CORS headers, or a framework that responds to `OPTIONS`. A host may redirect `//` and a trailing slash to the
 * correct path (301, 307 or 308), add `Accept-Encoding` to `Vary`, and reject methods other than `GET`, `HEAD` and `OPTIONS`
 * unless the content type is JSON.
 */
export function mountContract(
  open: () => MountContractOptions | Promise<MountContractOptions>,
): ContractCase[] {
  return Object.entries({ ...RECORDS, ...HEADERS, ...REFUSALS }).map(([name, rule]) => ({
    name,
    run: async () => rule(openTrial(await open())),
  }))
}
