import { describe, expect, it } from 'vitest'

import { createPacing } from '../../src/cache/pacing.ts'
import type { Pacing } from '../../src/cache/pacing.ts'
import { virtualRuntime } from '../virtual-runtime.ts'
import type { VirtualRuntime } from '../virtual-runtime.ts'

const FAILURE = new Error('refused')

function paced(): { runtime: VirtualRuntime; pacing: Pacing; told: number[] } {
  const runtime = virtualRuntime(0)
  const told: number[] = []
  return { runtime, told, pacing: createPacing(runtime, (length) => told.push(length)) }
}

describe('the pace of work', () => {
  it('has no pause at first, nor after a success', () => {
    const { pacing, told } = paced()
    expect([pacing.pause(), pacing.nextPause()]).toEqual([0, 1_500])
    pacing.fail(FAILURE)
    pacing.wait()
    pacing.succeed()
    expect([pacing.pause(), pacing.nextPause()]).toEqual([0, 1_500])
    pacing.wait()
    expect(told).toEqual([1_000, 2_000, 2_000])
  })

  it('doubles from a second to five minutes while it fails, and tells of every pause', () => {
    const { pacing, told } = paced()
    for (let failures = 0; failures < 10; failures += 1) pacing.fail(FAILURE)
    expect(told.map((length) => length / 1_000)).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300])
    expect(pacing.pause()).toBe(300_000)
  })

  it('doubles from two seconds to half a minute while another process is at it', () => {
    const { pacing, told } = paced()
    for (let waits = 0; waits < 6; waits += 1) pacing.wait()
    expect(told.map((length) => length / 1_000)).toEqual([2, 4, 8, 16, 30, 30])
    expect(pacing.pause()).toBe(30_000)
  })

  it('gets slower for the next failure with every wait for another process', () => {
    const { pacing, told } = paced()
    pacing.wait()
    pacing.wait()
    expect(pacing.nextPause()).toBe(6_000)
    pacing.fail(FAILURE)
    expect(told).toEqual([2_000, 4_000, 4_000])
  })

  it('has the longer one of two pauses', async () => {
    const { runtime, pacing, told } = paced()
    pacing.wait()
    pacing.fail({ retryAfterMs: 60_000 })
    expect(told).toEqual([2_000, 60_000])
    await runtime.advance(59_000)
    expect(pacing.pause()).toBe(1_000)
    pacing.wait()
    expect([pacing.pause(), told.at(-1)]).toEqual([4_000, 4_000])
  })
})
