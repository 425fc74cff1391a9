import type { Random } from '../world/random.ts'
import { SECRET } from './upstream-fault.ts'

/** One operation on the store, and what may become of it. */
export interface StoreOperation {
  readonly name: 'get' | 'set' | 'claim'
  readonly key: string
  readonly random: Random
  /** Does what a healthy store does, and gives its result. */
  work(): unknown
  /** The text stored under `key`, or under the other data set's. */
  stored(key?: string): string | undefined
  /** The text that was stored under the key before the present one. */
  storedBefore(): string | undefined
  /** The usual way to answer: after a round trip, or at once where the store is in this process. */
  reply(result: () => unknown): unknown
  /** Answers after `delay` ms. */
  later(delay: number, result: () => unknown): Promise<unknown>
}

/** One thing that goes wrong with the store. */
export interface StoreFault {
  name: string
  operations: readonly StoreOperation['name'][]
  /** Done instead of the operation; gives its result. */
  apply(operation: StoreOperation): unknown
}

const ALL = ['get', 'set', 'claim'] as const
const DAY = 86_400_000

/** What goes wrong with a store: it is away, it is slow, it forgets, or it gives back what it should not. */
export const STORE_FAULTS: readonly StoreFault[] = [
  {
    name: 'store throws',
    operations: ALL,
    apply: () => {
      throw new Error(`ECONNREFUSED ${SECRET}`)
    },
  },
  {
    name: 'store rejects',
    operations: ALL,
    apply: ({ later }) =>
      later(1, () => {
        throw new Error(`READONLY ${SECRET}`)
      }),
  },
  {
    name: 'store rejects with nothing',
    operations: ALL,
    apply: () => Promise.reject(),
  },
  { name: 'store hangs', operations: ALL, apply: () => new Promise(() => {}) },
  { name: 'store is slow', operations: ALL, apply: ({ later, work }) => later(2_000, work) },
  { name: 'store is rather slow', operations: ALL, apply: ({ later, work }) => later(60, work) },
  {
    name: 'store is full',
    operations: ['set'],
    apply: ({ later }) =>
      later(1, () => {
        throw new Error(`OOM ${SECRET}`)
      }),
  },
  {
    name: 'store writes, then breaks',
    operations: ['set', 'claim'],
    apply: ({ later, work }) =>
      later(1, () => {
        void work()
        throw new Error(`ECONNRESET ${SECRET}`)
      }),
  },
  {
    name: 'store writes a minute later',
    operations: ['set'],
    apply: ({ later, work, reply, random }) => {
      void later(random.between(60_000, 600_000), work)
      return reply(() => 'OK')
    },
  },
  { name: 'store evicts at once', operations: ['set'], apply: ({ reply }) => reply(() => 'OK') },
  { name: 'store is empty', operations: ['get'], apply: ({ reply }) => reply(() => null) },
  {
    name: 'store lags behind',
    operations: ['get'],
    apply: ({ reply, storedBefore }) => reply(storedBefore),
  },
  {
    name: 'store swaps two answers',
    operations: ['get'],
    apply: ({ key, reply, stored }) =>
      reply(() => stored(key.endsWith('latest') ? 'rates:v1:history' : 'rates:v1:latest')),
  },
  {
    name: 'store answers garbage',
    operations: ['get'],
    apply: ({ reply, random }) =>
      reply(() => random.pick<unknown>(['', '{', 'null', '[]', '{"v":1}', 7, true, {}, SECRET])),
  },
  envelope('of an old version', (fields) => ({ ...fields, v: 0 })),
  envelope('of a newer version', (fields) => ({ ...fields, v: 2 })),
  envelope('from the future', (fields) => ({ ...fields, savedAt: savedAtOf(fields) + 30 * DAY })),
  envelope('without a time', (fields) => ({ ...fields, savedAt: undefined })),
  envelope('without data', (fields) => ({ ...fields, data: null })),
  envelope('of nobody', ({ data, ...fields }) => ({
    ...fields,
    data: { ...Object(data), attribution: { name: SECRET, url: SECRET } },
  })),
  {
    name: 'store was tampered with',
    operations: ['get'],
    apply: ({ reply, stored, random }) => {
      const tamper = random.pick(TAMPERINGS)
      return reply(() => stored()?.replaceAll(...tamper))
    },
  },
  {
    name: 'claims are never granted',
    operations: ['claim'],
    apply: ({ reply }) => reply(() => false),
  },
  {
    name: 'claims are always granted',
    operations: ['claim'],
    apply: ({ reply }) => reply(() => true),
  },
  {
    name: 'claims are answered with garbage',
    operations: ['claim'],
    apply: ({ reply, random }) => reply(() => random.pick<unknown>([undefined, null, 'OK', 0, ''])),
  },
]

/** What makes either data set one that no gate lets through. */
const TAMPERINGS: readonly (readonly [RegExp, string])[] = [
  [/"(EUR|JPY|GBP|INR|USD)":[\d.e+-]+/g, '"$1":-1'],
  [/"(EUR|JPY|GBP|INR|USD)":[\d.e+-]+/g, '"$1":null'],
  [/"(EUR|JPY|GBP|INR|USD)":([\d.e+-]+)/g, '"$1":"$2"'],
  [/"base":"..."/g, '"base":"euro"'],
]

function envelope(
  name: string,
  alter: (fields: Record<string, unknown>) => Record<string, unknown>,
): StoreFault {
  return {
    name: `stored value ${name}`,
    operations: ['get'],
    apply: ({ reply, stored }) =>
      reply(() => {
        const text = stored()
        return text === undefined ? undefined : JSON.stringify(alter(Object(JSON.parse(text))))
      }),
  }
}

function savedAtOf({ savedAt }: Record<string, unknown>): number {
  return Number(savedAt)
}
