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
}

/** Creates handlers of the synthetic market, with few latest rates and without recent rates of the Icelandic króna. */
export async function createSamples(): Promise<Samples> {
  const { latest, history } = fakeProviders()
  const warm = handlerOf({ latest: onlySome(latest), history: withoutKrona(history) })
  const down = async (): Promise<never> => {
    throw new Error('down')
  }
  const cold = handlerOf({
    latest: { ...latest, fetchLatest: down },
    history: { ...history, fetchHistory: down },
  })
  await Promise.all([warm.refresh(), cold.refresh()])
  return {
    request: (target, request) => send(warm, target, request),
    requestWithoutData: (target) => send(cold, target),
  }
}

function handlerOf(providers: ReturnType<typeof fakeProviders>): RatesHandler {
  return createHandlerOn(() => frozenRuntime, { providers, now: frozenRuntime.now })
}

function send(
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
