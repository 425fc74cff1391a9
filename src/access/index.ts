import { assertKnownOptions, assertOneOf, createClientAddress, requireFunctions } from '../core.ts'
import type { Access } from '../core.ts'
import type { RawRequest } from '../index.ts'
import type { Counters } from './counters.ts'
import { createGuard } from './guard.ts'
import { createKeyLookup } from './key-lookup.ts'
import type { KeyStore } from './keys.ts'
import { createLocalCounters, createMemoryCounters } from './memory.ts'
import { resolvePlans } from './plans.ts'
import type { Plan, ResolvedPlan } from './plans.ts'
import { createSafeCounters } from './safe-counters.ts'
import { createKeyReader } from './sent-key.ts'

export type { Access, Admission, Guard, GuardedRequest } from '../core.ts'
export type {
  Counters,
  CountersContext,
  Decision,
  Limit,
  LimitState,
  OpenCounters,
} from './counters.ts'
export { createKey, hashKey } from './keys.ts'
export type { KeyRecord, KeyStore } from './keys.ts'
export { createMemoryCounters } from './memory.ts'
export type { MemoryCountersOptions } from './memory.ts'
export type { Plan } from './plans.ts'

/** Options of `createAccess`. */
export interface AccessOptions {
  /** The limits of each plan, by name, as text such as `'600/min, 100000/month'`. */
  plans: Readonly<Record<string, Plan>>
  /** The plan of requests without a key, counted by client address, or `'refuse'` for a 401 (default `'refuse'`). */
  anonymous?: string | undefined
  /** Where keys are looked up (default: no keys). */
  keys?: KeyStore | undefined
  /**
   * Identifies the client of a request without a key, in at most 200 characters (default: its address, behind the
   * `trustedProxies` of the handler). Clients for which it throws share one limit.
   */
  client?: ((request: RawRequest) => string) | undefined
  /** Where requests are counted (default `createMemoryCounters()`). */
  counters?: Counters | undefined
  /**
   * What happens while `counters` fail: `'local'` counts in the memory of each process, `'allow'` counts nothing, `'refuse'`
   * responds with 503 (default `'local'`).
   */
  whenCountersFail?: 'local' | 'allow' | 'refuse' | undefined
  /** Bits of an IPv6 address that identify a client, from 32 to 128 (default 64). */
  ipv6Prefix?: number | undefined
  /** Query parameters in which a key may be sent: URLs are logged and cached, so that keys in them leak (default none). */
  queryParameters?: readonly string[] | undefined
}

/**
 * Creates the option `access` of `createRatesHandler`: requires keys, and limits the requests of each key or client address.
 *
 * @throws {TypeError} that names the invalid option
 * @example
 * ```ts
 * import { createRatesHandler } from 'ratesmith'
 * import { createAccess } from 'ratesmith/access'
 *
 * const handler = createRatesHandler({
 *   access: createAccess({ anonymous: 'public', plans: { public: '60/min' } }),
 * })
 * ```
 */
export function createAccess(options: AccessOptions): Access {
  const given: Partial<AccessOptions> = Object(options)
  const { plans: texts, anonymous = 'refuse', keys, client, counters } = given
  const { whenCountersFail = 'local', ipv6Prefix, queryParameters = [] } = given
  const rest = { keys, client, counters, whenCountersFail, ipv6Prefix, queryParameters }
  assertKnownOptions(options, { plans: texts, anonymous, ...rest })
  // Fails here instead of in createRatesHandler.
  createClientAddress({ ipv6Prefix })
  const plans = resolvePlans(texts)
  requireAnonymous(anonymous, plans, keys !== undefined)
  if (keys !== undefined) requireFunctions({ 'keys.find': keys?.find }, true)
  if (counters !== undefined) requireFunctions({ 'counters.open': counters?.open }, true)
  requireFunctions({ client })
  assertOneOf('whenCountersFail', whenCountersFail, ['local', 'allow', 'refuse'])
  requireQueryParameters(queryParameters)
  const keyOf = createKeyReader([...queryParameters])
  const shared = counters ? createSafeCounters(counters, whenCountersFail) : createMemoryCounters()
  const [attempts, failures] = [createLocalCounters(MAX_LOCAL), createLocalCounters(MAX_LOCAL)]
  const keyRules = { isOptional: plans.has(anonymous), queryParameters }
  return {
    createGuard(context) {
      const { runtime, emit, proxies, isParameter } = context
      const taken = queryParameters.find(isParameter)
      if (taken !== undefined) {
        const rule = 'not contain names that the API reads or refuses'
        throw new TypeError(`queryParameters must ${rule}, got ${taken}`)
      }
      const reportProxy = (): void => emit({ type: 'proxy_untrusted' })
      const guard = createGuard({
        anonymous: plans.get(anonymous),
        counters: shared.open(context),
        attempts: attempts.open(context),
        failures: failures.open(context),
        keyOf,
        keys: createKeyLookup(keys ?? { find: () => undefined }, plans, context),
        clientOf: client ?? createClientAddress({ ...proxies, ipv6Prefix }, reportProxy),
        emit,
        now: runtime.now,
      })
      return { keyRules, ...guard }
    },
  }
}

/** Clients of which 401s and errors of the server are counted one by one. */
const MAX_LOCAL = 100_000

function requireAnonymous(
  anonymous: unknown,
  plans: ReadonlyMap<string, ResolvedPlan>,
  hasKeys: boolean,
): void {
  const names = [...plans.keys()]
  if (names.some((name) => name === anonymous) || (anonymous === 'refuse' && hasKeys)) return
  const list = `the name of a plan (${names.join(', ')})`
  throw new TypeError(
    anonymous === 'refuse'
      ? `anonymous must be ${list} unless keys is given: all requests would be refused`
      : `anonymous must be 'refuse' or ${list}, got ${String(anonymous)}`,
  )
}

function requireQueryParameters(names: unknown): void {
  const fail = (expected: string, got: unknown): never => {
    throw new TypeError(`queryParameters must ${expected}, got ${String(got)}`)
  }
  if (!Array.isArray(names)) return fail('be an array of names', names)
  for (const name of names) {
    const isName = typeof name === 'string' && /^\w[\w-]{0,63}$/.test(name)
    if (!isName) fail('contain names of letters, digits, _ and -', name)
  }
}
