import * as z from 'zod/mini'

import { code, component, day, described, instant } from './components.ts'
import { attribution } from './rate-schemas.ts'

const attempt = component(
  'Attempt',
  'An attempt to refresh the data.',
  z.strictObject({
    at: described(instant, 'When the attempt started, in ms since the Unix epoch.'),
    outcome: described(
      z.enum(['running', 'loaded', 'restored', 'delegated', 'failed']),
      '`loaded` from the provider, `restored` from the store, or `delegated` to another process.',
    ),
  }),
)

const dataSet = {
  ready: described(z.boolean(), 'Whether usable data is loaded.'),
  stale: described(z.boolean(), 'Whether a refresh is overdue.'),
  source: z.nullable(attribution),
  age: described(z.nullable(instant), 'Time since publication, in ms; null without data.'),
  lastAttempt: z.nullable(attempt),
  nextAttemptAt: described(
    instant,
    'When the next refresh is due; it starts with the first request from then on.',
  ),
}

const updatedAt = described(
  z.nullable(instant),
  'When the rates were published; null without data.',
)
const lastDay = described(z.nullable(day), 'Newest published day; null without data.')

/** Response of `/v1/status`. */
export const serviceStatusSchema = component(
  'ServiceStatus',
  'State of the service. Timestamps are in ms since the Unix epoch.',
  z.strictObject({
    ready: described(z.boolean(), 'Whether every enabled data set is ready.'),
    latest: described(
      z.nullable(z.strictObject({ updatedAt, ...dataSet })),
      'Latest rates; null if disabled.',
    ),
    history: described(
      z.nullable(z.strictObject({ lastDay, ...dataSet })),
      'Reference rates; null if disabled.',
    ),
  }),
)

const end = component(
  'CurrencyEnd',
  'Withdrawal of a currency.',
  z.strictObject({
    at: described(day, 'Day from which the successor was the unit of account.'),
    successor: described(code, 'Code to use instead, which may be withdrawn too.'),
    ratio: described(
      z.nullable(z.number().check(z.positive())),
      'Units of the withdrawn currency per unit of the successor, fixed by law; null without such a ratio.',
    ),
  }),
)

const coverage = component(
  'CurrencyCoverage',
  'A currency and the data that cover it.',
  z.strictObject({
    code: described(code, "ISO 4217 code, or the feed's own code if `numeric` is null."),
    name: described(z.nullable(z.string()), 'English name; null for an unknown code of the feed.'),
    numeric: described(
      z.nullable(z.string().check(z.regex(/^[0-9]{3}$/))),
      'ISO 4217 numeric code; null without one.',
    ),
    minorUnits: described(
      z.nullable(z.int().check(z.nonnegative())),
      'Digits after the decimal point; null if ISO 4217 defines none, as for withdrawn currencies.',
    ),
    latest: described(
      z.nullable(z.boolean()),
      'Whether latest rates and conversions cover it; null while unknown.',
    ),
    history: described(z.nullable(z.boolean()), 'Whether history covers it; null while unknown.'),
    withdrawn: z.nullable(end),
  }),
)

/** Response of `/v1/currencies`. */
export const currencyListSchema = component(
  'CurrencyList',
  'Currencies of ISO 4217, withdrawn currencies, and all others with rates.',
  z.strictObject({ currencies: described(z.array(coverage), 'Sorted by code.') }),
)

/** Response of `/v1/openapi.json`, in outline. */
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
