import * as z from 'zod/mini'

import { code, component, day, described, instant, rate } from './components.ts'

/** Source of rates. */
export const attribution = component(
  'Attribution',
  'Source of the rates, which must be shown with them.',
  z.strictObject({
    name: described(z.string(), 'Text to display.'),
    url: described(z.url(), 'Link target of the text.'),
  }),
)

const rateTable = component(
  'RateTable',
  'Units of each currency per unit of the base, by code, as published or derived to 10 significant digits.',
  z.record(code, rate),
)

/** Time of publication. */
export const publication = {
  updatedAt: described(
    instant,
    'When the provider published the rates, in ms since the Unix epoch.',
  ),
}

const base = described(code, 'Base currency code.')

const table = {
  ...publication,
  nextUpdateAt: described(
    instant,
    'When the provider publishes the next rates, in ms since the Unix epoch.',
  ),
  rates: rateTable,
}

/** Source of rates as one string. */
export const provider = described(
  z.string(),
  'Source of the rates: its name, and its URL in parentheses.',
)

const latest = {
  ...table,
  source: attribution,
  disclaimer: described(z.string(), 'Text to display with the rates.'),
}

/** Response of `/v1/latest`. */
export const latestRatesSchema = component(
  'LatestRates',
  'Latest rates against one base.',
  z.strictObject({
    base,
    ...latest,
    older: z.optional(
      described(
        z.record(code, instant),
        'Publication times of rates from an earlier publication, by code, in ms since the Unix epoch; absent if all rates are from the same publication.',
      ),
    ),
  }),
)

/** Response of `/v1/latest` for an earlier day. */
export const datedRatesSchema = component(
  'DatedRates',
  'Reference rates of one day against one base.',
  z.strictObject({
    base,
    date: described(day, 'Day on which the rates were published.'),
    ...latest,
  }),
)

/** Response of `/rates`. */
export const unversionedTable = component(
  'UnversionedTable',
  'Latest rates against one base, in the unversioned format.',
  z.strictObject({ base, ...table, provider }),
)
