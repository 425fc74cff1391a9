import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

import { describe, expect, it } from 'vitest'

import { temporaryFolder } from '../stores/meets-contract.ts'
import { DAY, NOW, publish, run } from './run.ts'
import type { Surroundings } from './run.ts'

function rowsIn(file: string, table = 'rates') {
  const database = new DatabaseSync(file)
  const select = `select source, base, quote, min(date) as first, max(date) as last, count(*) as count
    from ${table} group by 1, 2, 3 order by 3`
  const rows = database.prepare(select).all()
  database.close()
  return rows.map((row) => Object.values(row).join(' '))
}

describe('ratesmith sync', () => {
  it('writes the days since one into SQLite, and next time the newer ones', async () => {
    const folder = temporaryFolder()
    const file = `${folder}/rates.db`
    const args = ['sync', `sqlite:${file}`, '--since', '30d', '-s', 'usd, GBP']
    const env = { RATESMITH_CACHE_DIR: folder }
    const at = (now: number) => ({ env, now: () => now, fetch: publish({ now: () => now }) })
    // The cache is written after a run, unless the process ends.
    const has = (day: string) => (name: string) =>
      name.endsWith('.cache') && readFileSync(`${folder}/${name}`, 'utf8').includes(day)
    const names = () => readdirSync(folder, { recursive: true, encoding: 'utf8' })
    async function kept(day: string): Promise<void> {
      await expect.poll(() => names().some(has(day))).toBe(true)
    }
    const first = await run(args, at(NOW - DAY))
    await kept('2026-11-19')
    expect(first).toEqual({ code: 0, stdout: '46 inserted, 0 updated\n', stderr: '' })
    const { stdout } = await run([...args, '--json'], at(NOW))
    expect(JSON.parse(stdout)).toEqual({ inserted: 2, updated: 0 })
    const days = '2026-10-20 2026-11-20 24'
    expect(rowsIn(file)).toEqual([`ecb EUR GBP ${days}`, `ecb EUR USD ${days}`])
    await kept('2026-11-20')
    const offline = await run(args, { env, now: () => NOW + 7 * DAY })
    expect(offline).toMatchObject({ code: 0, stdout: '0 inserted, 0 updated\n' })
    expect(offline.stderr).toMatch(/^ratesmith: newer rates may be missing: .*refused/)
  })

  it('writes synthetic rates into another table, as those of another source', async () => {
    const file = `${temporaryFolder()}/rates.db`
    const args = ['sync', `sqlite:${file}`, '--demo', '--since', '2026-11', '-s', 'USD']
    expect((await run([...args, '--sources', 'ecb'])).stdout).toBe('15 inserted, 0 updated\n')
    expect(rowsIn(file, 'demo_rates')).toEqual(['demo EUR USD 2026-11-02 2026-11-20 15'])
    expect(() => rowsIn(file)).toThrow(/no such table/)
  })
})

describe('ratesmith sync with PostgreSQL', () => {
  /** Makes a project with a module that takes the place of pg: it connects to `good`, and has a table. */
  function projectWithPg(): Surroundings {
    const folder = temporaryFolder()
    const module = `${folder}/node_modules/pg`
    mkdirSync(module, { recursive: true })
    const program = `exports.Client = class {
      constructor({ connectionString }) { this.url = connectionString }
      on() {}
      async connect() {
        if (this.url.includes('@good/')) return
        throw new AggregateError([new Error('connect ECONNREFUSED ::1:5432')])
      }
      async query(text) {
        if (this.ended) throw new Error('ended')
        return { rows: [{ there: true, written: 3, updated: 1 }] }
      }
      async end() { this.ended = true }
    }`
    writeFileSync(`${module}/index.js`, program)
    return { folder }
  }

  const args = (url: string): string[] => ['sync', url, '--demo', '--since', '2026-10-01']

  it('writes with pg of the project', async () => {
    const ran = await run(args('postgres://app:secret@good/shop'), projectWithPg())
    // Two months.
    expect(ran).toEqual({ code: 0, stdout: '4 inserted, 2 updated\n', stderr: '' })
  })

  it('never prints the password of a URL', async () => {
    const ran = await run(args('postgres://app:secret@bad/shop'), projectWithPg())
    const stderr = 'ratesmith: cannot connect to PostgreSQL: connect ECONNREFUSED ::1:5432\n'
    expect(ran).toEqual({ code: 1, stdout: '', stderr })
  })
})
