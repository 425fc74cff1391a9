import { describe, expect, it } from 'vitest'

import type { GuardedStore } from '../../src/cache/guarded-store.ts'
import { createStoredValue } from '../../src/cache/stored-value.ts'
import type { Loaded, StoredValue } from '../../src/cache/stored-value.ts'
import { virtualRuntime } from '../virtual-runtime.ts'
import type { VirtualRuntime } from '../virtual-runtime.ts'

const START = Date.UTC(2026, 10, 20, 12)
const HOUR = 3_600_000

interface Shelved {
  runtime: VirtualRuntime
  stored: StoredValue<number>
  /** What the store has for every key. */
  texts: { now: unknown }
  /** What was done to the store. */
  calls: unknown[][]
  /** How often data were looked at. */
  looks: number
  /** Why something was refused. */
  rejected: string[]
  /** What is found now. */
  find(): Promise<Loaded<number>[]>
}

/** The place of a number in a store that says whatever it is told to; it is kept as text, and the number 13 never. */
function shelved(): Shelved {
  const runtime = virtualRuntime(START)
  const texts: Shelved['texts'] = { now: undefined }
  const calls: unknown[][] = []
  const store: GuardedStore = {
    get: async (_key, found) => found(texts.now),
    set: async (...call) => void calls.push(call),
    claim: async (...call) => calls.push(call) > 1,
  }
  const rejected: string[] = []
  const stored = createStoredValue<number>({
    store,
    key: 'number',
    runtime,
    toData: String,
    fromData(data) {
      shelf.looks += 1
      if (data === '13') throw new Error('not that one')
      return Number(data)
    },
    onRejected: (error) => rejected.push(Object(error).message),
  })
  const shelf: Shelved = {
    runtime,
    stored,
    texts,
    calls,
    looks: 0,
    rejected,
    async find() {
      const found: Loaded<number>[] = []
      await stored.read((loaded) => found.push(loaded))
      return found
    },
  }
  return shelf
}

const envelope = (fields: object = {}): string =>
  JSON.stringify({ v: 1, key: 'number', savedAt: START, data: '41', ...fields })

describe('a stored value', () => {
  it('is written in an envelope, with the time until which it is to be kept', async () => {
    const { stored, calls } = shelved()
    await stored.write({ value: 41, loadedAt: START }, START + HOUR)
    expect(calls).toEqual([['number', envelope(), START + HOUR]])
  })

  it('is read, once', async () => {
    const shelf = shelved()
    shelf.texts.now = envelope()
    expect(await shelf.find()).toEqual([{ value: 41, loadedAt: START }])
    expect(await shelf.find()).toEqual([])
    shelf.texts.now = envelope({ data: '42' })
    expect(await shelf.find()).toEqual([{ value: 42, loadedAt: START }])
    expect([shelf.looks, shelf.rejected]).toEqual([2, []])
  })

  it('is not read where this process wrote it', async () => {
    const shelf = shelved()
    await shelf.stored.write({ value: 41, loadedAt: START }, START + HOUR)
    shelf.texts.now = envelope()
    expect(await shelf.find()).toEqual([])
    expect(shelf.looks).toBe(0)
  })

  it.each([undefined, null])('is not there, which is nothing to tell of, at %j', async (text) => {
    const shelf = shelved()
    shelf.texts.now = text
    expect([await shelf.find(), shelf.rejected]).toEqual([[], []])
    for (const before of [envelope(), '{}']) {
      shelf.texts.now = before
      await shelf.find()
      shelf.texts.now = text
      expect(await shelf.find()).toEqual([])
    }
    expect(shelf.rejected).toEqual(['it is of version 0'])
  })

  it.each([
    [41, 'it is no text'],
    [JSON.parse(envelope()), 'it is no text'],
    ['41', 'it is no envelope'],
    ['null', 'it is no envelope'],
    ['"text"', 'it is no envelope'],
    ['{}', 'it is of version 0'],
    [envelope({ v: 2 }), 'it is of version 2'],
    [envelope({ v: '1' }), 'it is of version 1'],
    [envelope({ key: 'other' }), "it is another key's value"],
    [envelope({ key: undefined }), "it is another key's value"],
    [envelope({ savedAt: undefined }), 'it does not say when it was saved'],
    [envelope({ savedAt: String(START) }), 'it does not say when it was saved'],
    [envelope({ savedAt: START + HOUR + 1 }), 'it was saved in the future'],
    [envelope({ data: '13' }), 'not that one'],
  ])('is refused in the form of %j, and that is told once', async (text, why) => {
    const shelf = shelved()
    shelf.texts.now = text
    expect([await shelf.find(), await shelf.find()]).toEqual([[], []])
    expect(shelf.rejected).toEqual([why])
    shelf.texts.now = 'null'
    await shelf.find()
    shelf.texts.now = text
    await shelf.find()
    expect(shelf.rejected.at(-1)).toBe(why)
  })

  it('is no younger than now where its writer had a clock ahead', async () => {
    const shelf = shelved()
    shelf.texts.now = envelope({ savedAt: START + HOUR })
    expect(await shelf.find()).toEqual([{ value: 41, loadedAt: START }])
  })

  it('is judged again where it was refused', async () => {
    const shelf = shelved()
    shelf.texts.now = envelope({ savedAt: START + HOUR + 1 })
    expect(await shelf.find()).toEqual([])
    await shelf.runtime.advance(1)
    expect(await shelf.find()).toEqual([{ value: 41, loadedAt: START + 1 }])
  })

  it('is looked at again where whoever looks for it does not trust it', async () => {
    const shelf = shelved()
    shelf.texts.now = envelope()
    await shelf.stored.read(() => {
      throw new Error('suspicious')
    })
    expect(shelf.rejected).toEqual(['suspicious'])
    expect(await shelf.find()).toHaveLength(1)
  })

  it('is claimed under its key', async () => {
    const { stored, calls } = shelved()
    expect([await stored.claim(START), await stored.claim(START + 1)]).toEqual([false, true])
    expect(calls).toEqual([
      ['number', START],
      ['number', START + 1],
    ])
  })
})
