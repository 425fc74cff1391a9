import { describe, expect, it } from 'vitest'

import type { LoopTimes } from './load/loop-times-program.ts'
import { overload } from './load/overload.ts'
import { rootOf, serve } from './commands.ts'
import { IS_SHORT } from './processes.ts'

const DURATION_MS = IS_SHORT ? 5_000 : 20_000

/** Limit for the slowest response. The server promises 5 s, but the machine may be busy. */
const SLOWEST_MS = 10_000

const P99_MS = 50

/** On a busy machine, the server waits for CPU many times longer than this process, which mostly sleeps. */
const BUSY = { usualMs: 2, factor: 20 }

describe('400 clients that request distinct CSV histories since 1999', () => {
  it.each(['br', 'gzip, deflate, br'])(
    'with Accept-Encoding %s do not delay plain conversions',
    async (codings) => {
      const server = serve(['--demo', '--log', 'json'], {
        NODE_OPTIONS: '--import=./test/system/load/loop-times-program.ts',
      })
      const url = await rootOf(server)
      const settings = { url, connections: 400, duration: DURATION_MS, acceptEncoding: codings }
      const report = await overload(settings, server.process.pid ?? NaN)
      await server.end()
      const { statuses, plainStatuses, late } = report
      expect(report.wrong).toEqual([])
      expect(statuses['200']).toBeGreaterThan(50)
      // Brotli is for what repeats; while many bodies wait for gzip, others are sent as they are.
      const { gzip = 0, none = 0, ...others } = report.codings
      expect([gzip + none, others]).toEqual([statuses['200'], {}])
      expect(gzip > 0).toBe(codings.includes('gzip'))
      expect(report.slowest).toBeLessThan(SLOWEST_MS)
      expect(report.peakRss).toBeLessThan(500)
      expect(plainStatuses.length).toBeGreaterThan(DURATION_MS / 25)
      expect(new Set(plainStatuses)).toEqual(new Set([200]))
      const delay = Math.max(0, late - BUSY.usualMs) * BUSY.factor
      expect(report.p99).toBeLessThan(P99_MS + delay)
      const lines = server.stderr.trim().split('\n')
      const loop: LoopTimes = JSON.parse(lines.at(-1) ?? '')
      expect(loop.p95).toBeLessThan(P99_MS)
      const refusals = lines.filter((line) => line.includes('"event":"overloaded"'))
      expect(refusals).toHaveLength(statuses['503'] ? 1 : 0)
    },
  )
})
