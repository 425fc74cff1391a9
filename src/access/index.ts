import type { RawRequest } from '../http/messages.ts'
import { assertKnownOptions, assertOneOf, requireFunctions } from '../known-options.ts'
import { createClientAddress } from './client-address.ts'
import type { AddressOptions } from './client-address.ts'
import type { Counters } from './counters.ts'
import { createGuard, policyOf } from './guard.ts'
import type { Access, ResolvedPlan } from './guard.ts'
import { createKeyLookup } from './key-lookup.ts'
import type { KeyStore } from './keys.ts'
import { createMemoryCounters } from './memory.ts'
import { limitsOf } from './plans.ts'
import type { Plan } from './plans.ts'
import { createKeyReader } from './sent-key.ts'
import { createSafeCounters } from './safe-counters.ts'

export type {
  Counters,
  CountersContext,
  Decision,
  Limit,
  LimitState,
  OpenCounters,
} from './counters.ts'
export type { Access } from './guard.ts'
export type { AddressOptions, ForwardedHeader } from './client-address.ts'
export type { Admission, Guard, GuardedRequest } from '../http/guard.ts'
export { createKey, hashKey } from './keys.ts'
export type { KeyRecord, KeyStore } from './keys.ts'
export { createMemoryCounters } from './memory.ts'
export type { MemoryCountersOptions } from './memory.ts'
export type { Plan } from './plans.ts'

/** Options of `createAccess`. */
export interface AccessOptions extends AddressOptions {
  /** The limits of each plan, by name, as text such as `'600/min, 100000/month'` or as an object. */
  plans: Readonly<Record<string, Plan | string>>
  /** The plan of requests without a key, counted by client address, or `'refuse'` for a 401 (default `'refuse'`). */
  anonymous?: string | undefined
  /** Where keys are looked up (default: no keys). */
  keys?: KeyStore | undefined
  /**
   * Identifies the client of a request without a key, in at most 200 characters (default: its address, see `trustedProxies`).
   * Clients for which it throws share one limit.
   */
  client?: ((request: RawRequest) => string) | undefined
  /** Where requests are counted (default `createMemoryCounters()`). */
  counters?: Counters | undefined
  /**
   * What happens while `counters` fail: `'local'` counts in the memory of each process, `'allow'` counts nothing, `'refuse'`
   * responds with 503 (default `'local'`).
   */
  whenCountersFail?: 'local' | 'allow' | 'refuse' | undefined
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
  assertKnownOptions(options, KNOWN)
  // Fails here instead of in createRatesHandler.
  createClientAddress(options)
  const { keys = NO_KEYS, anonymous = 'refuse', queryParameters = [] } = options
  const { counters, whenCountersFail = 'local' } = options
  const plans = resolvePlans(options.plans)
  requireAnonymous(anonymous, plans, options.keys !== undefined)
  requireFunctions({ 'keys.find': keys?.find }, true)
  if (counters !== undefined) requireFunctions({ 'counters.open': counters?.open }, true)
  requireFunctions({ client: options.client })
  assertOneOf('whenCountersFail', whenCountersFail, ['local', 'allow', 'refuse'])
  requireQueryParameters(queryParameters)
  const keyOf = createKeyReader([...queryParameters])
  const safeCounters = counters
    ? createSafeCounters(counters, whenCountersFail)
    : createMemoryCounters()
  const keyRules = { isOptional: plans.has(anonymous), queryParameters }
  return {
    createGuard: (context) => ({
      keyRules,
      ...createGuard({
        plans,
        anonymous: plans.get(anonymous),
        counters: safeCounters.open(context),
        keyOf,
        findKey: createKeyLookup(keys, context),
        clientOf:
          options.client ??
          createClientAddress(options, () => context.emit({ type: 'proxy_untrusted' })),
        emit: context.emit,
        now: context.runtime.now,
      }),
    }),
  }
}

const NO_KEYS: KeyStore = { find: () => undefined }

const KNOWN: Readonly<Record<keyof AccessOptions, true>> = {
  plans: true,
  anonymous: true,
  keys: true,
  client: true,
  counters: true,
  whenCountersFail: true,
  trustedProxies: true,
  forwardedHeader: true,
  ipv6Prefix: true,
  queryParameters: true,
}

function resolvePlans(plans: unknown): ReadonlyMap<string, ResolvedPlan> {
  const isObject = typeof plans === 'object' && plans !== null && !Array.isArray(plans)
  const entries: [string, Plan | string][] = isObject ? Object.entries(plans) : []
  if (entries.length === 0) {
    throw new TypeError(
      "plans must be an object with at least one plan, such as { public: '60/min' }",
    )
  }
  return new Map(
    entries.map(([name, plan]) => {
      if (!/^[\w.-]{1,64}$/.test(name) || name === 'refuse') {
        throw new TypeError(
          `names of plans must be 1 to 64 letters, digits, _, . or -, and not "refuse", got "${name}"`,
        )
      }
      const limits = limitsOf(plan, `plans.${name}`)
      const maxCost = Math.min(...limits.map(({ quota }) => quota))
      return [name, { name, limits, maxCost, policy: policyOf(limits) }]
    }),
  )
}

function requireAnonymous(
  anonymous: unknown,
  plans: ReadonlyMap<string, ResolvedPlan>,
  hasKeys: boolean,
): void {
  if (typeof anonymous === 'string' && plans.has(anonymous)) return
  const names = [...plans.keys()].join(', ')
  if (anonymous !== 'refuse') {
    throw new TypeError(
      `anonymous must be 'refuse' or the name of a plan (${names}), got ${String(anonymous)}`,
    )
  }
  if (hasKeys) return
  throw new TypeError(
    `anonymous must be the name of a plan (${names}) unless keys is given: all requests would be refused`,
  )
}

function requireQueryParameters(names: unknown): void {
  if (!Array.isArray(names)) {
    throw new TypeError(`queryParameters must be an array of names, got ${String(names)}`)
  }
  for (const name of names) {
    if (typeof name !== 'string' || !/^\w[\w-]{0,63}$/.test(name)) {
      throw new TypeError(
        `queryParameters must contain names of letters, digits, _ and -, got ${String(name)}`,
      )
    }
  }
}
