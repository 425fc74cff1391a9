import { checkClock, checkProvider, describeHistory, failed } from './doctor-checks.ts'
import type { CheckResult, ProviderCheck } from './doctor-checks.ts'
import { loadProviders } from './providers.ts'
import type { NamedProvider } from './providers.ts'
import type { Upstreams } from './upstreams.ts'
import { messageOf } from './usage.ts'

/** Hosts that receive requests at the same time. */
const MAX_HOSTS = 4

/**
 * Separately and without any cache; providers of the same host get their requests one after another. Skips those whose key
 * is not in `env`.
 */
export async function checkBuiltIns(
  { fetch, now }: Pick<Upstreams, 'fetch' | 'now'>,
  env: NodeJS.ProcessEnv,
): Promise<CheckResult[]> {
  const all = await loadProviders()
  const opened = all.map((named) => open(named, env))
  const sources = opened.filter((each) => 'host' in each)
  const checks = new Map<BuiltIn, ProviderCheck>()
  const groups = groupByHost(sources)
  async function checkGroups(): Promise<void> {
    for (let group = groups.shift(); group; group = groups.shift()) {
      for (const source of group) {
        checks.set(source, await checkProvider({ ...source.checked, fetch, now }))
      }
    }
  }
  await Promise.all(Array.from({ length: MAX_HOSTS }, checkGroups))
  const results = opened.flatMap((each) =>
    'host' in each ? (checks.get(each)?.result ?? []) : each,
  )
  return [...results, ...checkClock([...checks.values()])]
}

interface BuiltIn {
  /** Host of its source's page. */
  host: string
  checked: Omit<Parameters<typeof checkProvider>[0], 'fetch' | 'now'>
}

function open(named: NamedProvider, env: NodeJS.ProcessEnv): BuiltIn | CheckResult {
  const { name, keyVariable = '' } = named
  const key = env[keyVariable]
  if (keyVariable !== '' && !key) {
    const found = `needs a key: set ${keyVariable}`
    return { subject: name, ok: true, found, advice: null, skipped: true }
  }
  try {
    return create(named, key)
  } catch (error) {
    const advice = `set ${keyVariable} to the key of your account, or to nothing`
    return failed(name, `${keyVariable}: ${messageOf(error)}`, advice)
  }
}

function create({ name, ...factories }: NamedProvider, key: string | undefined): BuiltIn {
  const history = factories.history?.({ key })
  const latest = factories.latest?.({ key })
  const hostOf = (url: string): string => new URL(url).host
  if (latest) {
    const providers = { latest, history: false } as const
    const checked = { builtIn: name, dataSet: 'latest', providers } as const
    return { host: hostOf(latest.attribution.url), checked }
  }
  if (!history) throw new Error('neither latest rates nor history')
  const providers = { latest: false, history } as const
  const checked = {
    builtIn: name,
    dataSet: 'history',
    providers,
    describe: describeHistory,
  } as const
  return { host: hostOf(history.attribution.url), checked }
}

function groupByHost(sources: readonly BuiltIn[]): BuiltIn[][] {
  const groups = new Map<string, BuiltIn[]>()
  for (const source of sources) {
    groups.set(source.host, [...(groups.get(source.host) ?? []), source])
  }
  return [...groups.values()]
}
