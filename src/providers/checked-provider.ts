import { validateHistory } from '../rates/validate.ts'
import { addDays, toDay } from '../rates/day.ts'
import { newestDay } from '../rates/market-history.ts'
import type { QuotedRates } from '../rates/plausibility.ts'
import { RejectedError } from '../rates/rejected-error.ts'
import type { Runtime } from '../runtime.ts'
import { findDeviations } from './major-rates.ts'
import type {
  CrossCheck,
  HistoryProvider,
  LatestProvider,
  LatestTable,
  ProviderContext,
} from './provider.ts'

/** The days up to today among which one was published: over Easter the European Central Bank is closed for five. */
const DAYS_FETCHED = 10

/** How long a reference that has not answered may hold the primary's answer up, in ms from when both were asked. */
const CHECK_TIMEOUT_MS = 1_000

/** The longest that a reference may ask to be left alone, in ms. */
const MAX_BACKOFF_MS = 6 * 3_600_000

/** What a check goes by. */
export interface CheckOptions {
  /** With whose rates those of the primary are compared. */
  reference: HistoryProvider
  /** By which share a rate may differ from the reference rate. */
  tolerance: number
}

/** `primary` with a `check` in its tables, timed by `runtime`: see `crossCheck`. */
export function checkedProvider(
  runtime: Pick<Runtime, 'startTimer'>,
  primary: LatestProvider,
  { reference, tolerance }: CheckOptions,
): LatestProvider {
  const { name } = reference.attribution
  const askReference = createReference(reference)

  function toCheck(table: LatestTable, found: ReferenceDay | Missing): CrossCheck {
    if ('error' in found) return { reference: name, error: found.error }
    try {
      const published = { base: table.base, rateOf: (code: string) => table.rates[code] }
      const deviations = findDeviations(published, found, tolerance)
      return { reference: name, date: found.date, deviations }
    } catch (error) {
      // The primary's answer may be anything: whether it is a table is for others to say.
      return { reference: name, error }
    }
  }

  return {
    attribution: primary.attribution,
    ...(primary.validateStored && { validateStored: primary.validateStored.bind(primary) }),
    async fetchLatest(context) {
      const { fetch, now } = context
      const moment = startCheckTimeout(runtime)
      const share = new AbortController()
      const signal = AbortSignal.any([context.signal, share.signal])
      const asked = askReference({ fetch, now, signal })
      try {
        const table = await primary.fetchLatest(context)
        return { ...table, check: toCheck(table, await Promise.race([asked, moment.over])) }
      } finally {
        moment.stop()
        share.abort(new Error('the time for the cross-check is over'))
      }
    },
  }
}

/** The reference rates of one day. */
interface ReferenceDay extends QuotedRates {
  date: string
}

/** Why there are none. */
interface Missing {
  error: unknown
}

/** Asks `reference` for its newest day, unless it wants to be left alone; never rejects. */
function createReference(
  reference: HistoryProvider,
): (context: ProviderContext) => Promise<ReferenceDay | Missing> {
  let restUntil = 0
  return async (context) => {
    const now = context.now()
    try {
      if (now < restUntil) throw new Error('it wants to be left alone')
      return await readNewest(reference, context)
    } catch (error) {
      const rest = Number(Object(error).retryAfterMs)
      if (rest > 0) restUntil = now + Math.min(rest, MAX_BACKOFF_MS)
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
    throw new RejectedError('there is no day of the last ten')
  }
  const row = data.dates.indexOf(date)
  return { base: data.base, date, rateOf: (code) => data.columns.get(code)?.[row] }
}

/** A moment, which is over without a reference unless it is stopped before. */
function startCheckTimeout({ startTimer }: Pick<Runtime, 'startTimer'>): {
  over: Promise<Missing>
  stop(): void
} {
  let stop = (): void => {}
  const over = new Promise<Missing>((resolve) => {
    const error = new Error(`no answer within ${CHECK_TIMEOUT_MS} ms`)
    stop = startTimer(() => resolve({ error }), CHECK_TIMEOUT_MS)
  })
  return { over, stop }
}
