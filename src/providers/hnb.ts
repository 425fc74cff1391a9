import { createBank } from '../upstream/bank.ts'
import type { BankOptions } from '../upstream/bank.ts'
import type { HistoryProvider, LatestProvider } from '../upstream/provider.ts'
import { parseRows, withDaysBefore, withPoint } from '../upstream/published.ts'

export type { BankOptions }

const FIVE_DAYS_MS = 5 * 86_400_000

/** Rates are made on the working day before that on which they apply; those of Mondays are read on Sunday. */
const FRIDAY_AND_SATURDAY = [5, 6]

/**
 * Creates a provider of latest rates and history: middle rates of Hrvatska narodna banka, the central bank of Croatia, against
 * the euro: some 13 currencies, each list for the next working day, since 2023. Needs no key.
 *
 * @throws {TypeError} if `url` is invalid
 * @see https://api.hnb.hr
 * @example
 * ```ts
 * import { createFrankfurterProvider, createRatesHandler } from 'ratesmith'
 * import { createHnbProvider } from 'ratesmith/providers/hnb'
 *
 * const history = [createFrankfurterProvider(), createHnbProvider()]
 * const handler = createRatesHandler({ providers: { history } })
 * ```
 */
export function createHnbProvider(options: BankOptions = {}): LatestProvider & HistoryProvider {
  return createBank(options, {
    attribution: {
      name: 'Hrvatska narodna banka (Croatian National Bank)',
      url: 'https://www.hnb.hr/en/core-functions/monetary-policy/exchange-rate-list/exchange-rate-list',
    },
    terms: 'https://www.hnb.hr/en/legal-notice',
    publication: {
      id: 'hnb',
      frequency: 'daily',
      weekend: FRIDAY_AND_SATURDAY,
      holidays: [],
      time: '20:00',
      timeZone: 'Europe/Zagreb',
      dated: 'effect',
      since: '2023-01-02',
      lag: FIVE_DAYS_MS,
    },
    base: 'EUR',
    url: 'https://api.hnb.hr',
    accept: 'application/json',
    minCodes: 10,
    maxDays: 92,
    spansOf: (range) => withDaysBefore(range, 92),
    requests: (root, { start, end }) => [
      { url: `${root}/tecajn-eur/v3?datum-primjene-od=${start}&datum-primjene-do=${end}` },
    ],
    read(text, add) {
      for (const row of parseRows(text)) {
        const { datum_primjene: date, valuta: code, srednji_tecaj, broj_tecajnice } = Object(row)
        add({ date, code, rate: withPoint(srednji_tecaj), tableNumber: broj_tecajnice })
      }
    },
  })
}
