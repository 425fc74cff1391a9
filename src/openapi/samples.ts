import { createHandlerOn } from '../handler.ts'
import type { RatesHandler } from '../handler.ts'
import type { RawResponse, RawRequest } from '../http/raw.ts'
import type { HistoryProvider, LatestProvider } from '../providers/provider.ts'
import type { Runtime } from '../runtime.ts'
import { fakeProviders } from '../testing/index.ts'

const NOW = Date.UTC(2026, 10, 20, 16)

/** Enough to show what a table is. */
const CODES = ['CHF', 'EUR', 'GBP', 'JPY', 'KWD', 'USD']

/** It is covered as long as it was quoted in the last two weeks. */
const LAST_DAY_OF_KRONA = '2026-11-10'

/** A machine on which no time passes, so that what is made on it is the same every time. */
const still: Runtime = {
  now: () => NOW,
  monotonic: () => 0,
  random: () => 0,
  startTimer: () => () => {},
  yieldToEventLoop: () => Promise.resolve(),
}

/** Handlers whose answers the document shows. */
export interface Samples {
  /** What is answered to a `GET` of `target`, below the base path. */
  ask(target: string, request?: Partial<RawRequest>): Promise<RawResponse>
  /** The same where no provider has ever answered. */
  askWithoutData(target: string): Promise<RawResponse>
}

/** Handlers of the synthetic market, whose latest rates are few, and which has ceased to quote the Icelandic króna. */
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
    ask: (target, request) => requester(warm, target, request),
    askWithoutData: (target) => requester(cold, target),
  }
}

function handlerOf(providers: ReturnType<typeof fakeProviders>): RatesHandler {
  return createHandlerOn(() => still, { providers, now: still.now })
}

function requester(
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
