import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { hostname } from 'node:os'

import { beforeEach, describe, expect, it, vi } from 'vitest'

import { PAGES } from '../../src/cli/help.ts'
import { createRates } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { fetchFromFeeds } from '../fixtures/feeds.ts'
import { temporaryFolder } from '../stores/meets-contract.ts'
import { namesIn, readExported, readIndex } from './exported.ts'
import { DAY, NOW, publish, run, urlOf } from './run.ts'
import type { Surroundings } from './run.ts'

let folder = ''
beforeEach(() => {
  folder = temporaryFolder()
})

async function exported(args: string[], surroundings: Surroundings = {}): Promise<string> {
  const { code, stdout, stderr } = await run(['export', folder, ...args], surroundings)
  expect(code, stderr).toBe(0)
  return stdout
}

/** Runs an export that fails with this code and a message that matches; changes nothing here. */
async function expectRefused(
  args: string[],
  code: number,
  message: RegExp,
  more: Surroundings = {},
) {
  const ran = await run(['export', folder, ...args], more)
  expect(ran).toMatchObject({ code, stderr: expect.stringMatching(message) })
}

const read = (name: string): string => fs.readFileSync(`${folder}/${name}`, 'utf8')
const unfinished = () => namesIn(folder).filter((name) => /\.(lock|tmp)$/.test(name))

const DEMO = ['--demo', '--since', '2025-06-01']

function francs(changed: Record<string, number> = {}): typeof fetch {
  const days = Array.from({ length: 690 }, (_, index) =>
    new Date(NOW - (689 - index) * DAY).toISOString().slice(0, 10),
  ).filter((day) => new Date(day).getUTCDay() % 6 !== 0)
  const rates = Object.fromEntries(days.map((day, index) => [day, 0.9 + (index % 7) / 1000]))
  return publish({ francs: { ...rates, ...changed } })
}

const FRANCS = ['--no-cache', '--latest', 'exchange-rate-api', '--allow', 'exchange-rate-api']

describe('ratesmith export', () => {
  it('writes the published rates to files that index.json lists with their digests', async () => {
    expect(await exported(DEMO)).toMatch(/^2 years, 7 files changed, index\.json [0-9a-f]{8}\n$/)
    const index = readIndex(folder)
    const files = readExported(folder)
    expect(index).toMatchObject({ version: 1, since: '2025-06-01' })
    expect(namesIn(folder)).toEqual(
      [...index.files.map(({ name }) => name), 'index.json', 'latest.json'].toSorted(),
    )
    expect(read('latest.json')).toBe(files.get('latest.json'))

    const rates = createRates({ providers: fakeProviders({ now: () => NOW }), now: () => NOW })
    const { updatedAt, nextUpdateAt, rates: all, source } = await rates.latest()
    const { USD: _, ...others } = all
    const latest = { base: 'USD', updatedAt, nextUpdateAt, rates: others, source }
    expect(files.get('latest.json')).toBe(JSON.stringify(latest))
    let lines = ''
    for await (const day of rates.days({ start: '2025-06-01' })) lines += `${JSON.stringify(day)}\n`
    expect(`${files.get('days/2025.ndjson')}${files.get('days/2026.ndjson')}`).toBe(lines)
    expect(files.get('currencies.json')).toBe(JSON.stringify(await rates.currencies()))
    const sources = (await rates.sources()).sources.map(
      ({ late: _late, lastDay: _day, ...each }) => each,
    )
    expect(files.get('sources.json')).toBe(JSON.stringify({ sources }))
  })

  it('writes all years of the oldest source without --since, and in CSV a line for each rate', async () => {
    expect(await exported(['--demo', '--quiet'])).toContain('28 years, 59 files changed')
    expect(readIndex(folder).since).toBe('1999-01-04')
    const files = readExported(folder)
    const csv = files.get('days/1999.csv')?.split('\n') ?? []
    const days = files.get('days/1999.ndjson')?.trimEnd().split('\n') ?? []
    const lines = days.flatMap((line) => {
      const { date, base, source, rates } = JSON.parse(line)
      return Object.entries(rates).map(([code, rate]) => [date, base, code, rate, source].join())
    })
    expect(csv).toEqual(['date,base,quote,rate,source', ...lines, ''])
  })

  it('writes prices as they are published, and turns them around in CSV', async () => {
    const args = ['--no-cache', '--latest', 'nbp', '--history', 'ecb,nbp', '--since', '2026-11-01']
    await exported(args, { fetch: fetchFromFeeds })
    const files = readExported(folder)
    const latest = JSON.parse(files.get('latest.json') ?? '')
    expect(latest).toMatchObject({ base: 'PLN', rates: {}, tableNumber: '41/A/NBP/2026' })
    expect(latest.prices.EUR).toBeGreaterThan(4)
    expect(latest.prices).not.toHaveProperty('PLN')
    const gold = /^2026-11-20,XAU,PLN,([\d.]+),nbp-a$/m.exec(files.get('days/2026.csv') ?? '')?.[1]
    expect(files.get('days/2026.ndjson')).toContain(`"XAU":${gold}`)
  })

  it('leaves out latest rates of an earlier publication', async () => {
    const env = { RATESMITH_CACHE_DIR: temporaryFolder() }
    const args = [...FRANCS.slice(1), '--since', '2026']
    await exported(args, { env, fetch: publish() })
    const before = JSON.parse(read('latest.json'))
    const { XAF: _, ...rates } = { USD: 1, ...before.rates }
    const now = (): number => NOW + DAY
    // Later than the publication before.
    const times = { time_last_update_unix: before.updatedAt / 1000 + 86_400 }
    await exported(args, { env, now, fetch: publish({ now, latest: { rates, ...times } }) })
    const after = JSON.parse(read('latest.json'))
    expect(after.updatedAt).toBe(before.updatedAt + DAY)
    expect(Object.keys(before.rates).filter((code) => !(code in after.rates))).toEqual(['XAF'])
    const { code, stderr } = await run(['export', folder, ...args], { env, now: () => now() + DAY })
    expect(code).toBe(0)
    expect(stderr).toMatch(/^ratesmith: offline: overdue rates \(.*refused.*\)$/m)
  })

  it('writes nothing again for the same rates', async () => {
    await exported(DEMO)
    const state = () =>
      namesIn(folder).map((name) => [name, fs.statSync(`${folder}/${name}`).mtimeMs])
    const before = state()
    const sha256 = expect.stringMatching(/^[0-9a-f]{64}$/)
    const printed = JSON.parse(await exported([...DEMO, '--json']))
    expect(printed).toEqual({ years: 2, changed: 0, sha256 })
    expect(state()).toEqual(before)
  })

  it('changes for another day only the files of its year, and keeps those of the index before', async () => {
    const indexes = []
    const last = { '2025-05-05': 0.8766 }
    for (const changed of [{}, { '2025-05-05': 0.8765 }, last, last]) {
      await exported([...FRANCS, '--since', '2025'], { fetch: francs(changed) })
      indexes.push(readIndex(folder))
    }
    const [first, second, third] = indexes.map(({ files }) => files.map(({ name }) => name))
    const gone = first?.filter((name) => !second?.includes(name)) ?? []
    const ofYear = expect.stringMatching(/^days\/2025\.\w+\.(csv|ndjson)$/)
    expect(gone).toEqual([ofYear, ofYear])
    expect(readExported(folder, indexes[1]).get('days/2025.csv')).toContain(
      '2025-05-05,EUR,CHF,0.8765,ecb\n',
    )
    const kept = [...new Set([...(second ?? []), ...(third ?? [])])]
    expect(namesIn(folder)).toEqual([...kept, 'index.json', 'latest.json'].toSorted())
  })

  it('keeps the folder whole if a year cannot be loaded', async () => {
    const args = [...FRANCS, '--since', '2015']
    await exported(args, { fetch: publish() })
    const before = read('index.json')
    const fetch: typeof globalThis.fetch = async (input) =>
      /\/v1\/(199|200|201)|eurofxref|v2/.test(urlOf(input))
        ? new Response('', { status: 503, headers: { 'retry-after': '3600' } })
        : publish({ francs: { '2026-11-20': 1 } })(input)
    const message = /^ratesmith: rates of 2015 could not be loaded \(.*503.*\)\n$/
    await expectRefused(args, 1, message, { fetch })
    expect(read('index.json')).toBe(before)
    expect(readExported(folder).size).toBe(27)
  })
})

it.each(PAGES.export.examples)('the help has an example that runs: %s', async (example) => {
  const [, , , ...flags] = example.split(' ')
  const few = ['--since', '2026-11-01', '--no-cache']
  await exported([...flags, ...few], { fetch: fetchFromFeeds })
  expect(readExported(folder).size).toBe(5)
})

describe('the terms of providers', () => {
  it('refuse an export by name before anything is written, unless it is allowed', async () => {
    const chosen = ['--latest', 'ecb,exchange-rate-api']
    // The message is in command-lines.txt.
    expect(await run(['export', `${folder}/rates`, ...chosen])).toMatchObject({ code: 2 })
    const env = { RATESMITH_LATEST: 'exchange-rate-api' }
    expect(await run(['export', `${folder}/rates`], { env })).toMatchObject({ code: 2 })
    expect(namesIn(folder)).toEqual([])
    await exported([...chosen, '--allow', 'exchange-rate-api', '--since', '2026'], {
      fetch: publish(),
    })
  })

  it('are noted below the result, with the default ecb for latest rates', async () => {
    const args = ['export', folder, '--since', '2026', '--history', 'ecb,riksbank', '--no-cache']
    const { code, stderr } = await run(args, { fetch: fetchFromFeeds })
    expect(code).toBe(0)
    expect(stderr).toBe(
      'ratesmith: may be passed on: ecb with credit, riksbank unknown; see docs/choose-your-rates.md before you publish\n',
    )
    expect(JSON.parse(readExported(folder).get('latest.json') ?? '')).toMatchObject({
      base: 'EUR',
      source: { name: 'European Central Bank' },
    })
  })
})

/** Runs an export whose process ends before its `last`th work on files; resolves to whether it ended so. */
async function killedExport(last: number, args: string[], surroundings: Surroundings) {
  const { promises } = fs
  const originals = { ...promises }
  let count = 0
  for (const name of ['open', 'rename', 'rm', 'stat', 'readdir', 'writeFile'] as const) {
    vi.spyOn(promises, name).mockImplementation(async (...given: unknown[]) => {
      count += 1
      // All that follows, such as the removal of the lock, fails too.
      if (count > last) throw new Error('killed')
      return Reflect.apply(originals[name], promises, given)
    })
  }
  syncBuiltinESMExports()
  await run(['export', folder, ...args], surroundings).catch(() => undefined)
  vi.restoreAllMocks()
  syncBuiltinESMExports()
  // Its lock is that of a process that has ended.
  for (const name of unfinished()) {
    const ended = name.replace(`.${process.pid}.`, '.1073741824.')
    fs.renameSync(`${folder}/${name}`, `${folder}/${ended}`)
  }
  return count > last
}

it('an export that is killed at any moment leaves a whole folder, and does not hinder the next', async () => {
  const args = [...FRANCS, '--since', '2026-11-01']
  await exported(args, { fetch: francs() })
  const before = readExported(folder)
  const csv = before.get('days/2026.csv') ?? ''
  const seen = { before: 0, after: 0, unfinished: 0 }
  for (let work = 0, isKilled = true; isKilled; work += 1) {
    const rate = String((9_100 + work) / 10_000)
    isKilled = await killedExport(work, args, { fetch: francs({ '2026-11-05': Number(rate) }) })
    const found = readExported(folder).get('days/2026.csv')
    const next = csv.replace(/(?<=^2026-11-05,EUR,CHF,)[\d.]+/m, rate)
    expect([csv, next]).toContain(found)
    seen[found === csv ? 'before' : 'after'] += 1
    if (unfinished().some((name) => name.endsWith('.tmp'))) seen.unfinished += 1
    await exported(args, { fetch: francs() })
    expect(readExported(folder)).toEqual(before)
    expect(unfinished()).toEqual([])
  }
  for (const [name, count] of Object.entries(seen)) expect(count, name).toBeGreaterThan(2)
})

describe('the folder', () => {
  it('gets whole files for damaged ones', async () => {
    await exported(DEMO)
    const before = readExported(folder)
    const [torn = '', garbled = ''] = readIndex(folder).files.map(({ name }) => `${folder}/${name}`)
    fs.truncateSync(torn, 10)
    fs.writeFileSync(garbled, fs.readFileSync(garbled).fill(32, 0, 20))
    fs.writeFileSync(`${folder}/latest.json`, '{')
    expect(await exported(DEMO)).toContain('2 files changed')
    expect(readExported(folder)).toEqual(before)
    expect(read('latest.json')).toBe(before.get('latest.json'))
    fs.truncateSync(`${folder}/index.json`, 100)
    await exported(DEMO)
    expect(readExported(folder)).toEqual(before)
  })

  it('keeps the files of others, and loses those of exports that were killed', async () => {
    const own = ['notes.txt', 'days/2020.csv', 'days/2020.deadbeef.csv.txt', 'latest.deadbee.json']
    const left = ['days/2020.deadbeef.csv', 'days/2021.deadbeef.ndjson.tmp', 'index.json.tmp']
    fs.mkdirSync(`${folder}/days/2022.deadbeef.csv`, { recursive: true })
    for (const name of [...own, ...left]) fs.writeFileSync(`${folder}/${name}`, name)
    await exported(DEMO)
    const listed = readIndex(folder).files.map(({ name }) => name)
    expect(namesIn(folder)).toEqual([...listed, ...own, 'index.json', 'latest.json'].toSorted())
    expect(fs.existsSync(`${folder}/days/2022.deadbeef.csv`)).toBe(true)
  })

  it.each(['{"name":"app"}', '[]', '{"version":2,"files":[]}', `"${'x'.repeat(2 ** 20)}"`])(
    'with the index.json of another program is refused: %#',
    async (text) => {
      fs.writeFileSync(`${folder}/index.json`, text)
      await expectRefused(DEMO, 1, /index\.json is not .* of ratesmith export: use another/)
      expect(namesIn(folder)).toEqual(['index.json'])
    },
  )

  it('is whole after several exports at the same time', async () => {
    const days = Array.from({ length: 4 }, (_, index) => NOW - index * DAY)
    const ran = await Promise.all(
      days.map((now) => run(['export', folder, ...DEMO], { now: () => now })),
    )
    // On a busy machine, some may not get their turn.
    const { code = -1 } = ran.find(({ stderr }) => !stderr.includes('another export writes')) ?? {}
    expect(code).toBe(0)
    expect(readExported(folder).size).toBe(7)
    expect(unfinished()).toEqual([])
  })

  it('waits for another process, but not for one that has ended', async () => {
    const lockOf = (host: string, pid: number): string =>
      `${folder}/export.${host.replaceAll(/[^\w-]/g, '_')}.${pid}.${crypto.randomUUID()}.lock`
    const ended = lockOf(hostname(), 2 ** 30)
    const old = lockOf('another', 1)
    for (const path of [ended, old]) fs.writeFileSync(path, '')
    fs.utimesSync(old, 1, 1)
    await exported(DEMO)
    expect([ended, old].filter((path) => fs.existsSync(path))).toEqual([])
    const running = lockOf('another', 1)
    fs.writeFileSync(running, '')
    await expectRefused(DEMO, 1, /another export writes to \S+; if none does, remove/)
    expect(unfinished()).toHaveLength(1)
    fs.rmSync(running)
    const before = read('index.json')
    const fetch: typeof globalThis.fetch = async (input) => {
      for (const name of unfinished()) fs.rmSync(`${folder}/${name}`)
      return publish()(input)
    }
    await expectRefused([...FRANCS, '--since', '2026'], 1, /\.lock/, { fetch })
    expect(read('index.json')).toBe(before)
  })
})

it('refuses a first day after the newest one', async () => {
  const message = /--since must not be after 2026-11-20, got 2027-01-01/
  await expectRefused(['--demo', '--since', '2027-01-01'], 2, message)
})
