import { createAccess } from '../access/index.ts'
import type { Access, AccessOptions, Plan } from '../access/index.ts'
import { limitsOf } from '../access/plans.ts'
import { didYouMean, nearest } from '../known-options.ts'
import type { CommandContext } from './context.ts'
import { findCounters, openCounters } from './counters.ts'
import type { NamedCounters } from './counters.ts'
import { findKeys, isShared, openKeyStore } from './key-store.ts'
import type { NamedFile } from './key-store.ts'
import { readChoice } from './serve-flags.ts'
import type { AccessFlags, ServeFlags } from './serve-flags.ts'
import { findRedis } from './store.ts'
import type { OpenStore } from './store.ts'
import { chooseProviders } from './upstreams.ts'
import { UsageError, messageOf, withUsageError } from './usage.ts'

const WHEN_COUNTERS_FAIL = ['local', 'allow', 'refuse'] as const

/** The validated flags about keys, plans and limits. */
export interface AccessSettings {
  plans: Readonly<Record<string, Plan>>
  /** The plan of requests without a key, or `refuse`. */
  anonymous: string
  keys: NamedFile | undefined
  proxies: Proxies
  /** `undefined` for the Redis of the rates, if there is one, and else the memory. */
  counters: NamedCounters | undefined
  whenCountersFail: (typeof WHEN_COUNTERS_FAIL)[number] | undefined
  queryParameters: readonly string[]
}

/**
 * Validates the flags about keys, plans and limits.
 *
 * @throws {UsageError} naming the invalid flag or variable
 */
export function readAccess(
  { access: flags, redis }: ServeFlags,
  env: NodeJS.ProcessEnv,
): AccessSettings {
  const keys = findKeys(flags.keys, env)
  const plans = readPlans(flags.plans)
  requirePlans(flags, keys)
  const anonymous = readAnonymous(flags.anonymous, Object.keys(plans), keys)
  const counters = findCounters(flags.counters, env)
  if (flags.keyParameters.length > 0 && !keys) {
    throw new UsageError('--key-parameter needs --keys')
  }
  const isMemory = counters ? counters.kind === 'memory' : !findRedis(redis, env)
  if (flags.whenCountersFail !== undefined && isMemory) {
    throw new UsageError('--when-counters-fail needs --counters in Redis')
  }
  const proxies = readProxies(flags)
  if (proxies.trustedProxies !== undefined && anonymous === 'refuse') {
    throw new UsageError('--trusted-proxy needs --anonymous with a plan')
  }
  return {
    plans,
    anonymous,
    keys,
    proxies,
    counters,
    whenCountersFail: readChoice(
      '--when-counters-fail',
      WHEN_COUNTERS_FAIL,
      flags.whenCountersFail,
    ),
    queryParameters: readKeyParameters(flags.keyParameters),
  }
}

function requirePlans(flags: AccessFlags, keys: NamedFile | undefined): void {
  const needing: Record<string, boolean> = {
    '--anonymous': flags.anonymous !== undefined,
    '--counters': flags.counters !== undefined,
    '--when-counters-fail': flags.whenCountersFail !== undefined,
    '--key-parameter': flags.keyParameters.length > 0,
  }
  const [named] = Object.keys(needing).filter((flag) => needing[flag])
  const name = keys?.name ?? named
  if (flags.plans.length === 0 && name !== undefined) {
    throw new UsageError(`${name} needs a plan, such as --plan public=60/min`)
  }
}

/** Reads `pro=600/min,100000/month`: a burst, a limit by month, or both. */
function readPlans(texts: readonly string[]): Record<string, Plan> {
  // A plan may have any name, such as `__proto__`.
  const plans: Record<string, Plan> = Object.create(null)
  for (const text of texts) {
    const [, name = '', list = ''] = /^([\w.-]{1,64})=(.+)$/.exec(text) ?? []
    if (name === '') {
      throw new UsageError(`--plan must be like pro=600/min,100000/month, got ${text || '""'}`)
    }
    if (name === 'refuse') throw new UsageError('--plan must not be named refuse')
    if (Object.hasOwn(plans, name)) throw new UsageError(`--plan contains ${name} twice`)
    plans[name] = readPlan(name, list)
  }
  return plans
}

function readPlan(name: string, list: string): Plan {
  const plan: Plan = {}
  for (const limit of list.split(',').map((text) => text.trim())) {
    const [, month] = /^(\d+)\/month$/.exec(limit) ?? []
    if (month === undefined ? plan.burst !== undefined : plan.month !== undefined) {
      throw new UsageError(
        `--plan ${name} may have one limit by month and one by a shorter period, got ${list}`,
      )
    }
    if (month === undefined) plan.burst = limit
    else plan.month = Number(month)
  }
  withUsageError('--plan', () => limitsOf(plan, name))
  return plan
}

function readAnonymous(
  anonymous: string | undefined,
  plans: readonly string[],
  keys: NamedFile | undefined,
): string {
  if (anonymous === undefined || anonymous === 'refuse') {
    if (keys) return 'refuse'
    throw new UsageError(
      anonymous === undefined
        ? '--plan needs --keys, or --anonymous with the name of a plan'
        : '--anonymous refuse needs --keys: otherwise every request is refused',
    )
  }
  if (plans.includes(anonymous)) return anonymous
  const suggestion = didYouMean(nearest(anonymous, [...plans, 'refuse'], 2))
  throw new UsageError(
    `--anonymous must be refuse or a plan (${plans.join(', ')}), got ${anonymous || '""'}${suggestion}`,
  )
}

const FORWARDED_HEADERS = ['x-forwarded-for', 'forwarded'] as const

/** The proxies in front, as options of `createAccess`. */
export type Proxies = Pick<AccessOptions, 'trustedProxies' | 'forwardedHeader'>

/**
 * Reads `--trusted-proxy` and `--forwarded-header`.
 *
 * @throws {UsageError} naming the flag
 */
export function readProxies(
  flags: Pick<ServeFlags['access'], 'trustedProxies' | 'forwardedHeader'>,
): Proxies {
  const trustedProxies = readTrustedProxies(flags.trustedProxies)
  const name = flags.forwardedHeader?.toLowerCase()
  const forwardedHeader = readChoice('--forwarded-header', FORWARDED_HEADERS, name)
  if (forwardedHeader && trustedProxies === undefined) {
    throw new UsageError('--forwarded-header needs --trusted-proxy')
  }
  return { trustedProxies, forwardedHeader }
}

/** Reads addresses and ranges, or one number of proxies; undefined without any. */
function readTrustedProxies(texts: readonly string[]): Proxies['trustedProxies'] {
  const [first] = texts
  if (first === undefined) return undefined
  const isCount = texts.length === 1 && /^[1-9]\d?$/.test(first)
  return checked('trusted-proxy', 'trustedProxies', isCount ? Number(first) : texts)
}

function readKeyParameters(names: readonly string[]): readonly string[] {
  return checked('key-parameter', 'queryParameters', names)
}

/** Returns `value` if it is valid as an option of `createAccess`. */
function checked<Name extends 'trustedProxies' | 'queryParameters', Value>(
  flag: string,
  option: Name,
  value: Value & AccessOptions[Name],
): Value {
  try {
    createAccess({ plans: { any: { month: 1 } }, anonymous: 'any', [option]: value })
    return value
  } catch (error) {
    throw new UsageError(messageOf(error).replace(option, `--${flag}`), { cause: error })
  }
}

/** Rules about access, and lines about them for the operator. */
export interface OpenAccess {
  access: Access
  /** Lines for the start message. */
  notes: string[]
  close(): void
}

/**
 * Opens keys and counters.
 *
 * @throws {UsageError} naming the invalid flag or variable
 */
export async function openAccess(
  settings: AccessSettings,
  { redis }: Pick<OpenStore, 'redis'>,
  context: CommandContext,
): Promise<OpenAccess> {
  const { plans, anonymous, keys, proxies, queryParameters, whenCountersFail } = settings
  const store = keys && (await openKeyStore(keys, context))
  const notes = keys && store ? await notesOnKeys(keys, store, plans, context) : []
  const counters = await openCounters(settings.counters, redis)
  const access = createAccess({
    plans,
    anonymous,
    keys: store,
    ...proxies,
    queryParameters,
    whenCountersFail,
    counters: counters.counters,
  })
  return {
    access,
    notes,
    close() {
      counters.close()
      store?.close()
    },
  }
}

async function notesOnKeys(
  { name, path }: NamedFile,
  store: Awaited<ReturnType<typeof openKeyStore>>,
  plans: AccessSettings['plans'],
  context: CommandContext,
): Promise<string[]> {
  const listed = await store.list().catch((error: Error) => {
    throw new UsageError(`${name}: ${error.message}`, { cause: error })
  })
  const unknown = new Set(
    listed
      .filter(({ plan, revokedAt }) => revokedAt === undefined && !Object.hasOwn(plans, plan))
      .map(({ plan }) => plan),
  )
  return [
    ...(isShared(path, context) ? [`Other users can read ${path}; run: chmod 600 ${path}`] : []),
    ...(unknown.size > 0
      ? [`Keys of plans without a --plan are refused: ${[...unknown].join(', ')}`]
      : []),
  ]
}

/** The providers whose terms forbid redistribution: see docs/providers.md. */
const NOT_REDISTRIBUTABLE = ['exchange-rate-api', 'exchange-rate-api-v6']

/** Returns a line about the terms of the selected providers, if one forbids redistribution. */
export async function noteOnTerms(
  { demo, providers }: Pick<ServeFlags, 'demo' | 'providers'>,
  env: NodeJS.ProcessEnv,
): Promise<string[]> {
  if (demo) return []
  const { latest } = await chooseProviders(providers, env)
  const found = latest.find(({ name }) => NOT_REDISTRIBUTABLE.includes(name))
  if (!found) return []
  return [
    `The terms of ${found.name} forbid serving its rates to others; use for example --latest fawazahmed0,ecb --history ecb`,
  ]
}
