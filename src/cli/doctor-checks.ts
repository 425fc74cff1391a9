import { randomUUID } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'

import manifest from 'ratesmith/package.json' with { type: 'json' }

import { createRatesHandler } from '../index.ts'
import type {
  CacheStore,
  DataSet,
  RatesEvent,
  RatesHandler,
  RatesHandlerOptions,
} from '../index.ts'
import { createFileStore } from '../stores/file.ts'
import { createRedisStore } from '../stores/redis.ts'
import { platform } from './context.ts'
import type { CommandContext } from './context.ts'
import { publicationText } from './output.ts'
import { cacheFolder } from './session.ts'
import { connectRedis } from './store.ts'
import type { NamedRedis } from './store.ts'
import type { Upstreams } from './upstreams.ts'
import { messageOf } from './usage.ts'

/** The result of one check of `ratesmith doctor`. */
export interface CheckResult {
  /** The checked provider, store or part of the machine. */
  subject: string
  ok: boolean
  /** The observation: data, or the failure. */
  found: string
  /** How to fix the failure; null for a passed check. */
  advice: string | null
}

function passed(subject: string, found: string): CheckResult {
  return { subject, ok: true, found, advice: null }
}

function failed(subject: string, found: string, advice: string): CheckResult {
  return { subject, ok: false, found, advice }
}

type SingleProvider = Pick<RatesHandlerOptions, 'providers'> & Pick<Upstreams, 'fetch' | 'now'>

/** With a larger clock error, the age of rates is wrong. */
const MAX_CLOCK_SKEW_MS = 300_000

/** What happened during the check of a provider. */
interface Observations {
  events: RatesEvent[]
  host: string
  /** How far the upstream's clock is ahead of this machine's, in ms; a `Date` header has whole seconds. */
  skew: number
}

/** Fetches from each provider of both data sets separately, without any cache. */
export async function checkProviders({ providers, ...shared }: Upstreams): Promise<CheckResult[]> {
  const { latest, history } = providers
  const checked = await Promise.all([
    ...latest.map((each) => checkProvider('latest', { providers: { latest: each }, ...shared })),
    ...history.map((each) =>
      checkProvider(
        'history',
        { providers: { latest: false, history: each }, ...shared },
        each.publication && describePublication,
      ),
    ),
  ])
  // Several upstreams may report the same wrong clock.
  const clocks = checked.flatMap(({ skew, host }) => checkClock(skew, host))
  return [...checked.map(({ result }) => result), ...clocks.slice(0, 1)]
}

// The archive comes from the same providers as recent history.
type CheckedDataSet = Exclude<DataSet, 'archive'>

async function checkProvider(
  dataSet: CheckedDataSet,
  { providers, fetch = globalThis.fetch, now }: SingleProvider,
  describe: Describe = describeRates[dataSet],
): Promise<Observations & { result: CheckResult }> {
  const observations: Observations = { events: [], host: '', skew: 0 }
  const work: Promise<unknown>[] = []
  const handler = createRatesHandler({
    providers,
    fetch: observed(fetch, observations, now),
    now,
    waitUntil: (promise) => void work.push(promise),
    onEvent: (event) => void observations.events.push(event),
  })
  try {
    // A load may take longer than a request waits for it.
    const description = await describe(handler, now).catch(async () => {
      await Promise.allSettled(work)
      return describe(handler, now).catch(() => undefined)
    })
    return { ...observations, result: toCheckResult(dataSet, observations, description) }
  } finally {
    handler.close()
  }
}

/** Loads the data of a handler and describes them. */
type Describe = (handler: RatesHandler, now: () => number) => Promise<string>

const describeRates: Record<CheckedDataSet, Describe> = {
  async latest({ rates }, now) {
    const { updatedAt, rates: table } = await rates.latest()
    const published = publicationText({ updatedAt }, undefined, now())
    return `${Object.keys(table).length} currencies, published ${published}`
  },
  async history({ rates }) {
    const { points } = await rates.history({ from: 'EUR', to: 'USD' })
    return `reference rates up to ${points.at(-1)?.d}`
  },
}

/** Describes the newest days of a provider that declares its publication, which may lack the euro and the dollar. */
const describePublication: Describe = async ({ rates }) => {
  const { currencies } = await rates.currencies()
  const covered = currencies.filter(({ history }) => history)
  const { history } = await rates.status()
  const [source] = history?.sources ?? []
  if (!source?.ready) throw new Error('no reference rates')
  const late = source.late ? ', the next are late' : ''
  return `reference rates of ${covered.length} currencies up to ${source.lastDay}${late}`
}

/** Returns the result for a provider with data of `description`; `undefined` without data. */
function toCheckResult(
  dataSet: CheckedDataSet,
  { events, host }: Observations,
  description: string | undefined,
): CheckResult {
  const request = events.find((event) => event.type === 'upstream_request')
  const subject = [`${dataSet} rates`, request?.provider, host].filter(Boolean).join(', ')
  if (description !== undefined) return passed(subject, description)
  const failure = events.find((event) => event.type === 'upstream_failed')
  const rejected = events.find((event) => event.type === 'rates_rejected')
  if (!failure && rejected) {
    return failed(subject, `response rejected: ${rejected.reason}`, AFTER_REJECTION)
  }
  const reason = failure?.reason ?? 'no response'
  return failed(subject, reason, adviceFor(reason, host))
}

function observed(call: typeof fetch, observations: Observations, now: () => number): typeof fetch {
  return async (input, init) => {
    observations.host = new URL(input instanceof Request ? input.url : input).host
    const response = await call(input, init)
    const date = Date.parse(response.headers.get('date') ?? '')
    if (!Number.isNaN(date)) observations.skew = date - now()
    return response
  }
}

function checkClock(skew: number, host: string): CheckResult[] {
  if (Math.abs(skew) <= MAX_CLOCK_SKEW_MS) return []
  const found = `${Math.round(Math.abs(skew) / 60_000)} minutes ${skew > 0 ? 'behind' : 'ahead of'} ${host}`
  return [failed('clock', found, 'set the clock of this machine')]
}

/** Expiry of the test entry, in case it is not removed. */
const TRIAL_LIFETIME_MS = 10_000

/** Checks that the cache folder is readable and writable. */
export async function checkCache(context: CommandContext): Promise<CheckResult> {
  const folder = cacheFolder(context)
  const subject = `cache, ${folder ?? 'no folder'}`
  const advice = 'set RATESMITH_CACHE_DIR to a writable folder, or use --no-cache'
  if (folder === undefined) return failed(subject, 'no home or cache folder is set', advice)
  try {
    mkdirSync(folder, { recursive: true })
    const trial = mkdtempSync(join(folder, 'doctor-'))
    try {
      await tryStore(createFileStore(trial))
    } finally {
      rmSync(trial, { recursive: true })
    }
    return passed(subject, 'readable and writable')
  } catch (error) {
    return failed(subject, messageOf(error), advice)
  }
}

/**
 * Checks that a Redis stores values and grants leases.
 *
 * @throws {UsageError} for an invalid URL or a missing ioredis
 */
export async function checkRedis({ name, url }: NamedRedis): Promise<CheckResult> {
  const connection = await connectRedis({ name, url })
  const subject = `Redis, ${new URL(url).host}`
  try {
    await tryStore(createRedisStore(connection))
    return passed(subject, 'stores values and grants leases')
  } catch (error) {
    const advice = `check that Redis runs, and the host, port and password in ${name}`
    return failed(subject, messageOf(error), advice)
  } finally {
    connection.close()
  }
}

async function tryStore(store: CacheStore): Promise<void> {
  const key = `ratesmith-doctor-${randomUUID()}`
  const expiresAt = Date.now() + TRIAL_LIFETIME_MS
  await store.set(key, key, expiresAt)
  if ((await store.get(key)) !== key) throw new Error('expected to read the value just written')
  if (!store.claim) return
  const leases = [await store.claim(key, expiresAt), await store.claim(key, expiresAt)]
  if (leases.filter(Boolean).length !== 1) {
    throw new Error('expected exactly one of two leases to be granted')
  }
}

const RUNTIME_NAMES = { node: 'Node', bun: 'Bun', deno: 'Deno' }

/** Reports the runtime; its minimum version is checked before. */
export function checkRuntime({ versions }: CommandContext): CheckResult {
  const version = `${RUNTIME_NAMES[platform]} ${versions[platform] ?? ''}`
  return passed('runtime', `${version}, ratesmith ${manifest.version}`)
}

/** Variables with the URLs of proxies. */
export const PROXY_VARIABLES = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy']

/** Reports the variables that set proxies for upstream calls. */
export function checkProxies(env: NodeJS.ProcessEnv): CheckResult[] {
  const names = [...PROXY_VARIABLES, 'NO_PROXY', 'no_proxy'].filter((name) => env[name])
  if (names.length === 0) return []
  return [passed('proxies', names.map((name) => `${name}=${env[name]}`).join(' '))]
}

/** Patterns of failure reasons with their advice; the first match counts. */
const ADVICE: readonly (readonly [reason: RegExp, advice: string])[] = [
  [/\bproxy\b/, 'check the proxy in HTTPS_PROXY or HTTP_PROXY: host, port, user name and password'],
  [/\bresolved?\b/, 'check the URL, the network and its DNS server'],
  [
    /certificate|TLS/,
    'check the system clock; if a firewall intercepts TLS, set NODE_EXTRA_CA_CERTS (Deno: DENO_CERT) to its certificate',
  ],
  [
    withStatus('429', 'quota-reached'),
    'too many requests from this address: try again in 20 minutes',
  ],
  [
    withStatus('401|403'),
    'access denied: check whether a firewall sent this response, or contact the provider',
  ],
  [withStatus('404|410', 'unsupported-code'), 'the path does not exist: check the URL'],
  [withStatus(String.raw`5\d\d`), 'the upstream itself fails: try again later'],
  [
    /JSON|unexpected format|redirected|another base|is not HTTP/,
    'the response is not from the provider: check the URL, or log in to the network if it requires a login',
  ],
  [
    /connection was refused|unreachable|blocked/,
    'nothing listens at this address: check the URL, the network, its firewall, and the proxy if there is one',
  ],
  [
    /timed out|no response|connection was closed|truncated body|request to/,
    'the connection fails: check the network and its firewall; if they require a proxy, set HTTPS_PROXY',
  ],
]

const OTHER_ADVICE = 'try again later'

function withStatus(codes: string, ...others: string[]): RegExp {
  return new RegExp([`(?:status|HTTP) (?:${codes})`, ...others].join('|'))
}

/** Returns the advice for an upstream at `host` that failed for `reason`. */
function adviceFor(reason: string, host: string): string {
  // A host name may contain any of these words and numbers.
  const words = host === '' ? reason : reason.replaceAll(host, '')
  return ADVICE.find(([pattern]) => pattern.test(words))?.[1] ?? OTHER_ADVICE
}

/** The advice for data that failed the sanity checks. */
const AFTER_REJECTION =
  "the response is not a plausible current market: check this machine's clock and the URL; earlier rates stay in use"
