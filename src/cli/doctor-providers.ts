import { createRates } from '../index.ts'
import type { HistoryProvider, LatestProvider, RatesEvent, RatesOperations } from '../index.ts'
import type { CommandContext } from './context.ts'
import { publicationText } from './output.ts'
import { loadProviders } from './providers.ts'
import type { NamedProvider } from './providers.ts'
import { toAge } from './terminal.ts'
import { fetchFor } from './upstreams.ts'
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

export function passed(subject: string, found: string): CheckResult {
  return { subject, ok: true, found, advice: null }
}

export function failed(subject: string, found: string, advice: string): CheckResult {
  return { subject, ok: false, found, advice }
}

type Connection = Pick<Upstreams, 'fetch' | 'now'>

interface Checked {
  /** `latest rates`, or the name of a built-in provider. */
  about: string
  data: 'latest' | 'history'
  provider: LatestProvider | HistoryProvider
  /** Whether the package includes it and calls its own address. */
  isBuiltIn: boolean
}

interface ProviderCheck {
  result: CheckResult
  host?: string
  /** How far the upstream's clock is ahead, in ms; NaN without a `Date` header, which has whole seconds. */
  skew?: number
}

export async function checkProviders(upstreams: Upstreams): Promise<CheckResult[]> {
  const checks = (['latest', 'history'] as const).flatMap((data) =>
    upstreams.providers[data].map((provider) =>
      check({ about: `${data} rates`, data, provider, isBuiltIn: false }, upstreams),
    ),
  )
  return resultsOf(await Promise.all(checks))
}

/** Providers, and so hosts, that receive requests at the same time. */
const MAX_AT_ONCE = 4

/** Separately and without any cache. Skips those whose key is not in the environment. */
export async function checkBuiltIns(context: CommandContext): Promise<CheckResult[]> {
  const connection = { fetch: await fetchFor([{ url: '' }], context), now: context.now }
  const checks: ProviderCheck[] = []
  const all = await loadProviders()
  const left = all.filter(({ needsUrl }) => !needsUrl).entries()
  async function checkNext(): Promise<void> {
    for (const [index, named] of left) {
      const opened = open(named, context.env)
      checks[index] = 'provider' in opened ? await check(opened, connection) : { result: opened }
    }
  }
  await Promise.all(Array.from({ length: MAX_AT_ONCE }, checkNext))
  return resultsOf(checks)
}

function resultsOf(checks: readonly ProviderCheck[]): CheckResult[] {
  return [...checks.map(({ result }) => result), ...checkClock(checks)]
}

function open(
  { name, keyVariable, factories: { latest, history } }: NamedProvider,
  env: NodeJS.ProcessEnv,
): Checked | CheckResult {
  const key = keyVariable && env[keyVariable]
  if (keyVariable !== undefined && !key) {
    return { ...passed(name, `needs a key: set ${keyVariable}`), skipped: true }
  }
  try {
    const provider = (latest ?? history)?.({ key })
    if (!provider) throw new Error('neither latest rates nor history')
    return { about: name, data: latest ? 'latest' : 'history', provider, isBuiltIn: true }
  } catch (error) {
    const advice = `set ${keyVariable} to the key of your account, or to nothing`
    return failed(name, `${keyVariable}: ${messageOf(error)}`, advice)
  }
}

async function check(
  { about, data, provider, isBuiltIn }: Checked,
  { fetch = globalThis.fetch, now }: Connection,
): Promise<ProviderCheck> {
  const events: RatesEvent[] = []
  const observed = { host: '', skew: NaN }
  const rates = createRates({
    providers: Object({ latest: false, history: false, [data]: provider }),
    async fetch(input, init) {
      observed.host = new URL(input instanceof Request ? input.url : input).host
      const response = await fetch(input, init)
      observed.skew = Date.parse(response.headers.get('date') ?? '') - now()
      return response
    },
    now,
    onEvent: (event) => void events.push(event),
  })
  try {
    await rates.refresh()
    const description = await describe(rates, now()).catch(() => undefined)
    const source = events.find((event) => event.type === 'upstream_request')?.provider
    const subject = [about, source, observed.host].filter(Boolean).join(', ')
    if (description === undefined) {
      const [reason, advice] = diagnose(events, observed.host, isBuiltIn)
      return { ...observed, result: failed(subject, reason, advice) }
    }
    const late = events.find((event) => event.type === 'rates_late')
    const due = late ? `; the next were due ${toAge(now() - late.due)}` : ''
    // Of all banks, one often has an unexpected holiday.
    const ok = !late || isBuiltIn
    const advice = ok ? null : AFTER_LATE_RATES
    return { ...observed, result: { subject, ok, found: description + due, advice } }
  } finally {
    rates.close()
  }
}

async function describe(rates: RatesOperations, now: number): Promise<string | undefined> {
  const { ready, latest, history } = await rates.status()
  if (!ready) return undefined
  if (latest) {
    const { rates: table, updatedAt } = await rates.latest()
    const published = publicationText({ updatedAt }, undefined, now)
    return `${Object.keys(table).length} currencies, published ${published}`
  }
  // The provider may lack the euro and the dollar.
  const { currencies } = await rates.currencies()
  const covered = currencies.filter((currency) => currency.history)
  return `reference rates of ${covered.length} currencies up to ${history?.lastDay}`
}

function diagnose(
  events: readonly RatesEvent[],
  host: string,
  isBuiltIn: boolean,
): [reason: string, advice: string] {
  const failure = events.find((event) => event.type === 'upstream_failed')
  const rejected = events.find((event) => event.type === 'rates_rejected')
  if (!failure && rejected) {
    const advice = isBuiltIn ? AFTER_BUILT_IN_REJECTION : AFTER_REJECTION
    return [`response rejected: ${rejected.reason}`, advice]
  }
  const reason = failure?.reason ?? 'no response'
  const patterns = isBuiltIn ? [BUILT_IN_ADVICE, ...ADVICE] : ADVICE
  // A host name may contain any of the words and numbers.
  const words = host === '' ? reason : reason.replaceAll(host, '')
  const [, advice = OTHER_ADVICE] = patterns.find(([pattern]) => pattern.test(words)) ?? []
  return [reason, advice]
}

/** With a larger clock error, the age of rates is wrong. */
const MAX_CLOCK_SKEW_MS = 300_000

/** Needs half of the hosts: a few may be wrong. One failure, because several hosts report the same wrong clock. */
function checkClock(checked: readonly ProviderCheck[]): CheckResult[] {
  const dated = checked.filter(({ skew = NaN }) => !Number.isNaN(skew))
  const differing = dated.filter(({ skew = 0 }) => Math.abs(skew) > MAX_CLOCK_SKEW_MS)
  const [first] = differing
  if (!first || differing.length * 2 < dated.length) return []
  const { skew = 0, host } = first
  const found = `${Math.round(Math.abs(skew) / 60_000)} minutes ${skew > 0 ? 'behind' : 'ahead of'} ${host}`
  return [failed('clock', found, 'set the clock of this machine')]
}

type Advice = readonly [reason: RegExp, advice: string]

const NOT_THE_FEED = /JSON|unexpected format|redirected|another base|is not HTTP/

/** Patterns of failure reasons with their advice; the first match counts. */
const ADVICE: readonly Advice[] = [
  [/\bproxy\b/, 'check the proxy in HTTPS_PROXY or HTTP_PROXY: host, port, user name and password'],
  [/\bresolved?\b/, 'check the URL, the network and its DNS server'],
  [
    /certificate|TLS/,
    'check the system clock; if a firewall intercepts TLS, set NODE_EXTRA_CA_CERTS (Deno: DENO_CERT) to its certificate',
  ],
  [/(?:status|HTTP) 429|quota-reached/, 'too many requests from here: try again in 20 minutes'],
  [/(?:status|HTTP) 40[13]/, 'access denied: is this response from a firewall? Ask the provider'],
  [/(?:status|HTTP) 4(?:04|10)|unsupported-code|ENOENT/, 'the path does not exist: check the URL'],
  [/(?:status|HTTP) 5\d\d/, 'the upstream itself fails: try again later'],
  [
    NOT_THE_FEED,
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

/** Before all others for providers at their own addresses. */
const BUILT_IN_ADVICE: Advice = [
  new RegExp(String.raw`(?:status|HTTP) 4(?:04|10)|${NOT_THE_FEED.source}`),
  'the feed may have a new address or form: use the newest version of ratesmith, or report this failure; a network that requires a login also causes it',
]

const OTHER_ADVICE = 'try again later'

const AFTER_LATE_RATES =
  'look for newer rates on the page of the source: after an unexpected holiday, wait; if it has stopped, choose another provider'

const AFTER_REJECTION =
  "the response is not a plausible current market: check this machine's clock and the URL; earlier rates stay in use"

const AFTER_BUILT_IN_REJECTION =
  "the response is not a plausible current market: check this machine's clock; if it is right, report this failure"
