import { bank } from '../../upstream/bank.ts'
import type { BankFactory } from '../../upstream/bank.ts'
import { perTroyOunce, xmlRows, yearsOf } from '../../upstream/published.ts'

/**
 * Creates a provider of the reference rates of Banca Națională a României, the central bank of Romania. With `XDR` and gold.
 *
 * @see https://www.bnr.ro/en/561-exchange-rates
 */
export const createBnrProvider: BankFactory = /* @__PURE__ */ bank({
  name: 'Banca Națională a României (National Bank of Romania)',
  page: 'https://www.bnr.ro/en/561-exchange-rates',
  terms: 'https://www.bnr.ro/en/561-exchange-rates',
  base: 'RON',
  currencies: 35,
  publication: {
    id: 'bnr',
    holidays:
      '01-01, 01-02, 01-06 2024-, 01-07 2024-, 01-24 2017-, orthodox-2 2018-, orthodox+1, 05-01, 06-01 2017-, ' +
      'orthodox+50, 08-15, 11-30 2012-, 12-01, 12-25, 12-26',
    time: '13:00',
    timeZone: 'Europe/Bucharest',
    since: '2005-07-01',
  },
  root: 'https://curs.bnr.ro',
  accept: 'text/xml',
  maxDays: 366,
  spansOf: yearsOf,
  requests: ({ start }) => [`/files/xml/years/nbrfxrates${start.slice(0, 4)}.xml`],
  read: /* @__PURE__ */ xmlRows('DataSet/Body/Cube/Rate', ({ attributes, parent, text }) => {
    const code = attributes.get('currency')
    const date = parent?.attributes.get('date')
    const price = code === 'XAU' ? perTroyOunce(text) : text
    // Only prices of several units have a multiplier.
    return { date, code, price, units: attributes.get('multiplier') ?? 1 }
  }),
})
