import { RejectedError } from './rejected-error.ts'

/**
 * Returns `value` as an object with properties of unknown types.
 *
 * @throws {RejectedError} beginning with `subject` (“the rates are”), if `value` is not an object
 */
export function requireObject(value: unknown, subject: string): Record<string, unknown> {
  if (!isRecord(value)) throw new RejectedError(`${subject} not an object`)
  return value
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
