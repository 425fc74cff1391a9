import { DatabaseSync } from 'node:sqlite'

import { describe, expect, it } from 'vitest'

import { syncRates } from '../../src/sql/index.ts'
import type { SyncRatesOptions } from '../../src/sql/index.ts'
import { daysOf } from './fake-days.ts'
import { itMeetsTheContract } from './meets-contract.ts'

describe('a table of SQLite', () => {
  itMeetsTheContract(async () => {
    const client = new DatabaseSync(':memory:')
    client.exec("attach ':memory:' as finance")
    const run = async (text: string) => client.prepare(text).all()
    return { client, run, close: () => client.close() }
  })
})

describe('syncRates()', () => {
  it.each<[message: RegExp, client: unknown, options: object]>([
    [/^client must have query/, undefined, {}],
    [/^client must have query/, { exec() {} }, {}],
    [
      /^since must be a day \(YYYY-MM-DD\), got 2026$/,
      new DatabaseSync(':memory:'),
      { since: '2026' },
    ],
    [/^sources must not be empty$/, new DatabaseSync(':memory:'), { sources: [] }],
  ])('throws %s', async (message, client, options) => {
    const given: SyncRatesOptions = { rates: daysOf([]), ...options }
    const error = await Reflect.apply(syncRates, undefined, [client, given]).catch(
      (thrown: unknown) => thrown,
    )
    expect(error).toBeInstanceOf(TypeError)
    expect(String(Object(error).message)).toMatch(message)
  })
})
