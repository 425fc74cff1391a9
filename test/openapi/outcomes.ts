import type { Operation } from './document.ts'
import type { Query } from './questions.ts'

/** The day after the one on which the handlers of the tests are. */
const TOMORROW = '2026-11-21'

/** The status and the code of what answers `query`, every value of which the document allows. */
export function expectedOutcome({ path }: Operation, query: Query): RegExp {
  const refusal = contradictionIn(query)
  const isOfDays = query['date'] !== undefined || query['start'] !== undefined
  const isOfReferenceRates = isOfDays || path === '/v1/history'
  // Without an exponent, no 64 digits are beyond the doubles.
  const mayBeTooLarge = /e/i.test(query['amount'] ?? '')
  const answers = [
    '200',
    isOfReferenceRates ? '400 unsupported_currency' : '400 invalid_currency',
    ...(isOfDays ? ['404 no_data'] : []),
  ]
  const outcomes = refusal === undefined ? answers : [`400 ${refusal}`]
  if (mayBeTooLarge) outcomes.push('400 invalid_amount')
  return new RegExp(`^(${outcomes.join('|')})$`)
}

/** The error of parameters that each are as they should be, where no schema tells it. */
function contradictionIn({ date, period, start, end }: Query): string | undefined {
  if (date !== undefined && date > TOMORROW) return 'invalid_parameter'
  if (start === undefined && end === undefined) return undefined
  if (period !== undefined) return 'invalid_parameter'
  if (start === undefined) return 'missing_parameter'
  return end !== undefined && start > end ? 'invalid_parameter' : undefined
}
