import { assertKnownOptions } from '../known-options.ts'
import { addDays } from '../rates/day.ts'
import type { Day } from '../rates/day.ts'
import { runInSlices } from '../rates/slices.ts'
import { yieldToEventLoop } from '../runtime.ts'
import { PIVOT, toHistoryDays, toLatestTable } from './frankfurter-v2-rows.ts'
import type { LongJson } from '../rates/long-json.ts'
import { runSanityChecks } from './sanity-checks.ts'
import type { HistoryDay, HistoryProvider, LatestProvider } from './provider.ts'
import { readJson } from './read-upstream.ts'
import { requireRootUrl } from './root-url.ts'

/** Options of `createFrankfurterV2EcbProvider`. */
export interface FrankfurterV2EcbOptions {
  /** Root of the service, to which `/v2/rates` is appended (default `https://api.frankfurter.dev`). */
  url?: string | undefined
}

/** Options of `createFrankfurterV2Provider`. */
export interface FrankfurterV2Options extends FrankfurterV2EcbOptions {
  /** The central banks whose rates are blended, by their keys there, as `['ECB', 'BOC']` (default all of them). */
  providers?: readonly string[] | undefined
}

const SERVICE = 'https://api.frankfurter.dev'

/** Five years of the European Central Bank's rates have some 2.5 MB. */
const LIMITS = {
  maxBytes: 8 * 1024 * 1024,
  redirectHosts: ['api.frankfurter.dev', 'frankfurter.dev'],
}

/** The service refuses longer ranges of every currency: five years without their leap days. */
const MAX_RANGE_DAYS = 5 * 365

/** `[{"date":"2026-11-20","base":"EUR","quote":"USD","rate":1.15},…]` */
const LIST_OF_ROWS: LongJson = {
  opening: '[',
  closing: ']',
  itemsOf: (document) => document,
  withItems: (_document, parts) => parts.flat(),
}

/** How many pieces of a longer range are asked for at a time. */
const MAX_PARALLEL_CALLS = 2

/**
 * Latest rates blended by Frankfurter from those of some 80 central banks, without a key. The banks publish round the
 * clock, so the table is asked for every hour; it is that of the newest day up to today that any row has.
 *
 * @throws {TypeError} where `url` is not a URL or `providers` not a list of keys
 * @see https://frankfurter.dev
 */
export function createFrankfurterV2Provider(options: FrankfurterV2Options = {}): LatestProvider {
  const { url = SERVICE, providers } = options
  assertKnownOptions(options, { url, providers })
  const tableUrl = `${requireRootUrl(url)}/v2/rates?base=${PIVOT}${toFilter(providers)}`
  return {
    attribution: { name: 'Frankfurter', url: 'https://frankfurter.dev' },
    async fetchLatest({ fetch, signal, now, previous, references }) {
      const answer = await readJson({ fetch, signal, now, url: tableUrl, ...LIMITS })
      return runSanityChecks(toLatestTable(answer, now()), previous, references)
    },
    validateStored: runSanityChecks,
  }
}

/**
 * Daily reference rates of the European Central Bank from Frankfurter's second version, with the digits that were
 * published: the same days as those of `createFrankfurterProvider`, and the same source. More than five years are asked
 * for in pieces, two at once.
 *
 * @throws {TypeError} where `url` is not a URL
 * @see https://frankfurter.dev
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
      const over = new AbortController()
      const limit = AbortSignal.any([signal, over.signal])
      const ask = async ({ start, end }: Range): Promise<HistoryDay[]> => {
        const url = `${root}/v2/rates?providers=ECB&from=${start}&to=${end}`
        const answer = await readJson({ fetch, signal: limit, now, url, ...LIMITS }, LIST_OF_ROWS)
        const days = toHistoryDays(answer, { start, end })
        return (await runInSlices(days, yieldToEventLoop, limit)).days
      }
      const pieces = piecesOf(range)
      const days: HistoryDay[] = []
      try {
        for (let at = 0; at < pieces.length; at += MAX_PARALLEL_CALLS) {
          const parts = await Promise.all(pieces.slice(at, at + MAX_PARALLEL_CALLS).map(ask))
          days.push(...parts.flat())
        }
      } finally {
        over.abort()
      }
      return { base: 'EUR', days }
    },
  }
}

/** Days to ask for; both ends belong to them. */
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
    throw new TypeError(`providers must be a list of keys, as ECB, got ${providers.join(', ')}`)
  }
  return `&providers=${providers.join(',')}`
}
