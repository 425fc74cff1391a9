import { createExchangeRateApiProvider, createFrankfurterProvider } from '../index.ts'
import type { RatesHandlerOptions } from '../index.ts'
import { platform } from './platform.ts'
import { UsageError, told } from './usage-error.ts'

/** Who is asked for rates, and how. */
type Upstreams = Pick<RatesHandlerOptions, 'providers' | 'fetch'>

/**
 * The providers that the environment names, through the proxies that it names; with `demo` none of it.
 *
 * @throws {UsageError} naming the variable that cannot be used
 */
export async function chooseUpstreams(demo: boolean): Promise<Upstreams> {
  if (demo) {
    const { fakeProviders } = await import('../testing/fake-providers.ts')
    return { providers: fakeProviders() }
  }
  const { RATESMITH_LATEST_URL, RATESMITH_HISTORY_URL } = process.env
  const latest = RATESMITH_LATEST_URL || undefined
  const history = RATESMITH_HISTORY_URL || undefined
  const providers = {
    latest: told('RATESMITH_LATEST_URL', () => createExchangeRateApiProvider({ url: latest })),
    history: told('RATESMITH_HISTORY_URL', () => createFrankfurterProvider({ url: history })),
  }
  return { providers, fetch: await fetchThroughProxy([latest, history]) }
}

/** A `fetch` that heeds the proxies of the environment; `undefined` where the platform's own does, or there is none. */
async function fetchThroughProxy(roots: (string | undefined)[]): Promise<typeof fetch | undefined> {
  const isPlain = (root: string | undefined): boolean => /^http:/i.test(root ?? '')
  const variables = [
    ...(roots.every(isPlain) ? [] : ['HTTPS_PROXY', 'https_proxy']),
    ...(roots.some(isPlain) ? ['HTTP_PROXY', 'http_proxy'] : []),
  ].filter((name) => process.env[name])
  for (const variable of variables) requireProxy(variable, process.env[variable] ?? '')
  const [variable] = variables
  // Bun and Deno heed them by themselves.
  if (variable === undefined || platform !== 'node') return undefined
  const { createUndiciFetch } = await import('../../adapters/node.ts')
  return createUndiciFetch({ proxy: 'environment' }).catch((error: Error) => {
    throw new UsageError(`${variable}: ${error.message}`, { cause: error })
  })
}

/** Some platforms would take no notice of what is none, and go past the proxy. */
function requireProxy(variable: string, url: string): void {
  if (/^https?:\/\//i.test(url) && URL.canParse(url)) return
  throw new UsageError(`${variable} must be the URL of a proxy, with http or https`)
}
