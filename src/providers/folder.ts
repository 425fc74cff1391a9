import * as z from 'zod/mini'

import { runInSlices, yieldToEventLoop } from '../async.ts'
import type { Slices } from '../async.ts'
import { assertKnownOptions } from '../known-options.ts'
import { DAY_MS, ECB_ID } from '../rates/dates.ts'
import { RejectedError } from '../rates/validate.ts'
import { ratesByCode, ratesInOrder, requireRootUrl } from '../upstream/feed.ts'
import { requireProvider } from '../upstream/provider.ts'
import type {
  DerivedAttribution,
  HistoryDay,
  HistoryProvider,
  LatestProvider,
  LatestTable,
} from '../upstream/provider.ts'
import type { Derived } from './derived.ts'
import { createEcbProvider } from './ecb.ts'
import { parseAs, readFolder } from './folder/read.ts'

type Provider = LatestProvider | HistoryProvider

/** Options of `createFolderProvider`. */
export interface FolderOptions<Wrapped extends Provider = LatestProvider & HistoryProvider> {
  /** The folder: a `file:`, `http:` or `https:` URL without a query, as text or as a `URL`. */
  url: string | { readonly href: string }
  /** The provider whose rates the folder has; it sends no requests (default `createEcbProvider()`). */
  provider?: Wrapped | undefined
}

const attribution = z.object({
  name: z.custom<string>((name) => typeof name === 'string' && name !== ''),
  url: z.custom<string>((url) => typeof url === 'string' && isLink(url)),
})
const sourceList = z.object({
  sources: z.array(z.object({ id: z.string(), source: attribution, base: z.string() })),
})
/** Rates and derivations are validated later, like those of other providers. */
const table = {
  base: z.string(),
  rates: ratesInOrder,
  prices: z.optional(ratesInOrder),
  tableNumber: z.optional(z.string()),
  derived: z.optional(z.custom<NonNullable<HistoryDay['derived']>>()),
}
const latestTable = z.object({
  ...table,
  updatedAt: z.number(),
  nextUpdateAt: z.number(),
  source: attribution,
})
const ratesDay = z.object({ ...table, date: z.string(), source: z.string() })

/**
 * Creates a provider that reads a folder of a disk or a static host. The files are those of `ratesmith export`, with the
 * rates of `provider`; each must have the size and the SHA-256 that `index.json` lists.
 *
 * @throws {TypeError} if `url` or `provider` is invalid
 * @example
 * ```ts
 * import { createRatesHandler } from 'ratesmith'
 * import { createFolderProvider } from 'ratesmith/providers'
 *
 * const folder = createFolderProvider({ url: 'https://cdn.example/rates' })
 * const handler = createRatesHandler({ providers: { latest: folder, history: folder } })
 * ```
 */
export function createFolderProvider<Wrapped extends Provider = LatestProvider & HistoryProvider>(
  options: FolderOptions<Wrapped>,
): Derived<Wrapped> {
  const { url, provider = createEcbProvider() } = options
  assertKnownOptions(options, { url, provider })
  const isLatest = 'fetchLatest' in Object(provider)
  requireProvider('provider', isLatest ? 'fetchLatest' : 'fetchHistory', provider)
  const root = requireFolderUrl(typeof url === 'string' ? url : String(Object(url).href))
  return Object({
    attribution: provider.attribution,
    ...('fetchLatest' in provider && latestIn(root, provider)),
    ...('fetchHistory' in provider && historyIn(root, provider)),
  })
}

function isLink(url: string): boolean {
  return /^https?:\/\//.test(url) && URL.canParse(url)
}

function requireFolderUrl(url: string): string {
  if (/^https?:/i.test(url)) return requireRootUrl(url)
  if (/^file:\/\/\/[^?#]*$/i.test(url)) return url.endsWith('/') ? url.slice(0, -1) : url
  throw new TypeError('url must be a file:, http: or https: URL without a query')
}

function latestIn(
  root: string,
  provider: LatestProvider & Partial<HistoryProvider>,
): Pick<LatestProvider, 'fetchLatest' | 'validateStored'> {
  const { name, url, overlay }: DerivedAttribution = provider.attribution
  const names = [name, overlay ? `${name}, with rates of ${overlay.name}` : name]
  const check: LatestProvider['validateStored'] = async (found, ...others) =>
    (await provider.validateStored?.(found, ...others)) ?? found
  return {
    async fetchLatest(context) {
      const { source, prices, tableNumber, ...found } = await readFolder(
        root,
        context,
        ({ read }) => read('latest.json', (bytes) => parseAs(latestTable, bytes)),
      )
      if (!names.includes(source.name) || source.url !== url)
        throw new RejectedError(`latest.json is of another source; expected ${name}`)
      const priced = ratesByCode(Object.entries(prices ?? {}), () => true)
      const inverses = Object.entries(priced).map(([code, price]) => [code, 1 / price])
      const latest: LatestTable = {
        ...found,
        lateAt: found.nextUpdateAt + (provider.publication?.lag ?? DAY_MS),
        rates: { [found.base]: 1, ...found.rates, ...Object.fromEntries(inverses) },
        ...(prices && { prices: priced }),
        ...(tableNumber !== undefined && { tableNumber }),
      }
      return check(latest, context.previous, context.references)
    },
    validateStored: check,
  }
}

function historyIn(root: string, provider: HistoryProvider): Omit<HistoryProvider, 'attribution'> {
  const { terms, sanityChecks, publication, maxDays, fetchSeries } = provider
  const id = publication?.id ?? ECB_ID
  return {
    ...(terms !== undefined && { terms }),
    ...(sanityChecks !== undefined && { sanityChecks }),
    ...(publication && { publication }),
    ...((maxDays ?? fetchSeries) !== undefined && { maxDays: 366 }),
    fetchHistory: async ({ start, end }, context) =>
      readFolder(root, context, async ({ years, read }) => {
        const all = await read('sources.json', (bytes) => parseAs(sourceList, bytes))
        const listed = all.sources.find((each) => each.id === id)
        if (!listed) throw new RejectedError(`sources.json has no ${id}`)
        const { source, base } = listed
        const days: HistoryDay[] = []
        const last = Math.min(years.last, Number(end.slice(0, 4)))
        let year = Math.max(years.first, Number(start.slice(0, 4)))
        for (; year <= last; year += 1) {
          const of = { id, base, year }
          const found = await read(`days/${year}.ndjson`, (bytes) =>
            runInSlices(daysIn(bytes, of), yieldToEventLoop, context.signal),
          )
          days.push(...found.filter(({ date }) => date >= start && date <= end))
        }
        // Prices must be on all days or on none.
        const isPriced = days.some(({ prices }) => prices)
        const whole = isPriced ? days.map((day) => ({ prices: {}, ...day })) : days
        return { base, days: whole, attribution: source }
      }),
  }
}

const NEWLINE = 10
const MAX_LINE_BYTES = 65_536
/** About 3 ms. */
const BYTES_PER_SLICE = 131_072

/** @throws {Error} naming the line and the reason */
function* daysIn(
  bytes: Uint8Array<ArrayBuffer>,
  { id, base, year }: { id: string; base: string; year: number },
): Slices<HistoryDay[]> {
  const days: HistoryDay[] = []
  let pauseAt = BYTES_PER_SLICE
  for (let [at, line] = [0, 1]; at < bytes.length; line += 1) {
    const end = bytes.indexOf(NEWLINE, at)
    const where = `line ${line} `
    if (end === -1 || end - at > MAX_LINE_BYTES) throw new Error(`${where}has no end`)
    const { source, base: quoted, ...day } = parseAs(ratesDay, bytes.subarray(at, end), where)
    at = end + 1
    if (source === id) {
      const isNext = day.date > (days.at(-1)?.date ?? `${year}`) && day.date < `${year + 1}`
      if (!isNext) throw new Error(`${where}is not of a later day of ${year}`)
      if (quoted !== base) throw new Error(`${where}has another base`)
      days.push(day)
    }
    if (at < pauseAt) continue
    yield
    pauseAt = at + BYTES_PER_SLICE
  }
  return days
}
