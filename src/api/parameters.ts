import {
  invalidAmount,
  invalidCurrency,
  invalidParameter,
  invalidPeriod,
  missingParameter,
} from '../errors.ts'
import type { RatesError } from '../errors.ts'
import { nearest, toAlternatives } from '../known-options.ts'
import { isIgnored, onlyInQueries } from '../query-names.ts'
import { MAX_AMOUNT_CHARACTERS, isAmount } from '../rates/arithmetic.ts'
import { CODE_FORM, minorUnitHint } from '../rates/currency-code.ts'
import { DATE_RULES, INTERVALS, PERIODS, isDay } from '../rates/dates.ts'
import type { DateRule } from '../rates/dates.ts'
import { INTERVAL_VALUES } from '../rates/series.ts'
import type { ConversionRow } from './convert-many.ts'
import type { ConversionParams } from './convert.ts'
import type { AnyHistoryParams } from './history.ts'
import type { LatestParams } from './latest.ts'
import * as z from 'zod/mini'

/** A parameter: of a function, a query, a row, a cell, a flag of the command, and in the OpenAPI document. */
export interface Parameter {
  /** Accepts typed values. */
  readonly schema: z.ZodMiniType
  /** Returns the typed value of a text; a text without one stays as it is, and the schema refuses it. */
  fromText(text: string): unknown
  /** Creates the error of a value that the schema refuses. */
  error(name: string, value: unknown): RatesError
  readonly description: string
  /** Names that other services and endpoints use for it, in lower case without `_` and `-`, separated by spaces. */
  readonly aliases: string
}

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
  readonly needs?: Readonly<Partial<Record<Name, Name>>>
  /** Parameters that contradict others. */
  readonly excludes?: Readonly<Partial<Record<Name, readonly Name[]>>>
  /** @throws {RatesError} for valid values that contradict each other */
  readonly refine?: (params: Values) => void
  /** What each row of a body accepts. */
  readonly rows?: Operation
  /** If present, queries may have other names, except these and those that mean a parameter (default: no other names). */
  readonly refuses?: readonly string[]
}

type Values = Readonly<Record<string, unknown>>

/** Chooses reference rates of a day instead of latest rates. */
export type DayChoice =
  | {
      /** Day of the reference rates, `YYYY-MM-DD`; without rates on that day, the last day before (default: latest rates). */
      date: string
      /** Which published day has the rates for `date` (default `on-or-before`). */
      rule?: DateRule | undefined
      /**
       * Largest age of the rates on `date`, in days from 0 to 36,600; for `period-end`, on the last day of the month (default
       * any).
       */
      maxAge?: number | undefined
      /** Id of the source of the rates on `date`, as in `/v1/sources` (default the first with the currencies). */
      source?: string | undefined
    }
  | { date?: undefined; rule?: undefined; maxAge?: undefined; source?: undefined }

export const MAX_CODES = 250
export const MAX_CODES_CHARACTERS = 2_048
export const MAX_HISTORIES = 20

const FROM_ALIASES = 'base from basecurrency fromcurrency fromsymbol sourcecurrency'
const TO_ALIASES =
  'to symbols sym symbol code codes currencies quote quotes target targets targetcurrency tocurrency ' +
  'tosymbol'
const DAY_ALIASES = 'date dates day on at time datetime asof timestamp'

function same(text: string): string {
  return text
}

function mustBe(what: string): Parameter['error'] {
  return (name) => invalidParameter(name, `must be ${what}`)
}

/** Returns the value as text; the text of an object could be anything, or throw. */
function textOf(value: unknown): string {
  return Object(value) === value ? `[${typeof value}]` : String(value)
}

const CODE = z.string().check(z.regex(CODE_FORM))

function invalidCode(name: string, value: unknown): RatesError {
  const sent = textOf(value)
  return invalidCurrency(name, sent, minorUnitHint(sent) ?? 'must be three letters, such as EUR')
}

function code(description: string, aliases: string): Parameter {
  return { schema: CODE, fromText: same, error: invalidCode, description, aliases }
}

/** Returns the codes of a comma-separated list, with spaces around them and empty items removed. */
export function splitCodes(text: string): string[] {
  return text
    .split(',')
    .map(trimSpaces)
    .filter((item) => item !== '')
}

/** Unlike `trim`, leaves other white space; unlike a pattern, takes linear time. */
function trimSpaces(text: string): string {
  let start = 0
  let end = text.length
  while (text[start] === ' ') start += 1
  while (text[end - 1] === ' ') end -= 1
  return text.slice(start, end)
}

export function tooManyCodes(name: string, max: number = MAX_CODES): RatesError {
  return invalidParameter(
    name,
    max === MAX_CODES
      ? `must have at most ${max} codes and ${MAX_CODES_CHARACTERS} characters`
      : `must have at most ${max} codes`,
  )
}

function invalidCodes(max: number): Parameter['error'] {
  return (name, value) => {
    if (!Array.isArray(value)) {
      const isLong = typeof value === 'string' && value.length > MAX_CODES_CHARACTERS
      return isLong && value.includes(',') ? tooManyCodes(name, max) : invalidCode(name, value)
    }
    if (value.length > max) return tooManyCodes(name, max)
    const items: readonly unknown[] = value
    return invalidCode(name, items.length === 0 ? '' : items.find((item) => !isCode(item)))
  }
}

function isCode(value: unknown): boolean {
  return typeof value === 'string' && CODE_FORM.test(value)
}

function codes(max: number): z.ZodMiniType<string[]> {
  return z.array(CODE).check(z.maxLength(max))
}

/** Codes to select, as an array or a comma-separated text. */
const symbols: Parameter = {
  schema: codes(MAX_CODES),
  fromText: (text) => (text.length > MAX_CODES_CHARACTERS ? text : splitCodes(text)),
  error(name, value) {
    if (Array.isArray(value)) return invalidCodes(MAX_CODES)(name, value)
    const isLong = typeof value === 'string' && value.length > MAX_CODES_CHARACTERS
    return isLong ? tooManyCodes(name) : invalidParameter(name, 'must be an array of codes')
  },
  description: 'Currencies to include, at most 250, in queries separated by commas (default: all).',
  aliases: `${TO_ALIASES} currency`,
}

/** One target, or a list: a text with a comma. */
function targets(max: number, aliases: string): Parameter {
  return {
    schema: z.union([CODE, codes(max).check(z.minLength(1))]),
    fromText(text) {
      if (!text.includes(',') || text.length > MAX_CODES_CHARACTERS) return text
      const items = splitCodes(text)
      return items.length > 0 ? items : text
    },
    error: invalidCodes(max),
    description: `Target currency, or a list of at most ${max}, in queries separated by commas.`,
    aliases,
  }
}

function oneOf(values: readonly string[], description: string, aliases = ''): Parameter {
  return {
    schema: z.enum(values),
    fromText: same,
    error: mustBe(toAlternatives(values)),
    description,
    aliases,
  }
}

const DAY = z.iso.date().check(z.refine(isDay))

function day(description: string, aliases: string): Parameter {
  return {
    schema: DAY,
    fromText: same,
    error: mustBe('YYYY-MM-DD'),
    description,
    aliases,
  }
}

function wholeNumber(max: number, unit: string, description: string, aliases = ''): Parameter {
  return {
    schema: z.int().check(z.minimum(0), z.maximum(max)),
    fromText: (text) => (/^(?:0|[1-9]\d*)$/.test(text) ? Number(text) : text),
    error: mustBe(`a whole number of ${unit}, 0 to ${max}`),
    description,
    aliases,
  }
}

function flag(description: string, aliases: string): Parameter {
  return {
    schema: z.boolean(),
    fromText: (text) => (text === 'true' ? true : text === 'false' ? false : text),
    error: mustBe('true or false'),
    description,
    aliases,
  }
}

/** A finite number, or a decimal text, which keeps its digits. */
function amount(isSigned: boolean): Parameter {
  const number = isSigned ? z.number() : z.number().check(z.minimum(0))
  const text = z.string().check(
    z.maxLength(MAX_AMOUNT_CHARACTERS),
    z.regex(isSigned ? SIGNED_AMOUNT : AMOUNT),
    z.refine((sent) => isAmount(sent.replace(/^-/, ''))),
  )
  return {
    schema: z.union([text, number]),
    fromText: same,
    error(_name, value) {
      const sent = textOf(value)
      const isNegative = !isSigned && /^-[\d.]/.test(sent)
      return invalidAmount(
        sent,
        isNegative ? 'must not be negative' : 'must be digits and a point, such as 1000.50',
      )
    },
    description: 'Amount of `from`, a plain decimal of at most 64 characters (default 1).',
    aliases: 'amt q qty quantity sourceamount sum value',
  }
}

const AMOUNT = /^(\d+(\.\d+)?|\.\d+)([eE][+-]?\d+)?$/
const SIGNED_AMOUNT = /^-?(\d+(\.\d+)?|\.\d+)([eE][+-]?\d+)?$/

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
    'Which published day has the rates for `date`: that day or the last one up to 14 days before, only that day, that day or the next one within 14 days, the last one strictly before it, or the last one of its month (default `on-or-before`).',
  ),
  maxAge: wholeNumber(
    36_600,
    'days',
    'Largest age of the rates on `date`, in days; for `period-end`, on the last day of the month (default: any).',
  ),
  source,
}

const CHANGE_PERIODS = ['1D', '1W', '1M', '1Y']

const change: Parameter = {
  schema: z.union([z.enum(CHANGE_PERIODS), DAY]),
  fromText: same,
  error: mustBe(toAlternatives([...CHANGE_PERIODS, 'YYYY-MM-DD'])),
  description:
    'Adds the change of the reference rates to the newest published day, or to that of `date`: since the published day before it (`1D`), over a week, a month or a year, or since a day.',
  aliases: 'changes changepct changepercent',
}

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
  forms: { format },
  required: ['from', 'to'],
  needs: NEEDS_DATE,
  refine({ expand, to: target, format: form }) {
    if (expand === undefined) return
    if (typeof target !== 'string') throw invalidParameter('expand', 'needs one target currency')
    if (form === 'csv') throw invalidParameter('expand', 'not supported in CSV')
  },
}

/** In a table, the currency of a row is that of its amount. */
export const ROW: Operation<keyof ConversionRow> = {
  path: '/v1/convert',
  parameters: {
    from: code('Source currency.', `${FROM_ALIASES} currency`),
    to: targets(MAX_CODES, TO_ALIASES),
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
    to: targets(MAX_HISTORIES, `${TO_ALIASES} currency`),
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
      'Adds a point for every other calendar day, with the rate of the last published day up to 14 days before; for daily points only.',
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
    if (typeof start === 'string' && typeof end === 'string' && start > end) {
      throw invalidParameter('start', 'must not be after end')
    }
    if (fill !== undefined && interval !== 'day')
      throw invalidParameter('fill', 'needs interval day')
    if (value !== 'last' && interval === 'day') {
      throw invalidParameter('value', 'needs interval week, month, quarter or year')
    }
    if (layout === 'wide' && form !== 'csv') throw invalidParameter('layout', 'needs format=csv')
  },
}

type OperationName =
  | 'latest'
  | 'convert'
  | 'convertMany'
  | 'history'
  | 'currencies'
  | 'sources'
  | 'status'
  | 'index'
  | 'openapi'
  | 'unversionedRates'
  | 'unversionedConvert'

/** The unversioned endpoints cannot do what these ask for. */
const VERSIONED_NAMES = Object.keys({
  ...LATEST.parameters,
  ...CONVERT.parameters,
  ...HISTORY.parameters,
})

export const OPERATIONS: Readonly<Record<OperationName, Operation>> = {
  latest: LATEST,
  convert: CONVERT,
  convertMany: { path: '/v1/convert', parameters: {}, forms: { format }, rows: ROW },
  history: HISTORY,
  currencies: { path: '/v1/currencies', parameters: { symbols }, forms: { format } },
  sources: { path: '/v1/sources', parameters: {} },
  status: { path: '/v1/status', parameters: {} },
  index: { path: '/v1', parameters: {} },
  openapi: { path: '/v1/openapi.json', parameters: {} },
  unversionedRates: {
    path: '/rates',
    parameters: { base: LATEST.parameters.base },
    forms: { format },
    refuses: VERSIONED_NAMES.filter((name) => name !== 'symbols' && name !== 'to'),
  },
  unversionedConvert: {
    path: '/convert',
    parameters: { from, to: code('Target currency.', TO_ALIASES), amount: amount(false) },
    required: ['from', 'to'],
    refuses: VERSIONED_NAMES,
  },
}

/**
 * Checks the values of a function or a row.
 *
 * @throws {RatesError} for a name that means a parameter, then for the first invalid parameter in the order of the operation,
 *   then for another unknown name
 */
export function check(operation: Operation, params: unknown): asserts params is Values {
  if (!isObject(params)) throw invalidParameter('parameters', 'must be an object')
  const { parameters } = operation
  const unknown = Object.keys(params).filter(
    (name) => !Object.hasOwn(parameters, name) && params[name] !== undefined,
  )
  const only = unknown.map(onlyInQueries).find((error) => error !== undefined)
  const refusal = only ?? refusalOf(operation, unknown)
  checkValues(operation, params, parameters)
  if (refusal) throw refusal
}

/**
 * Returns the error of the first of `names`, which are unknown.
 *
 * @throws {RatesError} for a name that means a parameter
 */
export function refusalOf(operation: Operation, names: readonly string[]): RatesError | undefined {
  const misspelt = names.find((name) => meantBy(operation, name))
  if (misspelt !== undefined) throw unknownName(operation, misspelt)
  return names[0] === undefined ? undefined : unknownName(operation, names[0])
}

function isObject(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns the values of `texts`, which have no other names than the operation; throws as `check` does. */
export function read(operation: Operation, texts: Readonly<Record<string, string>>): Values {
  const parameters = parametersOf(operation)
  const values: Record<string, unknown> = {}
  // In the order of the table, so that equal values are equal as JSON.
  for (const name in parameters) {
    const text = texts[name]
    if (text !== undefined) values[name] = parameters[name]?.fromText(text)
  }
  checkValues(operation, values, parameters)
  return values
}

function checkValues(
  { required = [], needs = {}, excludes = {}, refine }: Operation,
  values: Values,
  parameters: Operation['parameters'],
): void {
  for (const name in parameters) {
    const value = values[name]
    if (value === undefined) {
      if (required.includes(name)) throw missingParameter(name)
    } else if (parameters[name]?.schema.safeParse(value).success === false) {
      throw parameters[name].error(name, value)
    }
  }
  for (const name in needs) {
    const other = needs[name] ?? ''
    if (values[name] !== undefined && values[other] === undefined) {
      throw invalidParameter(name, `requires ${other}`)
    }
  }
  for (const name in excludes) {
    const others = excludes[name] ?? []
    if (values[name] !== undefined && others.some((other) => values[other] !== undefined)) {
      throw invalidParameter(name, `must not be combined with ${toAlternatives(others)}`)
    }
  }
  refine?.(values)
}

/** Returns the parameters of a query. */
export const parametersOf: (operation: Operation) => Operation['parameters'] = oncePer(
  ({ parameters, forms }) => ({ ...parameters, ...forms }),
)

/** Returns the parameter of each name and alias, in lower case. */
const meaningsOf = oncePer((operation) => {
  const meanings = new Map<string, string>()
  const all = Object.entries(parametersOf(operation))
  for (const [name] of all) meanings.set(name.toLowerCase(), name)
  for (const [name, { aliases }] of all) {
    for (const alias of aliases.match(/\w+/g) ?? []) {
      if (!meanings.has(alias)) meanings.set(alias, name)
    }
  }
  return meanings
})

function oncePer<Value>(derive: (operation: Operation) => Value): (operation: Operation) => Value {
  const derived = new WeakMap<Operation, Value>()
  return (operation) => {
    const known = derived.get(operation)
    if (known) return known
    const value = derive(operation)
    derived.set(operation, value)
    return value
  }
}

/** Returns all values of a parameter; empty if they are not a list. */
export function valuesOf(parameter: Parameter | undefined): string[] {
  const schema = parameter?.schema
  return schema instanceof z.ZodMiniEnum ? schema.options.map(String) : []
}

const MAX_EDITS = 2

/** Returns the parameter that `name` is a variant or an alias of, or near to. */
export function meantBy(
  operation: Operation,
  name: string,
): { parameter: string; isNear: boolean } | undefined {
  const meaning = meaningOf(name)
  const parameter = meaningsOf(operation).get(meaning)
  if (parameter !== undefined) return { parameter, isNear: false }
  const edits = Math.min(MAX_EDITS, Math.floor(meaning.length / 3))
  const [near] = nearest(meaning, Object.keys(parametersOf(operation)), edits)
  return near === undefined ? undefined : { parameter: near, isNear: true }
}

/** Frameworks, markup and typing mistakes add what is removed; `__` and more are no words. */
function meaningOf(name: string): string {
  const [bare = ''] = name.replace(/^(?:\?|amp;)+/, '').split('[', 1)
  return bare.toLowerCase().replace(/(?<=[a-z])[_-](?=[a-z])/g, '')
}

/** Returns the error of a name that the operation does not have: with the one that was meant, or the endpoint that has it. */
export function unknownName(operation: Operation, name: string): RatesError {
  return invalidParameter(name, adviceFor(operation, name))
}

function adviceFor(operation: Operation, name: string): string {
  const { path, rows } = operation
  const own = meantBy(operation, name)
  const inRows = rows && meantBy(rows, name)
  const other = otherWith(operation, name)
  // What another endpoint means by the name is likelier than a typing mistake.
  if (own && !(own.isNear && other)) return adviceOf(own)
  if (inRows && !(inRows.isNear && other)) return `${adviceOf(inRows)} in the rows of the body`
  if (other) return `use ${other.path}`
  const known = Object.keys(parametersOf(operation))
  const takes = known.length === 0 ? 'no parameters' : known.join(', ')
  return `unknown; ${path} takes ${takes}`
}

function otherWith({ path }: Operation, name: string): Operation | undefined {
  const others = [LATEST, CONVERT, HISTORY].filter((each) => each.path !== path)
  const meaning = meaningOf(name)
  return (
    others.find(({ parameters }) => Object.hasOwn(parameters, meaning)) ??
    others.find((each) => (meaningsOf(each).get(meaning) ?? 'format') !== 'format')
  )
}

function adviceOf({ parameter, isNear }: { parameter: string; isNear: boolean }): string {
  return isNear ? `did you mean ${parameter}?` : `use ${parameter}`
}

/** Returns whether a query may have `name`, which the operation does not have. */
export function passes(operation: Operation, name: string): boolean {
  if (isIgnored(name)) return true
  const { refuses } = operation
  if (!refuses) return false
  const meaning = meaningOf(name)
  return !refuses.some((each) => each.toLowerCase() === meaning) && !meantBy(operation, name)
}

/** Returns whether an operation has a parameter that `name` means. */
export function isParameterName(name: string): boolean {
  return Object.values(OPERATIONS).some((operation) => {
    const found = meantBy(operation, name)
    return found !== undefined && !found.isNear
  })
}
