import * as z from 'zod/mini'

import { code, component, day, described, rate } from './components.ts'
import { attribution, provider, publication } from './rate-schemas.ts'

const amount = z.number().check(z.nonnegative())

const from = described(code, 'Source currency code.')
const to = described(code, 'Target currency code.')

const converted = {
  rate: described(
    rate,
    'Units of `to` per unit of `from`, as published or derived to 10 significant digits.',
  ),
  result: described(
    amount,
    'Exact decimal product of `amount` and `rate`, rounded once to the nearest double. With `reverse`, their exact quotient, rounded to 15 significant digits.',
  ),
}

const convertedAmount = component(
  'ConvertedAmount',
  'Rate and result for one of several target currencies, here called `to`.',
  z.strictObject(converted),
)

const requestedAmount = described(amount, 'Requested amount, in `from`; with `reverse`, in `to`.')

const end = {
  reverse: z.optional(
    described(z.literal(true), 'True if `result` is in `from`; absent unless requested.'),
  ),
  date: z.optional(
    described(day, 'Day on which the rates were published; absent for latest rates.'),
  ),
  ...publication,
  source: attribution,
}

/** Response of `/v1/convert` for one target currency. */
export const conversionSchema = component(
  'Conversion',
  'A converted amount.',
  z.strictObject({ from, to, amount: requestedAmount, ...converted, ...end }),
)

/** Response of `/v1/convert` for a list of target currencies. */
export const conversionListSchema = component(
  'ConversionList',
  'One amount converted to several currencies.',
  z.strictObject({
    from,
    amount: requestedAmount,
    results: described(
      z.record(code, convertedAmount),
      'Results by target currency code, in the order of the request.',
    ),
    ...end,
  }),
)

/** Response of `/convert`. */
export const unversionedConversion = component(
  'UnversionedConversion',
  'A converted amount, in the unversioned format.',
  z.strictObject({
    from,
    to,
    amount: described(amount, 'Requested amount, in `from`.'),
    rate: converted.rate,
    result: described(
      amount,
      'Exact decimal product of `amount` and `rate`, rounded once to the nearest double.',
    ),
    ...publication,
    provider,
  }),
)
