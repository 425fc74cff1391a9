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

export const ADVICE: ReadonlyMap<string, Advice> = new Map(
  ROWS.flatMap(([names, ...advice]) => names.split(' ').map((name) => [name, advice] as const)),
)
