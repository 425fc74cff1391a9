import { describe, expect, it } from 'vitest'

import { createFrankfurterProvider } from '../../src/index.ts'
import type { HistoryDays } from '../../src/index.ts'
import { frankfurterPayload } from '../fixtures/upstream-payloads.ts'
import { NOW, answering } from './upstream.ts'

const RANGE = { start: '2026-11-07', end: '2026-11-20' }
const provider = createFrankfurterProvider()

const GOOD: Record<string, unknown> = JSON.parse(frankfurterPayload({ ...RANGE, now: NOW }))

/** What the relay answers when all is well, but for `overrides`. */
function payload(overrides: object = {}): Record<string, unknown> {
  return { ...GOOD, ...overrides }
}

/** What the provider makes of an answer. */
function read(body: unknown, range = RANGE): Promise<HistoryDays> {
  return provider.fetchHistory(range, answering(body))
}

describe('the days of Frankfurter', () => {
  it('lack the row before the start that the relay snaps back to', async () => {
    expect(Object.keys(Object(payload()['rates']))[0]).toBe('2026-11-06')
    const { base, days } = await read(payload())
    expect([base, days[0]?.date, days.length]).toEqual(['EUR', '2026-11-09', 10])
  })

  it('begin with the first day of the range', async () => {
    const range = { ...RANGE, start: '2026-11-09' }
    expect((await read(payload(), range)).days[0]?.date).toBe('2026-11-09')
  })

  it('are empty if the relay has none', async () => {
    expect((await read(payload({ rates: {} }))).days).toEqual([])
  })

  const odd = ['09', '10', '11', '12', '13', '16'].map((day) => [`2026-11-${day}`, 1.1])
  const named = odd.slice(0, 5).map(([date]) => `rates.${date}`)

  it.each([
    ['rows of the second version', [{ date: '2026-11-09', base: 'EUR', rate: 1.1 }], 'all of it'],
    [
      'more odd days than are named',
      payload({ rates: { '2026-11-06': { USD: 1.1 }, ...Object.fromEntries(odd) } }),
      named.join(', '),
    ],
  ])('are refused in an answer of %s', async (_what, body, where) => {
    await expect(read(body)).rejects.toThrow(
      new Error(`api.frankfurter.dev answered in another form: ${where}`),
    )
  })
})
