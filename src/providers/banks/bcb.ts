import type { DaySpan } from '../../rates/dates.ts'
import { createBank } from '../../upstream/bank.ts'
import type { BankOptions, BankRequest } from '../../upstream/bank.ts'
import type { HistoryProvider, LatestProvider } from '../../upstream/provider.ts'
import { formatDay, middleOf, parseRows } from '../../upstream/published.ts'

export type { BankOptions }

const CODES = ['AUD', 'CAD', 'CHF', 'DKK', 'EUR', 'GBP', 'JPY', 'NOK', 'SEK', 'USD']

/**
 * Creates a provider of latest rates and history: closing PTAX rates of Banco Central do Brasil, in reais: ten currencies on
 * Brazilian working days, since 1999. Needs no key. The bank publishes buying and selling rates; this provider has the middle of
 * both. Sends a request for each currency, one after another, or one for the history of a currency.
 *
 * @throws {TypeError} if `url` is invalid
 * @see https://olinda.bcb.gov.br/olinda/servico/PTAX/versao/v1/documentacao
 * @example
 * ```ts
 * import { createFrankfurterProvider, createRatesHandler } from 'ratesmith'
 * import { createBcbProvider } from 'ratesmith/providers'
 *
 * const history = [createFrankfurterProvider(), createBcbProvider()]
 * const handler = createRatesHandler({ providers: { history } })
 * ```
 */
export function createBcbProvider(options: BankOptions = {}): LatestProvider & HistoryProvider {
  return createBank(options, {
    attribution: {
      name: 'Banco Central do Brasil, PTAX (middle of buying and selling rates)',
      url: 'https://www.bcb.gov.br/en/financialstability/fxquotations',
    },
    terms: 'https://opendefinition.org/licenses/odc-odbl/',
    publication: {
      id: 'bcb',
      frequency: 'daily',
      holidays:
        '01-01, easter-48, easter-47, easter-2, 04-21, 05-01, easter+60, 09-07, 10-12, 11-02, 11-15, 11-20 2024-, 12-25'.split(
          ', ',
        ),
      time: '13:30',
      timeZone: 'America/Sao_Paulo',
      since: '1999-01-04',
    },
    base: 'BRL',
    url: 'https://olinda.bcb.gov.br',
    accept: 'application/json',
    minCodes: 8,
    requests: (root, span) => CODES.map((code) => requestFor(root, span, code)),
    seriesRequest: (root, span, code) =>
      CODES.includes(code) ? requestFor(root, span, code) : undefined,
    read(text, add, { about: code = '' }) {
      for (const row of parseRows(text, (body) => Object(body).value)) {
        const {
          cotacaoCompra: buying,
          cotacaoVenda: selling,
          dataHoraCotacao,
          tipoBoletim,
        } = Object(row)
        if (tipoBoletim !== 'Fechamento') throw new Error('rates of another bulletin')
        const date = String(dataHoraCotacao).slice(0, 10)
        add({ date, code, price: middleOf(buying, selling) })
      }
    },
  })
}

function requestFor(root: string, { start, end }: DaySpan, code: string): BankRequest {
  const name = 'moeda=@moeda,dataInicial=@dataInicial,dataFinalCotacao=@dataFinalCotacao'
  const [from, to] = [start, end].map((day) => formatDay(day, 'MM-DD-YYYY'))
  const values = `@moeda='${code}'&@dataInicial='${from}'&@dataFinalCotacao='${to}'`
  const filter = "$filter=tipoBoletim eq 'Fechamento'&$format=json"
  const path = 'olinda/servico/PTAX/versao/v1/odata/CotacaoMoedaPeriodo'
  const query = encodeURI(`${values}&${filter}`).replaceAll("'", '%27')
  return { url: `${root}/${path}(${name})?${query}`, about: code }
}
