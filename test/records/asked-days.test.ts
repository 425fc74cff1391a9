import { describe, expect, it } from 'vitest'

import { requireOneQuestion } from '../../src/records/asked-days.ts'

const PAIR = { from: 'EUR', to: 'USD' } as const

describe('requireOneQuestion()', () => {
  it.each([
    [{}, {}],
    [{ interval: 'week' }, { interval: 'week' }],
    [
      { period: '1Y', interval: 'month' },
      { period: '1Y', interval: 'month' },
    ],
    [{ start: '2026-01-01' }, { start: '2026-01-01' }],
    [
      { start: '2026-01-01', end: '2026-01-02', interval: 'day' },
      { start: '2026-01-01', end: '2026-01-02', interval: 'day' },
    ],
    [
      { start: '2026-01-01', end: '2026-01-01' },
      { start: '2026-01-01', end: '2026-01-01' },
    ],
  ] as const)('takes %j for %j', (asked, question) => {
    expect(requireOneQuestion({ ...PAIR, ...asked })).toEqual({ ...PAIR, ...question })
  })

  it.each([
    [
      { period: '1Y', start: '2026-01-01' },
      'invalid_parameter',
      'Invalid parameter: period (either a period, or start and end)',
    ],
    [
      { period: '1Y', end: '2026-01-01' },
      'invalid_parameter',
      'Invalid parameter: period (either a period, or start and end)',
    ],
    [{ end: '2026-01-01' }, 'missing_parameter', 'Missing required parameter: start'],
    [
      { start: '2026-01-02', end: '2026-01-01' },
      'invalid_parameter',
      'Invalid parameter: start (not after end)',
    ],
  ] as const)('refuses %j as %s', (asked, code, message) => {
    expect(() => requireOneQuestion({ ...PAIR, ...asked })).toThrow(
      expect.objectContaining({ code, message }),
    )
  })
})
