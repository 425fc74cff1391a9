import type { LongJson } from '../async.ts'
import { assertKnownOptions } from '../known-options.ts'
import { isObject } from '../rates/validate.ts'
import { ECB_TERMS, pathsOf, requireRootUrl, unexpectedShape } from '../upstream/feed.ts'
import type { HistoryDays, HistoryProvider } from '../upstream/provider.ts'
import { readJson, requireBody } from '../upstream/request.ts'
import type { UpstreamResponse } from '../upstream/request.ts'
import * as z from 'zod/mini'

/** Options of `createFrankfurterProvider`. */
export interface FrankfurterOptions {
  /** Root of the service, to which `/v1/{start}..{end}` is appended (default `https://api.frankfurter.dev`). */
  url?: string | undefined
}

/** Five years of all currencies have about 0.5 MB; all years since 1999 have 2.9 MB, 0.1 MB more each year. */
const LIMITS = {
  maxBytes: 4 * 1024 * 1024,
  redirectHosts: ['api.frankfurter.dev', 'frankfurter.dev'],
}

/** `{"amount":1.0,…,"rates":{"1999-01-04":{"AUD":1.91,…},…}}` */
const BY_DAY: LongJson = {
  opening: '"rates":{',
  closing: '}}',
  itemsOf: (document) => Object(document).rates,
  withItems: (document, parts) => ({
    ...Object(document),
    rates: Object.fromEntries(parts.flatMap((part) => Object.entries(Object(part)))),
  }),
}

/**
 * Creates a provider of history: daily reference rates of the European Central Bank from Frankfurter, about 30 currencies
 * against the euro, published on TARGET working days around 16:00 in Frankfurt. Needs no key. Rates have the published
 * digits, because they are fetched against the euro: Frankfurter rounds twice for other bases.
 *
 * @throws {TypeError} if `url` is invalid
 * @see https://frankfurter.dev/v1/
 * @example
 * ```ts
 * import { createFrankfurterProvider, createRatesHandler } from 'ratesmith'
 *
 * const history = createFrankfurterProvider({ url: 'https://frankfurter.example' })
 * const handler = createRatesHandler({ providers: { history } })
 * ```
 */
export function createFrankfurterProvider(options: FrankfurterOptions = {}): HistoryProvider {
  const { url = 'https://api.frankfurter.dev' } = options
  assertKnownOptions(options, { url })
  const root = requireRootUrl(url)
  return {
    attribution: {
      name: 'European Central Bank (via Frankfurter)',
      url: 'https://frankfurter.dev',
    },
    terms: ECB_TERMS,
    sanityChecks: true,
    async fetchHistory({ start, end }, { fetch, signal, now }) {
      const url = `${root}/v1/${start}..${end}`
      return toHistoryDays(await readJson({ fetch, signal, now, url, ...LIMITS }, BY_DAY), start)
    },
  }
}

const payload = z.object({
  amount: z.literal(1),
  base: z.literal('EUR'),
  // Days are checked below: a schema would copy a thousand of them, and it is the largest one of zod in a bundle.
  rates: z.custom<Record<string, Record<string, number>>>(
    (rates) => isObject(rates) && !Array.isArray(rates),
  ),
})

/**
 * If `start` has no rates, Frankfurter moves it back to the last day with rates; that day is dropped.
 *
 * @throws {Error} if the status is not 200, the amount is not 1, or the base or the format is unexpected
 */
export function toHistoryDays(response: UpstreamResponse, start: string): HistoryDays {
  const { host } = response
  const parsed = payload.safeParse(requireBody(response))
  if (!parsed.success) throw unexpectedShape(host, pathsOf(parsed.error))
  const { base, rates } = parsed.data
  const days = Object.entries(rates).map(([date, quoted]) => ({ date, rates: quoted }))
  const invalid = days.flatMap(({ rates }, index) => (isObject(rates) ? [] : [`day ${index + 1}`]))
  if (invalid.length > 0) throw unexpectedShape(host, invalid)
  return { base, days: days.filter(({ date }) => date >= start) }
}
