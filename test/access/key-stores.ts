import { expect, it } from 'vitest'

import type { StoredKey, WritableKeyStore } from '../../src/access/file.ts'

/** A time in 2026, in ms since the Unix epoch. */
const CREATED_AT = 1_790_000_000_000

/** Returns a key with the given number in its id and its hash. */
export function keyNumber(number: number, changes: Partial<StoredKey> = {}): StoredKey {
  const digits = number.toString(16)
  return {
    id: `key-${digits}`,
    hash: digits.padStart(64, '0'),
    plan: 'pro',
    name: 'acme',
    createdAt: CREATED_AT + number,
    ...changes,
  }
}

/** Defines the tests that every key store must pass; stores that `open` returns share their keys. */
export function itKeepsKeys(open: (now: () => number) => WritableKeyStore): void {
  let time = CREATED_AT
  const openNow = (): WritableKeyStore => open(() => time)

  it('finds the keys that another store added, with what they permit and nothing else', async () => {
    const store = openNow()
    const origins = ['https://acme.example', 'http://localhost:3000']
    await store.add(keyNumber(1, { expiresAt: CREATED_AT + 5_000, origins }))
    await store.add(keyNumber(2))
    const other = openNow()
    expect(await other.find(keyNumber(1).hash)).toEqual({
      id: 'key-1',
      plan: 'pro',
      expiresAt: CREATED_AT + 5_000,
      origins,
    })
    expect(await other.find(keyNumber(2).hash)).toEqual({ id: 'key-2', plan: 'pro' })
    expect(await other.find(keyNumber(3).hash)).toBeUndefined()
    await store.add(keyNumber(3))
    expect(await other.find(keyNumber(3).hash)).toMatchObject({ id: 'key-3' })
  })

  it('finds nothing for a key as soon as another store has revoked it', async () => {
    const [store, other] = [openNow(), openNow()]
    await store.add(keyNumber(1))
    await store.add(keyNumber(2))
    expect(await other.find(keyNumber(1).hash)).toMatchObject({ id: 'key-1' })
    time = CREATED_AT + 10_000
    expect(await store.revoke('key-1')).toBe(true)
    expect(await other.find(keyNumber(1).hash)).toBeUndefined()
    expect(await other.find(keyNumber(2).hash)).toMatchObject({ id: 'key-2' })
  })

  it('lists all keys in the order of their creation, and keeps the time of the first revocation', async () => {
    const store = openNow()
    const keys = [keyNumber(1, { name: 'Zoë & Søn' }), keyNumber(2, { expiresAt: CREATED_AT })]
    for (const key of keys) await store.add(key)
    time = CREATED_AT + 20_000
    expect(await store.revoke('key-2')).toBe(true)
    time = CREATED_AT + 30_000
    expect(await store.revoke('key-2')).toBe(true)
    expect(await store.revoke('key-9')).toBe(false)
    expect(await openNow().list()).toEqual([
      keys[0],
      { ...keys[1], revokedAt: CREATED_AT + 20_000 },
    ])
  })

  it('rejects a key with the id or the hash of another one, even of a revoked one', async () => {
    const store = openNow()
    await store.add(keyNumber(1))
    await store.revoke('key-1')
    await expect(store.add(keyNumber(1, { hash: keyNumber(2).hash }))).rejects.toThrow('key-1')
    await expect(store.add(keyNumber(2, { hash: keyNumber(1).hash }))).rejects.toThrow('key-2')
    expect(await store.list()).toHaveLength(1)
  })

  it.each<[string, Partial<StoredKey>]>([
    ['id', { id: '' }],
    ['id', { id: 'a b' }],
    ['hash', { hash: 'rsk_secret' }],
    ['plan', { plan: '' }],
    ['name', { name: 'two\nlines' }],
    ['name', { name: '' }],
    ['createdAt', { createdAt: NaN }],
    ['expiresAt', { expiresAt: Infinity }],
    ['revokedAt', { revokedAt: 9e15 }],
    ['origins', { origins: ['https://acme.example/'] }],
    ['origins', { origins: ['*'] }],
  ])('rejects an invalid %s: %j', async (field, changes) => {
    const store = openNow()
    await expect(store.add(keyNumber(1, changes))).rejects.toThrow(
      expect.objectContaining({
        name: 'TypeError',
        message: expect.stringMatching(`^${field} must be `),
      }),
    )
  })

  it('loses no key when many stores add and revoke at the same time', async () => {
    const numbers = Array.from({ length: 24 }, (_, index) => index + 1)
    await openNow().add(keyNumber(100))
    await Promise.all([
      ...numbers.map((number) => openNow().add(keyNumber(number))),
      openNow().revoke('key-64'),
    ])
    const listed = await openNow().list()
    expect(listed.map(({ id }) => id).sort()).toEqual(
      [...numbers, 100].map((number) => keyNumber(number).id).sort(),
    )
    expect(listed.filter(({ revokedAt }) => revokedAt !== undefined)).toHaveLength(1)
  })
}
