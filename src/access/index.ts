import { createClientAddress } from '../http/client-address.ts'
import type { AddressOptions } from '../http/client-address.ts'
import type { RawRequest } from '../http/messages.ts'
import { assertKnownOptions } from '../known-options.ts'
import type { Counters } from './counters.ts'
import { createGuard, policyOf } from './guard.ts'
import type { Access, ResolvedPlan } from './guard.ts'
import { createKeyLookup } from './key-lookup.ts'
import type { KeyStore } from './keys.ts'
import { createMemoryCounters } from './memory.ts'
import { limitsOf } from './plans.ts'
import type { Plan } from './plans.ts'

export type {
  Counters,
  CountersContext,
  Decision,
  Limit,
  LimitState,
  OpenCounters,
} from './counters.ts'
export type { Access } from './guard.ts'
export type { AddressOptions, ForwardedHeader } from '../http/client-address.ts'
export type { Admission, Guard, GuardedRequest } from '../http/guard.ts'
export { createKey, hashKey } from './keys.ts'
export type { KeyRecord, KeyStore } from './keys.ts'
export { createMemoryCounters } from './memory.ts'
export type { Plan } from './plans.ts'

/** Options of `createAccess`. */
export interface AccessOptions extends AddressOptions {
  /** The limits of each plan, by name. */
  plans: Readonly<Record<string, Plan>>
  /** The plan of requests without a key, counted by client address, or `'refuse'` for a 401 (default `'refuse'`). */
  anonymous?: string | undefined
  /** Where keys are looked up (default: no keys). */
  keys?: KeyStore | undefined
  /** Identifies the client of a request without a key (default: its address, see `trustedProxies`). */
  client?: ((request: RawRequest) => string) | undefined
  /** Where requests are counted (default `createMemoryCounters()`). */
  counters?: Counters | undefined
  /**
   * What happens while the counters fail: `'local'` counts in the memory of each process, `'allow'` counts nothing, `'refuse'`
   * responds with 503 (default `'local'`).
   */
  whenCountersFail?: 'local' | 'allow' | 'refuse' | undefined
  /** Query parameters in which a key may be sent: URLs are logged and cached, so that keys in them leak (default none). */
  queryParameters?: readonly string[] | undefined
}

/**
 * Creates the option `access` of `createRatesHandler`: who may send requests, and how many.
 *
 * @throws {TypeError} that names the invalid option
 * @example
 * ```ts
 * import { createRatesHandler } from 'ratesmith'
 * import { createAccess } from 'ratesmith/access'
 *
 * const handler = createRatesHandler({
 *   access: createAccess({ anonymous: 'public', plans: { public: { burst: '60/min' } } }),
 * })
 * ```
 */
export function createAccess(options: AccessOptions): Access {
  assertKnownOptions(options, KNOWN)
  // Fails here instead of in createRatesHandler.
  createClientAddress(options)
  const { keys = NO_KEYS, anonymous = 'refuse', counters = createMemoryCounters() } = options
  const plans = new Map(
    Object.entries(options.plans).map(([name, plan]): [string, ResolvedPlan] => {
      const limits = limitsOf(plan, `plans.${name}`)
      return [name, { name, limits, policy: policyOf(limits) }]
    }),
  )
  const { queryParameters = [] } = options
  const keyRules = { isOptional: plans.has(anonymous), queryParameters }
  return {
    createGuard: (context) => ({
      keyRules,
      ...createGuard({
        plans,
        anonymous: plans.get(anonymous),
        counters: counters.open(context),
        keyOf: ({ header }) => bearer(header('authorization')) ?? header('x-api-key') ?? undefined,
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

function bearer(authorization: string | null | undefined): string | undefined {
  return /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1]
}
