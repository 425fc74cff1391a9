import { bank } from '../../upstream/bank.ts'
import type { KeyedBankFactory } from '../../upstream/bank.ts'
import { dayIn, jsonRows, pairs, withDaysBefore, withoutGroups } from '../../upstream/published.ts'

const SERIES = /* @__PURE__ */ pairs(
  'SF43718:USD, SF46410:EUR, SF46407:GBP, SF46406:JPY, SF60632:CAD',
)

/**
 * Creates a provider of the rates of Banco de México, the central bank of Mexico. The US dollar has the FIX rate.
 *
 * @see https://www.banxico.org.mx/SieAPIRest/service/v1/
 */
export const createBanxicoProvider: KeyedBankFactory = /* @__PURE__ */ bank({
  name: 'Banco de México',
  page: 'https://www.banxico.org.mx/tipcamb/main.do?page=tip&idioma=en',
  terms: 'https://www.banxico.org.mx/footer-en/terms-and-conditions.html',
  base: 'MXN',
  currencies: 5,
  publication: {
    id: 'banxico',
    holidays:
      '01-01, 02-01/1, 03-15/1, easter-3, easter-2, 05-01, 09-16, 11-02, 11-15/1, 12-12, 12-25',
    time: '12:00',
    timeZone: 'America/Mexico_City',
    since: '1999-01-04',
  },
  root: 'https://www.banxico.org.mx',
  keyIn: 'header',
  accept: 'application/json',
  minCodes: 4,
  maxDays: 366,
  spansOf: withDaysBefore,
  requests({ start, end }, key) {
    const path = `/SieAPIRest/service/v1/series/${[...SERIES.keys()].join()}/datos/${start}/${end}`
    return [{ path, headers: { 'bmx-token': key } }]
  },
  read: /* @__PURE__ */ jsonRows('bmx.series', ({ idSerie, datos = [] }) => {
    const code = SERIES.get(String(idSerie))
    if (code === undefined || !Array.isArray(datos)) throw new Error('an unexpected series')
    return datos.map((row) => {
      const { fecha, dato } = Object(row)
      const price = dato === null || dato === 'N/E' ? '' : withoutGroups(String(dato))
      return { date: dayIn(fecha), code, price }
    })
  }),
})
