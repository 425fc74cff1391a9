import { assertKnownOptions } from '../known-options.ts'
import type { HistoryProvider, LatestProvider } from '../providers/provider.ts'
import { runInSlices } from '../rates/slices.ts'
import { yieldToEventLoop } from '../runtime.ts'
import { createSyntheticMarket } from './synthetic-market.ts'

/** Options of `fakeProviders`. */
export interface FakeProvidersOptions {
  /** Whole number that picks the market (default 1): same seed, same rates. */
  seed?: number | undefined
  /** Clock, ms since the Unix epoch (default: the clock of each call's `ProviderContext`). */
  now?: (() => number) | undefined
}

/** Both providers of one synthetic market, ready for the handler's `providers` option. */
export interface FakeProviders {
  /** USD table of 161 codes, published every day at 16:00 Frankfurt time. */
  latest: LatestProvider
  /** EUR reference rates of 29 codes for every TARGET working day since 1999-01-04. */
  history: HistoryProvider
}

/**
 * Providers of a plausible synthetic market for tests and demos: no network, no timers, and the
 * same numbers for the same seed and clock on every runtime. A history of more than five years is
 * made in slices, with turns of the event loop between them. Both reject when the call's signal is
 * aborted; `latest` rejects while the clock stands before 1999-01-04, 16:00 in Frankfurt.
 */
export function fakeProviders(options: FakeProvidersOptions = {}): FakeProviders {
  const { seed = 1, now } = options
  assertKnownOptions(options, { seed, now })
  if (!Number.isSafeInteger(seed)) throw new TypeError(`seed must be a whole number, got ${seed}`)
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
