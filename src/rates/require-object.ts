import { RejectedError } from './rejected-error.ts'

/**
 * `value` with properties of unknown types.
 *
 * @throws {RejectedError} that begins with `subject` (“the rates are”), where it has none
 */
export function requireObject(value: unknown, subject: string): Record<string, unknown> {
  if (!isRecord(value)) throw new RejectedError(`${subject} not an object`)
  return value
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
