import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import { isMainThread } from 'node:worker_threads'

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
  const [id, hash] = [`key-${digits}`, digits.padStart(64, '0')]
  return { id, hash, plan: 'pro', name: 'acme', createdAt: CREATED_AT + number, ...changes }
}

const [ONE, TWO, THREE] = [keyNumber(1), keyNumber(2), keyNumber(3)]

function fileWith(changes: object): string {
  const { createdAt: _, ...key } = ONE
  const all = { ...key, created: '2026-09-21T14:13:20.001Z', ...changes }
  return JSON.stringify({ version: 1, keys: [all] })
}

const modeOf = (path: string): string => (fs.statSync(path).mode & 0o777).toString(8)

describe('createFileKeyStore()', () => {
  let folder = ''
  let path = ''
  let time = CREATED_AT
  const openNow = () => createFileKeyStore(path, { now: () => time })
  let store: ReturnType<typeof openNow>
  beforeEach(() => {
    folder = temporaryFolder()
    path = `${folder}/keys.json`
    store = openNow()
  })
  const read = () => JSON.parse(fs.readFileSync(path, 'utf8'))

  it('finds the keys that another store added, with what they permit and nothing else', async () => {
    const other = openNow()
    const permitted = {
      expiresAt: CREATED_AT + 5_000,
      origins: ['https://acme.example', 'http://localhost:3000'],
    }
    await store.add({ ...ONE, ...permitted })
    await store.add(TWO)
    expect(await other.find(ONE.hash)).toEqual({ id: 'key-1', plan: 'pro', ...permitted })
    expect(await other.find(TWO.hash)).toEqual({ id: 'key-2', plan: 'pro' })
    expect(await other.find(THREE.hash)).toBeUndefined()
    await store.add(THREE)
    expect(await other.find(THREE.hash)).toMatchObject({ id: 'key-3' })
  })

  it('lists all keys in the order of their creation, and keeps the time of the first revocation', async () => {
    const keys = [keyNumber(1, { name: 'Zoë & Søn' }), keyNumber(2, { expiresAt: CREATED_AT })]
    for (const key of keys) await store.add(key)
    time = CREATED_AT + 20_000
    expect(await store.revoke('key-2')).toBe(true)
    time = CREATED_AT + 30_000
    expect([await store.revoke('key-2'), await store.revoke('key-9')]).toEqual([true, false])
    const revokedAt = CREATED_AT + 20_000
    expect(await openNow().list()).toEqual([keys[0], { ...keys[1], revokedAt }])
  })

  it('rejects a key with the id or the hash of another one, even of a revoked one', async () => {
    await store.add(ONE)
    await store.revoke('key-1')
    await expect(store.add({ ...ONE, hash: TWO.hash })).rejects.toThrow('key-1')
    await expect(store.add({ ...TWO, hash: ONE.hash })).rejects.toThrow('key-2')
    expect(await store.list()).toHaveLength(1)
  })

  it.each<Partial<StoredKey>>([
    { id: '' },
    { id: 'a b' },
    { hash: 'rsk_secret' },
    { plan: '' },
    { name: 'two\nlines' },
    { name: '' },
    { createdAt: NaN },
    { expiresAt: Infinity },
    { revokedAt: 9e15 },
    { origins: ['https://acme.example/'] },
    { origins: ['*'] },
  ])('rejects an invalid key: %j', async (changes) => {
    const message = expect.stringMatching(`^${Object.keys(changes)[0]} must be `)
    await expect(store.add({ ...ONE, ...changes })).rejects.toThrow(
      expect.objectContaining({ name: 'TypeError', message }),
    )
  })

  it('loses no key when many stores add and revoke at the same time', async () => {
    const numbers = Array.from({ length: 24 }, (_, index) => index + 1)
    await store.add(keyNumber(100))
    const adding = numbers.map((number) => openNow().add(keyNumber(number)))
    await Promise.all([...adding, openNow().revoke('key-64')])
    const listed = await openNow().list()
    const ids = [...numbers, 100].map((number) => keyNumber(number).id)
    expect(listed.map(({ id }) => id).toSorted()).toEqual(ids.toSorted())
    expect(listed.filter(({ revokedAt }) => revokedAt !== undefined)).toHaveLength(1)
  })

  it('writes readable JSON and leaves no other file behind', async () => {
    time = 1_790_000_100_000
    await store.add({ ...ONE, expiresAt: 1_800_000_000_000 })
    await store.revoke('key-1')
    const { createdAt: _, ...key } = ONE
    const ends = { expires: '2027-01-15T08:00:00.000Z', revoked: '2026-09-21T14:15:00.000Z' }
    const created = '2026-09-21T14:13:20.001Z'
    expect(read()).toEqual({ version: 1, keys: [{ ...key, created, ...ends }] })
    expect(fs.readdirSync(folder)).toEqual(['keys.json'])
  })

  it('notices a file of the same size and time that replaced its file', async () => {
    const next = `${folder}/next.json`
    await store.add(ONE)
    await createFileKeyStore(next).add(TWO)
    for (const name of [path, next]) fs.utimesSync(name, 1_790_000_000, 1_790_000_000)
    expect(fs.statSync(path).size).toBe(fs.statSync(next).size)
    expect(await store.find(ONE.hash)).toMatchObject({ id: 'key-1' })
    fs.renameSync(next, path)
    expect(await store.find(ONE.hash)).toBeUndefined()
    expect(await store.find(TWO.hash)).toMatchObject({ id: 'key-2' })
  })

  it('reads a file with a byte order mark, and notes beside the fields', async () => {
    fs.writeFileSync(path, `\uFEFF${fileWith({ contact: 'mail' })}`)
    expect(await store.find(ONE.hash)).toMatchObject({ id: 'key-1' })
    const revoked = { revoked: '2026-09-21T14:13:20Z', revokedBy: 'ann', creator: 'bob' }
    fs.writeFileSync(path, fileWith(revoked))
    expect(await createFileKeyStore(path).find(ONE.hash)).toBeUndefined()
  })

  it('keeps fields that it does not use', async () => {
    await store.add(ONE)
    const { keys, ...document } = read()
    const own = { ...document, owner: 'ops', keys: [{ ...keys[0], contact: 'mail' }] }
    fs.writeFileSync(path, JSON.stringify(own))
    await store.revoke('key-1')
    await store.add(TWO)
    expect(read()).toMatchObject({
      owner: 'ops',
      keys: [{ id: 'key-1', contact: 'mail' }, { id: 'key-2' }],
    })
  })

  // Threads have no umask of their own.
  it.skipIf(IS_WINDOWS || !isMainThread)(
    'creates the file with mode 0600 under any umask, and keeps its mode',
    async () => {
      for (const umask of [0, 0o777]) {
        const earlier = process.umask(umask)
        onTestFinished(() => void process.umask(earlier))
        const own = `${folder}/keys-${umask}.json`
        await createFileKeyStore(own).add(ONE)
        process.umask(earlier)
        expect(modeOf(own)).toBe('600')
      }
      await store.add(ONE)
      fs.chmodSync(path, 0o640)
      await store.add(TWO)
      expect(modeOf(path)).toBe('640')
    },
  )

  it.skipIf(IS_WINDOWS)('keeps a link, and replaces its target', async () => {
    fs.mkdirSync(`${folder}/real`)
    await createFileKeyStore(`${folder}/real/keys.json`).add(ONE)
    fs.symlinkSync('real/keys.json', path)
    await store.add(TWO)
    expect(fs.readlinkSync(path)).toBe('real/keys.json')
    expect(fs.readdirSync(`${folder}/real`)).toEqual(['keys.json'])
    expect(await store.list()).toHaveLength(2)
    // As an orchestrator replaces a mounted file.
    await createFileKeyStore(`${folder}/real/next.json`).add(THREE)
    fs.rmSync(path)
    fs.symlinkSync('real/next.json', path)
    expect(await store.find(THREE.hash)).toMatchObject({ id: 'key-3' })
    expect(await store.find(ONE.hash)).toBeUndefined()
  })

  const NAMES = {
    expires: 'expiresAt expires_at Expires expiry expiration valid_until notAfter',
    revoked: 'revokedAt revoked_at Revoked revocation disabled',
    origins: 'origin allowedOrigins',
  }

  it.each([
    ['', 'damaged'],
    ['{"version":1,"keys":[', 'damaged'],
    ['[]', 'damaged'],
    ['{"version":2,"keys":[]}', 'version must be 1, got 2'],
    ['{"version":1}', 'keys must be a list'],
    ['{"version":1,"keys":[7]}', 'keys must be a list'],
    ['{"version":1,"keys":[{"id":"a"}]}', 'keys[0].hash must be'],
    [JSON.stringify({ version: 1, keys: [ONE] }), 'keys[0].created must be '],
    [fileWith({ name: 'a\u001b[2Jb' }), 'keys[0].name must be'],
    ...['soon', '2027-01-31', null, 7].map((expires) => [
      fileWith({ expires }),
      'keys[0].expires must be ',
    ]),
    ...Object.entries(NAMES).flatMap(([right, wrong]) =>
      wrong
        .split(' ')
        .map((name) => [fileWith({ [name]: 1 }), `keys[0].${name} must be written as ${right}`]),
    ),
    [fileWith({ expires: '2027-01-31T00:00:00Z', expiresAt: 1 }), 'expiresAt must be written as'],
  ])(
    'rejects everything and changes nothing with the content %j',
    async (text = '', reason = '') => {
      fs.writeFileSync(path, text)
      for (const attempt of [
        () => store.find(ONE.hash),
        () => store.list(),
        () => store.add(TWO),
        () => store.revoke('key-1'),
      ]) {
        const error: unknown = await (async () => attempt())().catch((thrown: unknown) => thrown)
        expect(String(error)).toContain(reason)
        expect(String(error)).toContain(`key file ${path}: `)
        expect(reasonOf(error).split(reason)).toHaveLength(2)
      }
      expect(fs.readFileSync(path, 'utf8')).toBe(text)
      expect(fs.readdirSync(folder)).toEqual(['keys.json'])
    },
  )

  it('finds keys again when a damaged or missing file is repaired', async () => {
    await store.add(ONE)
    const text = fs.readFileSync(path, 'utf8')
    expect(await store.find(ONE.hash)).toMatchObject({ id: 'key-1' })
    fs.writeFileSync(path, text.slice(0, -20))
    await expect(store.find(ONE.hash)).rejects.toThrow('damaged')
    fs.rmSync(path)
    await expect(store.find(ONE.hash)).rejects.toThrow('does not exist')
    fs.writeFileSync(path, text)
    expect(await store.find(ONE.hash)).toMatchObject({ id: 'key-1' })
  })

  it.skipIf(IS_WINDOWS)('rejects at once for a pipe', async () => {
    execFileSync('mkfifo', [path])
    await expect(store.find(ONE.hash)).rejects.toThrow('not a regular file')
    await expect(store.add(ONE)).rejects.toThrow('not a regular file')
  })

  it('rejects a change, and names the file to delete, after a killed writer', async () => {
    await store.add(ONE)
    fs.writeFileSync(`${path}.lock`, '')
    await expect(store.add(TWO)).rejects.toThrow(`${path}.lock exists`)
    expect(await store.find(ONE.hash)).toMatchObject({ id: 'key-1' })
    fs.rmSync(`${path}.lock`)
    await store.add(TWO)
    expect(await store.list()).toHaveLength(2)
  })

  it('throws for an invalid path or option', () => {
    expect(() => createFileKeyStore('')).toThrow(TypeError)
    expect(() => createFileKeyStore(path, Object({ now: 1 }))).toThrow('now must be a function')
  })
})
