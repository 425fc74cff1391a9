import { assertKnownOptions } from '../known-options.ts'
import { addDays, toDay } from '../rates/day.ts'
import { runInSlices } from '../rates/slices.ts'
import { yieldToEventLoop } from '../runtime.ts'
import {
  EUROPEAN_CENTRAL_BANK,
  toHistoryDays,
  toLatestTable,
  asRejection,
} from './ecb-responses.ts'
import { readEcbCsv } from './ecb-csv.ts'
import { readEcbXml } from './ecb-xml.ts'
import { readExrCsv } from './exr-csv.ts'
import { runSanityChecks } from './sanity-checks.ts'
import type { HistoryDay, HistoryProvider, LatestProvider, ProviderContext } from './provider.ts'
import { readBytes, readText } from './read-upstream.ts'
import { requireRootUrl } from './root-url.ts'
import { readZipMember } from './zip.ts'

/** Options of `createEcbProvider`. */
export interface EcbOptions {
  /** Folder of the files, to which `/eurofxref-daily.xml` and others are appended (default `https://www.ecb.europa.eu/stats/eurofxref`). */
  url?: string | undefined
}

/** Options of `createEcbDataApiProvider`. */
export interface EcbDataApiOptions {
  /** Root of the service, to which `/service/data/EXR/…` is appended (default `https://data-api.ecb.europa.eu`). */
  url?: string | undefined
}

const MIB = 1024 * 1024

/** 90 days have 73 kB, and the archive of all days 0.6 MB: 1.9 MB of text, and 0.07 MB more a year. */
const FILE_LIMITS = {
  maxBytes: 4 * MIB,
  redirectHosts: ['www.ecb.europa.eu', 'ecb.europa.eu'],
}
const MAX_INFLATED_BYTES = 16 * MIB

/** All observations have some 13 MB; with all that is known of each, five years have as much. */
const API_LIMITS = {
  maxBytes: 32 * MIB,
  redirectHosts: ['data-api.ecb.europa.eu'],
}

/** `eurofxref-hist-90d.xml` goes back 90 days from the newest, which may itself be some days old. */
const DAYS_IN_SHORT_FILE = 80

/** The first day with reference rates. */
const FIRST_DAY = '1999-01-04'

/** The bank is never closed for so many days in a row: a span that is longer has observations. */
const MAX_CLOSED_DAYS = 10

/**
 * Reference rates of the European Central Bank, from the files that it publishes itself: 29 currencies against the euro,
 * those of the last publication as latest rates and all since 1999 as history, without a key. A history of the last 80
 * days is a file of 73 kB, a longer one an archive of 0.6 MB.
 *
 * @throws {TypeError} where `url` is not a URL
 * @see https://www.ecb.europa.eu/stats/policy_and_exchange_rates/euro_reference_exchange_rates/html/index.en.html
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
    return asRejection(await readText(file, 'application/xml, text/xml'), read)
  }

  async function readArchive(context: ProviderContext): Promise<HistoryDay[]> {
    const file = { ...context, url: `${root}/eurofxref-hist.zip`, ...FILE_LIMITS }
    const member = {
      name: 'eurofxref-hist.csv',
      maxBytes: MAX_INFLATED_BYTES,
      signal: context.signal,
    }
    return asRejection(await readBytes(file, 'application/zip'), async (archive) => {
      const text = new TextDecoder().decode(await readZipMember(archive, member))
      return runInSlices(readEcbCsv(text), yieldToEventLoop, context.signal)
    })
  }

  return {
    attribution: EUROPEAN_CENTRAL_BANK,
    sanityChecks: true,
    async fetchLatest(context) {
      const table = await readXml('eurofxref-daily.xml', context, (text) =>
        toLatestTable(readEcbXml(text), context.now()),
      )
      return runSanityChecks(table, context.previous, context.references)
    },
    validateStored: runSanityChecks,
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
 * The same rates from the bank's data API, with some series more: those of currencies that the files have forgotten, and
 * indicative ones. One table, or one span of days, is one request.
 *
 * @throws {TypeError} where `url` is not a URL
 * @see https://data.ecb.europa.eu/help/api/data
 */
export function createEcbDataApiProvider(
  options: EcbDataApiOptions = {},
): LatestProvider & HistoryProvider {
  const { url = 'https://data-api.ecb.europa.eu' } = options
  assertKnownOptions(options, { url })
  const series = `${requireRootUrl(url)}/service/data/EXR/D..EUR.SP00.A`

  async function readSeries<Result>(
    which: string,
    context: ProviderContext,
    toResult: (days: HistoryDay[]) => Result,
  ): Promise<Result> {
    const target = `${series}?${which}&detail=dataonly&format=csvdata`
    const answer = await readText({ ...context, url: target, ...API_LIMITS }, 'text/csv')
    return asRejection(answer, async (text) =>
      toResult(await runInSlices(readExrCsv(text), yieldToEventLoop, context.signal)),
    )
  }

  return {
    attribution: EUROPEAN_CENTRAL_BANK,
    sanityChecks: true,
    async fetchLatest(context) {
      const table = await readSeries('lastNObservations=1', context, (days) =>
        // A series that has ended has its last observation on an earlier day.
        toLatestTable(days.slice(-1), context.now()),
      )
      return runSanityChecks(table, context.previous, context.references)
    },
    validateStored: runSanityChecks,
    async fetchHistory(range, context) {
      if (range.end < FIRST_DAY) return toHistoryDays([], range)
      // The service has no answer for a span without any observation.
      const start = addDays(range.start, -MAX_CLOSED_DAYS)
      const span = `startPeriod=${start}&endPeriod=${range.end}`
      return readSeries(span, context, (days) => toHistoryDays(days, range))
    },
  }
}
