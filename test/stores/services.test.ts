import { afterEach, describe, expect, it, vi } from 'vitest'

import type { CacheStore } from '../../src/index.ts'
import { createCacheApiStore } from '../../src/stores/cache-api.ts'
import type { WebCache } from '../../src/stores/cache-api.ts'
import { createKvStore } from '../../src/stores/cloudflare-kv.ts'
import type { KvNamespace } from '../../src/stores/cloudflare-kv.ts'
import { createMemoryStore } from '../../src/stores/memory.ts'
import { createRedisStore } from '../../src/stores/redis.ts'
import { createUpstashStore } from '../../src/stores/upstash.ts'
import { fakeRedis } from './fake-redis.ts'
import type { FakeRedis } from './fake-redis.ts'
import { itMeetsTheContract } from './meets-contract.ts'

const NOW = Date.UTC(2026, 10, 20)
const now = () => NOW

/** A cache whose keys are request URLs, as in real caches. */
class FakeCache implements WebCache {
  readonly headers: [url: string, cacheControl: string | null][] = []
  readonly #responses = new Map<string, Response>()

  async match(url: string): Promise<Response | undefined> {
    return this.#responses.get(new Request(url).url)?.clone()
  }

  async put(url: string, response: Response): Promise<void> {
    this.headers.push([url, response.headers.get('cache-control')])
    this.#responses.set(new Request(url).url, response)
  }
}

/** A namespace of Cloudflare with the limits of the real one. */
class FakeNamespace implements KvNamespace {
  readonly lives: [key: string, seconds: number][] = []
  readonly #entries = new Map<string, string>()

  async get(key: string): Promise<string | null> {
    return this.#entries.get(key) ?? null
  }

  async put(key: string, value: string, options: { expirationTtl: number }): Promise<void> {
    const { expirationTtl } = options
    if (!Number.isInteger(expirationTtl) || expirationTtl < 60) throw new Error('400 Bad Request')
    if (new TextEncoder().encode(key).length > 512) throw new Error('414 UTF-8 key too long')
    this.lives.push([key, expirationTtl])
    this.#entries.set(key, value)
  }
}

const HOST = 'eager-mule-1234.upstash.invalid'
const TOKEN = 'AX8sASQgN2M5'

/** A database of Upstash that checks the token and the form of a request. */
function fakeUpstash(redis = fakeRedis()) {
  const requests: Request[] = []
  const caches: unknown[] = []
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init)
    requests.push(request)
    caches.push(init?.cache)
    if (request.method !== 'POST') return Response.json({ error: 'no' }, { status: 405 })
    if (request.headers.get('authorization') !== `Bearer ${TOKEN}`) {
      return Response.json({ error: 'Unauthorized' }, { status: 401 })
    }
    return Response.json({ result: redis.run(await request.json()) })
  }
  return { requests, caches, fetch }
}

const createUpstash = (options: object) =>
  createUpstashStore({ url: `https://${HOST}`, token: TOKEN, ...options })

/** The three clients of Redis as a store sees them; each reads `this`, so that a detached method call fails. */
const CLIENTS = {
  'call() and its own sendCommand(), as ioredis': (redis: FakeRedis) => ({
    redis,
    async call(...command: string[]) {
      return this.redis.run(command)
    },
    sendCommand(): never {
      throw new Error('takes a Command')
    },
  }),
  'sendCommand(), as node-redis': (redis: FakeRedis) => ({
    redis,
    async sendCommand(command: string[]) {
      return this.redis.run(command)
    },
  }),
  'send(), as Bun': (redis: FakeRedis) => ({
    redis,
    async send(command: string, args: string[]) {
      return this.redis.run([command, ...args])
    },
  }),
}

type Options = Parameters<typeof createRedisStore>[1]

/** Every form of store that sends commands of Redis. */
const REDIS: [
  string,
  (redis: FakeRedis, options?: Options) => ReturnType<typeof createRedisStore>,
][] = [
  ...Object.entries(CLIENTS).map(([name, connect]): (typeof REDIS)[number] => [
    `a client with ${name}`,
    (redis, options) => createRedisStore(connect(redis), options),
  ]),
  ['Upstash', (redis, options) => createUpstash({ fetch: fakeUpstash(redis).fetch, ...options })],
]

const STORES: [string, () => CacheStore][] = [
  ['a Map', () => new Map()],
  ['createMemoryStore()', () => createMemoryStore()],
  ['createKvStore()', () => createKvStore(new FakeNamespace())],
  ['createCacheApiStore()', () => createCacheApiStore({ cache: new FakeCache() })],
  ...REDIS.map(([name, create]): [string, () => CacheStore] => [name, () => create(fakeRedis())]),
]

describe.each(STORES)('%s', (name, create) => {
  itMeetsTheContract(create)

  it('has a claim method only where a service decides', () => {
    expect('claim' in create()).toBe(/client|Upstash/.test(name))
  })
})

it.each(REDIS)('%s gets these commands and no others', async (_name, create) => {
  const redis = fakeRedis(now)
  const store = create(redis, { prefix: 'app:', now })
  await store.set('k', 'text', NOW + 1_000.2)
  expect(await store.get('k')).toBe('text')
  expect(await store.claim('k', NOW + 20_000)).toBe(true)
  for (const past of [0, 5_000]) await store.set('k', 'text', NOW - past)
  expect(redis.commands).toEqual([
    ['SET', 'app:k', 'text', 'PX', '1001'],
    ['GET', 'app:k'],
    ['SET', 'app:k:claim', '1', 'NX', 'PX', '20000'],
    ['SET', 'app:k', 'text', 'PX', '1'],
    ['SET', 'app:k', 'text', 'PX', '1'],
  ])
})

describe('createMemoryStore()', () => {
  it('keeps at most maxEntries and evicts the least recently set entry', () => {
    const store = createMemoryStore({ maxEntries: 2 })
    for (const key of ['a', 'b', 'a', 'c']) store.set(key, key, 0)
    expect(['a', 'b', 'c'].map((key) => store.get(key))).toEqual(['a', undefined, 'c'])
  })
})

describe('createKvStore()', () => {
  it('stores for whole seconds, rounded up, and at least for a minute', async () => {
    const namespace = new FakeNamespace()
    const store = createKvStore(namespace, { prefix: 'app:', now })
    const lives = [7 * 86_400_000, 60_000, 60_001, 59_999, 1, 0, -86_400_000]
    for (const life of lives) await store.set('k', 'text', NOW + life)
    const seconds = [604_800, 60, 61, 60, 60, 60, 60]
    expect(namespace.lives).toEqual(seconds.map((each) => ['app:k', each]))
  })
})

describe('createCacheApiStore()', () => {
  afterEach(() => void vi.unstubAllGlobals())

  it('stores a response below its origin, for whole seconds, at least 1', async () => {
    const cache = new FakeCache()
    const store = createCacheApiStore({ cache, now })
    for (const life of [86_400_000, 1_001, 0, -1]) await store.set('a/b', 'text', NOW + life)
    const url = 'https://ratesmith.invalid/key:a%2Fb'
    expect(cache.headers).toEqual([86_400, 2, 1, 1].map((life) => [url, `max-age=${life}`]))
    await createCacheApiStore({ cache, origin: 'https://rates.example' }).set('..', 'text', NOW)
    expect(cache.headers.at(-1)?.[0]).toBe('https://rates.example/key:..')
  })

  it('uses the default cache of the runtime, looked up at each call, or one named ratesmith', async () => {
    vi.stubGlobal('caches', {})
    const store = createCacheApiStore()
    vi.stubGlobal('caches', { default: new FakeCache() })
    await store.set('k', 'text', NOW)
    expect(await store.get('k')).toBe('text')
    const [cache, names] = [new FakeCache(), new Set<string>()]
    vi.stubGlobal('caches', { open: async (name: string) => (names.add(name), cache) })
    expect(await store.get('k')).toBeUndefined()
    await store.set('k', 'text', NOW)
    expect([await store.get('k'), ...names]).toEqual(['text', 'ratesmith'])
    vi.stubGlobal('caches', undefined)
    expect(() => createCacheApiStore()).toThrow(TypeError)
  })
})

describe('createRedisStore()', () => {
  it('treats any value but a string as a miss, and reads a claim also as bytes', async () => {
    for (const value of [null, undefined, 7, new Uint8Array([97]), {}, ['text']]) {
      const store = createRedisStore({ send: async () => value })
      expect(await store.get('k'), JSON.stringify(value)).toBeUndefined()
    }
    const bytes = Object.assign(new Uint8Array([79, 75]), { toString: () => 'OK' })
    expect(await createRedisStore({ send: async () => bytes }).claim('k', 0)).toBe(true)
    expect(await createRedisStore({ send: async () => null }).claim('k', 0)).toBe(false)
  })

  const throwing = (): never => {
    throw new Error('READONLY')
  }

  it.each([async () => throwing(), throwing])('rejects when the client fails', async (send) => {
    const store = createRedisStore({ send })
    for (const call of [store.get('k'), store.set('k', '', 0), store.claim('k', 0)])
      await expect(call).rejects.toThrow('READONLY')
  })
})

describe('createUpstashStore()', () => {
  const failureOf = async (work: () => unknown): Promise<Error> =>
    (async () => work())().then(() => new Error('it did not fail'), Object)

  it('posts to its URL, follows no redirect, and forbids a caching fetch to store responses', async () => {
    const { requests, caches, fetch } = fakeUpstash()
    const store = createUpstash({ fetch })
    await store.set('k', 'text', Date.now() + 60_000)
    await store.get('k')
    const sent = requests.map(({ url, method, redirect }) => [url, method, redirect])
    expect(sent).toEqual([1, 2].map(() => [`https://${HOST}/`, 'POST', 'manual']))
    expect(caches).toEqual(['no-store', 'no-store'])
    vi.stubGlobal('fetch', async () => Response.json({ result: 'found' }))
    const found = createUpstash({}).get('k')
    vi.unstubAllGlobals()
    expect(await found).toBe('found')
  })

  it.each<[string, () => Response]>([
    ['an error', () => Response.json({ error: `ERR ${TOKEN} at https://${HOST}` })],
    ['an error and a result', () => Response.json({ result: 'text', error: 'ERR' })],
    ['a refusal', () => Response.json({ error: 'Unauthorized' }, { status: 401 })],
    ['a result with the status 201', () => Response.json({ result: 'a' }, { status: 201 })],
    ['a redirect', () => Response.redirect('https://elsewhere.invalid', 307)],
    ['a page', () => new Response(`<p>${TOKEN}</p>`)],
    ['null', () => new Response('null')],
    ['nothing', () => new Response('')],
    ['no result', () => Response.json({})],
  ])('rejects without a secret when the database returns %s', async (_, response) => {
    const store = createUpstash({ fetch: async () => response() })
    const [get, set] = [() => store.get('k'), () => store.set('k', '', 0)]
    for (const work of [get, set, () => store.claim('k', 0)]) {
      const { message } = await failureOf(work)
      expect(message).toMatch(/^Upstash returned HTTP \d{3} with/)
      expect(message).not.toMatch(/AX8s|eager-mule/)
    }
  })

  it('rejects without a secret when the request fails, and treats other results as misses', async () => {
    const cause = new TypeError(`fetch of https://${HOST} with ${TOKEN} failed`)
    const store = createUpstash({ fetch: () => Promise.reject(cause) })
    const failure = await failureOf(() => store.get('k'))
    expect(failure).toMatchObject({ message: expect.stringMatching(/Upstash failed$/), cause })
    expect(failure.message).not.toMatch(/AX8s|eager-mule/)
    for (const result of [7, true, { a: 1 }, ['a'], null]) {
      const { get } = createUpstash({ fetch: async () => Response.json({ result }) })
      expect(await get('k')).toBeUndefined()
    }
  })

  const WRONG: Record<string, unknown[]> = {
    url: [undefined, '', HOST, `redis://${HOST}`, `https://user:AX8s@${HOST}`],
    token: [undefined, '', `${TOKEN}\n`, `Bearer ${TOKEN}`],
    fetch: ['fetch'],
    prefix: [null],
    now: [NOW],
  }
  const wrong = Object.entries(WRONG).flatMap(([name, values]) =>
    values.map((value) => ({ name, value })),
  )

  it.each(wrong)('throws for the $name $value', async ({ name, value }) => {
    const error = await failureOf(() => createUpstash({ [name]: value }))
    expect(error).toBeInstanceOf(TypeError)
    expect(error.message).toMatch(new RegExp(`^${name} must be `))
    expect(error.message).not.toMatch(/AX8s|eager-mule/)
  })
})

const kv = (given: unknown): unknown => Reflect.apply(createKvStore, undefined, [given])
const redis = (...given: unknown[]): unknown => Reflect.apply(createRedisStore, undefined, given)
const cacheApi = (options: object): unknown =>
  Reflect.apply(createCacheApiStore, undefined, [{ cache: new FakeCache(), ...options }])
const memory = (maxEntries: number): unknown => createMemoryStore({ maxEntries })

const client = { send: async () => null }

it.each<[message: RegExp, create: (given: never) => unknown, given: unknown[]]>([
  [/^namespace must be .*get\(\) and put\(\)/, kv, [undefined, null, {}, { get: 1, put: 1 }, 'a']],
  [/^client must be .*sendCommand\(\)/, redis, [undefined, null, 'redis://a', { call: true }, Map]],
  [/^prefix must be a/, () => redis(client, { prefix: 7 }), [0]],
  [/^now must be a/, () => redis(client, { now: 7 }), [0]],
  [/^cache must be a/, cacheApi, [{ cache: {} }, { cache: null }]],
  [
    /^origin must be a/,
    cacheApi,
    ['https://a.example/', 'a.example', 'file://a', 7].map((origin) => ({ origin })),
  ],
  [/^now must be a/, cacheApi, [{ now: 7 }]],
  [/^maxEntries must be .* 1, got (0|-1|1.5|NaN)$/, memory, [0, -1, 1.5, NaN]],
])('throws a TypeError: %s', (message, create, wrong) => {
  for (const given of wrong) {
    const work = (): unknown => Reflect.apply(create, undefined, [given])
    expect(work).toThrow(TypeError)
    expect(work).toThrow(message)
  }
})
