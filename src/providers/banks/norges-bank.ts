import { createBank } from '../../upstream/bank.ts'
import type { BankOptions } from '../../upstream/bank.ts'
import type { HistoryProvider, LatestProvider } from '../../upstream/provider.ts'
import { requireWhole, withDaysBefore } from '../../upstream/published.ts'
import { readSdmxCsv } from '../../upstream/sdmx.ts'
import type { SdmxForm } from '../../upstream/sdmx.ts'

export type { BankOptions }

const FORM: SdmxForm = {
  currency: 'BASE_CUR',
  fixed: { FREQ: ['B'], QUOTE_CUR: ['NOK'], TENOR: ['SP'] },
}

/** The trade-weighted index and the import-weighted one are no currencies. */
const INDEXES: ReadonlySet<string> = new Set(['TWI', 'I44'])

/**
 * Creates a provider of latest rates and history: middle rates of Norges Bank, the central bank of Norway, in kroner: some 40
 * currencies on Norwegian working days at 16:00 in Oslo, since 1999. Needs no key. Rates of 100 units are divided exactly.
 *
 * @throws {TypeError} if `url` is invalid
 * @see https://www.norges-bank.no/en/topics/Statistics/open-data/
 * @example
 * ```ts
 * import { createRatesHandler } from 'ratesmith'
 * import { createNorgesBankProvider } from 'ratesmith/providers'
 *
 * const norway = createNorgesBankProvider()
 * const handler = createRatesHandler({ providers: { latest: norway, history: norway } })
 * ```
 */
export function createNorgesBankProvider(
  options: BankOptions = {},
): LatestProvider & HistoryProvider {
  return createBank(options, {
    attribution: {
      name: 'Norges Bank',
      url: 'https://www.norges-bank.no/en/topics/statistics/exchange_rates/',
    },
    terms: 'https://www.norges-bank.no/en/topics/Statistics/disclaimer/',
    publication: {
      id: 'norges-bank',
      frequency: 'daily',
      holidays:
        '01-01, easter-3, easter-2, easter+1, 05-01, 05-17, easter+39, easter+50, 12-25, 12-26'.split(
          ', ',
        ),
      time: '16:00',
      timeZone: 'Europe/Oslo',
      since: '1999-01-04',
    },
    base: 'NOK',
    url: 'https://data.norges-bank.no',
    accept: 'text/csv',
    maxDays: 366,
    spansOf: (range) => withDaysBefore(range, 366),
    requests: (root, { start, end }) => [
      {
        url: `${root}/api/data/EXR/B..NOK.SP?startPeriod=${start}&endPeriod=${end}&format=csvdata`,
      },
    ],
    read(text, add) {
      for (const { date, code, value, units } of readSdmxCsv(requireWhole(text), FORM)) {
        if (!INDEXES.has(code)) add({ date, code, price: value, units })
      }
    },
  })
}
