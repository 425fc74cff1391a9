import { expect } from 'vitest'

import type { FaultCase, Meeting, State, Variant } from './case.ts'
import { after, failing } from './forms.ts'
import { TARGETS, ask, askAll } from './journey.ts'
import { NONCE, later, wireError } from './upstream.ts'
import type { Inject } from './upstream.ts'
import type { Reply, World } from './world.ts'

const SECOND = 1_000
const HOUR = 3_600 * SECOND

/** What a host that takes work was given. */
const given: { isDone: boolean }[] = []

/** Faults of those who ask, and of hosts. */
export const lifecycle: readonly FaultCase[] = [
  {
    id: 'abort-first-caller',
    layer: 'lifecycle',
    fault: 'many wait, and the first one leaves',
    variants: [
      {
        name: 'after half the time',
        verdict: 'accepted',
        inject: after(SECOND),
        takes: SECOND,
        act: leaveFirst,
      },
    ],
  },
  {
    id: 'abort-all-callers',
    layer: 'lifecycle',
    fault: 'many wait, and all of them leave',
    instead: {
      cold: 'Nobody is left to read an answer; the load goes on, and whoever asks next finds its data.',
      warm: 'Nobody has to wait, so nobody can leave; the refresh goes on.',
    },
    variants: [
      {
        name: 'after half the time',
        verdict: 'accepted',
        inject: after(SECOND),
        takes: SECOND,
        act: leaveAll,
      },
    ],
  },
  {
    id: 'abort-before-start',
    layer: 'lifecycle',
    fault: 'a request comes that nobody waits for any more',
    instead: { cold: 'Nobody reads the answer; upstream is not asked for it.' },
    variants: [
      {
        name: 'alone',
        verdict: 'accepted',
        act: askAborted,
        // The first who does wait has to.
        freshness: ['fresh', 'loaded'],
      },
    ],
  },
  {
    id: 'waituntil-missing',
    layer: 'lifecycle',
    fault: 'the host freezes the process after an answer',
    variants: [
      {
        name: 'for an hour, without a way to say that there is work',
        verdict: 'accepted',
        inState: { warm: 'refused' },
        begin(world, state) {
          // The connection does not survive it.
          const inject: Inject = () => new Promise(() => {})
          if (state === 'warm') world.upstream.fault = { dataSet: 'latest', inject }
        },
        takes: HOUR,
        act: askAndFreeze,
      },
      {
        name: 'unless it is given the work',
        verdict: 'accepted',
        inject: after(SECOND),
        takes: SECOND,
        world: { waitUntil: give },
        begin: () => given.splice(0),
        act: askAndWatch,
        meanwhile: expectWorkDone,
      },
    ],
  },
  {
    id: 'refresh-rejects-unhandled',
    layer: 'lifecycle',
    fault: 'a refresh behind an answer fails',
    instead: { cold: 'No answer has gone before; the load fails when all who waited have left.' },
    variants: [
      rejecting('with nobody to hear of it', {}),
      rejecting('with a host that waits for it', {
        world: { waitUntil: give },
        begin: () => given.splice(0),
        meanwhile: expectWorkDone,
      }),
    ],
  },
  {
    id: 'thundering-herd-expiry',
    layer: 'lifecycle',
    fault: 'ten thousand ask at the same moment',
    variants: [
      {
        name: 'all at once',
        verdict: 'accepted',
        inject: after(SECOND),
        takes: SECOND,
        act: askTenThousand,
      },
    ],
  },
]

function rejecting(name: string, more: Partial<Variant>): Variant {
  return failing(
    name,
    async (exchange) => {
      await later(exchange, SECOND)
      throw wireError(NONCE)
    },
    {
      takes: SECOND,
      act: (world, state) => (state === 'cold' ? leaveAll(world, state) : askAll(world)),
      ...more,
    },
  )
}

/** One asks before the others, and leaves after half a second: the others' answers. */
async function leaveFirst(world: World, state: State): Promise<Reply[]> {
  const { machine, service, upstream } = world
  const leaving = new AbortController()
  const left = service.ask('/api/v1/latest', leaving)
  machine.after(SECOND / 2, () => leaving.abort())
  const [others] = await Promise.all([askAll(world), left])
  const calls = upstream.calls.filter(({ dataSet }) => dataSet === 'latest')
  expect(calls.at(-1)?.init.signal?.aborted).toBe(false)
  const { status, waited } = await left
  const mustWait = state === 'cold' || state === 'expired'
  expect([status, waited]).toEqual(mustWait ? [502, SECOND / 2] : [200, 0])
  return others
}

/** Everybody asks, and leaves after half a second; the answers, where they were there already. */
async function leaveAll({ machine, service }: World, state: State): Promise<Reply[]> {
  const leaving = TARGETS.map(() => new AbortController())
  const asking = TARGETS.map((target, index) => service.ask(target, leaving[index]))
  machine.after(SECOND / 2, () => {
    for (const controller of leaving) controller.abort()
  })
  const replies = await machine.drive(Promise.all(asking), 10 * SECOND)
  for (const { waited } of replies) expect(waited).toBeLessThanOrEqual(SECOND / 2)
  return state === 'warm' || state === 'fresh' ? replies : []
}

/** Asks for nobody; the answers, where they were there already. */
async function askAborted(world: World, state: State): Promise<Reply[]> {
  const { machine, service } = world
  const before = [world.attempts('latest'), world.attempts('history')]
  const asking = TARGETS.map((target) => {
    const leaving = new AbortController()
    leaving.abort()
    return service.ask(target, leaving)
  })
  const replies = await machine.drive(Promise.all(asking), 10 * SECOND)
  await world.settle()
  if (state === 'warm' || state === 'fresh') return replies
  expect([world.attempts('latest'), world.attempts('history')]).toEqual(before)
  return []
}

/** Asks, and stops the process for an hour as soon as it has answered. */
async function askAndFreeze(world: World, state: State): Promise<Reply[]> {
  const replies = await askAll(world)
  if (state !== 'warm') return replies
  world.service.process.freeze()
  await world.machine.advance(HOUR)
  world.service.process.thaw()
  return replies
}

function give(work: Promise<unknown>): void {
  const entry = { isDone: false }
  given.push(entry)
  const done = async (): Promise<void> => {
    await work
    entry.isDone = true
  }
  done().catch(() => undefined)
}

/** Asks; where data are refreshed behind the answers, the host has been given that. */
async function askAndWatch(world: World, state: State): Promise<Reply[]> {
  const replies = await askAll(world)
  if (state === 'warm') expect(given.some(({ isDone }) => !isDone)).toBe(true)
  return replies
}

/** Demands that all work that was given has come to its end, and to a good one. */
async function expectWorkDone({ world, state }: Meeting): Promise<void> {
  await world.settle()
  if (state === 'warm') expect(given).not.toEqual([])
  expect(given.filter(({ isDone }) => !isDone)).toEqual([])
}

function askTenThousand(world: World): Promise<Reply[]> {
  return ask(world, [...TARGETS, ...Array<string>(10_000).fill('/api/convert?from=USD&to=GBP')])
}
