import * as z from 'zod/mini'

import { component } from './components.ts'
import { code, day, instant, rate, described } from './fields.ts'

/** Who is to be named beside rates. */
export const attribution = component(
  'Attribution',
  'Where rates come from; to be shown wherever they are.',
  z.strictObject({
    name: described(z.string(), 'Text to display.'),
    url: described(z.url(), 'Where the text links to.'),
  }),
)

/** Rates by their codes. */
const rateTable = component(
  'RateTable',
  'Units of each currency for one unit of the base, by code: as published, or derived to 10 significant digits.',
  z.record(code, rate),
)

/** When rates were published. */
export const publication = {
  updatedAt: described(instant, 'When the provider published, in ms since the Unix epoch.'),
}

const base = described(code, 'Code against which the rates are quoted.')

const table = {
  ...publication,
  nextUpdateAt: described(
    instant,
    'When the provider will publish next, in ms since the Unix epoch.',
  ),
  rates: rateTable,
}

/** The source of rates as one text. */
export const provider = described(
  z.string(),
  'Where the rates come from: a name, and an address in parentheses.',
)

const latest = {
  ...table,
  source: attribution,
  disclaimer: described(z.string(), 'To be shown with the rates.'),
}

/** The record of `/v1/latest`. */
export const latestRecord = component(
  'LatestRates',
  'Latest rates against one base.',
  z.strictObject({
    base,
    ...latest,
    older: z.optional(
      described(
        z.record(code, instant),
        'When rates that are from an earlier publication were published, by code, in ms since the Unix epoch; absent where all rates are from the same publication.',
      ),
    ),
  }),
)

/** The record of `/v1/latest` for an earlier day. */
export const datedLatestRecord = component(
  'DatedRates',
  'The reference rates of one day against one base.',
  z.strictObject({
    base,
    date: described(day, 'The day on which the rates were published.'),
    ...latest,
  }),
)

/** The record of `/rates`. */
export const unversionedTable = component(
  'UnversionedTable',
  'Latest rates against one base, as the unversioned endpoint gives them.',
  z.strictObject({ base, ...table, provider }),
)
