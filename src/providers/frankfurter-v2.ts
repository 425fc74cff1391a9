import { runInSlices } from '../async.ts'
import type { LongJson } from '../async.ts'
import { assertKnownOptions } from '../known-options.ts'
import { addDays } from '../rates/dates.ts'
import type { Day } from '../rates/dates.ts'
import { yieldToEventLoop } from '../runtime.ts'
import { PIVOT, toHistoryDays, toLatestTable } from './frankfurter-v2-rows.ts'
import type { HistoryDay, HistoryProvider, LatestProvider } from './provider.ts'
import { readJson } from './read-upstream.ts'
import { requireRootUrl } from './root-url.ts'
import { runSanityChecks } from './sanity-checks.ts'

/** Options of `createFrankfurterV2EcbProvider`. */
export interface FrankfurterV2EcbOptions {
  /** Root of the service, to which `/v2/rates` is appended (default `https://api.frankfurter.dev`). */
  url?: string | undefined
}

/** Options of `createFrankfurterV2Provider`. */
export interface FrankfurterV2Options extends FrankfurterV2EcbOptions {
  /** Central banks whose rates are blended, by their keys in Frankfurter, such as `['ECB', 'BOC']` (default all). */
  providers?: readonly string[] | undefined
}

const SERVICE = 'https://api.frankfurter.dev'

/** Five years of the European Central Bank's rates have about 2.5 MB. */
const LIMITS = {
  maxBytes: 8 * 1024 * 1024,
  redirectHosts: ['api.frankfurter.dev', 'frankfurter.dev'],
}

/** The service rejects longer ranges of all currencies: five years without leap days. */
const MAX_RANGE_DAYS = 5 * 365

/** `[{"date":"2026-11-20","base":"EUR","quote":"USD","rate":1.15},…]` */
const LIST_OF_ROWS: LongJson = {
  opening: '[',
  closing: ']',
  itemsOf: (document) => document,
  withItems: (_document, parts) => parts.flat(),
}

const MAX_PARALLEL_CALLS = 2

/**
 * Creates a provider of latest rates that Frankfurter blends from about 80 central banks. Needs no key. Sends a request
 * every hour, because the banks publish around the clock. The table has the date of its newest row up to today (UTC).
 *
 * @throws {TypeError} if `url` is invalid, or `providers` is not a non-empty array of keys
 * @see https://frankfurter.dev
 * @example
 * ```ts
 * import { createRatesHandler } from 'ratesmith'
 * import { createFrankfurterV2Provider } from 'ratesmith/providers/frankfurter-v2'
 *
 * const latest = createFrankfurterV2Provider({ providers: ['ECB', 'BOC'] })
 * const handler = createRatesHandler({ providers: { latest } })
 * ```
 */
export function createFrankfurterV2Provider(options: FrankfurterV2Options = {}): LatestProvider {
  const { url = SERVICE, providers } = options
  assertKnownOptions(options, { url, providers })
  const tableUrl = `${requireRootUrl(url)}/v2/rates?base=${PIVOT}${toFilter(providers)}`
  return {
    attribution: { name: 'Frankfurter', url: 'https://frankfurter.dev' },
    async fetchLatest({ fetch, signal, now, previous, references }) {
      const response = await readJson({ fetch, signal, now, url: tableUrl, ...LIMITS })
      return runSanityChecks(toLatestTable(response, now()), previous, references)
    },
    validateStored: runSanityChecks,
  }
}

/**
 * Creates a provider of history: daily reference rates of the European Central Bank from version 2 of Frankfurter, with the
 * published digits. Days and attribution are the same as those of `createFrankfurterProvider`. Fetches more than five years
 * in pieces, two at a time.
 *
 * @throws {TypeError} if `url` is invalid
 * @see https://frankfurter.dev
 * @example
 * ```ts
 * import { createRatesHandler } from 'ratesmith'
 * import { createFrankfurterV2EcbProvider } from 'ratesmith/providers/frankfurter-v2'
 *
 * const handler = createRatesHandler({ providers: { history: createFrankfurterV2EcbProvider() } })
 * ```
 */
export function createFrankfurterV2EcbProvider(
  options: FrankfurterV2EcbOptions = {},
): HistoryProvider {
  const { url = SERVICE } = options
  assertKnownOptions(options, { url })
  const root = requireRootUrl(url)
  return {
    attribution: {
      name: 'European Central Bank (via Frankfurter)',
      url: 'https://frankfurter.dev',
    },
    sanityChecks: true,
    async fetchHistory(range, { fetch, signal, now }) {
      const ending = new AbortController()
      const limit = AbortSignal.any([signal, ending.signal])
      const fetchPiece = async ({ start, end }: Range): Promise<HistoryDay[]> => {
        const url = `${root}/v2/rates?providers=ECB&from=${start}&to=${end}`
        const response = await readJson({ fetch, signal: limit, now, url, ...LIMITS }, LIST_OF_ROWS)
        const days = toHistoryDays(response, { start, end })
        return (await runInSlices(days, yieldToEventLoop, limit)).days
      }
      const pieces = piecesOf(range)
      const days: HistoryDay[] = []
      try {
        for (let at = 0; at < pieces.length; at += MAX_PARALLEL_CALLS) {
          const parts = await Promise.all(pieces.slice(at, at + MAX_PARALLEL_CALLS).map(fetchPiece))
          days.push(...parts.flat())
        }
      } finally {
        ending.abort()
      }
      return { base: 'EUR', days }
    },
  }
}

interface Range {
  start: Day
  end: Day
}

function piecesOf({ start, end }: Range): Range[] {
  const pieces: Range[] = []
  for (let from = start; from <= end; from = addDays(from, MAX_RANGE_DAYS)) {
    const last = addDays(from, MAX_RANGE_DAYS - 1)
    pieces.push({ start: from, end: last < end ? last : end })
  }
  return pieces
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
