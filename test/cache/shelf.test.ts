import { describe, expect, it } from 'vitest'

import { createShelf } from '../../src/cache/shelf.ts'
import type { Shelf, ShelfOptions } from '../../src/cache/shelf.ts'
import type { Loaded, StoredValue } from '../../src/cache/stored-value.ts'
import { virtualRuntime } from '../virtual-runtime.ts'
import type { VirtualRuntime } from '../virtual-runtime.ts'

const START = Date.UTC(2026, 10, 20, 12)
const HOUR = 3_600_000
const DAY = 24 * HOUR

/** A publication: the number of it, and what it says. */
interface Issue {
  number: number
  text: string
}

interface Watched {
  runtime: VirtualRuntime
  shelf: Shelf<Issue>
  /** What the store has. */
  inStore: { now: Loaded<Issue> | undefined }
  reads: number
  writes: [text: string, expiresAt: number][]
  restored: number[]
  scheduled: number[]
  works: Promise<unknown>[]
}

/** A shelf whose values are due an hour after loading, before a store that answers at once. */
function watched(overrides: Partial<ShelfOptions<Issue>> = {}): Watched {
  const runtime = virtualRuntime(START)
  const inStore: Watched['inStore'] = { now: undefined }
  const lists = { writes: [], restored: [], scheduled: [], works: [] }
  const seen: Omit<Watched, 'shelf'> = { runtime, inStore, reads: 0, ...lists }
  const stored: StoredValue<Issue> = {
    async read(found) {
      seen.reads += 1
      if (inStore.now) found(inStore.now)
    },
    write: async ({ value }, expiresAt) => void seen.writes.push([value.text, expiresAt]),
    claim: async () => true,
  }
  const shelf = createShelf<Issue>({
    runtime,
    lifetime: ({ loadedAt }) => ({ nextUpdateAt: loadedAt + HOUR, longestLife: DAY }),
    publishedAt: ({ number }) => number,
    maxStale: 7 * DAY,
    stored,
    waitUntil: (work) => seen.works.push(work),
    onRestored: (loadedAt) => seen.restored.push(loadedAt),
    onScheduled: (at) => seen.scheduled.push(at),
    ...overrides,
  })
  return Object.assign(seen, { shelf })
}

function loaded(number: number, text: string, loadedAt = START): Loaded<Issue> {
  return { value: { number, text }, loadedAt }
}

describe('a shelf', () => {
  it('has nothing at first', () => {
    const { shelf } = watched()
    expect([shelf.held(), shelf.usable()]).toEqual([undefined, undefined])
  })

  it('keeps what is put on it, here and in the store, and tells when it is to be refreshed', async () => {
    const { shelf, writes, scheduled, restored, works } = watched()
    shelf.put(loaded(1, 'a'))
    expect(shelf.usable()).toMatchObject({ value: { text: 'a' }, loadedAt: START })
    expect(shelf.held()).toBe(shelf.usable())
    expect(writes).toEqual([['a', START + HOUR + 7 * DAY]])
    expect([scheduled, restored]).toEqual([[START + HOUR + 30_000], []])
    expect(await Promise.all(works)).toEqual([undefined])
  })

  it('has it in the store no longer than a date can say', () => {
    const { shelf, writes } = watched({ maxStale: Infinity })
    shelf.put(loaded(1, 'a'))
    expect(writes).toEqual([['a', 8.64e15]])
  })

  it('does without a store', () => {
    const { shelf, works } = watched({ stored: undefined })
    shelf.put(loaded(1, 'a'))
    expect(shelf.usable()?.value.text).toBe('a')
    expect(shelf.lookUp(0)).toBeUndefined()
    expect(works).toEqual([])
  })

  it('keeps the newest publication, and of one and the same what came last', () => {
    const { shelf, writes, scheduled } = watched()
    shelf.put(loaded(2, 'a'))
    shelf.put(loaded(1, 'b'))
    expect(shelf.held()?.value.text).toBe('a')
    shelf.put(loaded(2, 'c'))
    expect(shelf.held()?.value.text).toBe('c')
    expect(writes.map(([text]) => text)).toEqual(['a', 'c'])
    expect(scheduled).toHaveLength(2)
  })

  it('holds what is too old, but lets nobody use it', async () => {
    const { runtime, shelf } = watched()
    shelf.put(loaded(1, 'a'))
    await runtime.advance(HOUR + 7 * DAY)
    expect(shelf.usable()?.value.text).toBe('a')
    await runtime.advance(1)
    expect(shelf.usable()).toBeUndefined()
    expect(shelf.held()?.value.text).toBe('a')
  })
})

describe('a look into the store', () => {
  it('takes what is there, and tells of it', async () => {
    const { shelf, inStore, restored, scheduled, writes } = watched()
    inStore.now = loaded(1, 'a', START - HOUR)
    await shelf.lookUp(0)
    expect(shelf.usable()).toMatchObject({ value: { text: 'a' }, loadedAt: START - HOUR })
    expect([restored, scheduled, writes]).toEqual([[START - HOUR], [START + 30_000], []])
  })

  it.each([
    ['a newer publication', loaded(3, 'b', START - HOUR), 'b'],
    ['the same one, loaded later', loaded(2, 'b', START + 1), 'b'],
    ['the same one, loaded at the same time', loaded(2, 'b'), 'a'],
    ['the same one, loaded before', loaded(2, 'b', START - 1), 'a'],
    ['an older one, loaded later', loaded(1, 'b', START + HOUR), 'a'],
  ])('that finds %s', async (_what, found, text) => {
    const { shelf, inStore, restored } = watched()
    shelf.put(loaded(2, 'a'))
    inStore.now = found
    await shelf.lookUp(0)
    expect(shelf.held()?.value.text).toBe(text)
    expect(restored).toEqual(text === 'b' ? [found.loadedAt] : [])
  })

  it('is shared by all who look meanwhile, and is not repeated too soon', async () => {
    const world = watched()
    const { runtime, shelf } = world
    const looking = shelf.lookUp(1_000)
    expect(looking).toBeInstanceOf(Promise)
    expect(shelf.lookUp(0)).toBe(looking)
    expect(shelf.lookUp(1_000)).toBe(looking)
    await looking
    expect(shelf.lookUp(1_000)).toBeUndefined()
    await runtime.advance(999)
    expect(shelf.lookUp(1_000)).toBeUndefined()
    await runtime.advance(1)
    await shelf.lookUp(1_000)
    await shelf.lookUp(0)
    expect(world.reads).toBe(3)
  })

  it('has what it finds judged beside what is usable here', async () => {
    const judged: unknown[][] = []
    const { runtime, shelf, inStore } = watched({
      judge(value, usable, current) {
        judged.push([value.text, usable?.text, current?.loadedAt])
        return { ...value, text: value.text.toUpperCase() }
      },
    })
    inStore.now = loaded(1, 'a')
    await shelf.lookUp(0)
    inStore.now = loaded(2, 'b')
    await shelf.lookUp(0)
    expect(shelf.held()?.value.text).toBe('B')
    await runtime.advance(8 * DAY)
    inStore.now = loaded(3, 'c', START + 8 * DAY)
    await shelf.lookUp(0)
    expect(judged).toEqual([
      ['a', undefined, undefined],
      ['b', 'A', START],
      ['c', undefined, undefined],
    ])
  })

  it('takes nothing that is judged not to be trusted, and tells of none', async () => {
    const { shelf, inStore, restored, scheduled } = watched({
      judge() {
        throw new Error('suspicious')
      },
    })
    inStore.now = loaded(1, 'a')
    await expect(shelf.lookUp(0)).rejects.toThrow('suspicious')
    expect([shelf.held(), restored, scheduled]).toEqual([undefined, [], []])
  })
})
