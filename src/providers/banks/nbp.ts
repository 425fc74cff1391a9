import { assertKnownOptions } from '../../known-options.ts'
import type { Publication } from '../../rates/calendar.ts'
import { createBank } from '../../upstream/bank.ts'
import type { BankOptions } from '../../upstream/bank.ts'
import type { HistoryProvider, LatestProvider } from '../../upstream/provider.ts'
import { parseRows } from '../../upstream/published.ts'

/** Options of `createNbpProvider`. */
export interface NbpOptions extends BankOptions {
  /**
   * Table of the bank: `A`, some 30 currencies on working days, or `B`, over 100 other currencies on Wednesdays (default
   * `A`).
   */
  table?: 'A' | 'B' | undefined
}

const DAILY: Publication = {
  id: 'nbp-a',
  frequency: 'daily',
  holidays:
    '01-01, 01-06 2011-, easter+1, 05-01, 05-03, easter+60, 08-15, 11-01, 11-11, 2018-11-12, 12-24 2025-, 12-25, 12-26'.split(
      ', ',
    ),
  time: '12:15',
  timeZone: 'Europe/Warsaw',
  since: '2002-01-02',
}

const PUBLICATIONS: Readonly<Record<'A' | 'B', Publication>> = {
  A: DAILY,
  B: { ...DAILY, id: 'nbp-b', frequency: 'weekly', weekday: 3 },
}

/**
 * Days from which table B has another currency's rates under a code: those of the new afghani, of 2009's Zimbabwe dollar, and
 * of currencies that had other codes since before 2002.
 */
const MISNAMED_SINCE: ReadonlyMap<string, string> = new Map([
  ['AFA', '2003-01-07'],
  ['AON', '2002-01-02'],
  ['BYB', '2002-01-02'],
  ['ZWR', '2009-02-25'],
])

/**
 * Creates a provider of latest rates and history: average rates of Narodowy Bank Polski, the central bank of Poland, in zloty,
 * since 2002. Needs no key. Table A has some 30 currencies on Polish working days at 12:15 in Warsaw, table B over 100 others
 * on Wednesdays. Fetches more than 93 days in pieces, one after another.
 *
 * @throws {TypeError} if `table` or `url` is invalid
 * @see https://api.nbp.pl/en.html
 * @example
 * ```ts
 * import { createFrankfurterProvider, createRatesHandler } from 'ratesmith'
 * import { createNbpProvider } from 'ratesmith/providers'
 *
 * const history = [createFrankfurterProvider(), createNbpProvider(), createNbpProvider({ table: 'B' })]
 * const handler = createRatesHandler({ providers: { history } })
 * ```
 */
export function createNbpProvider(options: NbpOptions = {}): LatestProvider & HistoryProvider {
  const { table = 'A', url } = options
  assertKnownOptions(options, { table, url })
  if (!Object.hasOwn(PUBLICATIONS, table)) {
    throw new TypeError(`table must be A or B, got ${String(table)}`)
  }
  return createBank(
    { url },
    {
      attribution: {
        name: `Narodowy Bank Polski, table ${table}`,
        url: 'https://nbp.pl/en/statistic-and-financial-reporting/rates/',
      },
      terms: 'https://nbp.pl/statystyka-i-sprawozdawczosc/dobre-praktyki-esbc/',
      publication: PUBLICATIONS[table],
      base: 'PLN',
      url: 'https://api.nbp.pl',
      accept: 'application/json',
      maxBytes: 2 * 1024 * 1024,
      // The service rejects longer ranges.
      maxDays: 93,
      requests: (root, { start, end }) => [
        { url: `${root}/api/exchangerates/tables/${table}/${start}/${end}/?format=json` },
      ],
      isEmpty: ({ status, body }) => status === 404 && body.includes('Brak danych'),
      read(text, add) {
        const known = new Set<string>()
        const tables = parseRows(text)
        if (tables.length === 0) throw new Error('no tables')
        for (const one of tables) {
          const { table: name, no: tableNumber, effectiveDate: date, rates } = Object(one)
          if (name !== table || !Array.isArray(rates) || rates.length === 0) {
            throw new Error('an unexpected table')
          }
          if (known.has(date)) throw new Error('two tables of a day')
          known.add(date)
          for (const rate of rates) {
            const { code, mid: price } = Object(rate)
            const isMisnamed = (MISNAMED_SINCE.get(code) ?? '9999') <= date
            if (!isMisnamed) add({ date, code, price, tableNumber })
          }
        }
      },
    },
  )
}
