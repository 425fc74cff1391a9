import { describe, expect, it } from 'vitest'

import { createFlight } from '../../src/cache/flight.ts'
import type { Flight, Landing } from '../../src/cache/flight.ts'
import { settled, virtualRuntime } from '../virtual-runtime.ts'
import type { VirtualRuntime } from '../virtual-runtime.ts'

const START = Date.UTC(2026, 10, 20, 12)

interface Watched {
  runtime: VirtualRuntime
  flight: Flight
  signals: AbortSignal[]
  nextPauses: number[]
  pauses: number[]
  land(outcome: Landing): void
  crash(error: unknown): void
}

/** A flight that ends when it is told to, however. */
function watched(): Watched {
  const runtime = virtualRuntime(START)
  const watch = { signals: [], nextPauses: [], pauses: [], land() {}, crash() {} }
  const seen: Omit<Watched, 'runtime' | 'flight'> = watch
  const flight = createFlight({
    runtime,
    work(signal, nextPause) {
      seen.signals.push(signal)
      seen.nextPauses.push(nextPause)
      return new Promise((resolve, reject) => {
        seen.land = resolve
        seen.crash = reject
      })
    },
    onPause: (length) => seen.pauses.push(length),
  })
  return Object.assign(seen, { runtime, flight })
}

describe('a flight', () => {
  it('has nothing to tell before it starts', () => {
    const { flight } = watched()
    expect([flight.mayStart(), flight.pause(), flight.lastAttempt()]).toEqual([true, 0, undefined])
  })

  it('is one for all who join it, and starts anew for those who come when it has landed', async () => {
    const world = watched()
    const { runtime, flight } = world
    const joined = flight.join()
    expect(flight.join()).toBe(joined)
    expect(flight.mayStart()).toBe(false)
    expect(flight.lastAttempt()).toEqual({ at: START, outcome: 'running' })
    await runtime.advance(1_000)
    world.land('loaded')
    await joined
    expect(flight.lastAttempt()).toEqual({ at: START, outcome: 'loaded' })
    expect([flight.mayStart(), flight.pause()]).toEqual([true, 0])
    void flight.join()
    expect(world.signals).toHaveLength(2)
    expect(flight.lastAttempt()).toEqual({ at: START + 1_000, outcome: 'running' })
  })

  it('says why it failed, and at once so within the pause after it', async () => {
    const world = watched()
    const { runtime, flight } = world
    const failed = flight.join()
    const cause = new Error('refused')
    world.crash(cause)
    await expect(failed).rejects.toMatchObject({ name: 'UnavailableError', pause: 1_000, cause })
    await runtime.advance(400)
    await expect(flight.join()).rejects.toMatchObject({ pause: 600, cause })
    expect([flight.mayStart(), flight.pause()]).toEqual([false, 600])
    expect(flight.lastAttempt()).toEqual({ at: START, outcome: 'failed' })
    expect([world.pauses, world.nextPauses]).toEqual([[1_000], [1_500]])
    await runtime.advance(600)
    const landed = flight.join()
    world.land('loaded')
    await landed
    void flight.join()
    expect(world.nextPauses).toEqual([1_500, 3_000, 1_500])
  })

  it('pauses while another process is at it', async () => {
    const world = watched()
    const joined = world.flight.join()
    world.land('elsewhere')
    await joined
    expect(world.pauses).toEqual([2_000])
    expect([world.flight.mayStart(), world.flight.pause()]).toEqual([false, 2_000])
    expect(world.flight.lastAttempt()).toEqual({ at: START, outcome: 'elsewhere' })
  })

  it('leaves its place after 20 s', async () => {
    const { runtime, flight, signals } = watched()
    const outcome = flight.join().catch((error: unknown) => error)
    await runtime.advance(19_999)
    expect([flight.lastAttempt()?.outcome, signals[0]?.aborted]).toEqual(['running', false])
    await runtime.advance(1)
    expect(await outcome).toMatchObject({ cause: { name: 'TimeoutError' } })
    expect(signals[0]?.reason).toMatchObject({ message: 'no answer within 20000 ms' })
    expect(flight.lastAttempt()?.outcome).toBe('failed')
  })

  it('is aborted when it is closed, and starts no more', async () => {
    const { runtime, flight, signals } = watched()
    const outcome = flight.join().catch((error: unknown) => error)
    flight.close()
    expect(await outcome).toMatchObject({ cause: { message: 'closed' } })
    expect(signals[0]?.reason).toMatchObject({ message: 'closed' })
    await runtime.advance(3_600_000)
    expect([flight.mayStart(), flight.pause()]).toEqual([false, 0])
    await expect(flight.join()).rejects.toThrow('nothing to answer with')
    expect(signals).toHaveLength(1)
  })

  it('can be closed before it has ever started', async () => {
    const { flight, signals } = watched()
    flight.close()
    expect(flight.mayStart()).toBe(false)
    await expect(flight.join()).rejects.toMatchObject({ pause: 0, cause: undefined })
    await settled()
    expect(signals).toEqual([])
  })
})
