import type {
  ConversionList,
  ConversionListParams,
  ConversionResult,
  ConvertedAmount,
  ConvertedPair,
  RoundedAmount,
  SourceRate,
} from '../../src/api/convert.ts'
import type {
  CurrencyCoverage,
  CurrencyEnd,
  CurrencyHistory,
  CurrencyList,
} from '../../src/api/currencies.ts'
import type * as histories from '../../src/api/history.ts'
import type { DatedRates, LatestRates } from '../../src/api/latest.ts'
import type { ReferenceSource, SourceList } from '../../src/api/sources.ts'
import type { HistorySourceStatus, ServiceStatus } from '../../src/api/status.ts'
import type { Attempt } from '../../src/cache/refresh.ts'
import type { UnversionedConversion } from '../../src/endpoints/convert.ts'
import type { UnversionedTable } from '../../src/endpoints/latest.ts'
import type { ErrorBody, UnversionedError } from '../../src/endpoints/routes.ts'
import type { RatesErrorCode } from '../../src/errors.ts'
import type { UppercaseCode } from '../../src/rates/currency-code.ts'
import type { Rate } from '../../src/rates/rate-table.ts'
import type { HistoryStats } from '../../src/rates/series.ts'
import type { Attribution } from '../../src/upstream/provider.ts'
import type { ParameterName } from './parameters.ts'
import { conversionCsv, datedLatestCsv, historyCsv, latestCsv, ruledLatestCsv } from './schemas.ts'

type AnyConversion = ConversionResult<ConversionListParams>
/** The amount of a list; `rounded` is present on request. */
type AnyConvertedAmount = ConvertedAmount & Partial<RoundedAmount>
type Any = Partial<histories.RateHistory>
type OfPeriod<T extends Any> = Pick<Required<T>, 'from' | 'period'> & Omit<T, 'start' | 'end'>
type OfDays<T extends Any> = Pick<Required<T>, 'from' | 'start' | 'end'> & Omit<T, 'period'>
type RateHistory = Pick<histories.RateHistory, 'from' | 'to'> & OfPeriod<histories.RateHistory>
type HistoryRange = Pick<histories.RateHistory, 'from' | 'to'> & OfDays<histories.RateHistory>
type HistoryRangeList = OfDays<Omit<histories.HistoryList, 'series'>> & {
  /** Histories by target currency code, in the order of the request. */
  series: Record<UppercaseCode, HistoryRange>
}
type OnRequest = Pick<AnyConversion, 'reverse'> & Pick<AnyConversion, 'date' | 'asked' | 'rule'>

/**
 * Types of response bodies and of their parts, by component name, in the order of the document. The first types of an
 * intersection add nothing but an order of properties.
 */
export interface Components {
  Error: ErrorBody
  UnversionedError: UnversionedError
  Attribution: Attribution
  RateTable: Record<UppercaseCode, Rate>
  LatestRates: LatestRates
  DatedRates: Pick<DatedRates, 'base'> & DatedRates
  UnversionedTable: UnversionedTable
  ConvertedAmount: AnyConvertedAmount
  SourceRate: SourceRate
  Conversion: ConvertedPair &
    Partial<RoundedAmount> &
    OnRequest &
    Extract<AnyConversion, ConvertedPair>
  ConversionList: Omit<ConversionList, 'updatedAt' | 'source'> &
    OnRequest &
    Extract<AnyConversion, ConversionList>
  UnversionedConversion: UnversionedConversion
  Point: Pick<histories.Point, 'filled'> & histories.Point
  HistoryStats: HistoryStats
  RateHistory: RateHistory
  HistoryRange: HistoryRange
  HistoryList: OfPeriod<histories.HistoryList>
  HistoryRangeList: HistoryRangeList
  Attempt: Attempt
  HistorySourceStatus: HistorySourceStatus
  ServiceStatus: ServiceStatus
  CurrencyEnd: CurrencyEnd
  CurrencyHistory: CurrencyHistory
  CurrencyCoverage: CurrencyCoverage
  CurrencyList: CurrencyList
  ReferenceSource: ReferenceSource
  SourceList: SourceList
}

/** An operation with the requests whose responses become examples. Queries begin with a question mark. */
export interface Operation {
  /** Relative to the base path. */
  path: string
  operationId: string
  tag: string
  summary: string
  description: string
  /** Default: none. */
  parameters?: readonly ParameterName[]
  /** Components of successful JSON responses; each response matches exactly one. */
  bodies: readonly (keyof Components | 'OpenApiDocument')[]
  /** JSON Schemas of CSV responses, for operations that have them; each response matches exactly one. */
  csv?: readonly object[]
  /** Queries of successful requests, by example name. */
  examples: Readonly<Record<string, string>>
  /** A query for each error that depends on the parameters, by the error code of `/v1` (default: none). */
  errorExamples?: Readonly<Partial<Record<RatesErrorCode, string>>>
  /** Shortens a long example; the example is left out if it returns undefined. */
  shorten?(body: object): object | undefined
}

const RATES = 'Rates'
const UNVERSIONED = 'Unversioned endpoints'
const SERVICE = 'Service'

/** Groups of operations. */
export const tags: readonly { name: string; description: string }[] = [
  { name: RATES, description: 'Rates, conversions and supported currencies.' },
  { name: SERVICE, description: 'State and description of the service.' },
  {
    name: UNVERSIONED,
    description: 'Endpoints from before `/v1`: errors and sources are plain strings.',
  },
]

/** All operations, in the order of the document. */
export const operations: readonly Operation[] = [
  {
    path: '/v1/latest',
    operationId: 'getLatest',
    tag: RATES,
    summary: 'Get latest rates',
    description:
      'Returns the rates against `base`; with `date`, the reference rates of that day. Without `symbols`, the rates include the base itself. Cacheable for 60 seconds.',
    parameters: ['base', 'symbols', 'date', 'rule', 'maxAge', 'source', 'format'],
    bodies: ['LatestRates', 'DatedRates'],
    csv: [latestCsv, datedLatestCsv, ruledLatestCsv],
    examples: {
      all: '',
      selectedSymbols: '?base=EUR&symbols=GBP,USD',
      onDate: '?base=EUR&symbols=GBP,USD&date=2020-02-29',
      byRule: '?base=EUR&symbols=GBP,USD&date=2020-02-29&rule=next&maxAge=3',
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
  {
    path: '/v1/convert',
    operationId: 'convert',
    tag: RATES,
    summary: 'Convert an amount to one or several currencies',
    description:
      'Uses the latest rates; with `date`, the reference rates of that day. Cacheable for 60 seconds.',
    parameters: [
      'from',
      'targets',
      'amount',
      'reverse',
      'round',
      'date',
      'rule',
      'maxAge',
      'source',
      'expand',
      'format',
    ],
    bodies: ['Conversion', 'ConversionList'],
    csv: conversionCsv,
    examples: {
      oneHundred: '?from=USD&to=EUR&amount=100',
      severalCurrencies: '?from=USD&to=EUR,GBP&amount=100',
      reverse: '?from=USD&to=EUR&amount=100&reverse=true',
      rounded: '?from=USD&to=EUR,JPY&amount=100&round=minor',
      roundedToCash: '?from=EUR&to=CHF&amount=100&round=cash',
      onDate: '?from=USD&to=EUR&amount=100&date=2020-02-29',
      byRule: '?from=USD&to=EUR&amount=100&date=2020-02-29&rule=next',
      fromEverySource: '?from=USD&to=EUR&amount=100&expand=sources',
      reverseSeveralOnDate: '?from=USD&to=EUR,GBP&amount=100&reverse=true&date=2020-02-29',
      csv: '?from=USD&to=EUR,GBP&amount=100&format=csv',
      csvRounded: '?from=USD&to=EUR,GBP&amount=100&round=minor&format=csv',
      csvByRule: '?from=USD&to=EUR,GBP&amount=100&date=2020-02-29&rule=period-end&format=csv',
      csvReverseOnDate: '?from=USD&to=EUR&amount=100&reverse=true&date=2020-02-29&format=csv',
    },
    errorExamples: {
      missing_parameter: '?from=USD',
      invalid_parameter: '?from=USD&to=EUR&reverse=1',
      invalid_currency: '?from=BGN&to=EUR',
      unsupported_currency: '?from=USD&to=KWD&date=2020-02-29',
      invalid_amount: '?from=USD&to=EUR&amount=-1',
      no_data: '?from=USD&to=EUR&date=1998-12-31',
    },
  },
  {
    path: '/v1/history',
    operationId: 'getHistory',
    tag: RATES,
    summary: 'Get the rate history of one or several currency pairs',
    description:
      'Returns reference rates, by default of the European Central Bank, which quotes about 30 currencies, for a `period` or from `start` to `end`, by day, week, month, quarter or year. Cacheable for one hour.',
    parameters: [
      'from',
      'historyTargets',
      'period',
      'start',
      'end',
      'interval',
      'value',
      'fill',
      'source',
      'format',
      'layout',
    ],
    bodies: ['RateHistory', 'HistoryRange', 'HistoryList', 'HistoryRangeList'],
    csv: historyCsv,
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
  {
    path: '/v1/currencies',
    operationId: 'listCurrencies',
    tag: RATES,
    summary: 'List currencies and the data that cover them',
    description:
      'Lists currencies in use and withdrawn ones. Cacheable for 60 seconds, unless the coverage is unknown.',
    bodies: ['CurrencyList'],
    examples: { excerpt: '' },
    shorten: toExcerpt,
  },
  {
    path: '/v1/sources',
    operationId: 'listSources',
    tag: RATES,
    summary: 'List the sources of reference rates',
    description:
      'Lists every configured source, in order of preference, with its terms, its base and its newest day, after loading that day. The `id` is for `source` of other operations. Not cacheable.',
    bodies: ['SourceList'],
    examples: { all: '' },
  },
  {
    path: '/v1/status',
    operationId: 'getStatus',
    tag: SERVICE,
    summary: 'Get the state of the data',
    description:
      'Returns 200 in any state. A request starts the first load of a cold service and refreshes overdue data.',
    bodies: ['ServiceStatus'],
    examples: { ready: '' },
  },
  {
    path: '/v1/openapi.json',
    operationId: 'getOpenApi',
    tag: SERVICE,
    summary: 'Get this document',
    description: 'The server URL is the base path of the service. Cacheable for one hour.',
    bodies: ['OpenApiDocument'],
    examples: { itself: '' },
    shorten: () => undefined,
  },
  {
    path: '/rates',
    operationId: 'getUnversionedRates',
    tag: UNVERSIONED,
    summary: 'Get latest rates, in the unversioned format',
    description: 'For clients from before `/v1`. Cacheable for 60 seconds.',
    parameters: ['base', 'format'],
    bodies: ['UnversionedTable'],
    csv: [latestCsv],
    examples: { all: '', csv: '?format=csv' },
    errorExamples: { invalid_parameter: '?base[]=EUR', invalid_currency: '?base=XYZ' },
  },
  {
    path: '/convert',
    operationId: 'convertUnversioned',
    tag: UNVERSIONED,
    summary: 'Convert an amount, in the unversioned format',
    description: 'For clients from before `/v1`. Cacheable for 60 seconds.',
    parameters: ['from', 'to', 'amount'],
    bodies: ['UnversionedConversion'],
    examples: { oneHundred: '?from=USD&to=EUR&amount=100' },
    errorExamples: {
      missing_parameter: '?from=USD',
      invalid_parameter: '?from=USD&from=EUR&to=JPY',
      invalid_currency: '?from=USD&to=XYZ',
      invalid_amount: '?from=USD&to=EUR&amount=1,5',
    },
  },
]

/** Returns a withdrawn currency, one with history and one without. */
function toExcerpt(body: object): object {
  const { currencies }: { currencies: { code: string }[] } = Object(body)
  const shown = ['BGN', 'JPY', 'KWD']
  return { currencies: currencies.filter(({ code }) => shown.includes(code)) }
}
