import { readCsv } from '../../rates/csv.ts'
import { isCode } from '../../rates/currency-code.ts'
import { isDay, isTargetDay, piecesOf } from '../../rates/dates.ts'
import { bank } from '../../upstream/bank.ts'
import type { BankFactory } from '../../upstream/bank.ts'
import type { HistoryProvider } from '../../upstream/provider.ts'
import { requireWhole } from '../../upstream/published.ts'
import type { Quote, ReadRequest } from '../../upstream/published.ts'

/**
 * Creates a provider of the exchange rates of Banca d'Italia. Those of the European Central Bank, and indicative cross rates,
 * which are not a benchmark under Regulation (EU) 2016/1011. `AFN` before April 2004 and `ZWD` since August 2008 are omitted.
 *
 * @see https://tassidicambio.bancaditalia.it
 */
export const createBancaDItaliaProvider: BankFactory<HistoryProvider> = /* @__PURE__ */ bank({
  name: "Banca d'Italia (indicative cross rates)",
  page: 'https://tassidicambio.bancaditalia.it',
  base: 'EUR',
  currencies: 150,
  publication: {
    id: 'banca-d-italia',
    holidays: '01-01, easter-2 2000-, easter+1 2000-, 05-01, 12-25, 12-26, 1999-12-31, 2001-12-31',
    time: '18:00',
    timeZone: 'Europe/Rome',
    since: '1999-01-04',
  },
  latest: false,
  root: 'https://tassidicambio.bancaditalia.it/terzevalute-wf-web/rest/v1.0',
  accept: 'text/csv',
  maxDays: 1,
  spansOf: (range) => piecesOf(range, 1).filter(({ start }) => isTargetDay(start)),
  requests: ({ start }) => [`/dailyRates?referenceDate=${start}&currencyIsoCode=EUR&lang=en`],
  series(code, { start, end }) {
    const query = `startDate=${start}&endDate=${end}&baseCurrencyIsoCode=${encodeURIComponent(code)}`
    return `/dailyTimeSeries?${query}&currencyIsoCode=EUR&lang=en`
  },
  read(text, request) {
    // Notes follow the table.
    const notes = text.search(/^#/m)
    const table = notes === -1 ? text : text.slice(0, notes)
    const quotes = [...readTable(table, request)]
    // A header without rows is a day without a publication.
    if (quotes.length === 0) return quotes
    requireWhole(table)
    // One of the last rows, by the name of the country.
    const isWhole = quotes.some(({ code, rate, price }) => code === 'USD' && (rate ?? price) !== '')
    if (request.code === undefined && !isWhole) {
      throw new Error('the table has no USD; it is truncated')
    }
    return quotes
  },
})

const COLUMNS = ['ISO Code', 'Rate', 'Rate convention', 'Reference date (CET)']

/** Columns are found by name; a row for each country, or for each day of a currency. Rows that cannot be read are invalid rates. */
function* readTable(table: string, { span, code: only }: ReadRequest): Generator<Quote> {
  const rows = readCsv(table)
  const first: string[] = rows.next().value ?? []
  const header = first.map((name) => name.trim())
  const indexes = COLUMNS.map((name) => header.indexOf(name))
  if (indexes.includes(-1)) throw new Error(`missing column ${COLUMNS[indexes.indexOf(-1)]}`)
  let line = 1
  for (const cells of rows) {
    line += 1
    const [code = '', value = '', convention = '', date = ''] = indexes.map((index) =>
      (cells[index] ?? '').trim(),
    )
    if (cells.join('').trim() === '') continue
    if (cells.length !== header.length) {
      if (only !== undefined) throw new Error(`line ${line} has ${cells.length} cells`)
      yield { date: span.start, code: isCode(code) ? code : `line ${line}`, rate: 'invalid' }
      continue
    }
    if (!isDay(date)) throw new Error(`line ${line} has an invalid date; expected YYYY-MM-DD`)
    if (code !== (only ?? code)) throw new Error(`line ${line} is of another currency`)
    const isPrice = /^euro amount for 1\b/i.test(convention)
    if (!isPrice && !/^foreign currency amount for 1 euro\b/i.test(convention)) {
      throw new Error(`line ${line} has an unexpected rate convention`)
    }
    // A series may have other days.
    const isOutside = only !== undefined && (date < span.start || date > span.end)
    if (!isCode(code) || isMisnamed(code, date) || isOutside) continue
    const published = GAP.test(value) ? '' : value
    yield { date, code, ...(isPrice ? { price: published } : { rate: published }) }
  }
}

const GAP = /^(-|n\.a\.|n\/a|[0.]*)$/i

/** Days with rates under the code of another currency: of the old afghani, and of later Zimbabwe dollars. */
function isMisnamed(code: string, date: string): boolean {
  return (code === 'AFN' && date < '2004-04-01') || (code === 'ZWD' && date >= '2008-08-01')
}
