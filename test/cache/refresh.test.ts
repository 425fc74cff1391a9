import { describe, expect, it } from 'vitest'

import { createRefresh } from '../../src/cache/refresh.ts'
import type { Known } from '../../src/cache/refresh.ts'
import type { Work } from '../../src/cache/flight.ts'
import { createShelf } from '../../src/cache/shelf.ts'
import type { Shelf } from '../../src/cache/shelf.ts'
import type { Loaded } from '../../src/cache/stored-value.ts'
import { settled, virtualRuntime } from '../virtual-runtime.ts'
import type { VirtualRuntime } from '../virtual-runtime.ts'

const START = Date.UTC(2026, 10, 20, 12)
const HOUR = 3_600_000
const DAY = 24 * HOUR

interface Watched {
  runtime: VirtualRuntime
  shelf: Shelf<number>
  refresh: Work
  /** What the store has, whether it grants claims, and how often it was read. */
  store: { has: Loaded<number> | undefined; grants: boolean | Promise<boolean>; reads: number }
  /** What was known when each load began. */
  loads: Known<number>[]
  /** What is loaded. */
  source: { answer: () => number | Promise<number> }
}

/** A refresh of a number that is published anew whenever it grows. */
function watched(): Watched {
  const runtime = virtualRuntime(START)
  const store: Watched['store'] = { has: undefined, grants: true, reads: 0 }
  const source: Watched['source'] = { answer: () => 2 }
  const loads: Known<number>[] = []
  const options = {
    runtime,
    lifetime: ({ loadedAt }: Loaded<number>) => ({
      nextUpdateAt: loadedAt + HOUR,
      longestLife: DAY,
    }),
    publishedAt: (number: number) => number,
    maxStale: DAY,
    waitUntil: undefined,
    onRestored() {},
    onScheduled() {},
    stored: {
      async read(found: (loaded: Loaded<number>) => void) {
        store.reads += 1
        if (store.has) found(store.has)
      },
      write: async () => {},
      claim: async () => store.grants,
    },
  }
  const shelf = createShelf<number>(options)
  const refresh = createRefresh<number>({
    ...options,
    shelf,
    async load(_signal, known) {
      loads.push(known)
      return source.answer()
    },
  })
  return { runtime, shelf, refresh, store, loads, source }
}

/** A signal that does not abort by itself. */
function patience(): AbortSignal {
  return new AbortController().signal
}

describe('a refresh', () => {
  it('puts what it loads on the shelf, with the time at which that came', async () => {
    const { runtime, shelf, refresh, loads, source } = watched()
    let answer = (_number: number): void => {}
    source.answer = () =>
      new Promise((resolve) => {
        answer = resolve
      })
    const outcome = refresh(patience(), 0)
    await runtime.advance(500)
    answer(7)
    expect(await outcome).toBe('loaded')
    expect(shelf.held()).toMatchObject({ value: 7, loadedAt: START + 500 })
    expect(loads).toEqual([{ held: undefined, usable: undefined, current: undefined }])
  })

  it('tells the load of what there is, and whether that may still be answered with', async () => {
    const { runtime, shelf, refresh, loads } = watched()
    shelf.put({ value: 1, loadedAt: START })
    const held = shelf.held()
    await runtime.advance(2 * HOUR)
    await refresh(patience(), 0)
    const renewed = shelf.held()
    await runtime.advance(2 * DAY)
    await refresh(patience(), 0)
    expect(loads).toEqual([
      { held: 1, usable: 1, current: held },
      { held: 2, usable: undefined, current: undefined },
    ])
    expect(loads[0]?.current).toBe(held)
    expect(renewed).not.toBe(held)
  })

  it('is spared by what the store has, unless that needs a refresh itself', async () => {
    const { runtime, shelf, refresh, store, loads } = watched()
    store.has = { value: 1, loadedAt: START }
    expect(await refresh(patience(), 0)).toBe('restored')
    expect(shelf.held()?.value).toBe(1)
    await runtime.advance(2 * HOUR)
    expect(await refresh(patience(), 0)).toBe('loaded')
    expect(loads).toHaveLength(1)
  })

  it('does not look into a store that was looked into within the last second', async () => {
    const { runtime, shelf, refresh, store } = watched()
    await shelf.lookUp(0)
    await runtime.advance(999)
    await refresh(patience(), 0)
    expect(store.reads).toBe(1)
    await runtime.advance(1)
    await refresh(patience(), 0)
    expect(store.reads).toBe(2)
  })

  it('keeps what was loaded before when it fails', async () => {
    const { runtime, shelf, refresh, source } = watched()
    shelf.put({ value: 1, loadedAt: START })
    await runtime.advance(2 * HOUR)
    source.answer = () => Promise.reject(new Error('refused'))
    await expect(refresh(patience(), 0)).rejects.toThrow('refused')
    expect(shelf.held()?.value).toBe(1)
  })

  it.each(['before the load', 'during the load'])(
    'brings nothing any more when it is aborted %s',
    async (when) => {
      const { shelf, refresh, store, loads, source } = watched()
      const controller = new AbortController()
      let goOn = (): void => {}
      const pause = new Promise<void>((resolve) => {
        goOn = resolve
      })
      if (when === 'before the load') store.grants = pause.then(() => true)
      else source.answer = () => pause.then(() => 7)
      const outcome = refresh(controller.signal, 0).catch((error: unknown) => error)
      await settled()
      const reason = new Error('enough')
      controller.abort(reason)
      goOn()
      expect(await outcome).toBe(reason)
      expect(loads).toHaveLength(when === 'before the load' ? 0 : 1)
      expect(shelf.held()).toBeUndefined()
    },
  )
})

describe('a refresh whose claim is refused', () => {
  it('is left to another process while there is something to answer with', async () => {
    const { runtime, shelf, refresh, store, loads } = watched()
    store.grants = false
    shelf.put({ value: 1, loadedAt: START })
    await runtime.advance(2 * HOUR)
    expect(await refresh(patience(), 0)).toBe('elsewhere')
    expect([runtime.timers(), loads]).toEqual([0, []])
  })

  it('looks ten times a second for what another process loads while there is nothing', async () => {
    const { runtime, shelf, refresh, store, loads } = watched()
    store.grants = false
    const outcome = refresh(patience(), 0)
    await runtime.advance(350)
    expect(store.reads).toBe(4)
    store.has = { value: 5, loadedAt: START + 300 }
    await runtime.advance(49)
    expect(shelf.usable()).toBeUndefined()
    await runtime.advance(1)
    expect(await outcome).toBe('restored')
    expect([shelf.usable()?.value, loads]).toEqual([5, []])
    expect(runtime.timers()).toBe(0)
  })

  it('loads itself, once, when nothing has come for four seconds', async () => {
    const { runtime, refresh, store, loads, source } = watched()
    store.grants = false
    source.answer = () => Promise.reject(new Error('refused'))
    const outcome = refresh(patience(), 0).catch((error: Error) => error.message)
    await runtime.advance(3_999)
    expect(loads).toEqual([])
    await runtime.advance(1)
    expect(await outcome).toBe('refused')
    expect([loads.length, store.reads]).toEqual([1, 41])
    const next = refresh(patience(), 0)
    await runtime.advance(4_000)
    expect([await next, loads.length]).toEqual(['elsewhere', 1])
  })

  it('stops looking when it is aborted', async () => {
    const { runtime, refresh, store, loads } = watched()
    store.grants = false
    const controller = new AbortController()
    const outcome = refresh(controller.signal, 0).catch((error: unknown) => error)
    await runtime.advance(250)
    const reason = new Error('enough')
    controller.abort(reason)
    expect(await outcome).toBe(reason)
    await runtime.advance(10_000)
    expect([store.reads, loads, runtime.timers()]).toEqual([3, [], 0])
  })
})
