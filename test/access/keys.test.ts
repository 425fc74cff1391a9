import { describe, expect, it } from 'vitest'

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
    const keys = created.map(({ key }) => key)
    expect(new Set(keys).size).toBe(200)
    for (const { key, hash } of created) {
      expect(key).toMatch(/^rsk_[0-9A-Za-z]{36}$/)
      expect(hash).toBe(await hashKey(key))
      expect(hash).toMatch(/^[0-9a-f]{64}$/)
    }
    // Each of 62 characters is expected about 97 times.
    const random = keys.map((key) => key.slice(4, 34)).join('')
    for (const character of new Set(random)) {
      const count = random.split(character).length - 1
      expect(count, character).toBeGreaterThan(35)
      expect(count, character).toBeLessThan(200)
    }
    expect(new Set(random).size).toBe(62)
  })

  it('hashes with SHA-256', async () => {
    expect(await hashKey('abc')).toBe(
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    )
  })
})

describe('a key', () => {
  it.each<[string, (key: string) => Record<string, string>]>([
    ['Bearer', (key) => ({ authorization: `Bearer ${key}` })],
    ['bearer in lower case', (key) => ({ authorization: `bearer ${key}` })],
    ['BEARER with spaces', (key) => ({ authorization: ` BEARER   ${key}  ` })],
    ['X-API-Key', (key) => ({ 'x-api-key': key })],
    ['the same key twice', (key) => ({ authorization: `Bearer ${key}`, 'x-api-key': key })],
    ['a Basic scheme and X-API-Key', (key) => ({ authorization: 'Basic YTpi', 'x-api-key': key })],
  ])('is read from %s', async (_name, headersOf) => {
    const { send, key } = await openWithKey()
    const { status, header } = await send({ headers: headersOf(key) })
    expect(status).toBe(200)
    expect(header('ratelimit')).toContain('"burst";r=19')
  })

  it('of an earlier release is served, of which the store gets the hash', async () => {
    const issued = `rsk_${'Ab3'.repeat(10)}1ka48H`
    const { statusWith, replace, found } = await openWithKey()
    await replace(issued, { id: 'early', plan: 'pro' })
    expect(await statusWith(issued)).toBe(200)
    expect(found).toEqual([await hashKey(issued)])
  })

  it('is read from query parameters only where the operator names them', async () => {
    const { send, key } = await openWithKey({}, { queryParameters: ['access_key', 'app_id'] })
    const encoded = `%${Buffer.from(key).toString('hex').match(/../g)?.join('%')}`
    for (const query of [
      `access_key=${key}`,
      `app_id=${encoded}`,
      `access%5Fkey=${key}`,
      `base=EUR&app_id=${key}`,
    ]) {
      const { status, text } = await send({ target: `/v1/latest?${query}` })
      expect([query, status]).toEqual([query, 200])
      expect(text).not.toContain(key)
    }
    for (const query of [
      `key=${key}`,
      `Access_Key=${key}`,
      `access_key[]=${key}`,
      `access_key=${key}&access_key=${key}`,
      `access_key=${key}&app_id=${key}`,
      `access_key=${key}&access_key=`,
      'access_key=',
    ]) {
      expect((await send({ target: `/v1/latest?${query}` })).status, query).toBe(401)
    }
    const other = await openWithKey()
    expect((await other.send({ target: `/v1/latest?access_key=${other.key}` })).status).toBe(401)
  })

  it.each<[string, (key: string, other: string) => Record<string, unknown>]>([
    ['two different keys', (a, b) => ({ authorization: `Bearer ${a}`, 'x-api-key': b })],
    ['a key and an empty one', (a) => ({ authorization: `Bearer ${a}`, 'x-api-key': '' })],
    ['two values in one header', (a) => ({ 'x-api-key': `${a}, ${a}` })],
    ['two Bearer headers', (a) => ({ authorization: `Bearer ${a}, Bearer ${a}` })],
    ['a scheme without a key', () => ({ authorization: 'Bearer' })],
    ['a scheme with spaces only', () => ({ authorization: 'Bearer   ' })],
    ['an empty X-API-Key', () => ({ 'x-api-key': '' })],
    ['a header that is an array', (a) => ({ 'x-api-key': [a] })],
    ['a header that is a number', () => ({ 'x-api-key': 1 })],
    ['an Authorization that is an array', (a) => ({ authorization: [`Bearer ${a}`] })],
    ['a token of another kind', () => ({ authorization: 'Bearer eyJhbGciOiJIUzI1NiJ9.e30.x' })],
    ['a long token', () => ({ authorization: `Bearer ${'x'.repeat(100_000)}` })],
    ['a long X-API-Key', () => ({ 'x-api-key': 'rsk_'.repeat(100_000) })],
    [
      'a key with a wrong checksum',
      (a) => ({ 'x-api-key': `${a.slice(0, -1)}${a.endsWith('0') ? 1 : 0}` }),
    ],
    ['a key in capitals', (a) => ({ 'x-api-key': a.toUpperCase() })],
    ['a key without its prefix', (a) => ({ 'x-api-key': a.slice(4) })],
    ['an unknown key', (_, b) => ({ 'x-api-key': b })],
    ['half a key', (a) => ({ 'x-api-key': a.slice(0, 20) })],
  ])('is refused with 401, also where others need none: %s', async (_name, headersOf) => {
    const { send, key, eventsOf } = await openWithKey({}, { anonymous: 'public' })
    const other = await createKey()
    const { status, header, text } = await send({ headers: headersOf(key, other.key) })
    expect(status).toBe(401)
    expect(header('www-authenticate')).toBe('Bearer')
    expect(header('cache-control')).toBe('no-store')
    expect(JSON.parse(text).error.code).toBe('unauthorized')
    expect(eventsOf('access_refused')).toHaveLength(1)
    expect((await send()).status).toBe(200)
  })

  it('is refused when it has expired, at that ms', async () => {
    const expiresAt = Date.UTC(2026, 10, 20, 18, 0, 5)
    const { statusWith, key, runtime, eventsOf } = await openWithKey({ expiresAt })
    expect(await statusWith(key)).toBe(200)
    await runtime.advance(5 * SECOND - 1)
    expect(await statusWith(key)).toBe(200)
    await runtime.advance(1)
    expect(await statusWith(key)).toBe(401)
    expect(eventsOf('access_refused')).toEqual([
      { type: 'access_refused', reason: 'expired_key', key: 'acme' },
    ])
  })

  it('with an expiry in seconds has expired, and one in µs is not valid', async () => {
    const expiresAt = Date.UTC(2100, 0, 1)
    expect(await openWithKey({ expiresAt }).then((s) => s.statusWith(s.key))).toBe(200)
    for (const wrong of [expiresAt / 1_000, expiresAt * 1_000, expiresAt * 1e6]) {
      const { statusWith, key } = await openWithKey({ expiresAt: wrong })
      expect(await statusWith(key), String(wrong)).toBe(401)
    }
  })

  it('of a plan that no longer exists gets a 403, with an event', async () => {
    for (const plan of ['gone', 'toString', '__proto__']) {
      const { statusWith, key, eventsOf } = await openWithKey({ plan })
      expect(await statusWith(key)).toBe(403)
      expect(eventsOf('access_refused')).toEqual([
        { type: 'access_refused', reason: 'unknown_plan', key: 'acme' },
      ])
    }
  })

  it('with origins is refused in pages of other origins, and served without an Origin', async () => {
    const origins = ['https://example.com', 'http://localhost:3000']
    const { statusWith, key } = await openWithKey({ origins })
    const from = (origin: string) => statusWith(key, { headers: { origin } })
    expect(await statusWith(key)).toBe(200)
    expect(await from('https://example.com')).toBe(200)
    expect(await from('http://localhost:3000')).toBe(200)
    for (const origin of [
      'https://example.com.evil.example',
      'https://evil.example',
      'http://example.com',
      'https://example.com/',
      'https://example.com:8443',
      'null',
    ]) {
      expect(await from(origin), origin).toBe(403)
    }
    const none = await openWithKey({ origins: [] })
    expect(await none.statusWith(none.key, { headers: { origin: 'https://a.example' } })).toBe(403)
  })

  it.each<[string, unknown]>([
    ['no id', { plan: 'pro' }],
    ['an empty id', { id: '', plan: 'pro' }],
    ['a number as id', { id: 7, plan: 'pro' }],
    ['a long id', { id: 'x'.repeat(201), plan: 'pro' }],
    ['no plan', { id: 'a' }],
    ['an array as plan', { id: 'a', plan: ['pro'] }],
    ['a text as expiry', { id: 'a', plan: 'pro', expiresAt: '2100-01-01' }],
    ['a date as expiry', { id: 'a', plan: 'pro', expiresAt: new Date() }],
    ['NaN as expiry', { id: 'a', plan: 'pro', expiresAt: NaN }],
    ['no end as expiry', { id: 'a', plan: 'pro', expiresAt: Infinity }],
    ['null as expiry', { id: 'a', plan: 'pro', expiresAt: null }],
    ['a text as origins', { id: 'a', plan: 'pro', origins: 'https://example.com' }],
    ['null as origins', { id: 'a', plan: 'pro', origins: null }],
    ['numbers as origins', { id: 'a', plan: 'pro', origins: [1] }],
    ['a text', 'pro'],
    ['true', true],
    ['an array', ['acme', 'pro']],
    [
      'a getter that throws',
      Object.defineProperty({}, 'id', { get: throwing('boom'), enumerable: true }),
    ],
  ])('with an invalid record is unknown, with one event: %s', async (_name, record) => {
    const { statusWith, key, replace, eventsOf } = await openWithKey()
    await replace(key, record)
    expect([await statusWith(key), await statusWith(key)]).toEqual([401, 401])
    expect(eventsOf('counters_failed')).toHaveLength(1)
    expect(eventsOf('counters_failed')[0]?.operation).toBe('find_key')
    expect(eventsOf('access_refused').map(({ reason }) => reason)).toEqual([
      'unknown_key',
      'unknown_key',
    ])
  })

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
  it('is made once in 10 s for a known and for an unknown key', async () => {
    const { statusWith, key, found, runtime } = await openWithKey()
    const other = await createKey()
    for (let second = 0; second < 20; second += 1) {
      await statusWith(key)
      await statusWith(other.key)
      await runtime.advance(SECOND)
    }
    expect(found).toHaveLength(4)
  })

  it('refuses a revoked key within 10 s, and serves a new one within 10 s', async () => {
    const { statusWith, key, replace, runtime } = await openWithKey()
    expect(await statusWith(key)).toBe(200)
    await replace(key, undefined)
    await runtime.advance(10 * SECOND - 1)
    expect(await statusWith(key)).toBe(200)
    await runtime.advance(1)
    expect(await statusWith(key)).toBe(401)
    await replace(key, { id: 'acme', plan: 'pro' })
    expect(await statusWith(key)).toBe(401)
    await runtime.advance(10 * SECOND)
    expect(await statusWith(key)).toBe(200)
  })

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
      const { status, header, text } = await first
      expect([status, header('cache-control'), JSON.parse(text).error.code]).toEqual([
        503,
        'no-store',
        'overloaded',
      ])
      expect(Number(header('retry-after'))).toBeGreaterThan(0)
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

  it('refuses an unknown key for 10 s only while the store fails, and then responds 503', async () => {
    const { statusWith, store, runtime } = await openWithKey()
    const { key } = await createKey()
    expect(await statusWith(key)).toBe(401)
    store.override = throwing(new Error('down'))
    await runtime.advance(9 * SECOND)
    expect(await statusWith(key)).toBe(401)
    await runtime.advance(2 * SECOND)
    // The key may exist by now, so that a 401 could be wrong.
    expect(await statusWith(key)).toBe(503)
  })

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

  it('uses a result that arrives after the timeout, but never for longer than 10 s', async () => {
    const { statusWith, key, store, runtime, found } = await openWithKey()
    const late = Promise.withResolvers<unknown>()
    store.override = () => late.promise
    const first = statusWith(key)
    await expect.poll(() => found.length).toBe(1)
    await runtime.advance(1_000)
    expect(await first).toBe(503)
    await runtime.advance(4_000)
    late.resolve({ id: 'acme', plan: 'pro' })
    await settled()
    expect(await statusWith(key)).toBe(200)
    expect(found).toHaveLength(1)
    store.override = () => undefined
    await runtime.advance(5_000)
    expect(await statusWith(key)).toBe(401)
  })

  it('does not let an earlier look-up that ends later restore a revoked key', async () => {
    const { statusWith, key, store, runtime, found } = await openWithKey()
    const late = Promise.withResolvers<unknown>()
    store.override = () => late.promise
    const first = statusWith(key)
    await expect.poll(() => found.length).toBe(1)
    await runtime.advance(1_000)
    expect(await first).toBe(503)
    store.override = () => undefined
    expect(await statusWith(key)).toBe(401)
    late.resolve({ id: 'acme', plan: 'pro' })
    await settled()
    expect(await statusWith(key)).toBe(401)
    await runtime.advance(9_999)
    expect(await statusWith(key)).toBe(401)
  })
})
