import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import { afterEach, beforeEach, describe, expect, it } from 'vitest'

import { GuardedCallError } from '../../src/access/counters.ts'
import { createSqliteCounters } from '../../src/access/sqlite.ts'
import type { SqliteCountersOptions } from '../../src/access/sqlite.ts'
import { virtualRuntime } from '../virtual-runtime.ts'
import { START, burst, month } from './fleet.ts'

const LIMITS = [burst(10, 60_000), month(1_000)]

let folder: string
let path: string
let ends: (() => void)[]

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ratesmith-'))
  path = join(folder, 'limits.db')
  ends = [() => rmSync(folder, { recursive: true, force: true })]
})

afterEach(() => {
  for (const end of ends.toReversed()) end()
})

function openCounters(runtime = virtualRuntime(START), options?: SqliteCountersOptions) {
  const counters = createSqliteCounters(path, options).open({ runtime, emit: () => undefined })
  ends.push(counters.close)
  return { runtime, take: (cost = 1, client = 'key:a') => counters.take(client, LIMITS, cost) }
}

function openDatabase(): DatabaseSync {
  const database = new DatabaseSync(path)
  ends.push(() => database.close())
  return database
}

describe('createSqliteCounters()', () => {
  it('shares limits between processes, and decides at once', () => {
    const runtime = virtualRuntime(START)
    const [first, second] = [openCounters(runtime), openCounters(runtime)]
    expect(first.take(6)).toMatchObject({
      granted: true,
      states: [
        { remaining: 4, reset: 36_000, wait: 0 },
        { remaining: 994, reset: Date.UTC(2026, 11) - START, wait: 0 },
      ],
    })
    expect(second.take(4)).toMatchObject({ granted: true, states: [{ remaining: 0 }, {}] })
    for (const { take } of [first, second]) {
      expect(take()).toMatchObject({ granted: false, states: [{ wait: 6_000 }, { wait: 0 }] })
    }
  })

  it('grants again after the wait', async () => {
    const { take, runtime } = openCounters()
    void take(10)
    expect(take()).toMatchObject({ granted: false })
    await runtime.advance(6_000)
    expect(take()).toMatchObject({ granted: true })
  })

  it('keeps what was counted after all processes have ended', () => {
    const counters = createSqliteCounters(path)
    const context = { runtime: virtualRuntime(START), emit: () => undefined }
    const before = counters.open(context)
    void before.take('key:a', LIMITS, 10)
    before.close()
    before.close()
    expect(openCounters().take()).toMatchObject({ granted: false })
    const later = counters.open(context)
    ends.push(later.close)
    expect(later.take('key:a', LIMITS, 1)).toMatchObject({ granted: false })
  })

  it('separates prefixes', () => {
    const runtime = virtualRuntime(START)
    void openCounters(runtime, { prefix: 'one:' }).take(10)
    expect(openCounters(runtime, { prefix: 'one:' }).take()).toMatchObject({ granted: false })
    expect(openCounters(runtime, { prefix: 'two:' }).take()).toMatchObject({ granted: true })
  })

  it('creates a file that only its owner can read', ({ skip }) => {
    if (!('getuid' in process)) skip('Windows has no modes')
    void openCounters().take()
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  it('throws within a busy timeout while another process writes, and recovers', async () => {
    const { take, runtime } = openCounters()
    void take()
    const other = openDatabase()
    other.exec('BEGIN IMMEDIATE')
    expect(() => take()).toThrow(GuardedCallError)
    expect(() => take()).toThrow(/locked/)
    other.exec('ROLLBACK')
    await runtime.advance(5_000)
    expect(take()).toMatchObject({ granted: true })
  })

  it('replaces an invalid state', () => {
    const { take } = openCounters()
    void take(10)
    openDatabase().exec("UPDATE ratesmith_limits SET state = 'x'")
    const other = openCounters()
    expect(other.take(9)).toMatchObject({ granted: true })
    expect(other.take(9)).toMatchObject({ granted: false })
  })

  it('deletes expired rows in small steps', async () => {
    const runtime = virtualRuntime(START)
    const counters = createSqliteCounters(path).open({ runtime, emit: () => undefined })
    ends.push(counters.close)
    const limits = [burst(10, 60_000)]
    for (let client = 0; client < 100; client += 1) void counters.take(`key:${client}`, limits, 10)
    const database = openDatabase()
    const rows = () => database.prepare('SELECT count(*) AS rows FROM ratesmith_limits').get()
    expect(rows()).toMatchObject({ rows: 100 })
    await runtime.advance(120_000)
    void counters.take('key:0', limits, 1)
    expect(rows()).toMatchObject({ rows: 90 })
    for (let client = 1; client < 10; client += 1) void counters.take(`key:${client}`, limits, 1)
    expect(Number(rows()?.['rows'])).toBeLessThanOrEqual(20)
  })

  it('throws for a wrong path or option', () => {
    const create =
      (...args: unknown[]) =>
      () =>
        Reflect.apply(createSqliteCounters, null, args)
    expect(create('')).toThrow('path must be a non-empty file path')
    expect(create(path, { prefix: 7 })).toThrow('prefix must be a string')
    expect(create(path, { prefx: 'a' })).toThrow('did you mean "prefix"?')
    writeFileSync(
      path,
      'not a database, but a text that is long enough to be read as one'.repeat(20),
    )
    expect(create(path)).toThrow(`cannot open the SQLite database ${path}`)
  })
})
