import { text } from 'node:stream/consumers'

import { createAccess, createKey } from '../../src/access/index.ts'
import type { Access } from '../../src/access/index.ts'
import type { Runtime } from '../../src/async.ts'
import { createHandlerOn } from '../../src/handler.ts'
import type { RatesHandler } from '../../src/handler.ts'
import { isStreamed } from '../../src/http/response.ts'
import type { RawRequest, RawResponse, StreamedBody } from '../../src/http/messages.ts'
import type { RatesHandlerOptions } from '../../src/options.ts'
import { createQuotes } from '../../src/quotes/index.ts'
import { DAY_MS } from '../../src/rates/dates.ts'
import { fakeProviders } from '../../src/testing/fake-providers.ts'
import type { HistoryProvider, LatestProvider } from '../../src/upstream/provider.ts'

const NOW = Date.UTC(2026, 10, 20, 16)

const SECRETS = ['examples of the OpenAPI document, no secret']

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

/** Keys of a handler with access: with a plan, without a current plan, and with a plan of one request. */
const KEYS = ['paid', 'forbidden', 'exhausted'] as const

/** A request to a handler of the synthetic market, by default a `GET` with a paid key. */
export interface SampleRequest extends Partial<RawRequest> {
  /** Whether the handler has no data. */
  isCold?: boolean
  /** Whether the handler has quotes (default true). */
  hasQuotes?: boolean
  /** The exhausted key is sent twice. */
  key?: (typeof KEYS)[number] | 'none'
  /** In which `{quote}` and `{expired}` are quotes. */
  query?: string
}

/** A response whose body is whole. */
export interface SampleResponse extends RawResponse {
  body: Exclude<RawResponse['body'], StreamedBody>
}

/** Resolves with the response to a request, whose target is relative to the base path. */
export type Samples = (target: string, request?: SampleRequest) => Promise<SampleResponse>

async function createKeys(): Promise<{ access: Access; authorizations: Record<string, string> }> {
  const created = await Promise.all(
    KEYS.map(async (plan) => ({ id: plan, plan, ...(await createKey()) })),
  )
  const access = createAccess({
    plans: {
      paid: '1000000/min, 1000000/month',
      exhausted: '1/min, 1000000/month',
    },
    keys: { find: (sent) => created.find(({ hash }) => hash === sent) },
  })
  const entries = created.map(({ plan, key }) => [plan, `Bearer ${key}`])
  return { access, authorizations: Object.fromEntries(entries) }
}

/**
 * Creates handlers of the synthetic market, with few latest rates and without recent rates of the Icelandic króna; with
 * `hasAccess`, they require keys.
 */
export async function createSamples(hasAccess: boolean): Promise<Samples> {
  const keys = hasAccess ? await createKeys() : undefined
  const { latest, history } = fakeProviders()
  const down = (): Promise<never> => Promise.reject(new Error('down'))
  const handlerOf = (providers: RatesHandlerOptions['providers'], hasQuotes = true): RatesHandler =>
    createHandlerOn(() => frozenRuntime, {
      providers,
      now: frozenRuntime.now,
      access: keys?.access,
      quotes: hasQuotes ? { secrets: SECRETS } : undefined,
    })
  const market = { latest: onlySome(latest), history: withoutKrona(history) }
  const warm = handlerOf(market)
  const withoutQuotes = handlerOf(market, false)
  const cold = handlerOf({
    latest: { ...latest, fetchLatest: down },
    history: { ...history, fetchHistory: down },
  })
  await Promise.all([warm.refresh(), cold.refresh()])
  const quoteAt = async (time: number): Promise<string> => {
    const { create } = createQuotes({ rates: warm.rates, secrets: SECRETS, now: () => time })
    return (await create({ from: 'USD', to: 'EUR', amount: 100 })).quote
  }
  const [quote, expired] = [await quoteAt(NOW), await quoteAt(NOW - DAY_MS)]
  return async (target, request = {}) => {
    const { isCold, hasQuotes = true, key = 'paid', query = '', ...rest } = request
    const { header = () => null } = request
    const handler = hasQuotes ? (isCold ? cold : warm) : withoutQuotes
    const filled = query.replace('{quote}', quote).replace('{expired}', expired)
    const raw: RawRequest = {
      method: 'GET',
      ...rest,
      target: `/api${target}${filled}`,
      header: (name) => (name === 'authorization' && keys?.authorizations[key]) || header(name),
    }
    if (key === 'exhausted') await handler.answer(raw)
    const response = await handler.answer(raw)
    return { ...response, body: await wholeBody(response.body) }
  }
}

async function wholeBody(body: RawResponse['body']): Promise<SampleResponse['body']> {
  return isStreamed(body) ? text(body) : body
}

/** Runs `work` with the same id for every quote, so that the document is the same every time. */
export async function withFixedIds<Result>(work: () => Promise<Result>): Promise<Result> {
  const value = (): string => '0d2c7e1f-6f0a-4c3e-9b58-1a4f7d96c203'
  Object.defineProperty(globalThis.crypto, 'randomUUID', { value, configurable: true })
  try {
    return await work()
  } finally {
    Reflect.deleteProperty(globalThis.crypto, 'randomUUID')
  }
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
