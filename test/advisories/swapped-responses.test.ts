import { describe, expect, test } from 'vitest'

import type { CacheStore, HistoryProvider, RatesEvent, RatesHandler } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { NOW } from '../catalogue/catalogue.ts'
import { pick } from '../system/pick.ts'
import { ENDPOINTS } from './endpoints.ts'
import { createStillHandler, get } from './loaded-handler.ts'

type Entries = Map<string, string>

const set = (): void => {}

/** Wrong values that a store client may return after a cancelled command left its reply on the connection. */
const SWAPS: Record<string, (entries: Entries, foreign: Entries) => CacheStore> = {
  'the value of another app': (_, foreign) => ({ get: (key) => foreign.get(key), set }),
  'the reply to the previous command': (entries) => {
    let waiting: unknown = null
    const next = (reply: unknown): unknown => [waiting, (waiting = reply)][0]
    return {
      get: (key) => next(entries.get(key) ?? null),
      set: (key, value) => next(entries.set(key, value) && 'OK'),
    }
  },
  'the value of another key': (entries) => ({
    get: (key) => [...entries].toReversed().find(([other]) => other !== key)?.[1],
    set,
  }),
  'the value of the first read': (entries) => {
    let last: string | undefined
    return { get: (key) => last ?? (last = entries.get(key)), set }
  },
}

/** Few days of reference rates, because they are written and read repeatedly. */
const SPANS = [
  { start: '2005-02-01', end: '2005-03-31' },
  { start: '2026-09-01', end: '2026-11-20' },
]

const MARKETS = [0, 1].map((index) => {
  const { latest, history } = fakeProviders({ seed: index + 1, now: () => NOW })
  const attribution = { name: `Market ${index}`, url: `https://market-${index}.example` }
  const fetchHistory: HistoryProvider['fetchHistory'] = async ({ start, end }, context) => {
    const spans = SPANS.map((span) => history.fetchHistory(span, context))
    const days = (await Promise.all(spans)).flatMap((each) => each.days)
    return { base: 'EUR', days: days.filter(({ date }) => date >= start && date <= end) }
  }
  return { latest: { ...latest, attribution }, history: { attribution, fetchHistory } }
})

const stores: Entries[] = [new Map(), new Map()]
const expected = await Promise.all(
  stores.map((store, index) => responsesOf(service(index, store).handler)),
)

test('two handlers of different markets store three values each', () => {
  expect(stores.map(({ size }) => size)).toEqual([3, 3])
  expect(expected[0]).not.toEqual(expected[1])
})

describe.each(Object.entries(SWAPS))('a store that returns %s', (_, swap) => {
  test('does not affect responses', async () => {
    const [own, foreign] = [new Map(pick(stores, 0)), new Map(pick(stores, 1))]
    const late = [service(0, swap(own, foreign)), service(1, swap(foreign, own))]
    for (let round = 0; round < 2; round += 1) {
      for (const [index, { handler }] of late.entries()) {
        expect(await responsesOf(handler)).toEqual(expected[index])
        await handler.refresh()
      }
    }
    const types = late.flatMap(({ events }) => events.map(({ type }) => type))
    expect(types.some((type) => ['rates_rejected', 'store_failed'].includes(type))).toBe(true)
    expect(types).not.toContain('internal_error')
  })
})

/** Creates a handler of one of the markets. */
function service(index: number, store: CacheStore) {
  const events: RatesEvent[] = []
  const handler = createStillHandler(
    { store, onEvent: (event) => events.push(event), providers: pick(MARKETS, index) },
    NOW + 60_000,
  )
  return { handler, events }
}

/** Returns the responses of all endpoints except status. */
async function responsesOf(handler: RatesHandler): Promise<string[]> {
  const bodies: string[] = []
  const targets = ENDPOINTS.map(({ target }) => target).filter((each) => !each.endsWith('/status'))
  for (const target of [...targets, '/api/v1/latest?date=2005-03-01']) {
    const { status, body } = await get(handler, target)
    bodies.push(`${status} ${body}`)
  }
  return bodies
}
