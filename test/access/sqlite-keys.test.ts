import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'

import { createSqliteKeyStore } from '../../src/access/sqlite.ts'
import type { WritableKeyStore } from '../../src/access/sqlite.ts'
import { temporaryFolder } from '../stores/meets-contract.ts'
import { itKeepsKeys, keyNumber } from './key-stores.ts'

describe('createSqliteKeyStore()', () => {
  let path = ''
  beforeEach(() => {
    path = `${temporaryFolder()}/keys.db`
  })

  function open(now?: () => number): WritableKeyStore {
    const store = createSqliteKeyStore(path, { now })
    onTestFinished(() => store.close())
    return store
  }

  itKeepsKeys(open)

  it.skipIf(process.platform === 'win32')('creates the database with mode 0600', async () => {
    await open().add(keyNumber(1))
    expect((statSync(path).mode & 0o777).toString(8)).toBe('600')
  })

  it('waits for another process that writes, and throws on a read that fails', async () => {
    const store = open()
    await store.add(keyNumber(1))
    const other = new DatabaseSync(path)
    onTestFinished(() => other.close())
    other.exec('BEGIN IMMEDIATE')
    expect(await store.find(keyNumber(1).hash)).toMatchObject({ id: 'key-1' })
    other.exec('COMMIT')
    other.exec("UPDATE ratesmith_keys SET origins = 'x'")
    expect(() => store.find(keyNumber(1).hash)).toThrow(SyntaxError)
    other.exec('DROP TABLE ratesmith_keys')
    expect(() => store.find(keyNumber(1).hash)).toThrow('ratesmith_keys')
  })

  it('throws for an invalid path or option, and after it is closed', () => {
    expect(() => createSqliteKeyStore('')).toThrow(TypeError)
    expect(() => createSqliteKeyStore(path, Object({ clock: Date.now }))).toThrow('clock')
    const store = open()
    store.close()
    store.close()
    expect(() => store.find(keyNumber(1).hash)).toThrow(/not open|finalized/)
  })
})
