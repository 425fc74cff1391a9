import type { RatesErrorCode } from '../../src/errors.ts'
import type { OperationName } from './parameters.ts'

/**
 * A request whose response becomes an example: a query with its question mark, in which `{quote}` and `{expired}` are quotes,
 * or a body, which never ends without a text.
 */
export type ExampleRequest = string | { type: string; text?: string }

/** How an operation is described beside its parameters. */
export interface Operation {
  operationId: string
  summary: string
  description: string
  /** Components of successful JSON responses; each response matches exactly one. */
  bodies: readonly string[]
  /** Successful requests, by example name. */
  examples: Readonly<Record<string, ExampleRequest>>
  /** Requests for each error that depends on the parameters, by the error code of `/v1`. */
  errorExamples: Partial<Record<RatesErrorCode, ExampleRequest | readonly ExampleRequest[]>>
  /** Whether examples have no body, because it is too long. */
  isLong?: true
}

const ROWS = [
  { date: '2020-02-29', from: 'USD', to: 'EUR', amount: 100 },
  { from: 'USD', to: ['EUR', 'GBP'], amount: '-12.50' },
  { from: 'USD', to: 'XYZ' },
]

const CSV = 'date,from,to,amount\r\n2020-02-29,USD,EUR,100\r\n2026-11-20,USD,XYZ,1\r\n'

/** A withdrawn currency, one with history and one without. */
const EXCERPT = '?symbols=BGN,JPY,KWD'

const QUOTED = ['QuotedConversion', 'QuotedConversionList']
const QUOTED_OR_NOT = ['Conversion', 'ConversionList', ...QUOTED]

/** All operations, in the order of the document. */
export const operations: Readonly<Record<OperationName, Operation>> = {
  latest: {
    operationId: 'getLatest',
    summary: 'Get latest rates',
    description:
      'Returns the rates against `base`; with `date`, the reference rates of that day. Without `symbols`, the rates include the base itself; of `symbols`, withdrawn currencies without a rate are omitted. Cacheable for 60 seconds.',
    bodies: ['LatestRates'],
    examples: {
      all: '',
      selectedSymbols: '?base=EUR&symbols=GBP,USD',
      onDate: '?base=EUR&symbols=GBP,USD&date=2020-02-29',
      byRule: '?base=EUR&symbols=GBP,USD&date=2020-02-29&rule=next&maxAge=3',
      change: '?base=EUR&symbols=GBP,USD&change=1M',
      csv: '?base=EUR&symbols=GBP,USD&format=csv',
      csvOnDate: '?base=EUR&symbols=GBP,USD&date=2020-02-29&format=csv',
    },
    errorExamples: {
      invalid_parameter: '?date=29.02.2020',
      invalid_currency: '?symbols=EUR,XYZ',
      unsupported_currency: '?base=KWD&date=2020-02-29',
      no_data: '?date=1998-12-31',
    },
  },
  convert: {
    operationId: 'convert',
    summary: 'Convert an amount to one or several currencies',
    description:
      'Uses the latest rates; with `date`, the reference rates of that day. With a list in `to`, even of one code, the response has `results`. Cacheable for 60 seconds. With `quote`, uses the rates of that quote, and the response has the fields of `/v1/quote` and is not cacheable; `from` and `to` only repeat the currencies.',
    bodies: QUOTED_OR_NOT,
    examples: {
      oneHundred: '?from=USD&to=EUR&amount=100',
      severalCurrencies: '?from=USD&to=EUR,GBP&amount=100',
      reverse: '?from=USD&to=EUR&amount=100&reverse=true',
      rounded: '?from=USD&to=EUR,JPY&amount=100&round=minor',
      roundedToCash: '?from=EUR&to=CHF&amount=100&round=cash',
      onDate: '?from=USD&to=EUR&amount=100&date=2020-02-29',
      byRule: '?from=USD&to=EUR&amount=100&date=2020-02-29&rule=next',
      fromEverySource: '?from=USD&to=EUR&amount=100&expand=sources',
      byQuote: '?from=USD&to=EUR&amount=100&quote={quote}',
      csv: '?from=USD&to=EUR,GBP&amount=100&format=csv',
      csvRounded: '?from=USD&to=EUR,GBP&amount=100&round=minor&format=csv',
      csvByRule: '?from=USD&to=EUR,GBP&amount=100&date=2020-02-29&rule=period-end&format=csv',
    },
    errorExamples: {
      missing_parameter: '?from=USD',
      invalid_parameter: '?from=USD&to=EUR&reverse=1',
      invalid_currency: '?from=BGN&to=EUR',
      unsupported_currency: '?from=USD&to=KWD&date=2020-02-29',
      invalid_amount: '?from=USD&to=EUR&amount=-1',
      invalid_quote: '?from=USD&to=GBP&quote={quote}',
      quote_expired: '?from=USD&to=EUR&quote={expired}',
      no_data: '?from=USD&to=EUR&date=1998-12-31',
    },
  },
  quote: {
    operationId: 'getQuote',
    summary: 'Convert an amount at rates that hold for a time',
    description:
      'Returns a conversion at the latest rates, and with it a signed token, `quote`: until `expiresAt`, `/v1/convert` converts by it at the same rates. A quote with `context` is only for that. Only for services with quotes; elsewhere 404 (`not_found`). Not cacheable.',
    bodies: QUOTED,
    examples: {
      oneHundred: '?from=USD&to=EUR&amount=100',
      severalCurrencies: '?from=USD&to=EUR,JPY&amount=100&round=minor&context=cart-4711',
    },
    errorExamples: {
      missing_parameter: '?from=USD',
      invalid_parameter: '?from=USD&to=EUR&context=',
      invalid_currency: '?from=BGN&to=EUR',
      invalid_amount: '?from=USD&to=EUR&amount=-1',
    },
  },
  convertMany: {
    operationId: 'convertMany',
    summary: 'Convert many amounts at once',
    description:
      'Takes at most 10,000 conversions in a body of at most 1 MiB, in JSON or in CSV with the parameters as columns. The result of each row is that of the single request, or its error: an invalid row does not fail the others. An amount may be negative. The response has the format of the body, unless `format` says otherwise. CSV must have the columns `from`, `to` and `amount`; an empty cell is an absent parameter, except in `amount` and `date`, and columns with other names are ignored, unless they are like one of these. JSON rows, at most 500, may have a `quote` and its `context`. Not cacheable.',
    bodies: [...QUOTED_OR_NOT, 'Error'],
    examples: {
      rows: { type: 'application/json', text: JSON.stringify(ROWS) },
      csv: { type: 'text/csv', text: CSV },
    },
    errorExamples: {
      invalid_parameter: [
        { type: 'application/json', text: '{}' },
        { type: 'application/json' },
        { type: 'application/json', text: ' '.repeat(1_048_577) },
        { type: 'text/plain', text: '' },
      ],
    },
  },
  history: {
    operationId: 'getHistory',
    summary: 'Get the rate history of one or several currency pairs',
    description:
      'Returns reference rates, by default of the European Central Bank, which quotes about 30 currencies, for a `period` or from `start` to `end`, by day, week, month, quarter or year. With a list in `to`, even of one code, the response has `series`. Cacheable for one hour.',
    bodies: ['RateHistory', 'HistoryList'],
    examples: {
      oneWeek: '?from=USD&to=EUR&period=1W',
      threeMonthsByMonth: '?from=USD&to=EUR&period=3M&interval=month',
      range: '?from=USD&to=EUR&start=2008-09-12&end=2008-09-16',
      averagesByYear:
        '?from=USD&to=EUR&start=2006-01-01&end=2008-12-31&interval=year&value=average',
      severalCurrencies: '?from=USD&to=EUR,GBP&period=1W',
      everyDay: '?from=USD&to=EUR&start=2008-09-12&end=2008-09-15&fill=previous',
      csv: '?from=USD&to=EUR&period=1W&format=csv',
      csvOfEveryDay: '?from=USD&to=EUR&start=2008-09-12&end=2008-09-15&fill=previous&format=csv',
      wideCsv: '?from=USD&to=EUR,GBP&period=1W&format=csv&layout=wide',
    },
    errorExamples: {
      missing_parameter: '?to=EUR',
      invalid_parameter: '?from=USD&to=EUR&period=1W&start=2008-09-12',
      invalid_currency: '?from=dollar&to=EUR',
      unsupported_currency: '?from=KWD&to=EUR',
      invalid_period: '?from=USD&to=EUR&period=2W',
      no_data: '?from=USD&to=ISK&period=1W',
    },
  },
  days: {
    operationId: 'listDays',
    summary: 'Stream every published day with its rates',
    description:
      'Returns the reference rates of every day from `start` to `end`, oldest first: a line for each day and source, in which a code has the rate of the first source that quotes it, in the digits, the base and the direction of that source. Where a rate cannot be loaded the response is a 502, or the connection ends: no day is left out. Cacheable for one hour, or for a day if the range ended two weeks ago.',
    bodies: ['RatesDay'],
    examples: {
      range: '?start=2008-09-12&end=2008-09-16&symbols=GBP,USD',
      newest: '?start=2026-11-19&symbols=USD',
      csv: '?start=2008-09-12&end=2008-09-16&symbols=GBP,USD&format=csv',
    },
    errorExamples: {
      missing_parameter: '?end=2008-09-16',
      invalid_parameter: '?start=2008-09-12&source=bank',
      invalid_currency: '?start=2008-09-12&symbols=dollar',
      unsupported_currency: '?start=2008-09-12&symbols=KWD',
    },
  },
  currencies: {
    operationId: 'listCurrencies',
    summary: 'List currencies and the data that cover them',
    description:
      'Lists currencies in use and withdrawn ones. Cacheable for 60 seconds, unless the coverage is unknown.',
    bodies: ['CurrencyList'],
    examples: { excerpt: EXCERPT, csv: `${EXCERPT}&format=csv` },
    errorExamples: { invalid_parameter: '?base=EUR', invalid_currency: '?symbols=XYZ' },
  },
  sources: {
    operationId: 'listSources',
    summary: 'List the sources of reference rates',
    description:
      'Lists every configured source, in order of preference, with its terms, its base and its newest day, after loading that day. The `id` is for `source` of other operations. Not cacheable.',
    bodies: ['SourceList'],
    examples: { all: '' },
    errorExamples: { invalid_parameter: '?base=EUR' },
  },
  status: {
    operationId: 'getStatus',
    summary: 'Get the state of the data',
    description:
      'Returns 200 in any state. A request starts the first load of a cold service and refreshes overdue data.',
    bodies: ['ServiceStatus'],
    examples: { ready: '' },
    errorExamples: { invalid_parameter: '?verbose=true' },
  },
  usage: {
    operationId: 'getUsage',
    summary: 'Get what is left for your key',
    description: 'Takes nothing from the limits of the key. Not cacheable.',
    bodies: ['Usage'],
    examples: { ofKey: '' },
    errorExamples: { invalid_parameter: '?key=1' },
  },
  index: {
    operationId: 'getIndex',
    summary: 'Get the paths of all endpoints',
    description: 'Returns the path of each endpoint, by its name. Cacheable for one hour.',
    bodies: ['ServiceIndex'],
    examples: { all: '' },
    errorExamples: { invalid_parameter: '?base=EUR' },
  },
  openapi: {
    operationId: 'getOpenApi',
    summary: 'Get this document',
    description: 'The server URL is the base path of the service. Cacheable for one hour.',
    bodies: ['OpenApiDocument'],
    examples: { itself: '' },
    errorExamples: { invalid_parameter: '?format=yaml' },
    isLong: true,
  },
  unversionedRates: {
    operationId: 'getUnversionedRates',
    summary: 'Get latest rates, in the unversioned format',
    description: 'For clients from before `/v1`. Cacheable for 60 seconds.',
    bodies: ['UnversionedTable'],
    examples: { all: '', csv: '?format=csv' },
    errorExamples: { invalid_parameter: '?base[]=EUR', invalid_currency: '?base=XYZ' },
  },
  unversionedConvert: {
    operationId: 'convertUnversioned',
    summary: 'Convert an amount, in the unversioned format',
    description: 'For clients from before `/v1`. Cacheable for 60 seconds.',
    bodies: ['UnversionedConversion'],
    examples: { oneHundred: '?from=USD&to=EUR&amount=100' },
    errorExamples: {
      missing_parameter: '?from=USD',
      invalid_parameter: '?from=USD&from=EUR&to=JPY',
      invalid_currency: '?from=USD&to=XYZ',
      invalid_amount: '?from=USD&to=EUR&amount=1,5',
    },
  },
}
