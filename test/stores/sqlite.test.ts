import { chmodSync, statSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

import { describe, expect, it, onTestFinished } from 'vitest'

import { createSqliteStore } from '../../src/stores/sqlite.ts'
import type { SqliteStoreOptions } from '../../src/stores/sqlite.ts'
import { itMeetsTheContract, temporaryFolder } from './meets-contract.ts'

const NEVER = 8_640_000_000_000_000

const temporaryPath = (): string => `${temporaryFolder()}/rates.db`

function openStore(path: string, options?: SqliteStoreOptions) {
  const store = createSqliteStore(path, options)
  onTestFinished(() => store.close())
  return store
}

/** Opens the database as another program would; closed after the test. */
function openDatabase(path: string): DatabaseSync {
  const database = new DatabaseSync(path)
  onTestFinished(() => database.close())
  return database
}

describe.each([
  ['in a file', temporaryPath],
  ['in memory', () => ':memory:'],
])('createSqliteStore() %s', (_, makePath) => {
  itMeetsTheContract(() => openStore(makePath()))
})

describe('createSqliteStore()', () => {
  it('reads the values of an earlier store and of other stores of the same file', () => {
    const path = temporaryPath()
    const earlier = createSqliteStore(path)
    earlier.set('a', 'text', NEVER)
    expect(earlier.claim('a', NEVER)).toBe(true)
    earlier.close()
    const [one, other] = [openStore(path), openStore(path)]
    expect(one.get('a')).toBe('text')
    expect(one.claim('a', NEVER)).toBe(false)
    for (const text of ['first', 'second']) {
      one.set('a', text, NEVER)
      expect(other.get('a')).toBe(text)
    }
    expect([one.claim('b', NEVER), other.claim('b', NEVER)]).toEqual([true, false])
  })

  it('grants a claim again as soon as it expires by the given clock', () => {
    let time = 1_000
    const store = openStore(':memory:', { now: () => time })
    expect(store.claim('a', 2_000)).toBe(true)
    time = 1_999
    expect(store.claim('a', 3_000)).toBe(false)
    time = 2_000
    expect(store.claim('a', 3_000)).toBe(true)
    expect(store.claim('a', 3_000)).toBe(false)
  })

  it('removes entries that have expired by the given clock on the next set', () => {
    let time = 1_000
    const path = temporaryPath()
    const store = openStore(path, { now: () => time })
    store.set('old', 'text', 2_000)
    store.set('young', 'text', 2_001)
    store.claim('old', 2_000)
    store.claim('young', 2_001)
    time = 2_001
    expect(store.get('old')).toBe('text')
    store.set('new', 'text', 1)
    const kept = ['old', 'young', 'new'].map((key) => store.get(key))
    expect(kept).toEqual([undefined, 'text', 'text'])
    const claims = openDatabase(path).prepare('SELECT * FROM ratesmith_claims')
    expect(claims.all()).toHaveLength(1)
  })

  it('reads while another process writes, and throws soon instead of waiting for a lock', () => {
    const path = temporaryPath()
    const store = openStore(path)
    store.set('a', 'one', NEVER)
    const other = openDatabase(path)
    other.exec('BEGIN EXCLUSIVE')
    expect(store.get('a')).toBe('one')
    const start = performance.now()
    expect(() => store.set('a', 'two', NEVER)).toThrow('locked')
    expect(() => store.claim('a', NEVER)).toThrow('locked')
    // Either waits for 20 ms; the usual busy timeout of SQLite is 5 s.
    expect(performance.now() - start).toBeLessThan(1_000)
    other.exec('ROLLBACK')
    store.set('a', 'three', NEVER)
    expect(store.get('a')).toBe('three')
  })

  it('keeps its log small when values are overwritten', () => {
    const path = temporaryPath()
    const [store, other] = [openStore(path), openStore(path)]
    const text = 'x'.repeat(400_000)
    for (let round = 0; round < 60; round += 1) {
      store.set('a', `${text}${round}`, NEVER)
      expect(other.get('a')).toBe(`${text}${round}`)
    }
    expect(statSync(path).size + statSync(`${path}-wal`).size).toBeLessThan(8_000_000)
  })

  // Windows has no such modes.
  it.skipIf(process.platform === 'win32').each([
    [0o022, 0o600],
    [0o000, 0o600],
    [0o022, 0o660],
  ])(
    'under the umask %i gives new files mode 0600 and keeps the mode of existing ones: %i',
    (umask, mode) => {
      const before = process.umask(umask)
      onTestFinished(() => void process.umask(before))
      const path = temporaryPath()
      if (mode !== 0o600) writeFileSync(path, '')
      if (mode !== 0o600) chmodSync(path, mode)
      openStore(path).set('a', 'text', NEVER)
      const modes = ['', '-wal', '-shm'].map((end) => statSync(path + end).mode & 0o777)
      expect(modes).toEqual([mode, mode, mode])
    },
  )

  it('throws once it is closed, and may be closed twice', () => {
    const store = openStore(temporaryPath())
    store.close()
    store.close()
    expect(() => store.get('a')).toThrow(Error)
    expect(() => store.set('a', 'text', NEVER)).toThrow(Error)
  })

  it('throws at once, naming the path, if that is not a database', () => {
    const path = temporaryPath()
    const text = `${path}.txt`
    writeFileSync(text, 'no database, but long enough to be taken for one'.repeat(100))
    for (const wrong of [`${path}/no/folder.db`, text]) {
      expect(() => createSqliteStore(wrong)).toThrow(`SQLite database ${wrong}: `)
    }
  })

  it.each([
    ['', {}],
    [undefined, {}],
    [5, {}],
    [':memory:', { now: 5 }],
  ])('throws for the path %j with %j', (path, options) => {
    // @ts-expect-error not everyone has a compiler
    expect(() => createSqliteStore(path, options)).toThrow(TypeError)
  })
})
