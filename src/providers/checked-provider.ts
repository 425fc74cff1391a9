import { addDays, toDay } from '../rates/dates.ts'
import { newestDay } from '../rates/market-history.ts'
import type { QuotedRates } from '../rates/rate-table.ts'
import { RejectedError, validateHistory } from '../rates/validate.ts'
import type { Runtime } from '../runtime.ts'
import { findDeviations } from './major-rates.ts'
import type {
  CrossCheck,
  HistoryProvider,
  LatestProvider,
  LatestTable,
  ProviderContext,
} from './provider.ts'

/** Always includes a published day: over Easter the European Central Bank is closed for five. */
const DAYS_FETCHED = 10

const CHECK_TIMEOUT_MS = 1_000

const MAX_BACKOFF_MS = 6 * 3_600_000

/** Options of `checkedProvider`. */
export interface CheckOptions {
  /** Provider of the rates to compare with. */
  reference: HistoryProvider
  /** Accepted deviation from the reference rate, as a share: 0.03 is 3 %. */
  tolerance: number
}

/** Wraps `primary` and adds a `check` to its tables, timed by `runtime`; see `crossCheck`. */
export function checkedProvider(
  runtime: Pick<Runtime, 'startTimer'>,
  primary: LatestProvider,
  { reference, tolerance }: CheckOptions,
): LatestProvider {
  const { name } = reference.attribution
  const fetchReference = createReference(reference)

  function toCheck(table: LatestTable, found: ReferenceDay | Missing): CrossCheck {
    if ('error' in found) return { reference: name, error: found.error }
    try {
      const published = { base: table.base, rateOf: (code: string) => table.rates[code] }
      const deviations = findDeviations(published, found, tolerance)
      return { reference: name, date: found.date, deviations }
    } catch (error) {
      // The result of the primary may be anything; it is validated later.
      return { reference: name, error }
    }
  }

  return {
    attribution: primary.attribution,
    ...(primary.validateStored && { validateStored: primary.validateStored.bind(primary) }),
    async fetchLatest(context) {
      const { fetch, now } = context
      const timeout = startCheckTimeout(runtime)
      const ending = new AbortController()
      const signal = AbortSignal.any([context.signal, ending.signal])
      const pending = fetchReference({ fetch, now, signal })
      try {
        const table = await primary.fetchLatest(context)
        return { ...table, check: toCheck(table, await Promise.race([pending, timeout.elapsed])) }
      } finally {
        timeout.stop()
        ending.abort(new Error('cross-check ended'))
      }
    },
  }
}

interface ReferenceDay extends QuotedRates {
  date: string
}

interface Missing {
  error: unknown
}

/** Returns a function that fetches the newest day, except during a backoff, and never rejects. */
function createReference(
  reference: HistoryProvider,
): (context: ProviderContext) => Promise<ReferenceDay | Missing> {
  let backoffUntil = 0
  return async (context) => {
    const now = context.now()
    try {
      if (now < backoffUntil) {
        throw new Error(`backoff for another ${Math.ceil((backoffUntil - now) / 1_000)} s`)
      }
      return await readNewest(reference, context)
    } catch (error) {
      const backoff = Number(Object(error).retryAfterMs)
      if (backoff > 0) backoffUntil = now + Math.min(backoff, MAX_BACKOFF_MS)
      return { error }
    }
  }
}

async function readNewest(
  reference: HistoryProvider,
  context: ProviderContext,
): Promise<ReferenceDay> {
  const end = toDay(context.now())
  const range = { start: addDays(end, 1 - DAYS_FETCHED), end }
  const { data } = validateHistory(await reference.fetchHistory(range, context), context.now())
  const date = newestDay(data, end)
  if (date === undefined || date < range.start) {
    throw new RejectedError(`expected rates since ${range.start}, got ${date ?? 'none'}`)
  }
  const row = data.dates.indexOf(date)
  return { base: data.base, date, rateOf: (code) => data.columns.get(code)?.[row] }
}

function startCheckTimeout({ startTimer }: Pick<Runtime, 'startTimer'>): {
  elapsed: Promise<Missing>
  stop(): void
} {
  let stop = (): void => {}
  const elapsed = new Promise<Missing>((resolve) => {
    const error = new Error(`timed out after ${CHECK_TIMEOUT_MS} ms`)
    stop = startTimer(() => resolve({ error }), CHECK_TIMEOUT_MS)
  })
  return { elapsed, stop }
}
