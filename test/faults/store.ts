import type { LatestTable } from '../../src/index.ts'
import { seal } from '../fixtures/envelopes.ts'
import { hash } from '../simulation/world/random.ts'
import { DAY, MINUTE } from '../virtual-runtime.ts'
import { REJECTED, SECRET, entriesOf } from './fault.ts'
import type { Fault, Make } from './fault.ts'

/** One operation on a store, with the means to change its result. */
export interface StoreOperation {
  readonly key: string
  /** Performs the operation of a healthy store and returns its result. */
  work(): unknown
  /** Returns the text stored under `key` (default the key of the operation). */
  stored(key?: string): string | undefined
  /** Returns the previous text under the key. */
  storedBefore(): string | undefined
  /** Returns a result as usual: after a round trip, or at once where the store is in this process. */
  reply(result: () => unknown): unknown
  later(delay: number, result: () => unknown): Promise<unknown>
  pick(items: readonly unknown[]): unknown
}

/** The operations of a store that a fault replaces. */
export type StoreFault = Partial<Record<'get' | 'set' | 'claim', Operate>>

type StoredRates = Record<string, unknown>

export interface StoredValue {
  v: number
  key: string
  savedAt: number
  data: {
    attribution: { name: string; url: string }
    table?: LatestTable
    base?: string
    start?: string
    days?: { date: string; rates: StoredRates }[]
  }
}

const MARKUP = `<script>alert("${SECRET}")</script>`

const FAILED = ['store_failed'] as const

type Operate = (operation: StoreOperation) => unknown

const throws: Operate = () => {
  throw new Error(`ECONNREFUSED ${SECRET}`)
}
const rejects: Operate = () => Promise.reject(new Error(`Connection is closed. ${SECRET}`))
const readOnly: Operate = () => Promise.reject(new Error(`READONLY You can't write ${SECRET}`))
const refuses: Operate = () => Promise.reject()
const hangs: Operate = () => new Promise(() => {})
const nothing: Operate = ({ reply }) => reply(() => undefined)

/** Finds and grants nothing, after two seconds. */
const slowly: Operate = ({ later }) => later(2_000, () => false)

/** Works, but slightly too late. */
const drags: Operate = ({ later, work }) => later(60, work)

const breaks: Operate = ({ later, work }) =>
  later(1, () => {
    void work()
    throw new Error(`ECONNRESET ${SECRET}`)
  })

const broken: Make<StoreFault> = (name, store, more) => {
  return { name, verdict: 'accepted', store, reported: FAILED, ...more }
}

/** Returns a form with an unusable stored value. */
const holding: Make<(good: StoredValue) => unknown> = (name, holds) => {
  return { name, verdict: 'accepted', reported: REJECTED, holds }
}

export const store = entriesOf('store', {
  'store-get-throws': [
    broken('at once', { get: throws }),
    broken('with a promise', { get: rejects }),
  ],
  'store-get-and-delete-throw': [
    broken('at once', { get: throws, set: throws }),
    broken('with a promise', { get: rejects, set: rejects }),
    broken('claims too', { get: rejects, set: rejects, claim: rejects }),
  ],
  'store-set-throws': [
    broken('at once', { set: throws }),
    broken('with a promise', { set: rejects }),
  ],
  'store-slow': broken('2 s', { get: slowly, set: slowly }, { takes: 2_000 }),
  'store-old-version': [
    holding('version 0', () => '{"v":0,"base":"USD","rates":{"EUR":0.5,"GBP":0.5,"JPY":9}}'),
    holding('version 0, otherwise valid', (good) => ({ ...good, v: 0 })),
    holding('no envelope', ({ data }) => data.table ?? data),
    holding('invalid JSON', () => `${SECRET} {`),
    holding('a number', () => 7),
  ],
  'store-newer-version': holding('version 3', (good) => ({ ...good, v: 3, more: SECRET })),
  'store-poisoned': [
    poisoned('the base at a million', (rates) => ({ ...rates, USD: 1e6, EUR: 1e6 })),
    poisoned('negative rates', (rates) => mapRates(rates, (rate) => -Number(rate))),
    poisoned('rates as strings', (rates) => mapRates(rates, String)),
    poisoned('null instead of rates', (rates) => mapRates(rates, () => null)),
    poisoned('markup instead of codes', () => ({ [MARKUP]: 1, '"><img src=x>': 2 })),
    poisoned('markup instead of rates', (rates) => mapRates(rates, () => MARKUP)),
    poisoned('nineteen codes and no days', (rates, { data }) =>
      data.table ? Object.fromEntries(Object.entries(rates).slice(0, 19)) : {},
    ),
    poisoned('lists instead of rates', () => [1, 2]),
    holding('another source', (good) =>
      withSource(good, { name: MARKUP, url: `https://${SECRET}.example` }),
    ),
    holding('the right source with another address', (good) =>
      withSource(good, { ...good.data.attribution, url: `javascript:${SECRET}` }),
    ),
    holding("another key's value", (good) => ({ ...good, key: `${good.key}:${SECRET}` })),
    holding('no data', (good) => ({ ...good, data: undefined })),
    holding('no time of saving', (good) => ({ ...good, savedAt: null })),
  ],
  'store-future-entry': [
    holding('published in 30 days', (good) => {
      const ahead = good.savedAt + 30 * DAY
      const date = new Date(ahead).toISOString().slice(0, 10)
      const { table, days, ...data } = good.data
      const reported = table
        ? { table: { ...table, updatedAt: ahead, nextUpdateAt: ahead + DAY } }
        : { days: days?.slice(-1).map((day) => ({ ...day, date })) }
      return { ...good, data: { ...data, ...reported } }
    }),
    holding('saved in 30 days', (good) => ({ ...good, savedAt: good.savedAt + 30 * DAY })),
  ],
  'store-evicts-at-once': broken(
    'a store of no size',
    { get: nothing, set: nothing },
    { reported: [] },
  ),
  'store-full': broken('OOM', {
    set: () => Promise.reject(new Error(`OOM command not allowed ${SECRET}`)),
  }),
  'store-readonly': [
    broken('READONLY', { set: readOnly }),
    broken('READONLY, with what another process wrote before', { set: readOnly }, { reported: [] }),
  ],
  'store-flipped-bit': [
    holding('anywhere', (good) => {
      const text = seal(good)
      const place = hash(text) >>> 0
      return withFlippedBit(text, place % text.length, place % 8)
    }),
    holding('in a digit of a rate', (good) => {
      const text = seal(good)
      return withFlippedBit(text, text.search(/(?<="GBP":[\d.]*)\d/), 0)
    }),
  ],
})

/** Of a fleet only. */
export const sharedStore = entriesOf('store', {
  'store-hangs': broken('all', { get: hangs, set: hangs, claim: hangs }),
  'store-rejects-nothing': broken('all', { get: refuses, set: refuses, claim: refuses }),
  'store-drags': broken('60 ms', { get: drags, set: drags, claim: drags }),
  'store-writes-then-breaks': broken('with a promise', { set: breaks, claim: breaks }),
  'store-writes-late': broken('1 to 10 minutes', {
    set({ later, work, reply, pick }) {
      void later(Number(pick([MINUTE, 4 * MINUTE, 10 * MINUTE])), work)
      return reply(() => 'OK')
    },
  }),
  'store-lags': broken('the last but one', {
    get: ({ reply, storedBefore }) => reply(storedBefore),
  }),
  'store-swaps': broken('of the other data set', {
    get: ({ key, reply, stored }) =>
      reply(() => stored(key.endsWith('latest') ? 'rates:v1:history' : 'rates:v1:latest')),
  }),
  'store-garbage': broken('of ten kinds', {
    get: ({ reply, pick }) =>
      reply(() => pick(['', '{', 'null', '[]', '{"v":1}', 7, true, {}, SECRET, null])),
  }),
  'claims-never': broken('false', { claim: ({ reply }) => reply(() => false) }),
  'claims-always': broken('true', { claim: ({ reply }) => reply(() => true) }),
  'claims-garbage': broken('of five kinds', {
    claim: ({ reply, pick }) => reply(() => pick([undefined, null, 'OK', 0, ''])),
  }),
})

/** Returns the replacement of one operation, or undefined where the fault does not affect it. */
export function storeFaultOf({ store, holds }: Fault, name: keyof StoreFault): StoreFault['get'] {
  if (name !== 'get' || !holds) return store?.[name]
  return ({ reply, stored }) =>
    reply(() => {
      const text = stored()
      return text === undefined ? undefined : textOf(holds(JSON.parse(text)))
    })
}

export function textOf(value: unknown): string {
  return typeof value === 'object' && value !== null ? seal(value) : String(value)
}

function poisoned(name: string, change: (rates: StoredRates, good: StoredValue) => object): Fault {
  return holding(name, (good) => {
    const { table, days, ...data } = good.data
    const changed = table
      ? { table: { ...table, rates: change(table.rates, good) } }
      : { days: days?.map(({ date, rates }) => ({ date, rates: change(rates, good) })) }
    return { ...good, data: { ...data, ...changed } }
  })
}

function withSource(good: StoredValue, attribution: StoredValue['data']['attribution']): object {
  return { ...good, data: { ...good.data, attribution } }
}

function mapRates(rates: StoredRates, change: (rate: unknown) => unknown): StoredRates {
  return Object.fromEntries(Object.entries(rates).map(([code, rate]) => [code, change(rate)]))
}

function withFlippedBit(text: string, place: number, bit: number): string {
  const flipped = String.fromCharCode(text.charCodeAt(place) ^ (1 << bit))
  return text.slice(0, place) + flipped + text.slice(place + 1)
}
