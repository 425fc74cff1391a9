import { beforeAll, describe, expect, it } from 'vitest'

import { storeContract } from '../../src/testing/index.ts'
import { fakeRedis } from '../stores/fake-redis.ts'
import { bundleWorker, openWorkers } from './workerd.ts'

let script: string

beforeAll(async () => {
  script = await bundleWorker('test/system/worker-program.ts')
})

/** Asks one of two Workers of one script, each an isolate of its own: they share a KV namespace, a data centre and a database. */
type Ask = (worker: 'one' | 'two', page: string) => Promise<unknown>

/** A database that answers as Upstash does. */
function database(): (request: Request) => Promise<Response> {
  const redis = fakeRedis()
  return async (request) => {
    if (new URL(request.url).hostname !== 'database.invalid') throw new Error('no network')
    return new Response(JSON.stringify({ result: redis.run(JSON.parse(await request.text())) }))
  }
}

function openRooms(store: string): Ask {
  const simulator = openWorkers({ script, outboundService: database() })
  return async (worker, page) => {
    const { fetch } = await simulator.getWorker(worker)
    const response = await fetch(`http://localhost/${store}/${page}`)
    expect(response.status, page).toBe(200)
    return response.json()
  }
}

/** How often `event` happened, among the events of a handler. */
function count(events: unknown, event: string): number {
  if (!Array.isArray(events)) throw new Error('not a list')
  return events.filter((each) => each === event).length
}

const LATEST = 'api/v1/latest'
const HISTORY = 'api/v1/history?from=USD&to=JPY'

describe.each(['kv', 'cache', 'upstash'])('in workerd, with the store %s', (store) => {
  it('the store is a good one', async () => {
    const ask = openRooms(store)
    expect(await ask('one', 'contract')).toEqual({
      cases: storeContract(() => new Map()).length,
      failed: [],
    })
  })

  it('questions that come at once ask upstream once', async () => {
    const ask = openRooms(store)
    const answers = await Promise.all(Array.from({ length: 5 }, () => ask('one', LATEST)))
    for (const answer of answers) expect(answer).toEqual(answers[0])
    expect(count(await ask('one', 'events'), 'latest upstream_asked')).toBe(1)
  })

  it('a second isolate has the rates from the store, and asks nobody', async () => {
    const ask = openRooms(store)
    const answers = [await ask('one', LATEST), await ask('one', HISTORY)]
    await expect.poll(() => ask('two', 'stored')).toEqual(['latest', 'history'])
    expect([await ask('two', LATEST), await ask('two', HISTORY)]).toEqual(answers)
    expect(await ask('one', 'events')).toContain('history upstream_asked')
    const events = await ask('two', 'events')
    expect(count(events, 'latest rates_restored')).toBe(1)
    expect(count(events, 'latest upstream_asked')).toBe(0)
    expect(count(events, 'history upstream_asked')).toBe(0)
  })

  it('rates that are due are refreshed after the answer', async () => {
    const ask = openRooms(store)
    const before = await ask('one', LATEST)
    await ask('one', 'later')
    expect(await ask('one', LATEST)).toEqual(before)
    await expect.poll(() => ask('one', 'events')).toContain('latest stale_served')
    await expect.poll(() => ask('one', LATEST)).not.toEqual(before)
    const events = await ask('one', 'events')
    expect(count(events, 'latest upstream_asked')).toBe(2)
    expect(count(events, 'store_failed')).toBe(0)
  })
})
