import { expect } from 'vitest'

import type { FaultCase, Meeting, State, Variant } from './case.ts'
import { REJECTED } from './forms.ts'
import { ask } from './journey.ts'
import type { Machine } from './machine.ts'
import { fabricated, poisons } from './poisons.ts'
import { expectRest, flood } from './store-forms.ts'
import { fill } from './stored.ts'
import { NONCE } from './upstream.ts'
import type { StoreFault, World } from './world.ts'

const DAY = 86_400_000

const FAILED = ['store_failed'] as const

/** Faults of the store. */
export const store: readonly FaultCase[] = [
  {
    id: 'store-get-throws',
    layer: 'store',
    fault: 'every read fails',
    variants: [
      broken('at once', { get: throws }, { keeps: true }),
      broken('with a promise', { get: rejects }, { keeps: true }),
    ],
  },
  {
    id: 'store-get-and-delete-throw',
    layer: 'store',
    fault: 'every operation fails: the server is gone',
    variants: [
      broken('at once', { get: throws, set: throws }),
      broken('with a promise', { get: rejects, set: rejects }),
      broken('claims too', { get: rejects, set: rejects, claim: rejects }),
    ],
  },
  {
    id: 'store-set-throws',
    layer: 'store',
    fault: 'every write fails',
    variants: [broken('at once', { set: throws }), broken('with a promise', { set: rejects })],
  },
  {
    id: 'store-slow',
    layer: 'store',
    fault: 'every operation takes 2 s',
    variants: [
      broken('2 s', { get: slowly, set: slowly }, { meanwhile: expectRest, takes: 2_000 }),
    ],
  },
  {
    id: 'store-old-version',
    layer: 'store',
    fault: 'what is stored has the form of an earlier version',
    variants: [
      holding('version 0', () => '{"v":0,"base":"USD","rates":{"EUR":0.5,"GBP":0.5,"JPY":9}}'),
      holding('version 0, but for that in order', (key, world) =>
        JSON.stringify({ ...fabricated(key, world), v: 0 }),
      ),
      holding('no envelope', (key, { upstream, machine }) =>
        JSON.stringify(
          key.endsWith('latest')
            ? upstream.latest(machine.now())
            : upstream.history('2026-01-01', '2026-11-20', machine.now()),
        ),
      ),
      holding('no JSON', () => `${NONCE} {`),
      holding('a number', () => '7'),
    ],
  },
  {
    id: 'store-newer-version',
    layer: 'store',
    fault: 'what is stored has the form of a later version',
    variants: [
      {
        ...holding('version 2', (key, world) =>
          JSON.stringify({ ...fabricated(key, world), v: 2, more: NONCE }),
        ),
        meanwhile: expectOneWrite,
      },
    ],
  },
  {
    id: 'store-poisoned',
    layer: 'store',
    fault: 'somebody else has written to the store',
    variants: poisons.map(({ name, poison }) =>
      holding(name, (key, world) => JSON.stringify(poison(fabricated(key, world)))),
    ),
  },
  {
    id: 'store-future-entry',
    layer: 'store',
    fault: 'what is stored comes from the future',
    variants: [
      holding('published in 30 days', (key, world) => {
        const envelope = fabricated(key, world)
        const ahead = world.machine.now() + 30 * DAY
        const date = new Date(ahead).toISOString().slice(0, 10)
        const { table, days, ...data } = envelope.data
        return JSON.stringify({
          ...envelope,
          data: table
            ? { ...data, table: { ...table, updatedAt: ahead, nextUpdateAt: ahead + DAY } }
            : { ...data, days: days?.slice(-1).map((day) => ({ ...day, date })) },
        })
      }),
      holding('saved in 30 days', (key, world) => {
        const savedAt = world.machine.now() + 30 * DAY
        return JSON.stringify({ ...fabricated(key, world), savedAt })
      }),
    ],
  },
  {
    id: 'store-evicts-at-once',
    layer: 'store',
    fault: 'what was written is gone at once',
    variants: [broken('a store of no size', { get: nothing, set: nothing }, { told: [] })],
  },
  {
    id: 'store-full',
    layer: 'store',
    fault: 'there is no room for a write',
    variants: [
      broken('OOM', { set: () => Promise.reject(new Error(`OOM command not allowed ${NONCE}`)) }),
    ],
  },
  {
    id: 'store-readonly',
    layer: 'store',
    fault: 'the store can only be read',
    variants: [
      broken('READONLY', { set: readOnly }),
      broken(
        'READONLY, with what another process wrote before',
        { set: readOnly },
        {
          begin: (world) => fill(world, (key) => JSON.stringify(fabricated(key, world))),
          attempts: { cold: 0, warm: 0, expired: 0 },
          told: [],
        },
      ),
    ],
  },
  {
    id: 'store-partition',
    layer: 'store',
    fault: 'one of two processes does not reach the store',
    variants: [
      {
        name: 'the second one',
        verdict: 'accepted',
        world: { processes: [{}, { isApart: true }] },
        begin({ services }) {
          for (const { store: cut } of services.slice(1)) cut.fault = { get: rejects, set: rejects }
        },
        keeps: 'first',
        told: FAILED,
      },
    ],
  },
  {
    id: 'memory-store-flood',
    layer: 'store',
    fault: 'somebody asks thousands of different questions',
    variants: [{ name: 'three thousand', verdict: 'accepted', act: flood }],
  },
]

/** A form in which operations of the store do something else. */
function broken(name: string, fault: StoreFault, more: Partial<Variant> = {}): Variant {
  return { name, verdict: 'accepted', store: fault, keeps: false, told: FAILED, ...more }
}

/** A form in which the store holds what cannot be used. */
function holding(name: string, value: (key: string, world: World) => string): Variant {
  return {
    name,
    verdict: 'accepted',
    told: REJECTED,
    begin: (world) => fill(world, value),
  }
}

function throws(): never {
  throw new Error(`ECONNREFUSED ${NONCE}`)
}

function rejects(): Promise<never> {
  return Promise.reject(new Error(`Connection is closed. ${NONCE}`))
}

function readOnly(): Promise<never> {
  return Promise.reject(new Error(`READONLY You can't write ${NONCE}`))
}

/** Nothing found and nothing granted, but only after two seconds. */
function slowly(machine: Machine): Promise<false> {
  return new Promise((resolve) => {
    machine.after(2_000, () => resolve(false))
  })
}

function nothing(): void {}

/** Demands that each value was written once, not back and forth. */
async function expectOneWrite({ world, state }: Meeting): Promise<void> {
  await ask(world, ['/api/rates', '/api/v1/history?from=EUR&to=USD'])
  await world.settle()
  const { operations, entries } = world.service.store
  const writes = operations.filter(({ operation }) => operation === 'set')
  const before: Record<State, number> = { cold: 0, warm: 2, expired: 2, fresh: 2 }
  expect(writes.length - before[state]).toBe(state === 'fresh' ? 0 : 2)
  expect(entries.size).toBe(2)
}
