import { createBank } from '../../upstream/bank.ts'
import type { HistoryProvider, LatestProvider } from '../../upstream/provider.ts'
import { dayIn, parseRows, withDaysBefore, withoutGroups } from '../../upstream/published.ts'

/** Options of `createBanxicoProvider`. */
export interface BanxicoOptions {
  /** Token of your account; sent only to Banco de México, in a header. */
  key: string
  /** Root of the service, to which `/SieAPIRest/…` is appended (default `https://www.banxico.org.mx`). */
  url?: string | undefined
}

const SERIES: Readonly<Record<string, string>> = {
  SF43718: 'USD',
  SF46410: 'EUR',
  SF46407: 'GBP',
  SF46406: 'JPY',
  SF60632: 'CAD',
}

const GAPS: ReadonlySet<unknown> = new Set(['N/E', '', null])

/**
 * Creates a provider of latest rates and history: rates of Banco de México, the central bank of Mexico, in pesos: the FIX rate
 * of the US dollar, and the euro, pound, yen and Canadian dollar, at 12:00 in Mexico City on Mexican working days, since 1999.
 * Needs a key, which is free.
 *
 * @throws {TypeError} if `key` or `url` is invalid
 * @see https://www.banxico.org.mx/SieAPIRest/service/v1/
 * @example
 * ```ts
 * import { createFrankfurterProvider, createRatesHandler } from 'ratesmith'
 * import { createBanxicoProvider } from 'ratesmith/providers'
 *
 * const mexico = createBanxicoProvider({ key: '0123456789abcdef' })
 * const handler = createRatesHandler({ providers: { history: [createFrankfurterProvider(), mexico] } })
 * ```
 */
export function createBanxicoProvider(options: BanxicoOptions): LatestProvider & HistoryProvider {
  const { key } = options
  return createBank(options, {
    attribution: {
      name: 'Banco de México',
      url: 'https://www.banxico.org.mx/tipcamb/main.do?page=tip&idioma=en',
    },
    terms: 'https://www.banxico.org.mx/footer-en/terms-and-conditions.html',
    publication: {
      id: 'banxico',
      frequency: 'daily',
      holidays:
        '01-01, 02-01/1, 03-15/1, easter-3, easter-2, 05-01, 09-16, 11-02, 11-15/1, 12-12, 12-25'.split(
          ', ',
        ),
      time: '12:00',
      timeZone: 'America/Mexico_City',
      since: '1999-01-04',
    },
    base: 'MXN',
    url: 'https://www.banxico.org.mx',
    key,
    accept: 'application/json',
    minCodes: 4,
    maxDays: 366,
    spansOf: (range) => withDaysBefore(range, 366),
    requests(root, { start, end }) {
      const path = `SieAPIRest/service/v1/series/${Object.keys(SERIES).join()}/datos/${start}/${end}`
      return [{ url: `${root}/${path}`, headers: { 'bmx-token': key } }]
    },
    read(text, add) {
      for (const series of parseRows(text, (body) => Object(Object(body).bmx).series)) {
        const { idSerie, datos = [] } = Object(series)
        const code = SERIES[idSerie]
        if (code === undefined || !Array.isArray(datos)) throw new Error('an unexpected series')
        for (const row of datos) {
          const { fecha, dato } = Object(row)
          const price = GAPS.has(dato) ? '' : withoutGroups(String(dato))
          add({ date: dayIn(fecha), code, price })
        }
      }
    },
  })
}
