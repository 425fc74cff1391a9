import { createAccess, createKey } from '../../src/access/index.ts'
import type { Access } from '../../src/access/index.ts'
import type { Runtime } from '../../src/async.ts'
import { createHandlerOn } from '../../src/handler.ts'
import type { RatesHandler } from '../../src/handler.ts'
import type { RawRequest, RawResponse } from '../../src/http/messages.ts'
import { fakeProviders } from '../../src/testing/fake-providers.ts'
import type { HistoryProvider, LatestProvider } from '../../src/upstream/provider.ts'

const NOW = Date.UTC(2026, 10, 20, 16)

const CODES = ['CHF', 'EUR', 'GBP', 'JPY', 'KWD', 'USD']

/** Within the last two weeks, so that history still covers the króna, but without rates in the last week. */
const LAST_DAY_OF_KRONA = '2026-11-10'

/** No time passes and nothing is random, so that the document is the same every time. */
const frozenRuntime: Runtime = {
  now: () => NOW,
  monotonic: () => 0,
  random: () => 0,
  startTimer: () => () => {},
  yieldToEventLoop: () => Promise.resolve(),
}

/** Handlers whose responses become examples. */
export interface Samples {
  /** Resolves with the response to a `GET` of `target`, relative to the base path. */
  request(target: string, request?: Partial<RawRequest>): Promise<RawResponse>
  /** The same for a handler without any data. */
  requestWithoutData(target: string): Promise<RawResponse>
  /** The same for a key with a plan that does not exist, and after its limit; for no key without `key`. */
  requestRefused(target: string, key?: 'forbidden' | 'exhausted'): Promise<RawResponse>
}

/** The keys of the examples: with a plan, without a current plan, and with a plan of one request. */
interface Keys {
  access: Access
  paid: string
  forbidden: string
  exhausted: string
}

async function createKeys(): Promise<Keys> {
  const [paid, forbidden, exhausted] = [await createKey(), await createKey(), await createKey()]
  const planOf: Record<string, string> = {
    [paid.hash]: 'paid',
    [forbidden.hash]: 'none',
    [exhausted.hash]: 'single',
  }
  const access = createAccess({
    plans: {
      paid: { burst: '1000000/min', month: 1_000_000 },
      single: { burst: '1/min', month: 1_000_000 },
    },
    keys: {
      find(hash) {
        const plan = planOf[hash]
        return plan === undefined ? undefined : { id: plan, plan }
      },
    },
  })
  return { access, paid: paid.key, forbidden: forbidden.key, exhausted: exhausted.key }
}

/**
 * Creates handlers of the synthetic market, with few latest rates and without recent rates of the Icelandic króna; with
 * `hasAccess`, they require keys and all requests have one.
 */
export async function createSamples(hasAccess: boolean): Promise<Samples> {
  const keys = hasAccess ? await createKeys() : undefined
  const { latest, history } = fakeProviders()
  const warm = handlerOf({ latest: onlySome(latest), history: withoutKrona(history) }, keys?.access)
  const down = async (): Promise<never> => {
    throw new Error('down')
  }
  const without = {
    latest: { ...latest, fetchLatest: down },
    history: { ...history, fetchHistory: down },
  }
  const cold = handlerOf(without, keys?.access)
  await Promise.all([warm.refresh(), cold.refresh()])
  return {
    request: (target, request) => send(warm, target, withKey(keys?.paid, request)),
    requestWithoutData: (target) => send(cold, target, withKey(keys?.paid)),
    async requestRefused(target, kind) {
      const request = withKey(kind && keys?.[kind])
      // The second request exceeds the limit of one.
      await send(warm, target, request)
      return send(warm, target, request)
    },
  }
}

function handlerOf(
  providers: ReturnType<typeof fakeProviders>,
  access: Access | undefined,
): RatesHandler {
  return createHandlerOn(() => frozenRuntime, { providers, now: frozenRuntime.now, access })
}

function withKey(key: string | undefined, request: Partial<RawRequest> = {}): Partial<RawRequest> {
  const { header = () => null } = request
  if (key === undefined) return request
  return {
    ...request,
    header: (name) => (name === 'authorization' ? `Bearer ${key}` : header(name)),
  }
}

async function send(
  handler: RatesHandler,
  target: string,
  request: Partial<RawRequest> = {},
): Promise<RawResponse> {
  return handler.answer({ method: 'GET', header: () => null, ...request, target: `/api${target}` })
}

function onlySome(provider: LatestProvider): LatestProvider {
  return {
    ...provider,
    async fetchLatest(context) {
      const table = await provider.fetchLatest(context)
      const some = Object.entries(table.rates).filter(([code]) => CODES.includes(code))
      return { ...table, rates: Object.fromEntries(some) }
    },
  }
}

function withoutKrona(provider: HistoryProvider): HistoryProvider {
  return {
    ...provider,
    async fetchHistory(range, context) {
      const { base, days } = await provider.fetchHistory(range, context)
      const quoted = days.map(({ date, rates: { ISK = NaN, ...rates } }) => ({
        date,
        rates: date < LAST_DAY_OF_KRONA ? { ...rates, ISK } : rates,
      }))
      return { base, days: quoted }
    },
  }
}
