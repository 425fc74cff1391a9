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
  invalid_parameter:
    'a parameter is unknown, repeated or malformed, or conflicts with another; for an unknown one, the message names the parameter that was meant',
  invalid_currency:
    'a code is malformed or was never in the latest rates; for a withdrawn currency, the message names the successor',
  unsupported_currency:
    'the reference rates do not cover the code; `/v1/currencies` has the codes they cover',
  invalid_amount: 'not a plain decimal, or the amount or the result is out of range',
  invalid_period: 'not one of the six periods',
  invalid_quote: 'not a quote of this service, or for other currencies or another context',
  quote_expired: 'the quote no longer holds',
  no_data: 'no reference rate on the requested days, or only an older one than permitted',
  not_found: 'unknown path, or a service without quotes',
  method_not_allowed: 'a method other than those in `Allow`',
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

/** The types of bodies by their module in `src`, in the order of the document; those that they refer to follow. */
export const BODIES: Readonly<Record<string, readonly string[]>> = {
  'endpoints/routes': ['ErrorBody', 'UnversionedError'],
  'api/latest': ['LatestRates'],
  'api/convert': ['Conversion', 'ConversionList', 'QuotedConversion', 'QuotedConversionList'],
  'api/history': ['Point', 'RateHistory', 'HistoryList'],
  'api/days': ['RatesDay'],
  'api/currencies': ['CurrencyList'],
  'api/sources': ['SourceList'],
  'api/status': ['ServiceStatus'],
  'endpoints/service-index': ['ServiceIndex'],
  'endpoints/rates': ['UnversionedTable', 'UnversionedConversion'],
}

export const NAMED: Readonly<Record<string, Schema>> = {
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
  Amount: { type: 'number' },
  'Point[]': { minItems: 1, type: 'array', items: reference('schemas', 'Point') },
  Period: { type: 'string', enum: PERIODS },
  Derivation: { type: 'string', enum: DERIVATIONS },
  Interval: { type: 'string', enum: INTERVALS },
  DateRule: { type: 'string', enum: DATE_RULES },
  IntervalValue: { type: 'string', enum: INTERVAL_VALUES },
  AmountText: { type: 'string', pattern: '^-?[0-9]+(\\.[0-9]+)?$' },
  "'previous'": { type: 'string', const: 'previous' },
}

/** Not described in full, because it would describe itself. */
const OPEN_API_DOCUMENT: Schema = {
  type: 'object',
  properties: {
    openapi: { type: 'string' },
    info: { type: 'object' },
    servers: { type: 'array', items: { type: 'object' } },
    paths: { type: 'object' },
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
  return {
    ...readTypes({ ...BODIES, ...(hasAccess && { 'http/guard': ['Usage'] }) }, named),
    ConversionRow: conversionRow(),
    OpenApiDocument: OPEN_API_DOCUMENT,
  }
}
