import type { Variant } from './case.ts'
import { expectSame, expectSameData } from './expect-same.ts'
import { verdictIn } from './journey.ts'
import type { Journey } from './journey.ts'
import type { Truth } from './truth.ts'
import { NONCE } from './upstream.ts'
import type { World } from './world.ts'

const KEYS = { latest: 'rates:v1:latest', history: 'rates:v1:history' }

/** The last instant that a `Date` holds, in ms since the Unix epoch. */
const LAST_INSTANT = 8_640_000_000_000_000

/** Puts something under both keys of the store of the first process. */
export function fill(world: World, value: (key: string, world: World) => string): void {
  for (const key of Object.values(KEYS)) world.service.store.entries.set(key, value(key, world))
}

/** Demands that the stores hold what is served and nothing else, and that no write asks for an impossible lifetime. */
export function expectSoundStores(journey: Journey): void {
  const { world, variant, state, dataSet, stored, storedBefore, now } = journey
  const start = world.machine.now() - world.machine.elapsed()
  for (const { store } of world.services) {
    for (const { operation, key, at, expiresAt = NaN } of store.operations) {
      expectSame(Object.values(KEYS).includes(key), true, key)
      if (operation === 'get') continue
      const isPossible = expiresAt > start + at && expiresAt <= LAST_INSTANT
      expectSame(isPossible, true, `expiresAt: ${expiresAt}`)
    }
  }
  for (const [index, entries] of stored.entries()) {
    const untouched = storedBefore[index] ?? new Map()
    if (state === 'fresh' || !keeps(variant, index)) {
      expectSameData([...entries], [...untouched])
      continue
    }
    for (const [about, key] of Object.entries(KEYS)) {
      const isRefused = about === dataSet && verdictIn(variant, state) === 'refused'
      if (isRefused) expectSame(entries.get(key), untouched.get(key), key)
      else expectStored(entries.get(key), key, now)
    }
  }
}

function keeps({ keeps: which = true }: Variant, index: number): boolean {
  return which === 'first' ? index === 0 : which
}

/** Demands that `text` is an envelope with exactly the data of `truth`. */
function expectStored(text: string | undefined, key: string, truth: Truth): void {
  expectSame(text?.includes(NONCE), false, `${key} in the store`)
  const { v, data, key: ownKey, savedAt } = JSON.parse(text ?? '{}')
  expectSameData([v, ownKey, typeof savedAt], [1, key, 'number'])
  if (key === KEYS.latest) {
    const { updatedAt, nextUpdateAt, rates } = data.table
    expectSameData({ updatedAt, nextUpdateAt, rates }, truth.latest)
  } else {
    const days = data.days.map(({ date, rates }: { date: string; rates: object }) => [date, rates])
    expectSameData(Object.fromEntries(days), truth.days)
  }
}
