import { createBank } from '../../upstream/bank.ts'
import type { BankOptions } from '../../upstream/bank.ts'
import type { HistoryProvider, LatestProvider } from '../../upstream/provider.ts'
import { yearsOf } from '../../upstream/published.ts'
import { readXml } from '../../upstream/xml.ts'

export type { BankOptions }

/**
 * Creates a provider of latest rates and history: reference rates of Banca Națională a României, the central bank of Romania,
 * in lei: some 35 currencies and the special drawing right at 13:00 in Bucharest on Romanian working days, since 2005. Needs no
 * key. Reads files of whole years. Rates of 100 units are divided exactly; gold, which the bank quotes by the gram, is left out.
 *
 * @throws {TypeError} if `url` is invalid
 * @see https://www.bnr.ro/en/561-exchange-rates
 * @example
 * ```ts
 * import { createRatesHandler } from 'ratesmith'
 * import { createBnrProvider } from 'ratesmith/providers'
 *
 * const romania = createBnrProvider()
 * const handler = createRatesHandler({ providers: { latest: romania, history: romania } })
 * ```
 */
export function createBnrProvider(options: BankOptions = {}): LatestProvider & HistoryProvider {
  return createBank(options, {
    attribution: {
      name: 'Banca Națională a României (National Bank of Romania)',
      url: 'https://www.bnr.ro/en/561-exchange-rates',
    },
    terms: 'https://www.bnr.ro/en/561-exchange-rates',
    publication: {
      id: 'bnr',
      frequency: 'daily',
      holidays: (
        '01-01, 01-02, 01-06 2024-, 01-07 2024-, 01-24 2017-, orthodox-2 2018-, orthodox+1, 05-01, 06-01 2017-, ' +
        'orthodox+50, 08-15, 11-30 2012-, 12-01, 12-25, 12-26'
      ).split(', '),
      time: '13:00',
      timeZone: 'Europe/Bucharest',
      since: '2005-07-01',
    },
    base: 'RON',
    url: 'https://curs.bnr.ro',
    accept: 'text/xml',
    maxDays: 366,
    spansOf: yearsOf,
    requests: (root, { start }) => [
      { url: `${root}/files/xml/years/nbrfxrates${start.slice(0, 4)}.xml` },
    ],
    read(text, add) {
      let rows = 0
      for (const { attributes, parent, text: price } of readXml(text, 'DataSet/Body/Cube/Rate')) {
        rows += 1
        const code = attributes.get('currency') ?? ''
        const date = parent?.attributes.get('date') ?? ''
        if (code !== 'XAU') add({ date, code, price, units: attributes.get('multiplier') ?? 1 })
      }
      if (rows === 0) throw new Error('no rates')
    },
  })
}
