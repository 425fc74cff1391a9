import { createHash } from 'node:crypto'

import { describe, expect, it, onTestFinished, vi } from 'vitest'

import { createKey, hashKey } from '../../src/access/index.ts'
import { settled } from '../virtual-runtime.ts'
import { openWithKey } from './service.ts'

const SECOND = 1_000

const throwing = (thrown: unknown) => (): never => {
  throw thrown
}

describe('createKey', () => {
  it('creates different keys with a prefix, 30 random characters and a checksum', async () => {
    const created = await Promise.all(Array.from({ length: 200 }, createKey))
    expect(new Set(created.map(({ key }) => key)).size).toBe(200)
    for (const { key, hash } of created) {
      expect(key).toMatch(/^rsk_[0-9A-Za-z]{36}$/)
      expect(hash).toBe(createHash('sha256').update(key).digest('hex'))
      expect(await hashKey(key)).toBe(hash)
    }
  })

  it('takes each character from as many bytes, in the order 0-9, A-Z, a-z', async () => {
    let next = 0
    const random = vi.spyOn(globalThis.crypto, 'getRandomValues')
    random.mockImplementation((bytes) => {
      if (bytes instanceof Uint8Array) bytes.forEach((_, at) => (bytes[at] = next++))
      return bytes
    })
    onTestFinished(() => random.mockRestore())
    const keys: string[] = []
    while (keys.length < 9) keys.push((await createKey()).key.slice(4, 34))
    const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
    // Bytes from 248 on are left out: each key begins with the rest of the last bytes.
    expect(keys.join('').startsWith(alphabet.repeat(4))).toBe(true)
    expect(keys.join('').slice(248)).toBe(alphabet.slice(0, 22))
  })
})

describe('a key', () => {
  it('of an earlier release is served, of which the store gets the hash', async () => {
    const issued = `rsk_${'Ab3'.repeat(10)}1ka48H`
    const { statusWith, replace, found } = await openWithKey()
    await replace(issued, { id: 'early', plan: 'pro' })
    expect(await statusWith(issued)).toBe(200)
    expect(found).toEqual([await hashKey(issued)])
  })

  it.each<[string, (key: string) => Record<string, unknown>]>([
    ['a header that is an array', (key) => ({ 'x-api-key': [key] })],
    ['a header that is a number', () => ({ 'x-api-key': 1 })],
    ['an Authorization that is an array', (key) => ({ authorization: [`Bearer ${key}`] })],
    ['a long token', () => ({ authorization: `Bearer ${'x'.repeat(100_000)}` })],
    ['a long X-API-Key', (key) => ({ 'x-api-key': key.padEnd(100_000) })],
    ['a key in capitals', (key) => ({ 'x-api-key': key.toUpperCase() })],
  ])('is refused without a look-up: %s', async (_name, headersOf) => {
    const { send, key, found } = await openWithKey({}, { anonymous: 'public' })
    expect((await send({ headers: headersOf(key) })).status).toBe(401)
    expect((await send({ headers: { 'x-api-key': key.padEnd(256) } })).status).toBe(200)
    expect(found).toHaveLength(1)
  })

  const THROWING = Object.defineProperty({}, 'id', { get: throwing('boom'), enumerable: true })
  const GOOD = { id: 'a', plan: 'pro' }

  const WRONG: unknown[] = [
    ...[undefined, '', 7, 'x'.repeat(201), `rsk_${'a'.repeat(36)}`].map((id) => ({ ...GOOD, id })),
    ...[undefined, ['pro']].map((plan) => ({ ...GOOD, plan })),
    ...['2100-01-01', new Date(), NaN, Infinity, null].map((expiresAt) => ({ ...GOOD, expiresAt })),
    ...['https://a.example', null, [1]].map((origins) => ({ ...GOOD, origins })),
    'pro',
    true,
    ['acme', 'pro'],
    THROWING,
  ]

  it.each(WRONG.map((record) => ({ record })))(
    'with an invalid record is unknown: %#',
    async ({ record }) => {
      const { statusWith, key, replace, eventsOf } = await openWithKey()
      await replace(key, record)
      expect([await statusWith(key), await statusWith(key)]).toEqual([401, 401])
      expect(eventsOf('counters_failed')).toMatchObject([{ operation: 'find_key' }])
      const refused = { type: 'access_refused', reason: 'unknown_key' }
      expect(eventsOf('access_refused')).toEqual([refused, refused])
    },
  )

  it('keeps the record as it was when it was found', async () => {
    const record = { id: 'acme', plan: 'pro', origins: ['https://example.com'] }
    const { statusWith, key, replace } = await openWithKey()
    await replace(key, record)
    const headers = { origin: 'https://evil.example' }
    expect(await statusWith(key, { headers })).toBe(403)
    record.origins.push('https://evil.example')
    expect(await statusWith(key, { headers })).toBe(403)
  })
})

describe('the look-up of keys', () => {
  it('counts the age from the start of a slow look-up', async () => {
    const { statusWith, key, store, runtime } = await openWithKey()
    const slow = Promise.withResolvers<unknown>()
    store.override = () => slow.promise
    const first = statusWith(key)
    await runtime.advance(900)
    slow.resolve({ id: 'acme', plan: 'pro' })
    expect(await first).toBe(200)
    store.override = () => undefined
    await runtime.advance(9_099)
    expect(await statusWith(key)).toBe(200)
    await runtime.advance(1)
    expect(await statusWith(key)).toBe(401)
  })

  it('is shared by requests with the same key', async () => {
    const { statusWith, key, found } = await openWithKey()
    const statuses = await Promise.all(Array.from({ length: 20 }, () => statusWith(key)))
    expect(statuses).toEqual(Array.from({ length: 20 }, () => 200))
    expect(found).toHaveLength(1)
  })

  it('keeps good keys in a flood of wrong ones', async () => {
    const { statusWith, key, found } = await openWithKey()
    expect(await statusWith(key)).toBe(200)
    for (let round = 0; round < 120; round += 1) {
      const wrong = await Promise.all(Array.from({ length: 100 }, createKey))
      await Promise.all(wrong.map((each) => statusWith(each.key)))
    }
    expect(found.length).toBe(12_001)
    expect(await statusWith(key)).toBe(200)
    expect(found.length).toBe(12_001)
  })

  it('is limited in number, and wrong keys leave places for keys with a record', async () => {
    const { statusWith, key, found, store, runtime } = await openWithKey()
    expect(await statusWith(key)).toBe(200)
    await runtime.advance(10 * SECOND)
    const waiting = Promise.withResolvers<unknown>()
    store.override = (hash) => (hash === found[0] ? { id: 'acme', plan: 'pro' } : waiting.promise)
    const wrong = await Promise.all(Array.from({ length: 150 }, createKey))
    const statuses = wrong.map((each) => statusWith(each.key))
    // Hashes are computed in other threads.
    await expect.poll(() => found.length).toBe(101)
    expect(await statusWith(key)).toBe(200)
    expect(found.length).toBe(102)
    waiting.resolve(undefined)
    const all = await Promise.all(statuses)
    // The others have waited.
    expect(all.filter((status) => status === 401)).toHaveLength(150)
  })

  it.each<[string, () => unknown]>([
    ['throws', throwing(new Error('down'))],
    ['rejects', () => Promise.reject(new Error('down'))],
    ['hangs', () => new Promise(() => {})],
    ['throws nothing', throwing(undefined)],
  ])(
    'uses a record for an hour while the store %s, and otherwise responds 503',
    async (how, fail) => {
      const { send, statusWith, key, store, runtime, eventsOf, found } = await openWithKey()
      expect(await statusWith(key)).toBe(200)
      store.override = fail
      const other = await createKey()
      const first = send({ headers: { 'x-api-key': other.key } })
      await runtime.advance(1_000)
      const { status, header } = await first
      expect([status, header('cache-control'), header('retry-after')]).toEqual([
        503,
        'no-store',
        '5',
      ])
      expect(eventsOf('counters_failed')).toMatchObject([{ operation: 'find_key' }])
      for (let minute = 0; minute < 59; minute += 1) {
        await runtime.advance(60 * SECOND)
        const next = statusWith(key)
        // A record in hand waits for 100 ms at most.
        await runtime.advance(100)
        expect(await next, `${how}, minute ${minute}`).toBe(200)
      }
      // One look-up a minute, no more than the circuit breaker permits.
      expect(found.length).toBeLessThan(65)
      await runtime.advance(60 * SECOND)
      const last = statusWith(key)
      await runtime.advance(100)
      expect(await last).toBe(503)
      store.override = undefined
      await runtime.advance(60 * SECOND)
      expect(await statusWith(key)).toBe(200)
    },
  )

  it('does not wait for a store that keeps failing', async () => {
    const { statusWith, store, runtime, found } = await openWithKey()
    store.override = () => new Promise(() => {})
    const wrong = await Promise.all(Array.from({ length: 20 }, createKey))
    const first = Promise.all(wrong.slice(0, 5).map((each) => statusWith(each.key)))
    await expect.poll(() => found.length).toBe(5)
    await runtime.advance(1_000)
    expect(await first).toEqual([503, 503, 503, 503, 503])
    // No time passes: the circuit breaker is open.
    const others = await Promise.all(wrong.slice(5).map((each) => statusWith(each.key)))
    expect(new Set(others)).toEqual(new Set([503]))
    expect(found).toHaveLength(5)
  })

  /** Opens a service whose first look-up is still going on after its timeout. */
  async function openLate() {
    const world = await openWithKey()
    const late = Promise.withResolvers<unknown>()
    world.store.override = () => late.promise
    const first = world.statusWith(world.key)
    await expect.poll(() => world.found.length).toBe(1)
    await world.runtime.advance(SECOND)
    expect(await first).toBe(503)
    const arrive = async (): Promise<void> => {
      late.resolve({ id: 'acme', plan: 'pro' })
      await settled()
    }
    return { ...world, arrive }
  }

  it('uses a result that arrives after the timeout, but never for longer than 10 s', async () => {
    const { statusWith, key, store, runtime, found, arrive } = await openLate()
    await runtime.advance(4 * SECOND)
    await arrive()
    expect(await statusWith(key)).toBe(200)
    expect(found).toHaveLength(1)
    store.override = () => undefined
    await runtime.advance(5 * SECOND)
    expect(await statusWith(key)).toBe(401)
  })

  it('does not let an earlier look-up that ends later restore a revoked key', async () => {
    const { statusWith, key, store, runtime, arrive } = await openLate()
    store.override = () => undefined
    expect(await statusWith(key)).toBe(401)
    await arrive()
    expect(await statusWith(key)).toBe(401)
    await runtime.advance(10 * SECOND - 1)
    expect(await statusWith(key)).toBe(401)
  })
})
