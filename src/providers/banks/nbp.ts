import { assertKnownOptions } from '../../known-options.ts'
import { bank } from '../../upstream/bank.ts'
import type { BankFactory, BankOptions } from '../../upstream/bank.ts'
import type { HistoryProvider, LatestProvider } from '../../upstream/provider.ts'
import { jsonRows, pairs, parseRows, perTroyOunce } from '../../upstream/published.ts'
import type { Quote } from '../../upstream/published.ts'

/** Options of `createNbpProvider`. */
export interface NbpOptions extends BankOptions {
  /**
   * Table of the bank: `A`, some 30 currencies on working days, or `B`, over 100 other currencies on Wednesdays (default
   * `A`).
   */
  table?: 'A' | 'B' | undefined
}

/** Days from which table B has the rates of another currency under a code. */
const MISNAMED_SINCE = /* @__PURE__ */ pairs(
  'AFA:2003-01-07, AON:2002-01-02, BYB:2002-01-02, ZWR:2009-02-25',
)

/** First day with a price of gold. */
const GOLD_SINCE = '2013-01-02'

/* @__NO_SIDE_EFFECTS__ */
function tableOf(table: 'A' | 'B'): BankFactory {
  const isDaily = table === 'A'
  return bank({
    name: `Narodowy Bank Polski, table ${table}`,
    page: 'https://nbp.pl/en/statistic-and-financial-reporting/rates/',
    terms: 'https://nbp.pl/statystyka-i-sprawozdawczosc/dobre-praktyki-esbc/',
    base: 'PLN',
    currencies: isDaily ? 30 : 110,
    publication: {
      id: `nbp-${table.toLowerCase()}`,
      ...(!isDaily && { frequency: 'weekly', weekday: 3 }),
      holidays:
        '01-01, 01-06 2011-, easter+1, 05-01, 05-03, easter+60, 08-15, 11-01, 11-11, 2018-11-12, 12-24 2025-, 12-25, 12-26',
      time: '12:15',
      timeZone: 'Europe/Warsaw',
      since: '2002-01-02',
    },
    root: 'https://api.nbp.pl',
    accept: 'application/json',
    maxBytes: 2_097_152,
    // The service rejects longer ranges.
    maxDays: 93,
    requests: ({ start, end }) => [
      `/api/exchangerates/tables/${table}/${start}/${end}/?format=json`,
    ],
    extras({ start, end }) {
      if (!isDaily || end < GOLD_SINCE) return []
      const first = start < GOLD_SINCE ? GOLD_SINCE : start
      return [{ path: `/api/cenyzlota/${first}/${end}/?format=json`, about: 'gold' }]
    },
    isEmpty: ({ status, body }) => status === 404 && body.includes('Brak danych'),
    read: (text, request) =>
      request.about === 'gold' ? readGold(text, request) : readTables(text, table),
  })
}

function* readTables(text: string, table: 'A' | 'B'): Generator<Quote> {
  const known = new Set<unknown>()
  for (const { table: name, no: tableNumber, effectiveDate: date, rates } of parseRows(text)) {
    if (name !== table || !Array.isArray(rates) || rates.length === 0) {
      throw new Error('an unexpected table')
    }
    if (known.has(date)) throw new Error('two tables of a day')
    known.add(date)
    for (const rate of rates) {
      const { code, mid: price } = Object(rate)
      const isMisnamed = (MISNAMED_SINCE.get(code) ?? '9999') <= String(date)
      if (!isMisnamed) yield { date, code, price, tableNumber }
    }
  }
  if (known.size === 0) throw new Error('no tables')
}

const readGold = /* @__PURE__ */ jsonRows('', ({ data: date, cena }) => [
  { date, code: 'XAU', price: perTroyOunce(cena) },
])

/** The tables by their names. */
export const NBP_TABLES: Readonly<Record<'A' | 'B', BankFactory>> = {
  A: /* @__PURE__ */ tableOf('A'),
  B: /* @__PURE__ */ tableOf('B'),
}

/**
 * Creates a provider of the average rates of a table of Narodowy Bank Polski, the central bank of Poland. Credit as `Source:
 * NBP`, figures unchanged. With gold since 2013. `table: 'B'`, on Wednesdays, has 110 other currencies, until November 2003
 * every second Tuesday, without `AFA`, `AON`, `BYB` and `ZWR`.
 *
 * @throws {TypeError} if `table` or `url` is invalid
 * @see https://api.nbp.pl/en.html
 */
export function createNbpProvider(options: NbpOptions = {}): LatestProvider & HistoryProvider {
  const { table = 'A', url } = options
  assertKnownOptions(options, { table, url })
  if (!Object.hasOwn(NBP_TABLES, table)) {
    throw new TypeError(`table must be A or B, got ${String(table)}`)
  }
  return NBP_TABLES[table]({ url })
}
