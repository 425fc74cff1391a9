import { assertKnownOptions } from '../known-options.ts'
import { DAY_MS, addDays, nextPublication, toDay, toInstant } from '../rates/dates.ts'
import { checkTable, requireRootUrl } from '../upstream/feed.ts'
import type { LatestProvider, LatestTable } from '../upstream/provider.ts'
import { readJson } from '../upstream/request.ts'
import type { UpstreamResponse } from '../upstream/request.ts'
import { LIMITS, requireRow, rowsOf } from './ecb/frankfurter-rows.ts'

/** Options of `createFrankfurterV2Provider`. */
export interface FrankfurterV2Options {
  /** Root of the service, to which `/v2/rates` is appended (default `https://api.frankfurter.dev`). */
  url?: string | undefined
  /** Central banks whose rates are blended, by their keys in Frankfurter, such as `['ECB', 'BOC']` (default all). */
  providers?: readonly string[] | undefined
}

/**
 * Creates a provider of the latest rates of Frankfurter: a blend of some 80 central banks, requested every hour. Needs no
 * key. `providers: ['ECB', 'BOC']` chooses banks. Rates more than 14 days older than the newest, up to today (UTC), are
 * dropped.
 *
 * @throws {TypeError} if `url` is invalid, or `providers` is not a non-empty array of keys
 * @see https://frankfurter.dev
 * @example
 * ```ts
 * import { createRatesHandler } from 'ratesmith'
 * import { createFrankfurterV2Provider } from 'ratesmith/providers'
 *
 * const latest = createFrankfurterV2Provider({ providers: ['ECB', 'BOC'] })
 * const handler = createRatesHandler({ providers: { latest } })
 * ```
 */
export function createFrankfurterV2Provider(options: FrankfurterV2Options = {}): LatestProvider {
  const { url = 'https://api.frankfurter.dev', providers } = options
  assertKnownOptions(options, { url, providers })
  const tableUrl = `${requireRootUrl(url)}/v2/rates?base=${PIVOT}${toFilter(providers)}`
  return {
    attribution: { name: 'Frankfurter', url: 'https://frankfurter.dev' },
    async fetchLatest({ fetch, signal, now, previous, references }) {
      const response = await readJson({ fetch, signal, now, url: tableUrl, ...LIMITS })
      return checkTable(toLatestTable(response, now()), previous, references)
    },
    validateStored: checkTable,
  }
}

function toFilter(providers: readonly string[] | undefined): string {
  if (providers === undefined) return ''
  if (providers.length === 0 || !providers.every((key) => /^\w+$/.test(key))) {
    throw new TypeError(
      `providers must be a non-empty array of keys such as ECB, got [${providers.join(', ')}]`,
    )
  }
  return `&providers=${providers.join(',')}`
}

/** Pivot of the blended rates: against any other base, every rate is divided and rounded once more. */
const PIVOT = 'USD'

const HOUR_MS = 3_600_000

/** The service looks no further back for the last rate of a bank that has stopped publishing. */
const MAX_ROW_AGE_DAYS = 14

/**
 * Parses blended rates received at `now` (ms since the Unix epoch). Every currency has one row, with the day of its newest
 * rate. A date of tomorrow (UTC) counts as today. Later rows, and rows more than 14 days before the newest, are left out.
 *
 * @throws {Error} if the status is not 200, the base or the format is unexpected, or all rows are later than tomorrow
 */
function toLatestTable(response: UpstreamResponse, now: number): LatestTable {
  const { host } = response
  const today = toDay(now)
  const tomorrow = addDays(today, 1)
  const rows = rowsOf(response)
    .map((row, index) => requireRow(row, PIVOT, { host, index }))
    .filter(({ date }) => date <= tomorrow)
  const newest = rows
    .map(({ date }) => (date < today ? date : today))
    .toSorted()
    .at(-1)
  if (newest === undefined) throw new Error(`${host} returned no rates up to ${tomorrow}`)
  const oldest = addDays(newest, -MAX_ROW_AGE_DAYS)
  const kept = rows.filter(({ date }) => date >= oldest)
  return {
    base: PIVOT,
    updatedAt: toInstant(newest),
    nextUpdateAt: (Math.floor(now / HOUR_MS) + 1) * HOUR_MS,
    // Banks publish during the next working day.
    lateAt: nextPublication(toInstant(newest) + DAY_MS) + DAY_MS,
    rates: Object.fromEntries(kept.map(({ quote, rate }) => [quote, rate])),
  }
}
