import type { RatesErrorCode } from '../../src/errors.ts'
import { DATE_RULES, INTERVALS, PERIODS } from '../../src/rates/dates.ts'
import { DERIVATIONS } from '../../src/rates/rate-table.ts'
import { INTERVAL_VALUES } from '../../src/rates/series.ts'
import { conversionRow } from './parameters.ts'
import { readTypes, reference } from './type-schemas.ts'
import type { Schema } from './type-schemas.ts'

/** Codes that only a handler with keys and limits sends. */
type AccessCode = 'unauthorized' | 'forbidden' | 'rate_limited'

const ACCESS_ERRORS: Record<AccessCode | 'overloaded', string> = {
  unauthorized: 'no API key, or one that is malformed, unknown or expired; see `WWW-Authenticate`',
  forbidden: 'the API key is not permitted on this website, or has no current plan',
  rate_limited: 'a limit of the client is reached; see `Retry-After`',
  overloaded:
    'too many expensive requests at once, or keys or limits cannot be checked; see `Retry-After`',
}

const ERRORS: Record<Exclude<RatesErrorCode, AccessCode>, string> = {
  missing_parameter: 'a required parameter is missing',
  invalid_parameter: 'a parameter is repeated, misspelled or malformed, or conflicts with another',
  invalid_currency:
    'a code is malformed or was never in the latest rates; for a withdrawn currency, the message names the successor',
  unsupported_currency:
    'the reference rates do not cover the code; the message lists the codes they cover',
  invalid_amount: 'not a plain decimal, or the amount or the result is out of range',
  invalid_period: 'not one of the six periods',
  no_data: 'no reference rate on the requested days, or only one older than `maxAge`',
  not_found: 'unknown path',
  method_not_allowed: 'a method other than `GET`, `HEAD` and `OPTIONS`; see `Allow`',
  precondition_failed: '`If-Match` does not match the current `ETag`',
  provider_unavailable:
    'the provider failed and no usable data is cached, or a currency has no usable rate; see `Retry-After`',
  overloaded: 'too many expensive requests at once; see `Retry-After`',
  internal_error: 'unexpected error',
}

function codesOf(errors: Readonly<Record<string, string>>): Schema {
  return {
    type: 'string',
    enum: Object.keys(errors),
    description: Object.entries(errors)
      .map(([code, meaning]) => `- \`${code}\`: ${meaning}`)
      .join('\n'),
  }
}

const NAMED: Readonly<Record<string, Schema>> = {
  string: { type: 'string' },
  number: { type: 'number' },
  boolean: { type: 'boolean' },
  true: { type: 'boolean', const: true },
  UppercaseCode: { type: 'string', pattern: '^[A-Z]{3}$' },
  NumericCode: { type: 'string', pattern: '^[0-9]{3}$' },
  CountryCode: { type: 'string', pattern: '^[A-Z]{2}$' },
  Day: { type: 'string', format: 'date' },
  Url: { type: 'string', format: 'uri' },
  Instant: { type: 'integer', minimum: 0 },
  Duration: { type: 'integer', minimum: 0 },
  MinorUnits: { type: 'integer', minimum: 0 },
  Rate: { type: 'number', exclusiveMinimum: 0 },
  Amount: { type: 'number', minimum: 0 },
  'Point[]': { minItems: 1, type: 'array', items: reference('schemas', 'Point') },
  Period: { type: 'string', enum: PERIODS },
  Derivation: { type: 'string', enum: DERIVATIONS },
  Interval: { type: 'string', enum: INTERVALS },
  DateRule: { type: 'string', enum: DATE_RULES },
  IntervalValue: { type: 'string', enum: INTERVAL_VALUES },
  ConvertedAmount: reference('schemas', 'ConvertedAmount'),
  AmountText: { type: 'string', pattern: '^[0-9]+(\\.[0-9]+)?$' },
  "'previous'": { type: 'string', const: 'previous' },
}

const OPEN_API_DOCUMENT: Schema = {
  type: 'object',
  properties: {
    openapi: { type: 'string', pattern: '^3\\.1\\.\\d+$' },
    info: {
      type: 'object',
      properties: { title: { type: 'string' }, version: { type: 'string' } },
      required: ['title', 'version'],
      additionalProperties: {},
    },
    servers: {
      type: 'array',
      items: {
        type: 'object',
        properties: { url: { type: 'string' } },
        required: ['url'],
        additionalProperties: {},
      },
    },
    paths: {
      type: 'object',
      propertyNames: { type: 'string' },
      additionalProperties: { type: 'object', properties: {}, additionalProperties: {} },
    },
  },
  required: ['openapi', 'info', 'servers', 'paths'],
  additionalProperties: {},
}

/** Returns the schemas of all components, by name; with `hasAccess` those of a handler with keys and limits. */
export function componentSchemas(hasAccess: boolean): Record<string, Schema> {
  const named = {
    ...NAMED,
    RatesErrorCode: codesOf({ ...ERRORS, ...(hasAccess && ACCESS_ERRORS) }),
  }
  const read = readTypes(new URL('operations.ts', import.meta.url), 'Components', named)
  return { ...read, ConversionRow: conversionRow(), OpenApiDocument: OPEN_API_DOCUMENT }
}

const DAY = '[0-9]{4}-[0-9]{2}-[0-9]{2}'
const RULE = DATE_RULES.join('|')
const RATE = '[0-9.e+-]+'
const INSTANT = '[0-9]+'

const SOURCE = '[^\\r\\n]+'

/** Returns the JSON Schema of CSV with a header line of `names`, then any number of lines, or at least one, that match `cells`. */
function table(names: string, cells: readonly string[], count: '*' | '+'): object {
  const line = [...cells, SOURCE].join()
  return { type: 'string', pattern: `^${names},source,sourceUrl\\r\\n(${line}\\r\\n)${count}$` }
}

/** CSV of latest rates. */
export const latestCsv: object = table(
  'base,code,rate,updatedAt,nextUpdateAt',
  ['[A-Z]{3}', '[A-Z]{3}', RATE, INSTANT, INSTANT],
  '*',
)

/** CSV of the rates of an earlier day. */
export const datedLatestCsv: object = table(
  'base,code,rate,date,updatedAt,nextUpdateAt',
  ['[A-Z]{3}', '[A-Z]{3}', RATE, DAY, INSTANT, INSTANT],
  '*',
)

/** CSV of the rates of an earlier day by a rule. */
export const ruledLatestCsv: object = table(
  'base,code,rate,date,asked,rule,updatedAt,nextUpdateAt',
  ['[A-Z]{3}', '[A-Z]{3}', RATE, DAY, DAY, `(${RULE})`, INSTANT, INSTANT],
  '*',
)

/** CSV of histories: a line per point, without or with filled days; or a line per day. */
export const historyCsv: readonly object[] = [
  table('from,to,date,rate', ['[A-Z]{3}', '[A-Z]{3}', DAY, RATE], '+'),
  table('from,to,date,rate,filled', ['[A-Z]{3}', '[A-Z]{3}', DAY, RATE, '(true)?'], '+'),
  {
    type: 'string',
    pattern: `^date(,[A-Z]{3})+(,filled)?\\r\\n(${DAY}(,(${RATE})?)+(,([A-Z]{3} ?)*)?\\r\\n)+$`,
  },
]

const DAY_COLUMNS: readonly object[] = [
  {},
  { date: DAY },
  { date: DAY, asked: DAY, rule: `(${RULE})` },
]

const ROUNDED = '[0-9]+(\\.[0-9]+)?'

const RESULT_COLUMNS: readonly object[] = [
  {},
  { reverse: 'true' },
  { rounded: ROUNDED },
  { rounded: ROUNDED, reverse: 'true' },
]

/** CSV of conversions, one schema per combination of `round`, `reverse`, `date` and `rule`, which add columns. */
export const conversionCsv: readonly object[] = RESULT_COLUMNS.flatMap((results) =>
  DAY_COLUMNS.map((days) => {
    const optional: Record<string, string> = { ...results, ...days }
    const names = ['from,to,amount,rate,result', ...Object.keys(optional), 'updatedAt']
    const cells = ['[A-Z]{3}', '[A-Z]{3}', RATE, RATE, RATE, ...Object.values(optional), INSTANT]
    return table(names.join(), cells, '+')
  }),
)

const NUMBER = `(${RATE})?`

/** CSV of many conversions: a line has either a conversion or an error. */
export const manyConversionsCsv: object = {
  type: 'string',
  pattern: [
    '^from,to,amount,rate,result,(rounded,)?reverse,date,asked,rule,updatedAt,source,sourceUrl,error,message\\r\\n',
    `(([A-Z]{3})?,([A-Z]{3})?,${NUMBER},${NUMBER},${NUMBER},(${NUMBER},)?(true)?,(${DAY})?,(${DAY})?,(${RULE})?,(${INSTANT})?,[^\\r\\n]*\\r\\n)*$`,
  ].join(''),
}
