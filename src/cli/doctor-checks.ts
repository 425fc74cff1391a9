import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
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
import { platform } from './context.ts'
import type { CommandContext } from './context.ts'
import { publicationText } from './output.ts'
import { cacheFolder } from './session.ts'
import { isDatabase, isRedis, makeFolder, openStore } from './store.ts'
import type { NamedStore } from './store.ts'
import { toAge } from './terminal.ts'
import type { Upstreams } from './upstreams.ts'
import { messageOf } from './usage.ts'

export interface CheckResult {
  subject: string
  ok: boolean
  found: string
  /** How to fix the failure; null for a passed check. */
  advice: string | null
  /** Whether nothing was checked; `found` is then the reason, and `ok` is true (default false). */
  skipped?: boolean
}

function passed(subject: string, found: string): CheckResult {
  return { subject, ok: true, found, advice: null }
}

export function failed(subject: string, found: string, advice: string): CheckResult {
  return { subject, ok: false, found, advice }
}

type SingleProvider = Pick<RatesHandlerOptions, 'providers'> & Pick<Upstreams, 'fetch' | 'now'>

/** With a larger clock error, the age of rates is wrong. */
const MAX_CLOCK_SKEW_MS = 300_000

interface Observations {
  events: RatesEvent[]
  host: string
  /** How far the upstream's clock is ahead, in ms; undefined without a `Date` header, which has whole seconds. */
  skew: number | undefined
}

export interface ProviderCheck extends Observations {
  result: CheckResult
}

interface CheckedProvider extends SingleProvider {
  dataSet: DataSet
  describe?: Describe | undefined
  /** Name of a provider that the package includes, at its own address (default: a provider that the user has chosen). */
  builtIn?: string
}

export async function checkProviders({ providers, ...shared }: Upstreams): Promise<CheckResult[]> {
  const { latest, history } = providers
  const checked = await Promise.all([
    ...latest.map((each) =>
      checkProvider({ dataSet: 'latest', providers: { latest: each }, ...shared }),
    ),
    ...history.map((each) =>
      checkProvider({
        dataSet: 'history',
        providers: { latest: false, history: each },
        describe: each.publication && describeHistory,
        ...shared,
      }),
    ),
  ])
  return [...checked.map(({ result }) => result), ...checkClock(checked)]
}

export async function checkProvider(checked: CheckedProvider): Promise<ProviderCheck> {
  const { dataSet, providers, fetch = globalThis.fetch, now } = checked
  const { describe = describeRates[dataSet] } = checked
  const observations: Observations = { events: [], host: '', skew: undefined }
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
    return { ...observations, result: toCheckResult(checked, observations, description) }
  } finally {
    handler.close()
  }
}

type Describe = (handler: RatesHandler, now: () => number) => Promise<string>

const describeRates: Record<DataSet, Describe> = {
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

/** Describes the newest days of one provider of history, which may lack the euro and the dollar. */
export const describeHistory: Describe = async ({ rates }) => {
  const { currencies } = await rates.currencies()
  const covered = currencies.filter(({ history }) => history)
  const { history } = await rates.status()
  if (!history?.ready) throw new Error('no reference rates')
  return `reference rates of ${covered.length} currencies up to ${history.lastDay}`
}

function toCheckResult(
  { dataSet, builtIn, now }: CheckedProvider,
  { events, host }: Observations,
  description: string | undefined,
): CheckResult {
  const request = events.find((event) => event.type === 'upstream_request')
  const about = builtIn ?? `${dataSet} rates`
  const subject = [about, request?.provider, host].filter(Boolean).join(', ')
  if (description !== undefined) {
    const late = events.find((event) => event.type === 'rates_late')
    if (!late) return passed(subject, description)
    const found = `${description}; the next were due ${toAge(now() - late.due)}`
    // Of all banks, one often has an unexpected holiday.
    return builtIn === undefined ? failed(subject, found, AFTER_LATE_RATES) : passed(subject, found)
  }
  const failure = events.find((event) => event.type === 'upstream_failed')
  const rejected = events.find((event) => event.type === 'rates_rejected')
  if (!failure && rejected) {
    const advice = builtIn === undefined ? AFTER_REJECTION : AFTER_BUILT_IN_REJECTION
    return failed(subject, `response rejected: ${rejected.reason}`, advice)
  }
  const reason = failure?.reason ?? 'no response'
  const patterns = builtIn === undefined ? ADVICE : [...BUILT_IN_ADVICE, ...ADVICE]
  return failed(subject, reason, adviceFor(reason, host, patterns))
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

/** Needs half of the hosts: a few may be wrong. One failure, because several hosts report the same wrong clock. */
export function checkClock(observed: readonly Observations[]): CheckResult[] {
  const dated = observed.filter(({ skew }) => skew !== undefined)
  const differing = dated.filter(({ skew = 0 }) => Math.abs(skew) > MAX_CLOCK_SKEW_MS)
  const [first] = differing
  if (!first || differing.length * 2 < dated.length) return []
  const { skew = 0, host } = first
  const found = `${Math.round(Math.abs(skew) / 60_000)} minutes ${skew > 0 ? 'behind' : 'ahead of'} ${host}`
  return [failed('clock', found, 'set the clock of this machine')]
}

/** Expiry of the test entry, in case it is not removed. */
const TRIAL_LIFETIME_MS = 10_000

export async function checkCache(context: CommandContext): Promise<CheckResult> {
  const folder = cacheFolder(context)
  const subject = `cache, ${folder ?? 'no folder'}`
  const advice = 'set RATESMITH_CACHE_DIR to a writable folder, or use --no-cache'
  if (folder === undefined) return failed(subject, 'no home or cache folder is set', advice)
  return checkFolder(subject, folder, advice)
}

async function checkFolder(subject: string, folder: string, advice: string): Promise<CheckResult> {
  try {
    makeFolder(folder)
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

/** @throws {UsageError} for an invalid URL or a missing ioredis */
export async function checkStore({ name, place }: NamedStore): Promise<CheckResult> {
  if (!isRedis(place) && !isDatabase(place)) {
    return checkFolder(`store, ${place}`, place, `set ${name} to a writable folder`)
  }
  const opened = await openStore({ name, place })
  const subject = isRedis(place) ? `Redis, ${new URL(place).host}` : `store, ${place}`
  const advice = isRedis(place)
    ? `check that Redis runs, and the host, port and password in ${name}`
    : `check that ${name} is a database that this user can write`
  try {
    await tryStore(opened.store)
    return passed(subject, 'stores values and grants leases')
  } catch (error) {
    return failed(subject, messageOf(error), advice)
  } finally {
    opened.close()
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

export const PROXY_VARIABLES = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy']

export function checkProxies(env: NodeJS.ProcessEnv): CheckResult[] {
  const names = [...PROXY_VARIABLES, 'NO_PROXY', 'no_proxy'].filter((name) => env[name])
  if (names.length === 0) return []
  return [passed('proxies', names.map((name) => `${name}=${env[name]}`).join(' '))]
}

type Advice = readonly [reason: RegExp, advice: string]

/** Patterns of failure reasons with their advice; the first match counts. */
const ADVICE: readonly Advice[] = [
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

const AFTER_ANOTHER_FORM =
  'the feed may have a new address or form: use the newest version of ratesmith, or report this failure; a network that requires a login also causes it'

/** Advice for providers at their own addresses, before all others. */
const BUILT_IN_ADVICE: readonly Advice[] = [
  [withStatus('404|410'), AFTER_ANOTHER_FORM],
  [/JSON|unexpected format|redirected|another base|is not HTTP/, AFTER_ANOTHER_FORM],
]

function withStatus(codes: string, ...others: string[]): RegExp {
  return new RegExp([`(?:status|HTTP) (?:${codes})`, ...others].join('|'))
}

function adviceFor(reason: string, host: string, patterns: readonly Advice[]): string {
  // A host name may contain any of these words and numbers.
  const words = host === '' ? reason : reason.replaceAll(host, '')
  return patterns.find(([pattern]) => pattern.test(words))?.[1] ?? OTHER_ADVICE
}

const AFTER_LATE_RATES =
  'look for newer rates on the page of the source: after an unexpected holiday, wait; if it has stopped, choose another provider'

const AFTER_REJECTION =
  "the response is not a plausible current market: check this machine's clock and the URL; earlier rates stay in use"

const AFTER_BUILT_IN_REJECTION =
  "the response is not a plausible current market: check this machine's clock; if it is right, report this failure"
