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
  host: string
  /** How far the upstream's clock is ahead, in ms; undefined without a `Date` header, which has whole seconds. */
  skew: number | undefined
}

export async function checkProviders({
  providers,
  ...connection
}: Upstreams): Promise<CheckResult[]> {
  const checked = await Promise.all(
    (['latest', 'history'] as const).flatMap((data) =>
      providers[data].map((provider) =>
        check({ about: `${data} rates`, data, provider, isBuiltIn: false }, connection),
      ),
    ),
  )
  return [...checked.map(({ result }) => result), ...checkClock(checked)]
}

/** Providers, and so hosts, that receive requests at the same time. */
const MAX_AT_ONCE = 4

/** Separately and without any cache. Skips those whose key is not in the environment. */
export async function checkBuiltIns(context: CommandContext): Promise<CheckResult[]> {
  const { env, now } = context
  const connection = { fetch: await fetchFor([{ url: '' }], context), now }
  const opened = (await loadProviders()).map((named) => open(named, env))
  const checks = new Map<object, ProviderCheck>()
  const left = opened.values()
  async function checkNext(): Promise<void> {
    for (const each of left) {
      if ('provider' in each) checks.set(each, await check(each, connection))
    }
  }
  await Promise.all(Array.from({ length: MAX_AT_ONCE }, checkNext))
  const results = opened.flatMap((each) => checks.get(each)?.result ?? ('ok' in each ? each : []))
  return [...results, ...checkClock([...checks.values()])]
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
  const observed: Pick<ProviderCheck, 'host' | 'skew'> = { host: '', skew: undefined }
  const rates = createRates({
    providers: Object({ latest: false, history: false, [data]: provider }),
    async fetch(input, init) {
      observed.host = new URL(input instanceof Request ? input.url : input).host
      const response = await fetch(input, init)
      const date = Date.parse(response.headers.get('date') ?? '')
      if (!Number.isNaN(date)) observed.skew = date - now()
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
    const result = toResult(subject, description, { events, isBuiltIn, host: observed.host, now })
    return { ...observed, result }
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

interface Outcome {
  events: readonly RatesEvent[]
  isBuiltIn: boolean
  host: string
  now: () => number
}

function toResult(
  subject: string,
  description: string | undefined,
  { events, isBuiltIn, host, now }: Outcome,
): CheckResult {
  if (description !== undefined) {
    const late = events.find((event) => event.type === 'rates_late')
    if (!late) return passed(subject, description)
    const found = `${description}; the next were due ${toAge(now() - late.due)}`
    // Of all banks, one often has an unexpected holiday.
    return isBuiltIn ? passed(subject, found) : failed(subject, found, AFTER_LATE_RATES)
  }
  const failure = events.find((event) => event.type === 'upstream_failed')
  const rejected = events.find((event) => event.type === 'rates_rejected')
  if (!failure && rejected) {
    const advice = isBuiltIn ? AFTER_BUILT_IN_REJECTION : AFTER_REJECTION
    return failed(subject, `response rejected: ${rejected.reason}`, advice)
  }
  const reason = failure?.reason ?? 'no response'
  const patterns = isBuiltIn ? [...BUILT_IN_ADVICE, ...ADVICE] : ADVICE
  // A host name may contain any of the words and numbers.
  const words = host === '' ? reason : reason.replaceAll(host, '')
  const [, advice = OTHER_ADVICE] = patterns.find(([pattern]) => pattern.test(words)) ?? []
  return failed(subject, reason, advice)
}

/** With a larger clock error, the age of rates is wrong. */
const MAX_CLOCK_SKEW_MS = 300_000

/** Needs half of the hosts: a few may be wrong. One failure, because several hosts report the same wrong clock. */
function checkClock(checked: readonly ProviderCheck[]): CheckResult[] {
  const dated = checked.filter(({ skew }) => skew !== undefined)
  const differing = dated.filter(({ skew = 0 }) => Math.abs(skew) > MAX_CLOCK_SKEW_MS)
  const [first] = differing
  if (!first || differing.length * 2 < dated.length) return []
  const { skew = 0, host } = first
  const found = `${Math.round(Math.abs(skew) / 60_000)} minutes ${skew > 0 ? 'behind' : 'ahead of'} ${host}`
  return [failed('clock', found, 'set the clock of this machine')]
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

const AFTER_LATE_RATES =
  'look for newer rates on the page of the source: after an unexpected holiday, wait; if it has stopped, choose another provider'

const AFTER_REJECTION =
  "the response is not a plausible current market: check this machine's clock and the URL; earlier rates stay in use"

const AFTER_BUILT_IN_REJECTION =
  "the response is not a plausible current market: check this machine's clock; if it is right, report this failure"
