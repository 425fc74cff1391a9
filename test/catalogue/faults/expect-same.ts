import { expect } from 'vitest'

/** What `expect(actual, about).toEqual(wanted)` does, but at once where both are the same: there are half a million. */
export function expectSame(actual: unknown, wanted: unknown, about?: string): void {
  if (!Object.is(actual, wanted)) expect(actual, about).toEqual(wanted)
}

/** The same for what JSON can tell apart. */
export function expectSameData(actual: unknown, wanted: unknown, about?: string): void {
  if (JSON.stringify(actual) !== JSON.stringify(wanted)) expect(actual, about).toEqual(wanted)
}
