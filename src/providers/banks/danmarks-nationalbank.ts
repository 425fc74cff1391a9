import { readColumns } from '../../rates/csv.ts'
import { bank } from '../../upstream/bank.ts'
import type { BankFactory } from '../../upstream/bank.ts'
import { requireWhole, words } from '../../upstream/published.ts'

const CODES = /* @__PURE__ */ words(
  'AUD BGN BRL CAD CHF CNY CZK EUR GBP HKD HUF IDR ILS INR ISK JPY KRW MXN MYR NOK NZD PHP PLN RON SEK SGD THB TRY USD ZAR',
)

/**
 * Creates a provider of the rates of Danmarks Nationalbank, the central bank of Denmark, from Statistics Denmark. A new
 * currency needs a new version.
 *
 * @see https://www.dst.dk/en/Statistik/brug-statistikken/muligheder-i-statistikbanken/api
 */
export const createDanmarksNationalbankProvider: BankFactory = /* @__PURE__ */ bank({
  name: 'Danmarks Nationalbank (via Statistics Denmark)',
  page: 'https://www.nationalbanken.dk/en/what-we-do/stable-prices-monetary-policy-and-the-danish-economy/exchange-rates',
  terms: 'https://www.dst.dk/en/presse/kildeangivelse',
  base: 'DKK',
  currencies: 30,
  publication: {
    id: 'danmarks-nationalbank',
    holidays:
      '01-01, easter-3, easter-2, easter+1, easter+26 -2023, easter+39, easter+40 2009-, easter+50, 05-01 2016-, 06-05, ' +
      '12-24, 12-25, 12-26, 12-31',
    time: '09:00',
    timeZone: 'Europe/Copenhagen',
    delayDays: 1,
    since: '1999-01-04',
  },
  root: 'https://api.statbank.dk',
  accept: 'text/csv',
  maxDays: 366,
  requests({ start, end }) {
    const [first, last] = [start, end].map((day) => day.replace('-', 'M').replace('-', 'D'))
    const chosen = { VALUTA: CODES, KURTYP: ['KBH'], Tid: [`>=${first}<=${last}`] }
    const variables = Object.entries(chosen).map(([code, values]) => ({ code, values }))
    const table = { table: 'DNVALD', format: 'BULK', lang: 'en', valuePresentation: 'Code' }
    const headers = { 'content-type': 'application/json' }
    return [{ path: '/v1/data', headers, body: JSON.stringify({ ...table, variables }) }]
  },
  *read(text) {
    const columns = ['VALUTA', 'KURTYP', 'TID', 'INDHOLD']
    for (const [code, kind, day = '', value] of readColumns(requireWhole(text), columns, ';')) {
      if (kind !== 'KBH') throw new Error('rates of another kind')
      const date = day.replace(/^(\d{4})M(\d\d)D(\d\d)$/, '$1-$2-$3')
      yield { date, code, price: value === '..' ? '' : value, units: 100 }
    }
  },
})
