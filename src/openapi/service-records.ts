import * as z from 'zod/mini'

import { component } from './components.ts'
import { code, day, instant, described } from './fields.ts'
import { attribution } from './rate-records.ts'

const attempt = component(
  'Attempt',
  'A try at a refresh.',
  z.strictObject({
    at: described(instant, 'When it started, in ms since the Unix epoch.'),
    outcome: described(
      z.enum(['running', 'loaded', 'restored', 'delegated', 'failed']),
      '`loaded` from the provider, `restored` from the store, or left to another process that is `delegated` at it.',
    ),
  }),
)

const dataSet = {
  ready: described(z.boolean(), 'Whether there is something to answer with.'),
  stale: described(z.boolean(), 'Whether its refresh is overdue.'),
  source: z.nullable(attribution),
  age: described(z.nullable(instant), 'How long ago that was published, in ms; null without data.'),
  lastAttempt: z.nullable(attempt),
  nextAttemptAt: described(instant, 'When the next refresh may and will start, given a request.'),
}

const updatedAt = described(z.nullable(instant), 'When the rates were published; null without any.')
const lastDay = described(z.nullable(day), 'The newest day published; null without any.')

/** The record of `/v1/status`. */
export const statusRecord = component(
  'ServiceStatus',
  'How the service stands. Instants are in ms since the Unix epoch.',
  z.strictObject({
    ready: described(z.boolean(), 'Whether every data set is ready that is not turned off.'),
    latest: described(
      z.nullable(z.strictObject({ updatedAt, ...dataSet })),
      'Latest rates; null where they are turned off.',
    ),
    history: described(
      z.nullable(z.strictObject({ lastDay, ...dataSet })),
      'Reference rates; null where they are turned off.',
    ),
  }),
)

const end = component(
  'CurrencyEnd',
  'The end of a currency.',
  z.strictObject({
    at: described(day, 'The day from which the successor was the unit of account.'),
    successor: described(code, 'The code to use instead; it may be withdrawn too.'),
    ratio: described(
      z.nullable(z.number().check(z.positive())),
      'Units of the withdrawn currency for one of the successor, fixed by law; null without such a ratio.',
    ),
  }),
)

const coverage = component(
  'CurrencyCoverage',
  'A currency, and where there are rates for it.',
  z.strictObject({
    code: described(code, "ISO 4217 code, or the feed's own where `numeric` is null."),
    name: described(
      z.nullable(z.string()),
      "English name; null for a code of the feed's that nobody knows.",
    ),
    numeric: described(
      z.nullable(z.string().check(z.regex(/^[0-9]{3}$/))),
      'ISO 4217 numeric code; null where there is none.',
    ),
    minorUnits: described(
      z.nullable(z.int().check(z.nonnegative())),
      'Digits after the decimal point; null where ISO 4217 has none, as for withdrawn currencies.',
    ),
    latest: described(
      z.nullable(z.boolean()),
      'Whether latest rates and conversions cover it; null while that is not known.',
    ),
    history: described(
      z.nullable(z.boolean()),
      'Whether history covers it; null while that is not known.',
    ),
    withdrawn: z.nullable(end),
  }),
)

/** The record of `/v1/currencies`. */
export const currenciesRecord = component(
  'CurrencyList',
  'The currencies of ISO 4217, those that were withdrawn, and whatever else there are rates for.',
  z.strictObject({ currencies: described(z.array(coverage), 'Sorted by code.') }),
)

/** What describes the API; more of it is for the specification of OpenAPI to say. */
export const openApiDocument = component(
  'OpenApiDocument',
  'An OpenAPI 3.1 document.',
  z.looseObject({
    openapi: z.string().check(z.regex(/^3\.1\.\d+$/)),
    info: z.looseObject({ title: z.string(), version: z.string() }),
    servers: z.array(z.looseObject({ url: z.string() })),
    paths: z.record(z.string(), z.looseObject({})),
  }),
)
