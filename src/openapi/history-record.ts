import * as z from 'zod/mini'

import { INTERVALS } from '../rates/interval.ts'
import { PERIODS } from '../rates/period.ts'
import { component } from './components.ts'
import { code, day, rate, described } from './fields.ts'
import { attribution } from './rate-records.ts'

const point = component(
  'Point',
  'One published day of a pair.',
  z.strictObject({
    d: described(day, 'The date.'),
    r: described(rate, 'Units of `to` for one unit of `from`.'),
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
  from: described(code, 'Code of the source currency.'),
  to: described(code, 'Code of the target currency.'),
}

const series = {
  interval: z.optional(
    described(z.enum(INTERVALS), 'The interval that was asked for; absent where none was.'),
  ),
  points: described(
    z.array(point).check(z.minLength(1)),
    'One point a published day, ascending, without weekends and bank holidays; or the last of each interval.',
  ),
  stats,
  source: attribution,
}

/** The record of `/v1/history` for a period. */
export const historyRecord = component(
  'RateHistory',
  'The reference rates of a pair, back from the newest published day.',
  z.strictObject({
    ...pair,
    period: described(z.enum(PERIODS), 'How far back from the newest published day the points go.'),
    ...series,
  }),
)

/** The record of `/v1/history` for a range of days. */
export const historyRangeRecord = component(
  'HistoryRange',
  'The reference rates of a pair on the days of a range.',
  z.strictObject({
    ...pair,
    start: described(day, 'The first day that was asked for.'),
    end: described(day, 'The last day that was asked for, or the newest published one.'),
    ...series,
  }),
)
