// The responses of upstreams in their own forms, with the rates of the made-up market.
import { strToU8, zipSync } from 'fflate'

import { BANK_CODES, dayOf, dollarRates, euroDays } from './market.ts'

const DAY_MS = 86_400_000
const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')

/** A published day: units of the bank's currency for one unit of each code, and the other way round. */
interface Day {
  date: string
  quotes: { code: string; price: number; rate: number }[]
}

/** What a bank is asked for: `days` are those of the bank's currency. */
interface BankRequest {
  url: URL
  body: string
  now: number
  days(base: string, start: string, end: string): Day[]
}

/** A response: text, bytes, or anything else as JSON. */
type Respond = (request: BankRequest) => unknown

const digits = (value: number): number => Number(value.toPrecision(6))
const plain = (value: number): string => (value < 1e-6 ? value.toFixed(12) : String(value))
const dayFirst = (day: string, separator: string): string =>
  day.split('-').toReversed().join(separator)
const flat = <Row>(
  days: Day[],
  toRow: (date: string, quote: Day['quotes'][number]) => Row,
): Row[] => days.flatMap(({ date, quotes }) => quotes.map((quote) => toRow(date, quote)))

/** Returns two days of the query. */
function range({ searchParams }: URL, start: string, end: string): [string, string] {
  return [searchParams.get(start) ?? '', searchParams.get(end) ?? '']
}

const XML = '<?xml version="1.0" encoding="UTF-8"?>\n'

function ecbXml(days: ReturnType<typeof euroDays>): string {
  const cubes = days.toReversed().map(([date, rates]) => {
    const quoted = Object.entries(rates).map(
      ([code, rate]) => `<Cube currency="${code}" rate="${plain(rate)}"/>`,
    )
    return `<Cube time="${date}">${quoted.join('')}</Cube>`
  })
  return `${XML}<gesmes:Envelope xmlns:gesmes="http://www.gesmes.org/xml/2002-08-01" xmlns="http://www.ecb.int/vocabulary/2002-08-01/eurofxref"><Cube>${cubes.join('\n')}</Cube></gesmes:Envelope>`
}

/** The upstreams by host. */
const UPSTREAMS: Record<string, Respond> = {
  'open.er-api.com': ({ now }) => ({
    ...openTable(now),
    base_code: 'USD',
    rates: dollarRates(dayOf(openTime(now))),
  }),
  'v6.exchangerate-api.com': ({ now }) => ({
    ...openTable(now),
    base_code: 'USD',
    conversion_rates: dollarRates(dayOf(openTime(now))),
  }),
  'openexchangerates.org': ({ now }) => ({
    timestamp: Math.floor(now / 3_600_000) * 3_600,
    base: 'USD',
    rates: dollarRates(dayOf(now)),
  }),
  'cdn.jsdelivr.net': ({ now }) => ({
    date: dayOf(now),
    usd: Object.fromEntries(
      Object.entries(dollarRates(dayOf(now))).map(([code, rate]) => [code.toLowerCase(), rate]),
    ),
  }),
  'api.frankfurter.dev'({ url, now }) {
    const [, start, end] = /^\/v1\/([\d-]+)\.\.([\d-]*)$/.exec(url.pathname) ?? []
    if (start === undefined) return undefined
    // Starts on the last published day before the range.
    const [before] = euroDays(dayOf(start, -9), start, now).slice(-1)
    const days = [
      ...(before && before[0] < start ? [before] : []),
      ...euroDays(start, end || '2099-01-01', now),
    ]
    return {
      amount: 1,
      base: 'EUR',
      start_date: start,
      end_date: days.at(-1)?.[0] ?? end,
      rates: Object.fromEntries(days),
    }
  },
  'www.ecb.europa.eu'({ url, now }) {
    const today = dayOf(now)
    if (url.pathname.endsWith('-daily.xml'))
      return ecbXml(euroDays(dayOf(now, -9), today, now).slice(-1))
    if (url.pathname.endsWith('-90d.xml')) return ecbXml(euroDays(dayOf(now, -95), today, now))
    const rows = euroDays('1999-01-04', today, now)
      .toReversed()
      .map(([day, rates]) => `${day},${BANK_CODES.map((code) => rates[code] ?? 'N/A').join()},\n`)
    const csv = `Date,${BANK_CODES.join()},\n${rows.join('')}`
    return zipSync({ 'eurofxref-hist.csv': strToU8(csv) }, { mtime: '2026-01-01' })
  },
  'api.nbp.pl'({ url, days }) {
    const [, table = '', start = '', end = ''] =
      /tables\/([AB])\/([\d-]+)\/([\d-]+)\/$/.exec(url.pathname) ?? []
    const published = days('PLN', start, end).filter(
      ({ date }) => table === 'A' || new Date(date).getUTCDay() === 3,
    )
    if (published.length === 0) return undefined
    return published.map(({ date, quotes }) => ({
      table,
      no: `${date.slice(5, 7)}${date.slice(8)}/${table}/NBP/${date.slice(0, 4)}`,
      effectiveDate: date,
      rates: quotes.map(({ code, price }) => ({
        currency: 'waluta',
        code,
        mid: Number(price.toPrecision(5)),
      })),
    }))
  },
  'api.cnb.cz'({ url, days }) {
    const year = url.searchParams.get('year')
    const rates = flat(
      days('CZK', `${year}-01-01`, `${year}-12-31`),
      (validFor, { code, price }) => {
        const amount = price < 0.2 ? 1000 : 1
        return {
          validFor,
          order: 1,
          country: 'X',
          currency: 'x',
          amount,
          currencyCode: code,
          rate: digits(price * amount),
        }
      },
    )
    return { rates }
  },
  'data.norges-bank.no'({ url, days }) {
    const rows = flat(
      days('NOK', ...range(url, 'startPeriod', 'endPeriod')),
      (date, { code, price }) =>
        `B,${code},NOK,SP,4,false,${code === 'JPY' ? 2 : 0},C,${date},${plain(digits(price * (code === 'JPY' ? 100 : 1)))}\n`,
    )
    return `FREQ,BASE_CUR,QUOTE_CUR,TENOR,DECIMALS,CALCULATED,UNIT_MULT,COLLECTION,TIME_PERIOD,OBS_VALUE\n${rows.join('')}`
  },
  'api.riksbank.se'({ url, days }) {
    const [, start = '', end = ''] = /\/ByGroup\/130\/([\d-]+)\/([\d-]+)$/.exec(url.pathname) ?? []
    return flat(days('SEK', start, end), (date, { code, price: value }) => ({
      seriesId: `SEK${code}PMI`,
      date,
      value,
    }))
  },
  'www.bankofcanada.ca': ({ url, days }) => ({
    observations: days('CAD', ...range(url, 'start_date', 'end_date')).map(
      ({ date: d, quotes }) => ({
        d,
        ...Object.fromEntries(
          quotes.map(({ code, price }) => [`FX${code}CAD`, { v: plain(price) }]),
        ),
      }),
    ),
  }),
  'curs.bnr.ro'({ url, days }) {
    const [, year] = /nbrfxrates(\d{4})\.xml$/.exec(url.pathname) ?? []
    const cubes = days('RON', `${year}-01-01`, `${year}-12-31`).map(({ date, quotes }) => {
      const rates = quotes.map(({ code, price }) =>
        price < 0.1
          ? `<Rate currency="${code}" multiplier="100">${plain(digits(price * 100))}</Rate>`
          : `<Rate currency="${code}">${plain(price)}</Rate>`,
      )
      return `<Cube date="${date}">${rates.join('')}</Cube>`
    })
    return `${XML}<DataSet xmlns="https://bank.example/xsd"><Header/><Body><Subject>Rates</Subject>${cubes.join('')}</Body></DataSet>`
  },
  'bank.gov.ua'({ url, days }) {
    const [start, end] = range(url, 'start', 'end').map((text) =>
      text.replace(/(\d{4})(\d\d)(\d\d)/, '$1-$2-$3'),
    )
    return flat(days('UAH', start ?? '', end ?? ''), (date, { code, price }) => ({
      exchangedate: dayFirst(date, '.'),
      cc: code,
      rate: price,
      units: 1,
      rate_per_unit: price,
    }))
  },
  'www.bankofengland.co.uk'({ url, days }) {
    const codes =
      'USD EUR JPY CAD CHF AUD NZD NOK SEK DKK HKD SGD SAR ZAR TWD CZK HUF PLN ILS MYR THB CNY KRW TRY INR RON'.split(
        ' ',
      )
    const [start, end] = range(url, 'Datefrom', 'Dateto').map((text) => {
      const [day, month = '', year] = text.split('/')
      return `${year}-${String(MONTHS.indexOf(month) + 1).padStart(2, '0')}-${day}`
    })
    const rows = days('GBP', start ?? '', end ?? '').map(({ date, quotes }) => {
      const [year, month, day] = date.split('-')
      const cells = codes.map((code) => quotes.find((each) => each.code === code)?.rate ?? '')
      return `${day} ${MONTHS[Number(month) - 1]} ${year},${cells.join()}\r\n`
    })
    return `DATE,${url.searchParams.get('SeriesCodes')}\r\n${rows.join('')}`
  },
  'www.mnb.hu'({ body, days }) {
    const [, start = '', end = ''] =
      /<startDate>(.*)<\/startDate><endDate>(.*)<\/endDate>/.exec(body) ?? []
    const tables = days('HUF', start, end)
      .toReversed()
      .map(({ date, quotes }) => {
        const rates = quotes.map(
          ({ code, price }) =>
            `<Rate unit="1" curr="${code}">${plain(price).replace('.', ',')}</Rate>`,
        )
        return `<Day date="${date}">${rates.join('')}</Day>`
      })
    const inner = `<MNBExchangeRates>${tables.join('')}</MNBExchangeRates>`
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
    return `<s:Envelope xmlns:s="http://soap.example/"><s:Body><GetExchangeRatesResponse xmlns="http://bank.example/"><GetExchangeRatesResult>${inner}</GetExchangeRatesResult></GetExchangeRatesResponse></s:Body></s:Envelope>`
  },
  'www.trade-tariff.service.gov.uk'({ url, days }) {
    const [, year = '', month = ''] = /monthly_xml_(\d{4})-(\d+)\.xml$/.exec(url.pathname) ?? []
    const first = `${year}-${month.padStart(2, '0')}-01`
    const [day] = days('GBP', first, dayOf(first, 20))
    if (!day) return undefined
    const inMonth = (number: string): string => `${number}/${MONTHS[Number(month) - 1]}/${year}`
    const rows = day.quotes.map(
      ({ code, rate }) =>
        `<exchangeRate><countryName>${code}</countryName><currencyCode>${code}</currencyCode><rateNew>${plain(rate)}</rateNew></exchangeRate>`,
    )
    return `${XML}<exchangeRateMonthList Period="${inMonth('01')} to ${inMonth('28')}">${rows.join('')}</exchangeRateMonthList>`
  },
  'tassidicambio.bancaditalia.it'({ url, now }) {
    const convention = 'Foreign currency amount for 1 Euro.'
    const isDay = url.pathname.endsWith('/dailyRates')
    const [start, end] = isDay
      ? range(url, 'referenceDate', 'referenceDate')
      : range(url, 'startDate', 'endDate')
    const only = url.searchParams.get('baseCurrencyIsoCode')
    const rows = euroDays(start, end, now).flatMap(([date, rates]) =>
      Object.entries({ ...rates, XOF: 655.957 }).flatMap(([code, rate]) => {
        if (isDay) return [`${code},${code} money,${code},999,${rate},${convention},${date}\n`]
        return code === only ? [`${code} money,${code},999,${rate},${convention},${date}\n`] : []
      }),
    )
    return `${isDay ? 'Country,' : ''}Currency,ISO Code,UIC Code,Rate,Rate convention,Reference date (CET)\n${rows.join('')}\n# NOTES\n`
  },
}

/** The open feed is published shortly after midnight, UTC. */
function openTime(now: number): number {
  return Math.floor((now - 151_000) / DAY_MS) * DAY_MS + 151_000
}

function openTable(now: number): object {
  const last = openTime(now) / 1_000
  return {
    result: 'success',
    provider: 'https://www.exchangerate-api.com',
    time_last_update_unix: last,
    time_next_update_unix: last + 86_400,
  }
}

/** Responds like the upstream of `url` at `now`, ms since the Unix epoch; `edit` changes text. */
export function respond(
  { url, body, now }: { url: string; body: string; now: number },
  edit: (text: string) => string,
): Response {
  const parsed = new URL(url)
  function days(base: string, start: string, end: string): Day[] {
    return euroDays(start, end, now).map(([date, rates]) => {
      const own = rates[base] ?? euroOf(base, date)
      const quotes = Object.entries({ EUR: 1, ...rates }).filter(([code]) => code !== base)
      return {
        date,
        quotes: quotes.map(([code, rate]) => ({
          code,
          price: digits(own / rate),
          rate: digits(rate / own),
        })),
      }
    })
  }
  const made = UPSTREAMS[parsed.host]?.({ url: parsed, body, now, days })
  if (made === undefined) return new Response('', { status: 404 })
  if (made instanceof Uint8Array) return new Response(new Uint8Array(made))
  return new Response(edit(typeof made === 'string' ? made : JSON.stringify(made)))
}

/** Returns the units for one euro of a currency that the European Central Bank does not quote. */
function euroOf(code: string, date: string): number {
  const { EUR = NaN, [code]: rate = NaN } = dollarRates(date)
  return rate / EUR
}
