import { startTimer } from '../async.ts'
import { assertKnownOptions } from '../known-options.ts'
import { MAX_GAP_DAYS, createCalendar } from '../rates/calendar.ts'
import { addDays, newestPublishedDay, toDay } from '../rates/dates.ts'
import { newestDay } from '../rates/market-history.ts'
import type { QuotedRates } from '../rates/rate-table.ts'
import { RejectedError, validateHistory } from '../rates/validate.ts'
import { requireProvider } from '../upstream/provider.ts'
import type {
  HistoryProvider,
  LatestProvider,
  LatestTable,
  ProviderContext,
} from '../upstream/provider.ts'

/** Options of `crossCheck`. */
export interface CrossCheckOptions {
  /**
   * Accepted deviation from the reference rate, as a share above 0 and below 1 (default 0.03, which is 3 %). The two rates
   * may be a weekend apart: on 12 of 2,629 days that the European Central Bank published since 2016, one of the compared
   * currencies moved by more than 3 % from one day to the next.
   */
  tolerance?: number | undefined
}

/**
 * Wraps `primary` and compares its tables with the newest reference rates of `reference`, of the last ten days if it publishes
 * daily. Emits `rates_deviating` if
 * a major currency differs by more than `tolerance` against the euro; the table stays unchanged.
 *
 * Both providers get their requests at the same time. If the reference fails, or has not responded after 1 s when the
 * primary has, the table is served unchecked and `check_failed` is emitted.
 *
 * @throws {TypeError} if `tolerance` is not above 0 and below 1, or an argument is not a provider
 * @example
 * ```ts
 * import { createExchangeRateApiProvider, createRatesHandler } from 'ratesmith'
 * import { crossCheck } from 'ratesmith/providers/cross-check'
 * import { createEcbProvider } from 'ratesmith/providers/ecb'
 *
 * const latest = crossCheck(createExchangeRateApiProvider(), createEcbProvider())
 * const handler = createRatesHandler({ providers: { latest } })
 * ```
 */
export function crossCheck(
  primary: LatestProvider,
  reference: HistoryProvider,
  options: CrossCheckOptions = {},
): LatestProvider {
  const { tolerance = 0.03 } = options
  assertKnownOptions(options, { tolerance })
  requireProvider('primary', 'fetchLatest', primary)
  requireProvider('reference', 'fetchHistory', reference)
  if (!(typeof tolerance === 'number' && tolerance > 0 && tolerance < 1)) {
    throw new TypeError(`tolerance must be above 0 and below 1, got ${String(tolerance)}`)
  }
  const { name } = reference.attribution
  const fetchReference = createReference(reference)
  return {
    attribution: primary.attribution,
    ...(primary.validateStored && { validateStored: primary.validateStored.bind(primary) }),
    async fetchLatest(context) {
      const { fetch, now } = context
      const timeout = startCheckTimeout()
      const ending = new AbortController()
      const signal = AbortSignal.any([context.signal, ending.signal])
      const pending = fetchReference({ fetch, now, signal })
      try {
        const table = await primary.fetchLatest(context)
        const found = await Promise.race([pending, timeout.elapsed])
        return { ...table, check: { reference: name, ...compare(table, found, tolerance) } }
      } finally {
        timeout.stop()
        ending.abort(new Error('cross-check ended'))
      }
    },
  }
}

const CHECK_TIMEOUT_MS = 1_000

const MAX_BACKOFF_MS = 6 * 3_600_000

function compare(
  table: LatestTable,
  found: ReferenceDay | Missing,
  tolerance: number,
): { date: string; deviations: string[] } | Missing {
  if ('error' in found) return found
  try {
    const published = { base: table.base, rateOf: (code: string) => table.rates[code] }
    const deviations = findDeviations(published, found, tolerance)
    return { date: found.date, deviations }
  } catch (error) {
    // The result of the primary may be anything; it is validated later.
    return { error }
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
  const { publication, maxDays = Infinity } = reference
  const today = toDay(context.now())
  const end =
    publication && maxDays === 1
      ? newestPublishedDay(context.now(), createCalendar(publication))
      : today
  const length = Math.min(maxDays, MAX_GAP_DAYS[publication?.frequency ?? 'daily'])
  const range = { start: addDays(end, 1 - length), end }
  const { data } = validateHistory(await reference.fetchHistory(range, context), context.now())
  const date = newestDay(data, end)
  if (date === undefined || date < range.start) {
    throw new RejectedError(`expected rates since ${range.start}, got ${date ?? 'none'}`)
  }
  const row = data.dates.indexOf(date)
  const rateOf = (code: string): number | undefined => {
    const quote = data.columns.get(code)?.[row]
    return quote !== undefined && data.priced?.has(code) ? 1 / quote : quote
  }
  return { base: data.base, date, rateOf }
}

function startCheckTimeout(): { elapsed: Promise<Missing>; stop(): void } {
  let stop = (): void => {}
  const elapsed = new Promise<Missing>((resolve) => {
    const error = new Error(`timed out after ${CHECK_TIMEOUT_MS} ms`)
    stop = startTimer(() => resolve({ error }), CHECK_TIMEOUT_MS)
  })
  return { elapsed, stop }
}

/**
 * Currencies that trade freely, or are pegged to one that does, in markets so deep that all sources agree within a fraction
 * of a percent. Others move by more than 3 % every month or two, or have an official rate besides the market rate.
 */
const MAJORS = 'USD JPY GBP CHF AUD CAD NZD SEK NOK DKK CNY HKD SGD'.split(' ')

/**
 * Returns the major currencies that differ by more than the share `tolerance` from `expected` against the euro, such as
 * `USD +5.0 %`.
 *
 * @throws {Error} if no major currency is in both
 */
function findDeviations(
  published: QuotedRates,
  expected: QuotedRates,
  tolerance: number,
): string[] {
  const ratios = MAJORS.map((code) => ({
    code,
    ratio: againstEuro(published, code) / againstEuro(expected, code),
  })).filter(({ ratio }) => ratio > 0)
  if (ratios.length === 0) {
    throw new Error(`expected EUR and one of ${MAJORS.join(', ')} in both tables`)
  }
  return ratios
    .filter(({ ratio }) => Math.max(ratio, 1 / ratio) > 1 + tolerance)
    .map(({ code, ratio }) => `${code} ${ratio > 1 ? '+' : ''}${((ratio - 1) * 100).toFixed(1)} %`)
}

function againstEuro({ base, rateOf }: QuotedRates, code: string): number {
  const quote = (quoted: string): number => (quoted === base ? 1 : Number(rateOf(quoted) ?? NaN))
  return quote(code) / quote('EUR')
}
