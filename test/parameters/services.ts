/** The query parameters that other services document, by service. */
export const SERVICES: Readonly<Record<string, string>> = {
  'Alpha Vantage':
    'function from_currency to_currency from_symbol to_symbol interval outputsize datatype apikey',
  'Bank of Canada': 'start_date end_date recent recent_weeks recent_months recent_years order_dir',
  CurrencyBeacon: 'api_key base symbols date start_date end_date from to amount type',
  CurrencyFreaks: 'apikey base symbols date startDate endDate from to amount format',
  'European Central Bank':
    'startPeriod endPeriod updatedAfter firstNObservations lastNObservations detail includeHistory format',
  'Federal Reserve (FRED)':
    'series_id observation_start observation_end frequency aggregation_method sort_order limit offset units file_type api_key',
  Fixer: 'access_key base symbols from to amount date start_date end_date format callback',
  Frankfurter: 'base symbols from to amount',
  'Frankfurter, second version': 'base quotes date from to providers group',
  'Norges Bank':
    'startPeriod endPeriod firstNObservations lastNObservations format locale bom detail',
  OANDA: 'base quote date_time start_time end_time fields data_set decimal_places api_key',
  'Open Exchange Rates':
    'app_id base symbols start end period start_time prettyprint show_alternative show_bid_ask show_inactive callback',
  'Twelve Data':
    'symbol amount date interval outputsize start_date end_date dp timezone delimiter order apikey',
  Wise: 'source target time from to group sourceCurrency targetCurrency sourceAmount targetAmount',
  XE: 'from to amount obsolete inverse decimal_places margin fields date time start_timestamp end_timestamp interval page per_page crypto',
  'Yahoo Finance': 'symbols range interval period1 period2 events',
  'api.ratesapi.io': 'base symbols start_at end_at',
  'currencyapi.com':
    'apikey base_currency currencies date datetime_start datetime_end accuracy value type',
  'currencyapi.net': 'key base output date start_date end_date from to amount',
  currencylayer:
    'access_key source currencies date start_date end_date from to amount format callback',
  'exchangerate.host before 2023':
    'base symbols amount places format source callback v from to date start_date end_date',
  'exchangeratesapi.io':
    'access_key base symbols from to amount date start_date end_date callback prettyprint',
  'freecurrencyapi.com': 'apikey base_currency currencies date date_from date_to',
}

/** The advice for names that are no parameters, on `/v1/latest`, `/v1/convert` and `/v1/history`; undefined for parameters. */
export type Advice = readonly (string | undefined)[]

const HISTORY = 'use /v1/history'
const CONVERT = 'use /v1/convert'

const ROWS: readonly (readonly [names: string, ...Advice])[] = [
  ['base', undefined, 'use from', 'use from'],
  ['from', 'use base', undefined, undefined],
  [
    'base_currency from_currency fromCurrency from_symbol sourceCurrency',
    'use base',
    'use from',
    'use from',
  ],
  ['to', 'use symbols', undefined, undefined],
  ['quote', 'use symbols', undefined, 'use to'],
  ['symbols', undefined, 'use to', 'use to'],
  [
    'currencies currency quotes symbol sym code codes target targets to_currency to_symbol targetCurrency',
    'use symbols',
    'use to',
    'use to',
  ],
  ['amount', CONVERT, undefined, CONVERT],
  ['amt qty sum sourceAmount', CONVERT, 'use amount', CONVERT],
  ['value', HISTORY, 'use amount', undefined],
  ['date', undefined, undefined, 'use start'],
  ['dates day on at time as_of timestamp date_time', 'use date', 'use date', 'use start'],
  ['rule maxAge', undefined, undefined, 'use /v1/convert'],
  ['source', undefined, undefined, undefined],
  ['provider providers sources bank data_set', 'use source', 'use source', 'use source'],
  ['start', HISTORY, HISTORY, undefined],
  [
    'start_date startDate START-DATE start_at startPeriod from_date date_from datetime_start start_time start_timestamp observation_start period1 since',
    HISTORY,
    HISTORY,
    'use start',
  ],
  ['end', HISTORY, HISTORY, undefined],
  [
    'end_date endDate end_at endPeriod to_date date_to datetime_end end_time end_timestamp observation_end period2 until',
    HISTORY,
    HISTORY,
    'use end',
  ],
  ['period', HISTORY, HISTORY, undefined],
  [
    'timeframe range days recent recent_weeks recent_months recent_years',
    HISTORY,
    HISTORY,
    'use period',
  ],
  ['interval', HISTORY, HISTORY, undefined],
  ['group freq frequency', HISTORY, HISTORY, 'use interval'],
  ['aggregation_method', HISTORY, HISTORY, 'use value'],
  ['fill layout', HISTORY, HISTORY, undefined],
  ['reverse', CONVERT, undefined, CONVERT],
  ['inverse invert targetAmount', CONVERT, 'use reverse', CONVERT],
  ['round', CONVERT, undefined, CONVERT],
  ['places rounding precision decimals accuracy dp decimal_places', CONVERT, 'use round', CONVERT],
  ['expand', CONVERT, undefined, CONVERT],
  ['format', undefined, undefined, undefined],
  ['output datatype file_type', 'use format', 'use format', 'use format'],
]

/** Parameters of other services whose meaning no endpoint has. */
export const WITHOUT_COUNTERPART =
  'function outputsize order_dir order sort_order type updatedAfter firstNObservations lastNObservations detail includeHistory series_id limit offset units locale bom fields prettyprint show_alternative show_bid_ask show_inactive timezone delimiter obsolete margin page per_page crypto events'.split(
    ' ',
  )

/** Parameter names of this and other services, each with its advice. */
export const ADVICE: ReadonlyMap<string, Advice> = new Map(
  ROWS.flatMap(([names, ...advice]) => names.split(' ').map((name) => [name, advice] as const)),
)
