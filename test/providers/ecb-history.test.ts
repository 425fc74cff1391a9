import { expect, it, vi } from 'vitest'

import { createEcbDataApiProvider, createEcbProvider } from '../../src/providers/ecb.ts'
import { answerAsBank, ecbDays } from '../fixtures/ecb-files.ts'
import { expectSameDays } from './days.ts'
import { NOW, upstream } from './upstream.ts'

// Generous: the machine may be busy.
vi.setConfig({ testTimeout: 60_000 })

it.each([
  ['createEcbProvider()', createEcbProvider],
  ['createEcbDataApiProvider()', createEcbDataApiProvider],
])('%s has every day since 1999, with the digits and gaps as published', async (_, create) => {
  const { context } = upstream([])
  const fetch: typeof context.fetch = async (input) =>
    answerAsBank({ url: String(input instanceof Request ? input.url : input) }, NOW)
  const range = { start: '1999-01-01', end: '2026-11-20' }
  const { base, days } = await create().fetchHistory(range, { ...context, fetch })
  expect(base).toBe('EUR')
  expect(days.length).toBeGreaterThan(7_000)
  expectSameDays(days, ecbDays(range.start, range.end, NOW))
  expect(new Set(days.flatMap(({ rates }) => Object.keys(rates))).size).toBe(41)
})
