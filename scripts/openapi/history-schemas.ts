import * as z from 'zod/mini'

import { INTERVALS, PERIODS } from '../../src/rates/dates.ts'
import { code, component, day, described, rate } from './components.ts'
import { attribution } from './rate-schemas.ts'

const point = component(
  'Point',
  'Rate of a currency pair on one published day.',
  z.strictObject({
    d: described(day, 'Date.'),
    r: described(rate, 'Units of `to` per unit of `from`.'),
  }),
)

const stats = component(
  'HistoryStats',
  'Summary of the points.',
  z.strictObject({
    open: described(rate, 'Rate of the first point.'),
    close: described(rate, 'Rate of the last point.'),
    high: described(rate, 'Highest rate.'),
    low: described(rate, 'Lowest rate.'),
    changePct: described(z.number(), '(close / open − 1) × 100, rounded to 4 decimals.'),
    average: described(rate, 'Mean of the rates, 10 significant digits.'),
    highDate: described(day, 'First day on which `high` was reached.'),
    lowDate: described(day, 'First day on which `low` was reached.'),
  }),
)

const pair = {
  from: described(code, 'Source currency code.'),
  to: described(code, 'Target currency code.'),
}

const series = {
  interval: z.optional(
    described(z.enum(INTERVALS), 'Requested interval; absent if none was requested.'),
  ),
  points: described(
    z.array(point).check(z.minLength(1)),
    'One point per published day, ascending, without weekends and bank holidays; with `interval`, the last point of each interval.',
  ),
  stats,
  source: attribution,
}

/** Response of `/v1/history` for a period. */
export const rateHistorySchema = component(
  'RateHistory',
  'Reference rates of a currency pair, up to the newest published day.',
  z.strictObject({
    ...pair,
    period: described(
      z.enum(PERIODS),
      'Length of the history, back from the newest published day.',
    ),
    ...series,
  }),
)

/** Response of `/v1/history` for a range of days. */
export const historyRangeSchema = component(
  'HistoryRange',
  'Reference rates of a currency pair in a range of days.',
  z.strictObject({
    ...pair,
    start: described(day, 'First requested day.'),
    end: described(day, 'Last requested day, or the newest published day.'),
    ...series,
  }),
)
