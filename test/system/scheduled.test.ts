import { beforeAll, beforeEach, describe, expect, it } from 'vitest'

import { storeContract } from 'ratesmith/testing'

import { fakeRedis } from '../stores/fake-redis.ts'
import { requireProgram } from './processes.ts'
import { findWorkerd } from './runtimes.ts'
import { respondAsUpstream } from './upstreams.ts'
import { bundleWorker, openWorkers } from './workerd.ts'
import type { WorkerSettings } from './workerd.ts'

const LATEST = '/api/v1/latest'
const HISTORY = '/api/v1/history?from=USD&to=JPY'

/** `/later` advances a Worker's clock by this, in ms. */
const LATER = 26 * 3_600_000

const WITHIN = { timeout: 20_000 }

let script: string

beforeAll(async () => {
  script = await bundleWorker('test/system/worker-program.ts')
})
beforeEach(({ skip }) => requireProgram('workerd', findWorkerd() ?? '', skip))

/** Creates both upstreams, which record the hosts of their requests, and a database like Upstash. */
function createUpstream() {
  const calls: string[] = []
  const redis = fakeRedis()
  let now = Date.now()
  let parked = Promise.withResolvers<void>()
  parked.resolve()
  return {
    calls,
    latestCalls: () => calls.filter((host) => host === 'open.er-api.com').length,
    async respond(request: Request): Promise<Response> {
      const url = new URL(request.url)
      if (url.hostname === 'database.invalid') {
        return Response.json({ result: redis.run(JSON.parse(await request.text())) })
      }
      calls.push(url.hostname)
      await parked.promise
      return respondAsUpstream(url, now)
    },
    /** Publishes newer rates, and delays further responses until `release` is called. */
    park() {
      now += LATER
      parked = Promise.withResolvers()
    },
    release: () => parked.resolve(),
  }
}

function openScheduled(settings: Omit<WorkerSettings, 'script'>) {
  const simulator = openWorkers({ script, ...settings })
  const send = async (name: string, path: string): Promise<Response> =>
    (await simulator.getWorker(name)).fetch(`http://localhost${path}`)
  return {
    send,
    read: async (name: string, path: string): Promise<unknown> => (await send(name, path)).json(),
    async cron(name: string): Promise<string> {
      const worker = await simulator.getWorker(name)
      return (await worker.scheduled({ cron: '*/15 * * * *' })).outcome
    },
  }
}

describe.each(['kv', 'cache', 'upstash'])('a Worker with a cron trigger and store %s', (STORE) => {
  const bindings = { one: { STORE }, two: { STORE } }

  function open() {
    const upstream = createUpstream()
    return { upstream, ...openScheduled({ bindings, outboundService: upstream.respond }) }
  }

  it('passes the store contract, and makes one upstream call for simultaneous requests, also in the global scope', async () => {
    const { send, read, upstream } = open()
    const cases = storeContract(() => new Map()).length
    expect(await read('one', '/contract')).toEqual({ cases, failed: [] })
    for (const prefix of ['', '/global']) {
      const responses = Array.from({ length: 5 }, async () => {
        const response = await send('one', prefix + LATEST)
        return `${response.status} ${await response.text()}`
      })
      const [first = '', ...others] = new Set(await Promise.all(responses))
      expect([first.slice(0, 4), others]).toEqual(['200 ', []])
    }
    expect(upstream.latestCalls()).toBe(1)
  })

  it('responds to its first request from the store, in any isolate, and updates isolates through it', async () => {
    const { send, read, cron, upstream } = open()
    expect(await cron('one')).toBe('ok')
    expect(upstream.calls.toSorted()).toEqual(['api.frankfurter.dev', 'open.er-api.com'])
    await expect.poll(() => read('two', '/stored'), WITHIN).toEqual(['latest', 'history'])
    for (const path of [LATEST, HISTORY]) {
      const response = await send('two', path)
      expect(response.status).toBe(200)
      expect(response.headers.get('cache-status')).toMatch(/^rates; hit; ttl=\d+$/)
      expect(await response.json()).toEqual(await read('one', path))
    }
    expect(upstream.calls).toHaveLength(2)
    expect(await read('two', '/events')).toContain('latest rates_restored')
    const before = await read('two', LATEST)
    const lookedAt = performance.now()
    for (const name of ['one', 'two']) await send(name, '/later')
    upstream.park()
    upstream.release()
    await cron('one')
    const after = await read('one', LATEST)
    expect(after).not.toEqual(before)
    // Real time, unlike the clock of the Worker: an isolate reads the store at most once per second.
    await expect.poll(() => performance.now() - lookedAt, WITHIN).toBeGreaterThan(1_000)
    const statuses: (string | null)[] = []
    const next = async (): Promise<unknown> => {
      const response = await send('two', LATEST)
      statuses.push(response.headers.get('cache-status'))
      return response.json()
    }
    await expect.poll(next, WITHIN).toEqual(after)
    expect(statuses.join()).not.toContain('fwd=miss')
    expect(upstream.latestCalls()).toBe(2)
  })

  it('responds without delay while due rates are refreshed, after a response and by the cron trigger', async () => {
    const { send, read, cron, upstream } = open()
    const first = await read('one', LATEST)
    await read('one', '/later')
    upstream.park()
    expect(await read('one', LATEST)).toEqual(first)
    upstream.release()
    await expect.poll(() => read('one', LATEST), WITHIN).not.toEqual(first)
    const events = await read('one', '/events')
    expect(events).toContain('latest stale_served')
    expect(events).not.toContain('store_failed')
    expect(upstream.latestCalls()).toBe(2)
    const before = await read('one', LATEST)
    await send('one', '/later')
    upstream.park()
    const refreshed = cron('one')
    // The upstream does not respond before the request is complete.
    await expect.poll(() => upstream.latestCalls(), WITHIN).toBe(3)
    const meanwhile = await send('one', LATEST)
    expect(meanwhile.headers.get('cache-status')).toMatch(/^rates; hit; ttl=-\d+; detail=stale$/)
    expect(await meanwhile.json()).toEqual(before)
    upstream.release()
    expect(await refreshed).toBe('ok')
    const after = await send('one', LATEST)
    expect(after.headers.get('cache-status')).toMatch(/^rates; hit; ttl=\d+$/)
    expect(await after.json()).not.toEqual(before)
    expect(upstream.latestCalls()).toBe(3)
  })
})

describe('the handler of a Worker', () => {
  const outboundService = createUpstream().respond

  it('is created once per isolate, by the first event of any kind', async () => {
    const { send, read, cron } = openScheduled({ outboundService })
    await cron('one')
    await Promise.all([send('one', LATEST), send('one', LATEST), cron('one'), send('two', LATEST)])
    expect(await read('one', '/made')).toBe(1)
    expect(await read('two', '/made')).toBe(1)
  })

  it('that cannot be created is logged, returns an empty 500 or fails the cron trigger, and is created at the next event', async () => {
    let log = ''
    const bindings = { one: { BROKEN: '1' }, two: { BROKEN: '1' } }
    const onLog = (text: string): void => void (log += text)
    const { send, read, cron } = openScheduled({ bindings, outboundService, onLog })
    const broken = await send('one', LATEST)
    expect(broken.status).toBe(500)
    expect(broken.headers.get('cache-control')).toBe('no-store')
    expect(await broken.text()).toBe('')
    await expect.poll(() => log, WITHIN).toContain('secret of the operator')
    expect((await send('one', LATEST)).status).toBe(200)
    expect(await read('one', '/made')).toBe(2)
    expect([await cron('two'), await cron('two')]).toEqual(['exception', 'ok'])
  })
})
