import * as z from 'zod/mini'

import type { RatesErrorCode } from '../../src/errors.ts'
import { component, described } from './components.ts'

const MEANINGS: Record<RatesErrorCode, string> = {
  missing_parameter: 'a required parameter is missing',
  invalid_parameter: 'a parameter is repeated, misspelled or malformed, or conflicts with another',
  invalid_currency:
    'a code is malformed or was never in the latest rates; for a withdrawn currency, the message names the successor',
  unsupported_currency:
    'the reference rates do not cover the code; the message lists the codes they cover',
  invalid_amount: 'not a plain decimal, or the amount or the result is out of range',
  invalid_period: 'not one of the six periods',
  no_data: 'no reference rate on the requested days',
  not_found: 'unknown path',
  method_not_allowed: 'a method other than `GET`, `HEAD` and `OPTIONS`; see `Allow`',
  precondition_failed: '`If-Match` does not match the current `ETag`',
  provider_unavailable:
    'the provider failed and no usable data is cached, or a currency has no usable rate; see `Retry-After`',
  overloaded: 'too many expensive requests at once; see `Retry-After`',
  internal_error: 'unexpected error',
}

/** Error response of `/v1`. */
export const errorBodySchema = component(
  'Error',
  'Error response of the `/v1` endpoints.',
  z.strictObject({
    error: z.strictObject({
      code: described(
        z.enum(Object.keys(MEANINGS)),
        Object.entries(MEANINGS)
          .map(([code, meaning]) => `- \`${code}\`: ${meaning}`)
          .join('\n'),
      ),
      message: described(z.string(), 'Explanation for people, safe to display.'),
    }),
  }),
)

/** Error response of the unversioned endpoints. */
export const unversionedError = component(
  'UnversionedError',
  'Error response of the unversioned endpoints.',
  z.strictObject({
    error: described(z.string(), 'Explanation for people, safe to display.'),
  }),
)
