import * as z from 'zod/mini'

import { component } from './components.ts'
import { code, instant, rate, told } from './fields.ts'

/** Who is to be named beside rates. */
export const attribution = component(
  'Attribution',
  'Where rates come from; to be shown wherever they are.',
  z.strictObject({
    name: told(z.string(), 'Text to display.'),
    url: told(z.url(), 'Where the text links to.'),
  }),
)

/** Rates by their codes. */
export const rateTable = component(
  'RateTable',
  'Units of each currency for one unit of the base, by code: as published, or derived to 10 significant digits.',
  z.record(code, rate),
)

const publication = {
  updatedAt: told(instant, 'When the provider published, in ms since the Unix epoch.'),
}

const table = {
  base: told(code, 'Code against which the rates are quoted.'),
  ...publication,
  nextUpdateAt: told(instant, 'When the provider will publish next, in ms since the Unix epoch.'),
  rates: rateTable,
}

const conversion = {
  from: told(code, 'Code of the source currency.'),
  to: told(code, 'Code of the target currency.'),
  amount: told(z.number().check(z.nonnegative()), 'How much of `from` was asked for.'),
  rate: told(rate, 'Units of `to` for one unit of `from`: as published, or derived to 10 digits.'),
  result: told(
    z.number().check(z.nonnegative()),
    'The exact decimal product of `amount` and `rate`, rounded once to the nearest double.',
  ),
  ...publication,
}

const provider = told(
  z.string(),
  'Where the rates come from: a name, and an address in parentheses.',
)

/** The record of `/v1/latest`. */
export const latestRecord = component(
  'LatestRecord',
  'Latest rates against one base.',
  z.strictObject({
    ...table,
    source: attribution,
    disclaimer: told(z.string(), 'To be shown with the rates.'),
  }),
)

/** The record of `/v1/convert`. */
export const conversionRecord = component(
  'ConversionRecord',
  'A converted amount.',
  z.strictObject({ ...conversion, source: attribution }),
)

/** The record of `/rates`. */
export const unversionedTable = component(
  'UnversionedTable',
  'Latest rates against one base, as the unversioned endpoint gives them.',
  z.strictObject({ ...table, provider }),
)

/** The record of `/convert`. */
export const unversionedConversion = component(
  'UnversionedConversion',
  'A converted amount, as the unversioned endpoint gives it.',
  z.strictObject({ ...conversion, provider }),
)
