import { describe, expect, it } from 'vitest'

import { pauseAfter } from '../../src/providers/upstream-error.ts'

const NOW = Date.UTC(2026, 10, 20, 11, 30)
const MINUTE = 60_000

function answer(status: number, retryAfter?: string): Response {
  return new Response('', { status, headers: retryAfter ? { 'retry-after': retryAfter } : {} })
}

describe('the pause after an answer', () => {
  it.each([
    [429, undefined, 20 * MINUTE],
    [429, '1200', 20 * MINUTE],
    [429, '5', 5_000],
    [429, 'Fri, 20 Nov 2026 12:00:00 GMT', 30 * MINUTE],
    [429, 'Fri, 20 Nov 2026 11:00:00 GMT', -30 * MINUTE],
    [429, 'soon', 20 * MINUTE],
    [429, '1.5', 20 * MINUTE],
    [429, '20 Nov 2026 12:00:00 GMT', 20 * MINUTE],
    [429, 'Fr, 20 Nov 2026 12:00:00 GMT', 20 * MINUTE],
    [429, '-1', 20 * MINUTE],
    [429, 'Mon, 99 Nov 2026', 20 * MINUTE],
    [503, '90', 90_000],
    [503, undefined, undefined],
    [500, undefined, undefined],
    [408, undefined, undefined],
    [401, undefined, 15 * MINUTE],
    [403, undefined, 15 * MINUTE],
    [404, undefined, 15 * MINUTE],
    [410, undefined, 15 * MINUTE],
    [403, '7200', 120 * MINUTE],
    [200, '7200', undefined],
  ])('of %d with Retry-After %s is %s ms', (status, retryAfter, pause) => {
    expect(pauseAfter(answer(status, retryAfter), NOW)).toBe(pause)
  })
})
