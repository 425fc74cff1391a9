import * as z from 'zod/mini'

import type { LongJson } from '../async.ts'
import { assertKnownOptions } from '../known-options.ts'
import type { DaySpan } from '../rates/dates.ts'
import { isObject } from '../rates/validate.ts'
import { fetchFromAny } from '../upstream/addresses.ts'
import type { Address } from '../upstream/addresses.ts'
import {
  ECB_TERMS,
  pathsOf,
  requireAnyDay,
  requireRootUrl,
  unexpectedShape,
} from '../upstream/feed.ts'
import type { HistoryDays, HistoryProvider, ProviderContext } from '../upstream/provider.ts'
import { readJson, requireBody } from '../upstream/request.ts'
import type { UpstreamResponse } from '../upstream/request.ts'

const SERVICE = 'https://api.frankfurter.dev'

/** Options of `createFrankfurterProvider`. */
export interface FrankfurterOptions {
  /**
   * Root of the service, to which `/v1/{start}..{end}` and `/v2/rates` are appended. With another root than the default, all
   * requests are below it (default `https://api.frankfurter.dev`, then the files of the European Central Bank).
   */
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

/** Leaves each address its part of the 10 s of a call. */
const HEDGE_DELAY_MS = 2_500

/**
 * Creates a provider of history: some 30 daily reference rates of the European Central Bank, as published. Needs no key. From
 * Frankfurter's version 1; after a failure or 2.5 s from version 2, then from the bank's files, unless `url` is another root.
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
  const { url = SERVICE } = options
  assertKnownOptions(options, { url })
  const root = requireRootUrl(url)
  const { host } = new URL(root)
  return {
    attribution: {
      name: 'European Central Bank (via Frankfurter)',
      url: 'https://frankfurter.dev',
    },
    terms: ECB_TERMS,
    sanityChecks: true,
    async fetchHistory(range, context) {
      const load = async (): Promise<typeof import('./ecb/failover.ts')> =>
        import('./ecb/failover.ts')
      const addresses: Address<HistoryDays>[] = [
        { host, fetch: async (limited) => fetchFirstVersion(root, range, limited) },
        { host, fetch: async (limited) => (await load()).fetchEcbRows(root, range, limited) },
      ]
      if (root === SERVICE) {
        addresses.push({
          host: 'www.ecb.europa.eu',
          fetch: async (limited) => (await load()).fetchFromBank(range, limited),
        })
      }
      return fetchFromAny(addresses, context, HEDGE_DELAY_MS)
    },
  }
}

async function fetchFirstVersion(
  root: string,
  range: DaySpan,
  { fetch, signal, now }: ProviderContext,
): Promise<HistoryDays> {
  // Against another base, the service would round twice.
  const url = `${root}/v1/${range.start}..${range.end}`
  return toHistoryDays(await readJson({ fetch, signal, now, url, ...LIMITS }, BY_DAY), range)
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
 * If the range starts without rates, Frankfurter moves it back to the last day with rates; that day is dropped.
 *
 * @throws {Error} if the status is not 200, the amount is not 1, the base or the format is unexpected, or days are missing
 */
function toHistoryDays(response: UpstreamResponse, range: DaySpan): HistoryDays {
  const { host } = response
  const parsed = payload.safeParse(requireBody(response))
  if (!parsed.success) throw unexpectedShape(host, pathsOf(parsed.error))
  const { base, rates } = parsed.data
  const all = Object.entries(rates).map(([date, quoted]) => ({ date, rates: quoted }))
  const invalid = all.flatMap(({ rates }, index) => (isObject(rates) ? [] : [`day ${index + 1}`]))
  if (invalid.length > 0) throw unexpectedShape(host, invalid)
  const days = all.filter(({ date }) => date >= range.start)
  requireAnyDay(host, all, days, range)
  return { base, days }
}
