import { runInSlices, yieldToEventLoop } from '../async.ts'
import { assertKnownOptions } from '../known-options.ts'
import type { HistoryProvider, LatestProvider } from '../upstream/provider.ts'
import { createSyntheticMarket } from './synthetic-market.ts'

/** Options of `fakeProviders`. */
export interface FakeProvidersOptions {
  /** Integer that selects the market (default 1); equal seeds give equal rates. */
  seed?: number | undefined
  /** Clock, in ms since the Unix epoch (default: the clock of the handler). */
  now?: (() => number) | undefined
}

/** Both providers of one market, for the handler's option `providers`. */
export interface FakeProviders {
  /** USD table of 161 codes, published every day at 16:00 Frankfurt time. */
  latest: LatestProvider
  /** EUR reference rates of 29 codes for every TARGET working day since 1999-01-04. */
  history: HistoryProvider
}

/**
 * Creates providers of a plausible synthetic market, for tests and demos. They use no network and no timers, and return the
 * same rates for the same seed and clock on every runtime. A history of more than five years is computed in slices that
 * yield to the event loop. Both providers reject if the signal of a call aborts; `latest` also rejects while the clock is
 * before 1999-01-04, 16:00 in Frankfurt.
 *
 * @throws {TypeError} for an unknown option, or a seed that is not a safe integer
 * @example
 * ```ts
 * import { createRatesHandler } from 'ratesmith'
 * import { fakeProviders } from 'ratesmith/testing'
 *
 * const { rates } = createRatesHandler({ providers: fakeProviders({ seed: 7 }) })
 * const { result } = await rates.convert({ from: 'USD', to: 'EUR', amount: 100 })
 * ```
 */
export function fakeProviders(options: FakeProvidersOptions = {}): FakeProviders {
  const { seed = 1, now } = options
  assertKnownOptions(options, { seed, now })
  if (!Number.isSafeInteger(seed)) throw new TypeError(`seed must be a safe integer, got ${seed}`)
  const market = createSyntheticMarket(seed)
  const attribution = {
    name: 'Synthetic rates (ratesmith)',
    url: 'https://www.npmjs.com/package/ratesmith',
  }

  return {
    latest: {
      attribution,
      async fetchLatest(context) {
        context.signal.throwIfAborted()
        return market.latest((now ?? context.now)())
      },
    },
    history: {
      attribution,
      async fetchHistory({ start, end }, context) {
        context.signal.throwIfAborted()
        const days = market.historyInSlices(start, end, (now ?? context.now)())
        return runInSlices(days, yieldToEventLoop, context.signal)
      },
    },
  }
}
