import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { createLimiter } from '../../src/http/limiter.ts'
import type { Job } from '../../src/http/limiter.ts'
import { settled, virtualRuntime } from '../virtual-runtime.ts'

const MAX_WAIT_MS = 3_000

/** A job that was started; requests with the same key may share it. */
interface Run {
  key: string
  /** Number of the request that queued it. */
  request: number
  startedAt: number
}

interface Requested {
  key: string
  at: number
  client: AbortController
  outcome?: Run | 'refused'
  endedAt?: number
}

/** Returns whether a request that ended has a result for its key, started after it and in time, or was refused rightly. */
function isRight({ key, at, client, outcome, endedAt = NaN }: Requested): boolean {
  if (outcome === undefined) return false
  if (outcome === 'refused') {
    // A shared job expires with its first request.
    return client.signal.aborted || endedAt - at === MAX_WAIT_MS || key !== ''
  }
  const wait = outcome.startedAt - at
  return outcome.key === key && wait >= 0 && wait <= MAX_WAIT_MS
}

function open() {
  const runtime = virtualRuntime(0)
  const limiter = createLimiter(runtime, () => {})
  const jobs = new Map<string, Job<Run>>()
  const requests: Requested[] = []
  const runs: Run[] = []
  const running = new Set<Run>()

  /** Requests the result of a job of `duration` ms, which waiting requests share unless the key is empty. */
  async function request(key: string, duration: number): Promise<void> {
    const requested: Requested = { key, at: runtime.monotonic(), client: new AbortController() }
    const number = requests.push(requested)
    const compute = async (): Promise<Run> => {
      const run = { key, request: number, startedAt: runtime.monotonic() }
      runs.push(run)
      running.add(run)
      await new Promise<void>((resolve) => runtime.startTimer(resolve, duration))
      running.delete(run)
      return run
    }
    const options = key === '' ? {} : { jobs, key }
    try {
      requested.outcome = await limiter.run(compute, { signal: requested.client.signal }, options)
    } catch {
      requested.outcome = 'refused'
    }
    requested.endedAt = runtime.monotonic()
  }
  return { runtime, jobs, requests, runs, running, request }
}

describe('a limiter', () => {
  it('starts any jobs in order, two at a time, while one waits', async () => {
    const step = fc.oneof(
      fc.record({ key: fc.constantFrom('', 'a', 'b'), duration: fc.nat({ max: 1_500 }) }),
      fc.record({ wait: fc.integer({ min: 1, max: 1_000 }) }),
      fc.record({ abort: fc.nat({ max: 20 }) }),
    )
    let waited = 0
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        const { runtime, jobs, requests, runs, running, request } = open()
        for (const each of steps) {
          if ('key' in each) void request(each.key, each.duration)
          else if ('abort' in each) requests[each.abort]?.client.abort()
          else await runtime.advance(each.wait)
          await settled()
          const waiting = requests.filter(({ outcome }) => !outcome).length - running.size
          expect(running.size).toBeLessThanOrEqual(2)
          expect(running.size === 2 || jobs.size === 0).toBe(true)
          if (waiting > 0) waited += 1
        }
        await runtime.advance(10 * MAX_WAIT_MS)
        expect([jobs.size, running.size, runtime.timers()]).toEqual([0, 0, 0])
        const order = runs.map((run) => run.request)
        expect(order).toEqual(order.toSorted((one, other) => one - other))
        expect(requests.filter((each) => !isRight(each))).toEqual([])
      }),
      { seed: 1, numRuns: 200 },
    )
    expect(waited).toBeGreaterThan(400)
  })

  it('starts others after 30 s beside jobs that never end', async () => {
    const { runtime, requests, running, request } = open()
    void request('', 40_000)
    void request('', Infinity)
    void request('', 1)
    await runtime.advance(29_999)
    expect([running.size, requests[2]?.outcome]).toEqual([2, 'refused'])
    void request('', 100)
    await runtime.advance(1)
    expect(running.size).toBe(3)
    await runtime.advance(20_000)
    void request('', 100)
    void request('', 100)
    void request('', 100)
    await settled()
    // The end of the first job gives nothing back again.
    expect(running.size).toBe(3)
  })
})
