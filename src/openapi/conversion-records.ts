import * as z from 'zod/mini'

import { component } from './components.ts'
import { code, day, rate, described } from './fields.ts'
import { attribution, provider, publication } from './rate-records.ts'

const amount = z.number().check(z.nonnegative())

const from = described(code, 'Code of the source currency.')
const to = described(code, 'Code of the target currency.')

const converted = {
  rate: described(
    rate,
    'Units of `to` for one unit of `from`: as published, or derived to 10 digits.',
  ),
  result: described(
    amount,
    'The exact decimal product of `amount` and `rate`, rounded once to the nearest double; in reverse their exact quotient, rounded to 15 significant digits.',
  ),
}

const convertedAmount = component(
  'ConvertedAmount',
  'An amount in one of several currencies, `to` being its code.',
  z.strictObject(converted),
)

const asked = described(amount, 'How much was asked for: of `from`, or in reverse of `to`.')

const end = {
  reverse: z.optional(
    described(z.literal(true), 'That `result` is of `from`; absent where that was not asked for.'),
  ),
  date: z.optional(
    described(day, 'The day on which the rates were published; absent where they are the latest.'),
  ),
  ...publication,
  source: attribution,
}

/** The record of `/v1/convert` for one target currency. */
export const conversionRecord = component(
  'Conversion',
  'A converted amount.',
  z.strictObject({ from, to, amount: asked, ...converted, ...end }),
)

/** The record of `/v1/convert` for a list of target currencies. */
export const conversionsRecord = component(
  'ConversionList',
  'One amount in several currencies.',
  z.strictObject({
    from,
    amount: asked,
    results: described(
      z.record(code, convertedAmount),
      'By the codes of the target currencies, in the order in which they were asked for.',
    ),
    ...end,
  }),
)

/** The record of `/convert`. */
export const unversionedConversion = component(
  'UnversionedConversion',
  'A converted amount, as the unversioned endpoint gives it.',
  z.strictObject({
    from,
    to,
    amount: described(amount, 'How much of `from` was asked for.'),
    rate: converted.rate,
    result: described(
      amount,
      'The exact decimal product of `amount` and `rate`, rounded once to the nearest double.',
    ),
    ...publication,
    provider,
  }),
)
