import { describe, expect, it } from 'vitest'

import { fleet, valuesOf } from './processes.ts'

const SECOND = 1_000
const HOUR = 3_600 * SECOND

describe('a fleet over one store in the long run', () => {
  it(
    'asks a dead upstream no more often than one process would, in the long run',
    { timeout: 60_000 },
    async () => {
      const { runtime, upstream, start } = fleet(0.5)
      const processes = Array.from({ length: 8 }, start)
      const first = valuesOf(processes)
      await runtime.advance(200)
      await first
      await runtime.advance(HOUR + 400 * SECOND)
      upstream.mode = 'fail'
      upstream.calls = 0
      for (let minutes = 0; minutes < 24 * 60; minutes += 1) {
        await valuesOf(processes)
        await runtime.advance(60 * SECOND)
      }
      expect(upstream.calls).toBeGreaterThan(150)
      expect(upstream.calls).toBeLessThan(300)
    },
  )

  it(
    'asks a dead upstream no more often than one process would while all of them are cold',
    { timeout: 60_000 },
    async () => {
      const { runtime, upstream, start } = fleet(0.5)
      upstream.mode = 'fail'
      const processes = Array.from({ length: 8 }, start)
      for (let minutes = 0; minutes < 24 * 60; minutes += 1) {
        for (const process of processes) void (async () => process.get())().catch(() => undefined)
        await runtime.advance(60 * SECOND)
      }
      expect(upstream.calls).toBeGreaterThan(150)
      expect(upstream.calls).toBeLessThan(300)
    },
  )
})
