import * as z from 'zod/mini'

import { assertKnownOptions } from '../known-options.ts'
import type { LongJson } from '../rates/long-json.ts'
import { unexpectedShape, isObject, pathsOf } from './payload.ts'
import type { HistoryDays, HistoryProvider } from './provider.ts'
import { readJson } from './read-upstream.ts'
import type { UpstreamResponse } from './read-upstream.ts'
import { requireRootUrl } from './root-url.ts'
import { UpstreamError } from './upstream-error.ts'

/** Options of `createFrankfurterProvider`. */
export interface FrankfurterOptions {
  /** Root of the service, to which `/v1/{start}..{end}` is appended (default `https://api.frankfurter.dev`). */
  url?: string | undefined
}

/** Five years of the whole market have some 0.5 MB, and all since 1999 2.9 MB, 0.1 MB more a year. */
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
 * Daily reference rates of the European Central Bank, relayed by Frankfurter: some 30 currencies against the euro,
 * published on TARGET working days around 16:00 in Frankfurt, without a key. They are read against the euro, with the
 * digits that were published: the relay rounds twice when it quotes against another base.
 *
 * @throws {TypeError} where `url` is not a URL
 * @see https://frankfurter.dev/v1/
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
  // Each day is looked at below: a schema of them would copy a thousand, and is the largest of zod's in a bundle.
  rates: z.custom<Record<string, Record<string, number>>>(
    (rates) => isObject(rates) && !Array.isArray(rates),
  ),
})

/**
 * Understands an answer of `/v1/{start}..{end}`. The relay snaps a `start` without rates back to the day before it
 * that has some; such a row is dropped.
 *
 * @throws {Error} where it is a failure, scaled, against another base or of another form
 */
export function toHistoryDays(
  { host, status, body, retryAfterMs }: UpstreamResponse,
  start: string,
): HistoryDays {
  if (status !== 200) {
    throw new UpstreamError(`${host} answered with status ${status}`, retryAfterMs)
  }
  const parsed = payload.safeParse(body)
  if (!parsed.success) throw unexpectedShape(host, pathsOf(parsed.error))
  const { base, rates } = parsed.data
  const days = Object.entries(rates).map(([date, quoted]) => ({ date, rates: quoted }))
  const odd = days.flatMap(({ rates }, index) => (isObject(rates) ? [] : [`day ${index + 1}`]))
  if (odd.length > 0) throw unexpectedShape(host, odd)
  return { base, days: days.filter(({ date }) => date >= start) }
}
