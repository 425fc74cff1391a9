import fs from 'node:fs'
import { createRequire } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'

import { strToU8, zipSync } from 'fflate'
import { describe, expect, it } from 'vitest'

import { dailyXml, ecbDays, historyCsv } from '../fixtures/ecb-files.ts'
import { HAS_RECORDINGS, recording } from '../recorded.ts'
import { openPage } from '../release/documentation/page.ts'
import { temporaryFolder } from '../stores/meets-contract.ts'
import { launch } from '../system/processes.ts'
import { namesIn, readExported, readIndex } from './exported.ts'
import { run, urlOf } from './run.ts'

const PROGRAM = fileURLToPath(new URL('export-program.ts', import.meta.url))

const KILLS = 50

/** The part that is used of DuckDB, whose own types come with 70 MB of programs. */
interface DuckDb {
  DuckDBInstance: {
    create(path: string): Promise<{
      connect(): Promise<{
        runAndReadAll(sql: string): Promise<{ getRowsJson(): unknown[][] }>
        closeSync(): void
      }>
    }>
  }
}

/** Reads all files, as programs do while others write. A slow reader of an index finds its files until the second index after it. */
function read(folder: string): void {
  const index = readIndex(folder)
  try {
    readExported(folder, index)
  } catch (error) {
    if (isDeepStrictEqual(readIndex(folder), index)) throw error
  }
}

describe('an export that is killed', () => {
  it(`leaves a whole folder ${KILLS} times at random moments, and does not hinder the next`, async () => {
    const folder = temporaryFolder()
    const env = { NODE_COMPILE_CACHE: temporaryFolder() }
    let exported = 0
    let unfinished = 0
    for (let kill = 0; kill < KILLS; kill += 1) {
      const program = launch(process.execPath, [PROGRAM, folder, String(exported)], { env })
      // Without an index before, there is nothing to read yet.
      const [, number] = await program.written(/^exported (\d+)\n/m)
      const end = performance.now() + Math.random() * 200
      for (; performance.now() < end; await sleep(1)) read(folder)
      await program.end('SIGKILL')
      exported = Number(number) + program.stdout.split('\n').length
      const csv = readExported(folder).get('days/2025.csv') ?? ''
      expect(csv.split('\n')).toHaveLength(602)
      if (namesIn(folder).some((name) => /\.(lock|tmp)$/.test(name))) unfinished += 1
    }
    expect(unfinished).toBeGreaterThan(KILLS / 2)
    const last = launch(process.execPath, [PROGRAM, folder, String(exported)], { env })
    await last.written(/^exported/)
    await last.end('SIGKILL')
    expect(namesIn(folder).filter((name) => name.endsWith('.lock')).length).toBeLessThan(2)
  }, 600_000)
})

interface Archive {
  /** `eurofxref-hist.csv`. */
  text: string
  day: string
}

function archive(): Archive {
  const text = HAS_RECORDINGS
    ? fs.readFileSync(recording('data/ecb/eurofxref-hist.csv'), 'utf8')
    : historyCsv(ecbDays('1999-01-04', '2026-11-20', Date.UTC(2026, 10, 20, 18)))
  return { text, day: text.split('\n')[1]?.slice(0, 10) ?? '' }
}

function bankWith({ text, day }: Archive): typeof fetch {
  const [head = [], newest = []] = text.split('\n').map((line) => line.split(','))
  const rates = head.flatMap((code, index) => {
    const rate = Number(newest[index])
    return index > 0 && rate > 0 ? [[code, rate] as const] : []
  })
  const daily = dailyXml({ date: day, rates: Object.fromEntries(rates) })
  const zip = zipSync({ 'eurofxref-hist.csv': strToU8(text) })
  return async (input) => new Response(urlOf(input).endsWith('.zip') ? zip : daily)
}

describe('DuckDB', () => {
  it('finds in the files, by the queries of the recipe, the rates of the archive', async () => {
    const site = temporaryFolder()
    const { text, day } = archive()
    fs.writeFileSync(`${site}/archive.csv`, text)
    const args = ['export', `${site}/rates`, '--history', 'ecb', '--no-cache']
    const surroundings = {
      fetch: bankWith({ text, day }),
      now: () => Date.parse(`${day}T18:00:00Z`),
    }
    const { code, stderr } = await run(args, surroundings)
    expect(code, stderr).toBe(0)
    // Of an earlier export: readers follow the index.
    fs.writeFileSync(`${site}/rates/days/1999.deadbeef.csv`, 'date,base,quote,rate,source\n')

    const { DuckDBInstance }: DuckDb = createRequire(import.meta.url)('@duckdb/node-api')
    const instance = await DuckDBInstance.create(':memory:')
    const connection = await instance.connect()
    const rowsOf = async (sql: string) => (await connection.runAndReadAll(sql)).getRowsJson()
    await rowsOf(`CREATE TABLE archive AS
      SELECT Date AS day, code, rate::DOUBLE AS rate
      FROM (UNPIVOT (SELECT * FROM read_csv('${site}/archive.csv', all_varchar = true))
        ON COLUMNS('^[A-Z]{3}$') INTO NAME code VALUE rate)
      WHERE rate <> 'N/A'`)
    const [[count] = []] = await rowsOf('SELECT count(*) FROM archive')
    expect(Number(count)).toBeGreaterThan(200_000)

    const { blocks } = openPage('docs/recipes/files-on-a-cdn.md')
    const queries = blocks.filter(({ language }) => language === 'sql').map((block) => block.text)
    expect(queries).toHaveLength(2)
    for (const query of queries) {
      for (const statement of query.replaceAll('rates/', `${site}/rates/`).split(';\n')) {
        if (statement.trim() !== '') await rowsOf(statement)
      }
    }
    for (const table of ['rates', 'days']) {
      const found = `SELECT strftime(date, '%Y-%m-%d') AS day, quote AS code, rate FROM ${table}`
      for (const [one, other] of [
        [found, 'FROM archive'],
        ['FROM archive', found],
      ]) {
        expect(await rowsOf(`(${one}) EXCEPT ALL (${other}) LIMIT 5`)).toEqual([])
      }
    }
    connection.closeSync()
  })
})
