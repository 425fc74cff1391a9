import { beforeAll, describe, expect, it } from 'vitest'

import { frankfurterPayload, openErApiPayload } from '../fixtures/upstream-payloads.ts'
import { bundleWorker, openWorkers } from './workerd.ts'
import type { WorkerSettings } from './workerd.ts'

const LATEST = '/api/v1/latest'
const HISTORY = '/api/v1/history?from=USD&to=JPY'

/** As far as `/later` sets a Worker's clock on. */
const LATER = 26 * 3_600_000

const WITHIN = { timeout: 10_000 }

const isLatest = (host: string): boolean => host === 'open.er-api.com'

let script: string

beforeAll(async () => {
  script = await bundleWorker('test/system/scheduled-program.ts')
})

/** Both upstreams, which count what they are asked. */
interface Upstream {
  calls: string[]
  answer(request: Request): Promise<Response>
  /** Publishes anew, and answers nothing more until `release` is called. */
  park(): void
  release(): void
}

function createUpstream(): Upstream {
  const calls: string[] = []
  let [now, open, release] = [Date.now(), Promise.resolve(), (): void => {}]
  return {
    calls,
    async answer({ url }) {
      calls.push(new URL(url).hostname)
      await open
      const [, start, end] = /\/v1\/(.*)\.\.(.*)$/.exec(url) ?? []
      const isHistory = start !== undefined && end !== undefined
      return new Response(
        isHistory ? frankfurterPayload({ start, end, now }) : openErApiPayload({ now }),
      )
    },
    park() {
      now += LATER
      open = new Promise((resolve) => {
        release = resolve
      })
    },
    release: () => release(),
  }
}

/** Two isolates of the Worker, with a cron trigger. */
function openScheduled(settings: Omit<WorkerSettings, 'script'>): {
  ask(name: string, path: string): Promise<Response>
  cron(name: string): Promise<string>
} {
  const simulator = openWorkers({ script, ...settings })
  return {
    ask: async (name, path) => (await simulator.getWorker(name)).fetch(`http://localhost${path}`),
    async cron(name) {
      const { outcome } = await (
        await simulator.getWorker(name)
      ).scheduled({ cron: '*/15 * * * *' })
      return outcome
    },
  }
}

describe.each(['kv', 'cache'])('a Worker with a cron trigger and the store %s', (store) => {
  const bindings = { one: { STORE: store }, two: { STORE: store } }

  it('answers its first visitor from the store, in whatever isolate', async () => {
    const upstream = createUpstream()
    const { ask, cron } = openScheduled({ bindings, outboundService: upstream.answer })
    expect(await cron('one')).toBe('ok')
    expect(upstream.calls.toSorted()).toEqual(['api.frankfurter.dev', 'open.er-api.com'])
    await expect.poll(async () => (await ask('two', '/stored')).json(), WITHIN).toBe(true)
    for (const path of [LATEST, HISTORY]) {
      const response = await ask('two', path)
      expect(response.status).toBe(200)
      expect(response.headers.get('cache-status')).toMatch(/^rates; hit; ttl=\d+$/)
    }
    expect(upstream.calls).toHaveLength(2)
  })

  it('lets nobody wait while it refreshes what is due', async () => {
    const upstream = createUpstream()
    const { ask, cron } = openScheduled({ bindings, outboundService: upstream.answer })
    await cron('one')
    const before = await (await ask('one', LATEST)).json()
    await ask('one', '/later')
    upstream.park()
    const refreshed = cron('one')
    // The upstream answers nothing until the visitor has an answer.
    await expect.poll(() => upstream.calls.filter(isLatest)).toHaveLength(2)
    const meanwhile = await ask('one', LATEST)
    expect(meanwhile.headers.get('cache-status')).toMatch(/^rates; hit; ttl=-\d+; detail=stale$/)
    expect(await meanwhile.json()).toEqual(before)
    upstream.release()
    expect(await refreshed).toBe('ok')
    const after = await ask('one', LATEST)
    expect(after.headers.get('cache-status')).toMatch(/^rates; hit; ttl=\d+$/)
    expect(await after.json()).not.toEqual(before)
    expect(upstream.calls.filter(isLatest)).toHaveLength(2)
  })

  it('tells isolates that hold older rates by way of the store', async () => {
    const upstream = createUpstream()
    const { ask, cron } = openScheduled({ bindings, outboundService: upstream.answer })
    await cron('one')
    await expect.poll(async () => (await ask('two', '/stored')).json(), WITHIN).toBe(true)
    const before = await (await ask('two', LATEST)).json()
    const lookedAt = performance.now()
    for (const name of ['one', 'two']) await ask(name, '/later')
    upstream.park()
    upstream.release()
    await cron('one')
    const after = await (await ask('one', LATEST)).json()
    expect(after).not.toEqual(before)
    // Unlike a day, this second has to pass: whoever has looked into the store within it does not look again.
    await expect.poll(() => performance.now() - lookedAt, WITHIN).toBeGreaterThan(1_000)
    const statuses: (string | null)[] = []
    await expect
      .poll(async () => {
        const response = await ask('two', LATEST)
        statuses.push(response.headers.get('cache-status'))
        return response.json()
      }, WITHIN)
      .toEqual(after)
    expect(statuses.join()).not.toContain('fwd=miss')
    expect(upstream.calls.filter(isLatest)).toHaveLength(2)
  })
})

describe('the handler of a Worker', () => {
  const outboundService = createUpstream().answer

  it('is made once in an isolate, by whichever event comes first', async () => {
    const { ask, cron } = openScheduled({ outboundService })
    await cron('one')
    await Promise.all([ask('one', LATEST), ask('one', LATEST), cron('one'), ask('two', LATEST)])
    expect(await (await ask('one', '/made')).json()).toBe(1)
    expect(await (await ask('two', '/made')).json()).toBe(1)
  })

  it('that cannot be made is a 500 without a word, and is tried again', async () => {
    let log = ''
    const bindings = { one: { BROKEN: '1' } }
    const onLog = (text: string): void => void (log += text)
    const { ask } = openScheduled({ bindings, outboundService, onLog })
    const broken = await ask('one', LATEST)
    expect(broken.status).toBe(500)
    expect(broken.headers.get('cache-control')).toBe('no-store')
    expect(await broken.text()).toBe('')
    await expect.poll(() => log).toContain('secret of the operator')
    expect((await ask('one', LATEST)).status).toBe(200)
    expect(await (await ask('one', '/made')).json()).toBe(2)
  })

  it('that cannot be made fails the cron trigger, and is tried again', async () => {
    const { cron } = openScheduled({ bindings: { one: { BROKEN: '1' } }, outboundService })
    expect(await cron('one')).toBe('exception')
    expect(await cron('one')).toBe('ok')
  })
})
