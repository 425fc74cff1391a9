import { runInSlices, yieldToEventLoop } from '../async.ts'
import { assertKnownOptions } from '../known-options.ts'
import { DAY_MS, addDays, nextPublication, publicationInstant, toDay } from '../rates/dates.ts'
import {
  ECB_TERMS,
  MAX_CLOSED_DAYS,
  checkTable,
  parseBody,
  requireRootUrl,
} from '../upstream/feed.ts'
import type {
  Attribution,
  HistoryDay,
  HistoryDays,
  HistoryProvider,
  LatestProvider,
  LatestTable,
  ProviderContext,
} from '../upstream/provider.ts'
import { readBytes, readText } from '../upstream/request.ts'
import { readExrCsv } from './ecb/data-api.ts'
import { readEcbCsv, readEcbXml } from './ecb/files.ts'

/** Options of `createEcbProvider`. */
export interface EcbOptions {
  /** Root of the files, to which `/eurofxref-daily.xml` and others are appended (default `https://www.ecb.europa.eu/stats/eurofxref`). */
  url?: string | undefined
}

/** Options of `createEcbDataApiProvider`. */
export interface EcbDataApiOptions {
  /** Root of the service, to which `/service/data/EXR/…` is appended (default `https://data-api.ecb.europa.eu`). */
  url?: string | undefined
}

const MIB = 1024 * 1024

/** 90 days have 73 kB; the archive of all days has 0.6 MB, 1.9 MB inflated, and grows by 0.07 MB a year. */
const FILE_LIMITS = {
  maxBytes: 4 * MIB,
  redirectHosts: ['www.ecb.europa.eu', 'ecb.europa.eu'],
}
const MAX_INFLATED_BYTES = 16 * MIB

/** All observations have about 13 MB; with all their columns, five years have as much. */
const API_LIMITS = {
  maxBytes: 32 * MIB,
  redirectHosts: ['data-api.ecb.europa.eu'],
}

/** `eurofxref-hist-90d.xml` has the 90 days up to the newest one, which may be some days old. */
const DAYS_IN_SHORT_FILE = 80

const FIRST_DAY = '1999-01-04'

/**
 * Creates a provider of latest rates and history from the files of the European Central Bank: 29 currencies against the euro,
 * 16:00 Frankfurt, since 1999. Needs no key. A history of the last 80 days takes a download of 73 kB, a longer one 0.6 MB.
 *
 * @throws {TypeError} if `url` is invalid
 * @see https://www.ecb.europa.eu/stats/policy_and_exchange_rates/euro_reference_exchange_rates/html/index.en.html
 * @example
 * ```ts
 * import { createRatesHandler } from 'ratesmith'
 * import { createEcbProvider } from 'ratesmith/providers'
 *
 * const ecb = createEcbProvider()
 * const handler = createRatesHandler({ providers: { latest: ecb, history: ecb } })
 * ```
 */
export function createEcbProvider(options: EcbOptions = {}): LatestProvider & HistoryProvider {
  const { url = 'https://www.ecb.europa.eu/stats/eurofxref' } = options
  assertKnownOptions(options, { url })
  const root = requireRootUrl(url)

  async function readXml<Result>(
    name: string,
    context: ProviderContext,
    read: (text: string) => Result,
  ): Promise<Result> {
    const file = { ...context, url: `${root}/${name}`, ...FILE_LIMITS }
    return parseBody(await readText(file, 'application/xml, text/xml'), read)
  }

  async function readArchive(context: ProviderContext): Promise<HistoryDay[]> {
    const file = { ...context, url: `${root}/eurofxref-hist.zip`, ...FILE_LIMITS }
    const member = {
      name: 'eurofxref-hist.csv',
      maxBytes: MAX_INFLATED_BYTES,
      signal: context.signal,
    }
    const { readZipMember } = await import('./ecb/unzip.ts')
    return parseBody(await readBytes(file, 'application/zip'), async (archive) => {
      const text = new TextDecoder().decode(await readZipMember(archive, member))
      return runInSlices(readEcbCsv(text), yieldToEventLoop, context.signal)
    })
  }

  return {
    attribution: EUROPEAN_CENTRAL_BANK,
    terms: ECB_TERMS,
    sanityChecks: true,
    async fetchLatest(context) {
      const table = await readXml('eurofxref-daily.xml', context, (text) =>
        toLatestTable(readEcbXml(text), context.now()),
      )
      return checkTable(table, context.previous, context.references)
    },
    validateStored: checkTable,
    async fetchHistory(range, context) {
      if (range.start >= addDays(toDay(context.now()), -DAYS_IN_SHORT_FILE)) {
        const days = await readXml('eurofxref-hist-90d.xml', context, readEcbXml)
        if (days.some(({ date }) => date <= range.start)) return toHistoryDays(days, range)
      }
      return toHistoryDays(await readArchive(context), range)
    },
  }
}

/**
 * Creates a provider of latest rates and history from the data API of the European Central Bank. It has the same rates as
 * `createEcbProvider`, and also discontinued and indicative series. Each call sends one request.
 *
 * @throws {TypeError} if `url` is invalid
 * @see https://data.ecb.europa.eu/help/api/data
 * @example
 * ```ts
 * import { createRatesHandler } from 'ratesmith'
 * import { createEcbDataApiProvider } from 'ratesmith/providers'
 *
 * const handler = createRatesHandler({ providers: { history: createEcbDataApiProvider() } })
 * ```
 */
export function createEcbDataApiProvider(
  options: EcbDataApiOptions = {},
): LatestProvider & HistoryProvider {
  const { url = 'https://data-api.ecb.europa.eu' } = options
  assertKnownOptions(options, { url })
  const series = `${requireRootUrl(url)}/service/data/EXR/D..EUR.SP00.A`

  async function readSeries<Result>(
    query: string,
    context: ProviderContext,
    toResult: (days: HistoryDay[]) => Result,
  ): Promise<Result> {
    const target = `${series}?${query}&detail=dataonly&format=csvdata`
    const response = await readText({ ...context, url: target, ...API_LIMITS }, 'text/csv')
    return parseBody(response, async (text) =>
      toResult(await runInSlices(readExrCsv(text), yieldToEventLoop, context.signal)),
    )
  }

  return {
    attribution: EUROPEAN_CENTRAL_BANK,
    terms: ECB_TERMS,
    sanityChecks: true,
    async fetchLatest(context) {
      const table = await readSeries('lastNObservations=1', context, (days) =>
        // The last observation of a discontinued series is on an earlier day.
        toLatestTable(days.slice(-1), context.now()),
      )
      return checkTable(table, context.previous, context.references)
    },
    validateStored: checkTable,
    async fetchHistory(range, context) {
      if (range.end < FIRST_DAY) return toHistoryDays([], range)
      // The service fails for a span without any observation.
      const start = addDays(range.start, -MAX_CLOSED_DAYS)
      const span = `startPeriod=${start}&endPeriod=${range.end}`
      return readSeries(span, context, (days) => toHistoryDays(days, range))
    },
  }
}

const EUROPEAN_CENTRAL_BANK: Attribution = {
  name: 'European Central Bank',
  url: 'https://www.ecb.europa.eu/stats/policy_and_exchange_rates/euro_reference_exchange_rates/html/index.en.html',
}

function toHistoryDays(
  days: readonly HistoryDay[],
  { start, end }: { start: string; end: string },
): HistoryDays {
  return { base: 'EUR', days: days.filter(({ date }) => date >= start && date <= end) }
}

/**
 * Converts the only day of `days` to latest rates at `now` (ms since the Unix epoch). They count as published at 16:00 in
 * Frankfurt, or at `now` if that is earlier: the bank sometimes publishes some minutes early.
 *
 * @throws {Error} if there is not exactly one day, or the day is more than 24 hours ahead of the clock
 */
function toLatestTable(days: readonly HistoryDay[], now: number): LatestTable {
  const [day, ...others] = days
  if (!day || others.length > 0) throw new Error(`expected 1 day, got ${days.length}`)
  const due = publicationInstant(day.date)
  // Clocks differ, but by less than a day.
  if (due > now + DAY_MS) throw new Error(`${day.date} is more than 24 hours ahead of the clock`)
  return {
    base: 'EUR',
    updatedAt: Math.min(due, now),
    nextUpdateAt: nextPublication(due),
    rates: { EUR: 1, ...day.rates },
  }
}
