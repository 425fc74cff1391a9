import { invalidParameter, invalidPeriod, invalidQuote, missingParameter } from '../errors.ts'
import { DATE_RULES, INTERVALS, PERIODS } from '../rates/dates.ts'
import { INTERVAL_VALUES } from '../rates/series.ts'
import {
  MAX_CODES,
  amount,
  code,
  day,
  dayOr,
  flag,
  mustBe,
  oneOf,
  same,
  selection,
  targets,
  text,
  textOf,
  wholeNumber,
} from './parameter-kinds.ts'
import type { Parameter } from './parameter-kinds.ts'
import type {
  AnyHistoryParams,
  ConversionParams,
  ConversionRow,
  DaysParams,
  LatestParams,
  QuoteParams,
} from './parameter-types.ts'
import * as z from 'zod/mini'

/** What an operation accepts. */
export interface Operation<Name extends string = string> {
  /** Path below the base path, for advice. */
  readonly path: string
  /** In the order of validation. */
  readonly parameters: Readonly<Record<Name, Parameter>>
  /** Parameters of queries alone, which select the form of the response. */
  readonly forms?: Readonly<Record<string, Parameter>>
  readonly required?: readonly Name[]
  /** Parameters that mean nothing without another one. */
  readonly needs?: Readonly<Record<string, string>>
  /** Parameters that contradict others. */
  readonly excludes?: Readonly<Record<string, readonly string[]>>
  /** A parameter with which none is required. */
  readonly suffices?: string
  /** @throws {RatesError} for valid values that contradict each other */
  readonly refine?: (params: Values) => void
  /** What each row of a body accepts. */
  readonly rows?: Operation
  /** Operations that may have what this one lacks. */
  readonly others?: readonly Operation[]
  /** If present, queries may have other names, except these and those that mean a parameter (default: no other names). */
  readonly refuses?: readonly string[]
}

export type Values = Readonly<Record<string, unknown>>

const FROM_ALIASES = 'base from basecurrency fromcurrency fromsymbol sourcecurrency'
const TO_ALIASES =
  'to symbols sym symbol code codes currencies quotes target targets targetcurrency tocurrency ' +
  'tosymbol'
const DAY_ALIASES = 'date dates day on at time datetime asof timestamp'

const MAX_HISTORIES = 20
const MAX_QUOTED = 10

/** Of a compact JWS, in characters. */
export const MAX_QUOTE_LENGTH = 1_024

const symbols = selection(
  'Currencies to include, at most 250, in queries separated by commas (default: all).',
  `${TO_ALIASES} currency quote`,
)

const source: Parameter = {
  schema: z.string().check(z.regex(/^[a-z\d-]{1,64}$/)),
  fromText: same,
  error: mustBe('the id of a source, such as ecb'),
  description:
    'Id of the only source of the reference rates, such as `ecb` (default: the first with all currencies).',
  aliases: 'bank dataset provider providers sources',
}

const DATED = {
  date: day(
    'Day of the reference rates, until tomorrow in UTC (default: latest rates).',
    DAY_ALIASES,
  ),
  rule: oneOf(
    DATE_RULES,
    'Which published day has the rates for `date`: that day or the last one before it, only that day, that day or the next one, the last one strictly before it (each at most 14 days away; 28, 62, 186 of weekly, monthly, quarterly sources), or the last one of its month or quarter (default `on-or-before`).',
  ),
  maxAge: wholeNumber(
    36_600,
    'days',
    'Largest age of the rates on `date`, in days; for `period-end`, on the last day of the period (default: any).',
  ),
  source,
}

const CHANGE_PERIODS = ['1D', '1W', '1M', '1Y']

const change = dayOr(
  CHANGE_PERIODS,
  'Adds the change of the reference rates to the newest published day, or to that of `date`: since the published day before it (`1D`), over a week, a month or a year, or since a day.',
  'changes changepct changepercent',
)

const NEEDS_DATE = { rule: 'date', maxAge: 'date', source: 'date' } as const

const format = oneOf(
  ['json', 'csv'],
  'Format of the response (default `json`).',
  'datatype filetype output',
)

const from = code('Source currency.', FROM_ALIASES)
const to = targets(MAX_CODES, `${TO_ALIASES} currency`)

const CONVERSION = {
  ...DATED,
  reverse: flag(
    'Whether `amount` is in `to`, and `result` the amount of `from` that gives it (default false).',
    'inverse invert targetamount',
  ),
  round: oneOf(
    ['minor', 'cash'],
    'Rounds the exact result half away from zero, to the minor unit of its currency or to its smallest amount in cash, as `rounded`.',
    'rounding places precision decimals decimalplaces dp accuracy',
  ),
}

const CONTEXT = text('What the quote is for, such as a cart: its conversion has to repeat it.')

export const MARKUP: Parameter = {
  schema: z.string().check(z.regex(/^-?([0-4]?\d(\.\d{1,10})?|50(\.0{1,10})?)$/)),
  fromText: same,
  error: mustBe('percent as text, -50 to 50, such as 1.5'),
  description: 'Percent by which the quoted rates are above the published ones.',
  aliases: 'margin spread',
}

/** A quote is a compact JWS (RFC 7515 §3.1). */
export const QUOTED: Readonly<Record<'quote' | 'context', Parameter>> = {
  quote: {
    schema: z.string().check(z.maxLength(MAX_QUOTE_LENGTH), z.regex(/^[\w-]+\.[\w-]+\.[\w-]+$/)),
    fromText: same,
    // Elsewhere, the name means the target currency.
    error: (name, value) =>
      /^[a-z]{3}\b/i.test(textOf(value)) ? invalidParameter(name, 'use to') : invalidQuote(),
    description:
      'Quote of `/v1/quote`, whose rate is used; then, other currencies than its own are an error.',
    aliases: 'quotetoken',
  },
  context: CONTEXT,
}

const LATEST: Operation<keyof LatestParams> = {
  path: '/v1/latest',
  parameters: {
    base: code('Base currency (default USD).', FROM_ALIASES),
    symbols,
    ...DATED,
    change,
  },
  forms: { format },
  needs: NEEDS_DATE,
}

const CONVERT: Operation<keyof ConversionParams> = {
  path: '/v1/convert',
  parameters: {
    from,
    to,
    amount: amount(false),
    ...CONVERSION,
    expand: oneOf(
      ['sources'],
      'Adds the rate of every source of reference rates, for one target currency and JSON only.',
    ),
  },
  forms: { format, ...QUOTED },
  required: ['from', 'to'],
  suffices: 'quote',
  needs: { ...NEEDS_DATE, context: 'quote' },
  excludes: { quote: ['reverse', 'date', 'expand'] },
  refine({ expand, quote, to: target, format: form }) {
    if (quote !== undefined && form === 'csv')
      throw invalidParameter('quote', 'not supported in CSV')
    if (expand === undefined) return
    if (typeof target !== 'string') throw invalidParameter('expand', 'needs one target currency')
    if (form === 'csv') throw invalidParameter('expand', 'not supported in CSV')
  },
}

/** A conversion at given rates. */
export const AT_RATES: Operation = {
  path: 'convertAt()',
  parameters: {
    from,
    to,
    amount: amount(false),
    reverse: CONVERSION.reverse,
    round: CONVERSION.round,
  },
  required: ['from', 'to'],
}

/** In a table, the currency of a row is that of its amount. */
export const ROW: Operation<keyof ConversionRow> = {
  path: '/v1/convert',
  parameters: {
    from: code('Source currency.', `${FROM_ALIASES} currency`),
    to: targets(MAX_CODES, `${TO_ALIASES} quote`),
    amount: amount(true),
    ...CONVERSION,
  },
  required: ['from', 'to'],
  needs: NEEDS_DATE,
}

const HISTORY: Operation<keyof AnyHistoryParams> = {
  path: '/v1/history',
  parameters: {
    from,
    to: targets(MAX_HISTORIES, `${TO_ALIASES} currency quote`),
    period: {
      ...oneOf(PERIODS, 'Length of the history, up to the newest published day (default `1M`).'),
      error: (_name, value) => invalidPeriod(textOf(value), PERIODS),
      aliases: 'timeframe range days recent recentweeks recentmonths recentyears',
    },
    start: day(
      'First day, instead of a period.',
      'startdate startat startperiod starttime starttimestamp fromdate datefrom datetimestart ' +
        `observationstart period1 since ${DAY_ALIASES}`,
    ),
    end: day(
      'Last day, which requires `start` (default: the newest published day).',
      'enddate endat endperiod endtime endtimestamp todate dateto datetimeend observationend ' +
        'period2 until',
    ),
    interval: oneOf(
      INTERVALS,
      'One point for each published day, or for each week from Monday, month, quarter or year (default `day`).',
      'group freq frequency granularity',
    ),
    value: oneOf(
      INTERVAL_VALUES,
      'Rate of an interval longer than a day: its last, the average to 10 significant digits, its first, highest or lowest (default `last`).',
      'aggregationmethod',
    ),
    fill: oneOf(
      ['previous'],
      'Adds a point for every other calendar day, with the rate of the last published day before, as near as for `rule`; for daily points only.',
    ),
    source,
  },
  forms: {
    format,
    layout: oneOf(
      ['long', 'wide'],
      'Lines of CSV: one for each point, or for each day with a column for each target (default `long`).',
    ),
  },
  required: ['from', 'to'],
  excludes: { period: ['start', 'end'] },
  refine({ start, end, interval = 'day', value = 'last', fill, format: form, layout }) {
    if (end !== undefined && start === undefined) throw missingParameter('start')
    refineSpan({ start, end })
    if (fill !== undefined && interval !== 'day')
      throw invalidParameter('fill', 'needs interval day')
    if (value !== 'last' && interval === 'day') {
      throw invalidParameter('value', 'needs interval week, month, quarter or year')
    }
    if (layout === 'wide' && form !== 'csv') throw invalidParameter('layout', 'needs format=csv')
  },
}

const DAYS: Operation<Exclude<keyof DaysParams, 'signal'>> = {
  path: '/v1/days',
  parameters: {
    start: {
      ...HISTORY.parameters.start,
      description: 'First day; reference rates begin on 1999-01-04.',
    },
    end: {
      ...HISTORY.parameters.end,
      description: 'Last day (default: the newest published day).',
    },
    symbols,
    source: {
      ...source,
      description:
        'Id of the only source, such as `ecb` (default all: a code has the rate of the first that quotes it on a day).',
    },
  },
  forms: {
    format: oneOf(
      ['ndjson', 'csv'],
      'Lines of JSON, one for each day and source, or of CSV, one for each rate (default `ndjson`).',
      'datatype filetype output',
    ),
  },
  required: ['start'],
  refine: refineSpan,
}

function refineSpan({ start, end }: Values): void {
  if (typeof start === 'string' && typeof end === 'string' && start > end) {
    throw invalidParameter('start', 'must not be after end')
  }
}

const QUOTE: Operation<keyof QuoteParams> = {
  path: '/v1/quote',
  parameters: {
    from,
    to: targets(MAX_QUOTED, `${TO_ALIASES} currency quote`),
    amount: amount(false),
    round: CONVERSION.round,
    context: CONTEXT,
  },
  required: ['from', 'to'],
}

type OperationName =
  | 'latest'
  | 'convert'
  | 'quote'
  | 'convertMany'
  | 'history'
  | 'days'
  | 'currencies'
  | 'sources'
  | 'status'
  | 'index'
  | 'openapi'
  | 'usage'
  | 'unversionedRates'
  | 'unversionedConvert'

const others: readonly Operation[] = [CONVERT, LATEST, HISTORY]

/** The unversioned endpoints cannot do what these ask for; they never knew the names of quotes. */
const VERSIONED_NAMES = others
  .flatMap(({ parameters, forms }) => Object.keys({ ...parameters, ...forms }))
  .filter((name) => !Object.hasOwn(QUOTED, name))

export const OPERATIONS: Readonly<Record<OperationName, Operation>> = {
  latest: { ...LATEST, others },
  convert: { ...CONVERT, others },
  quote: { ...QUOTE, others },
  convertMany: { path: '/v1/convert', parameters: {}, forms: { format }, rows: ROW, others },
  history: { ...HISTORY, others },
  days: { ...DAYS, others },
  currencies: { path: '/v1/currencies', parameters: { symbols }, forms: { format }, others },
  sources: { path: '/v1/sources', parameters: {}, others },
  status: { path: '/v1/status', parameters: {}, others },
  usage: { path: '/v1/usage', parameters: {}, others },
  index: { path: '/v1', parameters: {}, others },
  openapi: { path: '/v1/openapi.json', parameters: {}, others },
  unversionedRates: {
    path: '/rates',
    parameters: { base: LATEST.parameters.base },
    forms: { format },
    refuses: VERSIONED_NAMES.filter((name) => name !== 'symbols' && name !== 'to'),
  },
  unversionedConvert: {
    path: '/convert',
    parameters: {
      from,
      to: code('Target currency.', `${TO_ALIASES} quote`),
      amount: amount(false),
    },
    required: ['from', 'to'],
    refuses: VERSIONED_NAMES,
  },
}
