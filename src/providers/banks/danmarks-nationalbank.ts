import { readColumns } from '../../rates/csv.ts'
import { createBank } from '../../upstream/bank.ts'
import type { BankOptions } from '../../upstream/bank.ts'
import type { HistoryProvider, LatestProvider } from '../../upstream/provider.ts'
import { requireWhole } from '../../upstream/published.ts'

export type { BankOptions }

const CODES = (
  'AUD BGN BRL CAD CHF CNY CZK EUR GBP HKD HUF IDR ILS INR ISK JPY KRW MXN MYR NOK NZD PHP PLN RON SEK SGD THB TRY ' +
  'USD ZAR'
).split(' ')

/**
 * Creates a provider of latest rates and history: rates of Danmarks Nationalbank, the central bank of Denmark, from Statistics
 * Denmark, in kroner: some 30 currencies at 16:00 in Copenhagen on Danish working days, since 1999. Needs no key. Rates of 100
 * units are divided exactly.
 *
 * @throws {TypeError} if `url` is invalid
 * @see https://www.dst.dk/en/Statistik/brug-statistikken/muligheder-i-statistikbanken/api
 * @example
 * ```ts
 * import { createRatesHandler } from 'ratesmith'
 * import { createDanmarksNationalbankProvider } from 'ratesmith/providers'
 *
 * const denmark = createDanmarksNationalbankProvider()
 * const handler = createRatesHandler({ providers: { latest: denmark, history: denmark } })
 * ```
 */
export function createDanmarksNationalbankProvider(
  options: BankOptions = {},
): LatestProvider & HistoryProvider {
  return createBank(options, {
    attribution: {
      name: 'Danmarks Nationalbank (via Statistics Denmark)',
      url: 'https://www.nationalbanken.dk/en/what-we-do/stable-prices-monetary-policy-and-the-danish-economy/exchange-rates',
    },
    terms: 'https://www.dst.dk/en/presse/kildeangivelse',
    publication: {
      id: 'danmarks-nationalbank',
      frequency: 'daily',
      holidays: (
        '01-01, easter-3, easter-2, easter+1, easter+26 -2023, easter+39, easter+40 2009-, easter+50, 06-05, ' +
        '12-24, 12-25, 12-26, 12-31'
      ).split(', '),
      time: '16:00',
      timeZone: 'Europe/Copenhagen',
      since: '1999-01-04',
    },
    base: 'DKK',
    url: 'https://api.statbank.dk',
    accept: 'text/csv',
    maxDays: 366,
    requests(root, { start, end }) {
      const [first, last] = [start, end].map((day) => day.replace('-', 'M').replace('-', 'D'))
      const days = [`>=${first}<=${last}`]
      const variables = Object.entries({ VALUTA: CODES, KURTYP: ['KBH'], Tid: days })
      const table = { table: 'DNVALD', format: 'BULK', lang: 'en', valuePresentation: 'Code' }
      const body = { ...table, variables: variables.map(([code, values]) => ({ code, values })) }
      const headers = { 'content-type': 'application/json' }
      return [{ url: `${root}/v1/data`, headers, body: JSON.stringify(body) }]
    },
    read(text, add) {
      const columns = ['VALUTA', 'KURTYP', 'TID', 'INDHOLD']
      for (const [code = '', kind, day = '', value] of readColumns(
        requireWhole(text),
        columns,
        ';',
      )) {
        if (kind !== 'KBH') throw new Error('rates of another kind')
        const date = day.replace(/^(\d{4})M(\d\d)D(\d\d)$/, '$1-$2-$3')
        add({ date, code, price: value === '..' ? '' : value, units: 100 })
      }
    },
  })
}
