import { describe, expect, it, onTestFinished } from 'vitest'

import { startChild } from './child.ts'
import type { MemoryReport, MemorySettings } from './memory-program.ts'
import { IS_SHORT } from './processes.ts'

const MEGABYTE = 1_048_576

const REQUESTS = IS_SHORT ? 100_000 : 1_000_000

describe(`${REQUESTS} distinct requests`, { timeout: 900_000 }, () => {
  it('leave nothing in memory', async () => {
    const { growth, statuses, ...left } = await report({ requestCount: REQUESTS })
    expect(growth).toBeLessThan(2 * MEGABYTE)
    expect(Object.keys(statuses)).toEqual(['200', '204', '400', '404', '405', '415'])
    expect(statuses['400']).toBeGreaterThan(REQUESTS / 5)
    expect(left).toEqual({
      // One for each of the three handlers.
      calls: 3,
      timers: 0,
      listeners: 0,
      uncollected: { requests: 0, responses: 0 },
    })
  })
})

async function report(settings: MemorySettings): Promise<MemoryReport> {
  const child = startChild({
    program: 'test/system/memory-program.ts',
    settings,
    flags: ['--expose-gc'],
  })
  onTestFinished(child.kill)
  const measured: MemoryReport = JSON.parse(await child.firstLine)
  return measured
}
