import { describe, expect, test } from 'vitest'

import { createHandlerOn } from '../../src/handler.ts'
import type { CacheStore, RatesEvent, RatesHandler } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { NOW, ask } from '../catalogue/catalogue.ts'
import { virtualRuntime } from '../virtual-runtime.ts'
import { pick } from '../system/pick.ts'
import { ENDPOINTS } from './endpoints.ts'

const MINUTE = 60_000

type Entries = Map<string, string>

/** What a client of a store may hand out once a cancelled command has left its reply behind on the connection. */
const SWAPS: Record<string, (entries: Entries, foreign: Entries) => CacheStore> = {
  'what it keeps for somebody else': (_entries, foreign) => ({
    get: (key) => foreign.get(key),
    set: () => undefined,
  }),
  'the reply to the command before': (entries) => {
    let waiting: unknown = null
    const next = (reply: unknown): unknown => [waiting, (waiting = reply)][0]
    return {
      get: (key) => next(entries.get(key) ?? null),
      set: (key, value) => next(entries.set(key, value) && 'OK'),
    }
  },
  'the value of another key': (entries) => ({
    get: (key) => [...entries].toReversed().find(([other]) => other !== key)?.[1],
    set: () => undefined,
  }),
  'the value that was read last': (entries) => {
    let last: string | undefined
    return {
      get: (key) => last ?? (last = entries.get(key)),
      set: () => undefined,
    }
  },
}

describe.each(Object.entries(SWAPS))('a store that answers with %s', (_, swap) => {
  test('is never believed: everybody is answered about what was asked', async () => {
    const stores: Entries[] = [new Map(), new Map()]
    const expected: string[][] = []
    for (const [index, store] of stores.entries()) {
      expected.push(await answersOf(service(index, store).handler))
      expect(store.size).toBe(3)
    }
    expect(expected[0]).not.toEqual(expected[1])

    const [own, foreign] = [pick(stores, 0), pick(stores, 1)]
    const late = [service(0, swap(own, foreign)), service(1, swap(foreign, own))]
    for (let round = 0; round < 2; round += 1) {
      for (const [index, { handler }] of late.entries()) {
        expect(await answersOf(handler)).toEqual(expected[index])
        await handler.refresh()
      }
    }
    const rejected = late.flatMap(({ events }) => events.filter(({ type }) => isRejection(type)))
    expect(rejected.length).toBeGreaterThan(0)
    expect(late.flatMap(({ events }) => events).map(({ type }) => type)).not.toContain(
      'internal_error',
    )
  })
})

function isRejection(type: RatesEvent['type']): boolean {
  return type === 'rates_rejected' || type === 'store_failed'
}

/** A handler of one of the markets, which has a name of its own. */
function service(
  index: number,
  store: CacheStore,
): { handler: RatesHandler; events: RatesEvent[] } {
  const events: RatesEvent[] = []
  const runtime = virtualRuntime(NOW + MINUTE)
  const { latest, history } = fakeProviders({ seed: index + 1, now: () => NOW })
  const attribution = { name: `Market ${index}`, url: `https://market-${index}.example` }
  const handler = createHandlerOn(() => runtime, {
    now: runtime.now,
    store,
    onEvent: (event) => events.push(event),
    providers: {
      latest: { ...latest, attribution },
      history: { ...history, attribution },
    },
  })
  return { handler, events }
}

/** What `handler` says of everything but itself. */
async function answersOf(handler: RatesHandler): Promise<string[]> {
  const bodies: string[] = []
  const targets = ENDPOINTS.map(({ target }) => target).filter((each) => !each.endsWith('/status'))
  for (const target of [...targets, '/api/v1/latest?date=2005-03-01']) {
    const { status, body } = await ask(handler, { method: 'GET', target }, 'answer')
    bodies.push(`${status} ${body}`)
  }
  return bodies
}
