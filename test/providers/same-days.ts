import { isDeepStrictEqual } from 'node:util'

import { expect } from 'vitest'

import type { HistoryDay } from '../../src/index.ts'

/** Expects the same days with the same rates; a hundred times as fast as `toEqual` on a long history. */
export function expectSameDays(days: readonly HistoryDay[], expected: readonly HistoryDay[]): void {
  expect(days).toHaveLength(expected.length)
  const odd = expected.findIndex((day, at) => !isDeepStrictEqual(day, days[at]))
  expect(days[odd], 'the first day that differs').toEqual(expected[odd])
}
