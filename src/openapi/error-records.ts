import * as z from 'zod/mini'

import type { RatesErrorCode } from '../errors.ts'
import { component } from './components.ts'
import { described } from './fields.ts'

const MEANINGS: Record<RatesErrorCode, string> = {
  missing_parameter: 'a required parameter is absent',
  invalid_parameter:
    'a parameter is repeated or misspelt, cannot be read, or does not go with another',
  invalid_currency:
    'a code is malformed or was never in the latest rates; a withdrawn one names its successor',
  unsupported_currency:
    'the reference rates do not cover the code; the message lists those they cover',
  invalid_amount: 'not a plain decimal, out of range, or the result would be',
  invalid_period: 'none of the six',
  no_data: 'no reference rate on the days that were asked for',
  not_found: 'no such path',
  method_not_allowed: 'neither `GET`, `HEAD` nor `OPTIONS`; see `Allow`',
  precondition_failed: '`If-Match` does not name the current `ETag`',
  provider_unavailable:
    'no usable data and the provider failed, or a currency without a usable rate; see `Retry-After`',
  overloaded: 'too many expensive requests at once; see `Retry-After`',
  internal_error: 'anything unforeseen',
}

/** An error of `/v1`. */
export const errorRecord = component(
  'Error',
  'What `/v1` answers instead of a record.',
  z.strictObject({
    error: z.strictObject({
      code: described(
        z.enum(Object.keys(MEANINGS)),
        Object.entries(MEANINGS)
          .map(([code, meaning]) => `- \`${code}\`: ${meaning}`)
          .join('\n'),
      ),
      message: described(z.string(), 'What is wrong, in words that are safe to show.'),
    }),
  }),
)

/** An error of the unversioned endpoints. */
export const unversionedError = component(
  'UnversionedError',
  'What the unversioned endpoints answer instead of a record.',
  z.strictObject({
    error: described(z.string(), 'What is wrong, in words that are safe to show.'),
  }),
)
