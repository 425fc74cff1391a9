import { bank } from '../../upstream/bank.ts'
import type { SidedBankFactory } from '../../upstream/bank.ts'
import { formatDay, jsonRows, sideOf, words } from '../../upstream/published.ts'

/**
 * Creates a provider of the closing PTAX rates of Banco Central do Brasil. Brazilian tax uses `side: 'selling'`; default is
 * the exact middle of buying and selling. Licence: ODbL.
 *
 * @see https://olinda.bcb.gov.br/olinda/servico/PTAX/versao/v1/documentacao
 */
export const createBcbProvider: SidedBankFactory = /* @__PURE__ */ bank({
  name: 'Banco Central do Brasil, PTAX (middle of buying and selling rates)',
  page: 'https://www.bcb.gov.br/en/financialstability/fxquotations',
  terms: 'https://opendefinition.org/licenses/odc-odbl/',
  base: 'BRL',
  currencies: 10,
  publication: {
    id: 'bcb',
    holidays:
      '01-01, easter-48, easter-47, easter-2, 04-21, 05-01, easter+60, 09-07, 10-12, 11-02, 11-15, 11-20 2024-, 12-25',
    time: '13:30',
    timeZone: 'America/Sao_Paulo',
    since: '1999-01-04',
  },
  root: 'https://olinda.bcb.gov.br',
  hasSides: true,
  accept: 'application/json',
  minCodes: 8,
  codes: /* @__PURE__ */ words('AUD CAD CHF DKK EUR GBP JPY NOK SEK USD'),
  series(code, { start, end }) {
    const name = 'moeda=@moeda,dataInicial=@dataInicial,dataFinalCotacao=@dataFinalCotacao'
    const [from, to] = [start, end].map((day) => formatDay(day, 'MM-DD-YYYY'))
    const values = `@moeda='${code}'&@dataInicial='${from}'&@dataFinalCotacao='${to}'`
    const query = encodeURI(`${values}&$filter=tipoBoletim eq 'Fechamento'&$format=json`)
    const path = '/olinda/servico/PTAX/versao/v1/odata/CotacaoMoedaPeriodo'
    return `${path}(${name})?${query.replaceAll("'", '%27')}`
  },
  read: /* @__PURE__ */ jsonRows(
    'value',
    ({ tipoBoletim, dataHoraCotacao, cotacaoCompra, cotacaoVenda }, request) => {
      if (tipoBoletim !== 'Fechamento') throw new Error('rates of another bulletin')
      const price = sideOf(request, cotacaoCompra, cotacaoVenda)
      return [{ date: String(dataHoraCotacao).slice(0, 10), code: request.code, price }]
    },
  ),
})
