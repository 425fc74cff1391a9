import { execFileSync } from 'node:child_process'
import fs from 'node:fs'

import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'

import { createFileKeyStore } from '../../src/access/file.ts'
import type { StoredKey } from '../../src/access/file.ts'
import { reasonOf } from '../../src/core.ts'
import { temporaryFolder } from '../stores/meets-contract.ts'

const IS_WINDOWS = process.platform === 'win32'

/** A time in 2026, in ms since the Unix epoch. */
const CREATED_AT = 1_790_000_000_000

function keyNumber(number: number, changes: Partial<StoredKey> = {}): StoredKey {
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

function fileWith(changes: object): string {
  const { id, hash, plan, name } = keyNumber(1)
  const key = { id, hash, plan, name, created: '2026-09-21T14:13:20.001Z', ...changes }
  return JSON.stringify({ version: 1, keys: [key] })
}

function modeOf(path: string): string {
  return (fs.statSync(path).mode & 0o777).toString(8)
}

describe('createFileKeyStore()', () => {
  let folder = ''
  let path = ''
  beforeEach(() => {
    folder = temporaryFolder()
    path = `${folder}/keys.json`
  })

  let time = CREATED_AT
  const openNow = () => createFileKeyStore(path, { now: () => time })

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

  it('writes readable JSON and leaves no other file behind', async () => {
    const store = createFileKeyStore(path, { now: () => 1_790_000_100_000 })
    await store.add(keyNumber(1, { expiresAt: 1_800_000_000_000 }))
    await store.revoke('key-1')
    expect(JSON.parse(fs.readFileSync(path, 'utf8'))).toEqual({
      version: 1,
      keys: [
        {
          id: 'key-1',
          hash: keyNumber(1).hash,
          plan: 'pro',
          name: 'acme',
          created: '2026-09-21T14:13:20.001Z',
          expires: '2027-01-15T08:00:00.000Z',
          revoked: '2026-09-21T14:15:00.000Z',
        },
      ],
    })
    expect(fs.readdirSync(folder)).toEqual(['keys.json'])
  })

  it('notices a file of the same size and time that replaced its file', async () => {
    await createFileKeyStore(path).add(keyNumber(1))
    await createFileKeyStore(`${folder}/next.json`).add(keyNumber(2))
    const time = new Date(1_790_000_000_000)
    for (const name of ['keys.json', 'next.json']) fs.utimesSync(`${folder}/${name}`, time, time)
    const sizes = ['keys.json', 'next.json'].map((name) => fs.statSync(`${folder}/${name}`).size)
    expect(sizes[0]).toBe(sizes[1])
    const store = createFileKeyStore(path)
    expect(await store.find(keyNumber(1).hash)).toMatchObject({ id: 'key-1' })
    fs.renameSync(`${folder}/next.json`, path)
    expect(await store.find(keyNumber(1).hash)).toBeUndefined()
    expect(await store.find(keyNumber(2).hash)).toMatchObject({ id: 'key-2' })
  })

  it('reads a file with a byte order mark, and notes beside the fields', async () => {
    const revoked = { revoked: '2026-09-21T14:13:20Z', revokedBy: 'ann', creator: 'bob' }
    fs.writeFileSync(path, `\uFEFF${fileWith({ contact: 'mail' })}`)
    expect(await createFileKeyStore(path).find(keyNumber(1).hash)).toMatchObject({ id: 'key-1' })
    fs.writeFileSync(path, fileWith(revoked))
    expect(await createFileKeyStore(path).find(keyNumber(1).hash)).toBeUndefined()
  })

  it('keeps fields that it does not use', async () => {
    const store = createFileKeyStore(path)
    await store.add(keyNumber(1))
    const document = JSON.parse(fs.readFileSync(path, 'utf8'))
    document.owner = 'ops'
    document.keys[0].contact = 'mail'
    fs.writeFileSync(path, JSON.stringify(document))
    await store.revoke('key-1')
    await store.add(keyNumber(2))
    expect(JSON.parse(fs.readFileSync(path, 'utf8'))).toMatchObject({
      owner: 'ops',
      keys: [{ id: 'key-1', contact: 'mail' }, { id: 'key-2' }],
    })
  })

  it.skipIf(IS_WINDOWS)('creates the file with mode 0600 under any umask', async () => {
    for (const umask of [0, 0o777]) {
      const earlier = process.umask(umask)
      onTestFinished(() => void process.umask(earlier))
      const own = `${folder}/keys-${umask}.json`
      await createFileKeyStore(own).add(keyNumber(1))
      process.umask(earlier)
      expect(modeOf(own)).toBe('600')
    }
  })

  it.skipIf(IS_WINDOWS)('keeps the mode of an existing file', async () => {
    const store = createFileKeyStore(path)
    await store.add(keyNumber(1))
    fs.chmodSync(path, 0o640)
    await store.add(keyNumber(2))
    expect(modeOf(path)).toBe('640')
  })

  it.skipIf(IS_WINDOWS)('keeps a link, and replaces its target', async () => {
    fs.mkdirSync(`${folder}/real`)
    await createFileKeyStore(`${folder}/real/keys.json`).add(keyNumber(1))
    fs.symlinkSync('real/keys.json', path)
    const store = createFileKeyStore(path)
    await store.add(keyNumber(2))
    expect(fs.readlinkSync(path)).toBe('real/keys.json')
    expect(fs.readdirSync(`${folder}/real`)).toEqual(['keys.json'])
    expect(await store.list()).toHaveLength(2)
    // As an orchestrator replaces a mounted file.
    await createFileKeyStore(`${folder}/real/next.json`).add(keyNumber(3))
    fs.rmSync(path)
    fs.symlinkSync('real/next.json', path)
    expect(await store.find(keyNumber(3).hash)).toMatchObject({ id: 'key-3' })
    expect(await store.find(keyNumber(1).hash)).toBeUndefined()
  })

  it.each([
    ['', 'damaged'],
    ['{"version":1,"keys":[', 'damaged'],
    ['[]', 'damaged'],
    ['{"version":2,"keys":[]}', 'version must be 1, got 2'],
    ['{"version":1}', 'keys must be a list'],
    ['{"version":1,"keys":[7]}', 'keys must be a list'],
    ['{"version":1,"keys":[{"id":"a"}]}', 'keys[0].hash must be'],
    [JSON.stringify({ version: 1, keys: [keyNumber(1)] }), 'keys[0].created must be '],
    [fileWith({ name: 'a\u001b[2Jb' }), 'keys[0].name must be'],
    ...['soon', '2027-01-31', null, 7].map((expires) => [
      fileWith({ expires }),
      'keys[0].expires must be ',
    ]),
    ...[
      'expiresAt',
      'expires_at',
      'Expires',
      'expiry',
      'expiration',
      'valid_until',
      'notAfter',
    ].map((name) => [fileWith({ [name]: 1 }), `keys[0].${name} must be written as expires`]),
    [fileWith({ expires: '2027-01-31T00:00:00Z', expiresAt: 1 }), 'expiresAt must be written as'],
    ...['revokedAt', 'revoked_at', 'Revoked', 'revocation', 'disabled'].map((name) => [
      fileWith({ [name]: '2026-09-21T14:13:20Z' }),
      `keys[0].${name} must be written as revoked`,
    ]),
    ...['origin', 'allowedOrigins'].map((name) => [
      fileWith({ [name]: ['https://a.example'] }),
      `keys[0].${name} must be written as origins`,
    ]),
  ])(
    'rejects everything and changes nothing with the content %j',
    async (text = '', reason = '') => {
      const store = createFileKeyStore(path)
      fs.writeFileSync(path, text)
      const hash = keyNumber(1).hash
      for (const attempt of [
        () => store.find(hash),
        () => store.list(),
        () => store.add(keyNumber(2)),
        () => store.revoke('key-1'),
      ]) {
        await expect(Promise.resolve(attempt())).rejects.toThrow(reason)
        await expect(Promise.resolve(attempt())).rejects.toThrow(`key file ${path}: `)
        const error: unknown = await Promise.resolve(attempt()).catch((thrown: unknown) => thrown)
        expect(reasonOf(error).split(reason)).toHaveLength(2)
      }
      expect(fs.readFileSync(path, 'utf8')).toBe(text)
      expect(fs.readdirSync(folder)).toEqual(['keys.json'])
    },
  )

  it('finds keys again when a damaged or missing file is repaired', async () => {
    const store = createFileKeyStore(path)
    await store.add(keyNumber(1))
    const text = fs.readFileSync(path, 'utf8')
    const { hash } = keyNumber(1)
    expect(await store.find(hash)).toMatchObject({ id: 'key-1' })
    fs.writeFileSync(path, text.slice(0, -20))
    await expect(store.find(hash)).rejects.toThrow('damaged')
    fs.rmSync(path)
    await expect(store.find(hash)).rejects.toThrow('does not exist')
    fs.writeFileSync(path, text)
    expect(await store.find(hash)).toMatchObject({ id: 'key-1' })
  })

  it.skipIf(IS_WINDOWS)('rejects at once for a pipe', async () => {
    execFileSync('mkfifo', [path])
    const store = createFileKeyStore(path)
    await expect(store.find(keyNumber(1).hash)).rejects.toThrow('not a regular file')
    await expect(store.add(keyNumber(1))).rejects.toThrow('not a regular file')
  })

  it('rejects a change, and names the file to delete, after a killed writer', async () => {
    const store = createFileKeyStore(path)
    await store.add(keyNumber(1))
    fs.writeFileSync(`${path}.lock`, '')
    await expect(store.add(keyNumber(2))).rejects.toThrow(`${path}.lock exists`)
    expect(await store.find(keyNumber(1).hash)).toMatchObject({ id: 'key-1' })
    fs.rmSync(`${path}.lock`)
    await store.add(keyNumber(2))
    expect(await store.list()).toHaveLength(2)
  })

  it('throws for an invalid path or option', () => {
    expect(() => createFileKeyStore('')).toThrow(TypeError)
    expect(() => createFileKeyStore(path, Object({ clock: Date.now }))).toThrow('clock')
    expect(() => createFileKeyStore(path, Object({ now: 1 }))).toThrow('now must be a function')
  })
})
