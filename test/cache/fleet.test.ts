import { describe, expect, it } from 'vitest'

import type { ReadThrough } from '../../src/cache/read-through.ts'
import { settled } from '../virtual-runtime.ts'
import { START, fleet, save, valuesOf } from './processes.ts'
import type { Fleet } from './processes.ts'

const SECOND = 1_000
const HOUR = 3_600 * SECOND
const DAY = 24 * HOUR

/** A process with overdue data, whose source has just refused to give others. */
async function refused({ runtime, upstream, start }: Fleet): Promise<ReadThrough<number>> {
  const one = start()
  await one.get()
  await runtime.advance(HOUR + 31 * SECOND)
  upstream.mode = 'fail'
  await one.get()
  await settled()
  return one
}

describe('a fleet over one store', () => {
  it('starts cold with one call, and makes one for every refresh', async () => {
    const { runtime, upstream, start } = fleet()
    const processes = Array.from({ length: 8 }, start)
    const first = valuesOf(processes)
    await runtime.advance(200)
    expect(await first).toEqual(Array.from({ length: 8 }, () => 1))
    expect(upstream.calls).toBe(1)
    for (let refreshes = 2; refreshes <= 21; refreshes += 1) {
      await runtime.advance(HOUR + 31 * SECOND)
      await valuesOf(processes)
      await runtime.advance(3 * SECOND)
      await valuesOf(processes)
      expect(await valuesOf(processes)).toEqual(Array.from({ length: 8 }, () => refreshes))
      expect(upstream.calls).toBe(refreshes)
    }
  })

  it('waits for the one that has the claim while it has nothing, and then asks itself', async () => {
    const { runtime, upstream, start } = fleet()
    upstream.mode = 'hang'
    const holder = start()
    const waiting = (async () => holder.get())().catch(() => undefined)
    await settled()
    const other = start().get()
    await runtime.advance(3_900)
    expect(upstream.calls).toBe(1)
    upstream.mode = 'answer'
    await runtime.advance(200)
    expect(await other).toEqual({ value: 2, hit: false, ttl: 3_630 })
    upstream.finish()
    expect(await waiting).toBeDefined()
  })

  it('goes on with what it has while another process has the claim, and looks for its result', async () => {
    const { runtime, store, upstream, start } = fleet()
    const [one, other] = [start(), start()]
    await one.get()
    await settled()
    await other.get()
    await runtime.advance(HOUR + 31 * SECOND)
    upstream.mode = 'hang'
    await one.get()
    await settled()
    expect(await other.get()).toMatchObject({ value: 1, hit: true })
    await settled()
    expect(other.state().lastAttempt).toMatchObject({ outcome: 'elsewhere' })
    expect(upstream.calls).toBe(2)
    const readsBefore = store.reads
    await runtime.advance(SECOND)
    for (let question = 0; question < 100; question += 1) await other.get()
    expect(store.reads).toBe(readsBefore)
    upstream.finish()
    await runtime.advance(SECOND)
    await other.get()
    await settled()
    expect(await other.get()).toMatchObject({ value: 2, hit: true })
    expect(other.state().lastAttempt).toMatchObject({ outcome: 'restored' })
    expect(upstream.calls).toBe(2)
  })

  it('takes over from a process that died with the claim, once that has run out', async () => {
    const { runtime, upstream, start } = fleet()
    const [one, other] = [start(), start()]
    await one.get()
    await settled()
    await other.get()
    await runtime.advance(HOUR + 31 * SECOND)
    upstream.mode = 'hang'
    await one.get()
    await settled()
    upstream.mode = 'answer'
    for (let second = 0; second < 19; second += 1) {
      await other.get()
      await runtime.advance(SECOND)
    }
    expect(upstream.calls).toBe(2)
    for (let second = 0; second < 31; second += 1) {
      await other.get()
      await runtime.advance(SECOND)
    }
    expect(upstream.calls).toBe(3)
    expect(await other.get()).toMatchObject({ value: 3, hit: true })
  })

  it('finds what another process has loaded while its own source refuses', async () => {
    const { runtime, upstream, start } = fleet()
    upstream.mode = 'fail'
    upstream.failure = Object.assign(new Error('later'), { retryAfterMs: 1_200_000 })
    const cold = start()
    await expect(cold.get()).rejects.toMatchObject({ pause: 1_200_000 })
    upstream.mode = 'answer'
    const other = start().get()
    await runtime.advance(5 * SECOND)
    await other
    await settled()
    expect(await cold.get()).toMatchObject({ value: 2, hit: true })
    expect(upstream.calls).toBe(2)
  })

  it('finds what another process has loaded while its own data are overdue and its source refuses', async () => {
    const shared = fleet()
    const { runtime, store, upstream } = shared
    const one = await refused(shared)
    save(store, runtime.now(), 9)
    const readsBefore = store.reads
    await runtime.advance(SECOND - 1)
    await one.get()
    expect(store.reads).toBe(readsBefore)
    upstream.failure = Object.assign(new Error('later'), { retryAfterMs: 1_200_000 })
    store.values.delete('number')
    await runtime.advance(1)
    await one.get()
    await settled()
    save(store, runtime.now(), 9)
    await runtime.advance(10 * SECOND)
    await one.get()
    await settled()
    expect(await one.get()).toMatchObject({ value: 9, hit: true })
  })

  it('never takes what was published earlier than what it has', async () => {
    const { runtime, store, start } = fleet()
    const one = start()
    await one.get()
    await settled()
    save(store, START + HOUR, 0)
    await runtime.advance(HOUR + 31 * SECOND)
    await one.get()
    await settled()
    expect((await one.get()).value).toBe(2)
  })

  it('is not frozen by a value saved in the future', async () => {
    const { runtime, store, upstream, start } = fleet()
    save(store, START + 30 * DAY, 5)
    upstream.calls = 10
    expect(await start().get()).toMatchObject({ value: 11, hit: false })
    expect(runtime.timers()).toBe(0)
  })

  it('is not stopped for good by claims that nobody gets', async () => {
    const { runtime, store, upstream, start } = fleet()
    const one = start()
    await one.get()
    store.claim = () => false
    for (let minutes = 0; minutes < 6 * 60; minutes += 1) {
      await one.get()
      await runtime.advance(60 * SECOND)
    }
    expect(upstream.calls).toBe(1)
    for (let minutes = 0; minutes < 90; minutes += 1) {
      await one.get()
      await runtime.advance(60 * SECOND)
    }
    expect(upstream.calls).toBe(2)
  })

  it('counts a wait for the claim from the refresh that it belongs to', async () => {
    const { runtime, upstream, start } = fleet()
    const processes = Array.from({ length: 8 }, start)
    const first = valuesOf(processes)
    await runtime.advance(200)
    await first
    for (let refreshes = 2; refreshes <= 6; refreshes += 1) {
      await runtime.advance(9 * HOUR)
      upstream.mode = 'hang'
      // Long enough for the others to find the result while they leave each other alone.
      for (let second = 0; second < 40; second += 1) {
        await valuesOf(processes)
        if (second === 18) upstream.finish()
        await runtime.advance(SECOND)
      }
      expect(await valuesOf(processes)).toEqual(Array.from({ length: 8 }, () => refreshes))
      expect(upstream.calls).toBe(refreshes)
    }
  })

  it('counts refusals from the first one after the last turn', async () => {
    const shared = fleet()
    const { runtime, store, upstream } = shared
    const one = await refused(shared)
    expect(upstream.calls).toBe(2)
    await runtime.advance(9 * HOUR)
    store.claim = () => false
    await one.get()
    await settled()
    expect(upstream.calls).toBe(2)
  })

  it('takes a text that was refused once when it is found good later', async () => {
    const { runtime, store, upstream, start } = fleet()
    upstream.mode = 'fail'
    save(store, START + 2 * HOUR, 5)
    const one = start()
    await expect(one.get()).rejects.toThrow('nothing to answer with')
    runtime.setClock(START + 2 * HOUR)
    await runtime.advance(SECOND)
    expect(await one.get()).toMatchObject({ value: 5, hit: true })
  })
})
