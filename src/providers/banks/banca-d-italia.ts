import { assertKnownOptions } from '../../known-options.ts'
import { readCsv } from '../../rates/csv.ts'
import { isCode } from '../../rates/currency-code.ts'
import { isDay, isTargetDay, piecesOf } from '../../rates/dates.ts'
import { addQuote, parseBody, publishedPart, requireRootUrl } from '../../upstream/feed.ts'
import type { HistoryDay, HistoryProvider, ProviderContext } from '../../upstream/provider.ts'
import { readText } from '../../upstream/request.ts'

/** Options of `createBancaDItaliaProvider`. */
export interface BancaDItaliaOptions {
  /**
   * Root of the service, to which `/dailyRates` and `/dailyTimeSeries` are appended (default
   * `https://tassidicambio.bancaditalia.it/terzevalute-wf-web/rest/v1.0`).
   */
  url?: string | undefined
}

/** A day has 16 kB; the rates of a currency since 1999 have about 0.6 MB. */
const LIMITS = {
  maxBytes: 4 * 1024 * 1024,
  redirectHosts: ['tassidicambio.bancaditalia.it'],
}

const BASE = 'EUR'

const SINCE = '1999-01-04'

/**
 * Creates a provider of history: exchange rates of Banca d'Italia, some 150 currencies against the euro, on TARGET working
 * days since 1999. Needs no key. Rates of major currencies are those of the European Central Bank, the others cross rates for
 * information only. Fetches a table per day, one after another, or all days of a currency at once.
 *
 * @throws {TypeError} if `url` is invalid
 * @see https://tassidicambio.bancaditalia.it
 * @example
 * ```ts
 * import { createFrankfurterProvider, createRatesHandler } from 'ratesmith'
 * import { createBancaDItaliaProvider } from 'ratesmith/providers'
 *
 * const history = [createFrankfurterProvider(), createBancaDItaliaProvider()]
 * const handler = createRatesHandler({ providers: { history } })
 * ```
 */
export function createBancaDItaliaProvider(options: BancaDItaliaOptions = {}): HistoryProvider {
  const { url = 'https://tassidicambio.bancaditalia.it/terzevalute-wf-web/rest/v1.0' } = options
  assertKnownOptions(options, { url })
  const root = requireRootUrl(url)

  async function read(
    path: string,
    expected: Expected,
    context: ProviderContext,
  ): Promise<HistoryDay[]> {
    const target = `${root}/${path}&currencyIsoCode=${BASE}&lang=en`
    const response = await readText({ ...context, url: target, ...LIMITS }, 'text/csv')
    return parseBody(response, (text) => readRates(text, expected))
  }

  return {
    attribution: {
      name: "Banca d'Italia (indicative cross rates)",
      url: 'https://tassidicambio.bancaditalia.it',
    },
    sanityChecks: true,
    publication: {
      id: 'banca-d-italia',
      frequency: 'daily',
      holidays:
        '01-01, easter-2 2000-, easter+1 2000-, 05-01, 12-25, 12-26, 1999-12-31, 2001-12-31'.split(
          ', ',
        ),
      time: '18:00',
      timeZone: 'Europe/Rome',
      since: SINCE,
    },
    maxDays: 1,
    async fetchHistory(range, context) {
      const days: HistoryDay[] = []
      for (const { start: day } of piecesOf(publishedPart(range, SINCE, context.now()), 1)) {
        if (!isTargetDay(day)) continue
        days.push(...(await read(`dailyRates?referenceDate=${day}`, { day }, context)))
      }
      return { base: BASE, days: inOneForm(days) }
    },
    async fetchSeries({ code, ...range }, context) {
      const { start, end } = publishedPart(range, SINCE, context.now())
      if (start > end) return { base: BASE, days: [] }
      const base = encodeURIComponent(code)
      const path = `dailyTimeSeries?startDate=${start}&endDate=${end}&baseCurrencyIsoCode=${base}`
      const days = await read(path, { code }, context)
      return { base: BASE, days: days.filter(({ date }) => date >= start && date <= end) }
    },
  }
}

/** The only day, or the only currency, that rows may be of. */
interface Expected {
  day?: string
  code?: string
}

/** Days with rates that the service has under the code of another currency: of the old afghani, and of later Zimbabwe dollars. */
function isMisnamed(code: string, date: string): boolean {
  return (code === 'AFN' && date < '2004-04-01') || (code === 'ZWD' && date >= '2008-08-01')
}

/**
 * Parses a CSV with a row for each country, or for each day of a currency, and notes after `#`. Columns are found by name. A
 * header without rows is a day without a publication. Rows that cannot be read, and codes with two different rates on a day,
 * have the rate NaN: a few are dropped later.
 *
 * @throws {Error} if a column is absent, a row is of another day or currency than `expected`, or rows are absent at the end
 */
function readRates(text: string, expected: Expected): HistoryDay[] {
  const notes = text.search(/^#/m)
  const table = notes === -1 ? text : text.slice(0, notes)
  const rows = readCsv(table)
  const columns = readColumns(rows.next().value ?? [])
  const days = new Map<string, BothWays>()
  let line = 1
  for (const cells of rows) {
    line += 1
    if (cells.join('').trim() === '') continue
    const { code, date, value, isPrice } = readRow(columns, cells, { line, ...expected })
    let day = days.get(date)
    if (!day) days.set(date, (day = { date, rates: {}, prices: {} }))
    // Also counts the rows of countries without a rate.
    if (value === undefined || code === BASE || isMisnamed(code, date)) continue
    const [own, other] = isPrice ? [day.prices, day.rates] : [day.rates, day.prices]
    if (Object.hasOwn(other, code)) throw new Error(`line ${line} has another rate convention`)
    addQuote(own, code, value)
  }
  if (days.size > 0 && !table.endsWith('\n')) throw new Error('the table is truncated')
  for (const { rates, prices } of days.values()) {
    // One of the last rows, by the name of the country.
    const isWhole = expected.day === undefined || 'USD' in rates || 'USD' in prices
    if (!isWhole) throw new Error('the table has no USD; it is truncated')
  }
  const ascending = [...days.values()].toSorted((one, other) => (one.date < other.date ? -1 : 1))
  return inOneForm(ascending.filter(({ rates, prices }) => hasKeys(rates) || hasKeys(prices)))
}

interface BothWays {
  date: string
  rates: Record<string, number>
  prices: Record<string, number>
}

interface Columns {
  count: number
  code: number
  rate: number
  convention: number
  date: number
}

function readColumns(header: readonly string[]): Columns {
  const names = header.map((name) => name.trim())
  const indexOf = (name: string): number => {
    const index = names.indexOf(name)
    if (index === -1) throw new Error(`missing column ${name}`)
    return index
  }
  return {
    count: names.length,
    code: indexOf('ISO Code'),
    rate: indexOf('Rate'),
    convention: indexOf('Rate convention'),
    date: indexOf('Reference date (CET)'),
  }
}

interface Row {
  /** Three letters, or the line if it cannot be read. */
  code: string
  date: string
  value: number | undefined
  isPrice: boolean
}

function readRow(
  columns: Columns,
  cells: readonly string[],
  { line, day, code: only }: Expected & { line: number },
): Row {
  const cell = (index: number): string => (cells[index] ?? '').trim()
  const code = cell(columns.code)
  if (cells.length !== columns.count) {
    if (day === undefined) throw new Error(`line ${line} has ${cells.length} cells`)
    return { code: isCode(code) ? code : `line ${line}`, date: day, value: NaN, isPrice: false }
  }
  const date = cell(columns.date)
  if (!isDay(date)) throw new Error(`line ${line} has an invalid date; expected YYYY-MM-DD`)
  if (date !== (day ?? date)) throw new Error(`line ${line} is of ${date}, expected ${day}`)
  if (code !== (only ?? code)) throw new Error(`line ${line} is of another currency`)
  const isPrice = isPriceBy(cell(columns.convention), line)
  return { code, date, value: isCode(code) ? toRate(cell(columns.rate)) : undefined, isPrice }
}

/** The service has `Foreign currency amount for 1 Euro.`, or, the other way round, `Euro amount for 1 …`. */
function isPriceBy(convention: string, line: number): boolean {
  if (/^foreign currency amount for 1 euro\b/i.test(convention)) return false
  if (/^euro amount for 1\b/i.test(convention)) return true
  throw new Error(`line ${line} has an unexpected rate convention`)
}

const NO_RATE: ReadonlySet<string> = new Set(['', '-', 'N.A.', 'N/A'])

function toRate(text: string): number | undefined {
  if (NO_RATE.has(text.toUpperCase()) || /^[0.]+$/.test(text)) return undefined
  return /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : NaN
}

function hasKeys(quotes: Readonly<Record<string, number>>): boolean {
  return Object.keys(quotes).length > 0
}

function inOneForm(days: readonly HistoryDay[]): HistoryDay[] {
  const isAnyPriced = days.some(({ prices }) => prices && hasKeys(prices))
  return days.map(({ date, rates, prices }) =>
    isAnyPriced ? { date, rates, prices: prices ?? {} } : { date, rates },
  )
}
