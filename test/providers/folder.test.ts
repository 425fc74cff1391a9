import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

import { afterAll, afterEach, describe, expect, it, vi } from 'vitest'

import { createRatesHandler } from '../../src/index.ts'
import type {
  HistoryProvider,
  LatestProvider,
  ProviderContext,
  RatesEvent,
  RatesHandler,
} from '../../src/index.ts'
import {
  createCnbProvider,
  createEcbProvider,
  createExchangeRateApiProvider,
  createFolderProvider,
  createNbpProvider,
  createNorgesBankProvider,
  pegged,
} from '../../src/providers/index.ts'
import { toDay } from '../../src/rates/dates.ts'
import { createUndiciFetch } from '../../src/undici.ts'
import { run } from '../cli/run.ts'
import { fetchFromFeeds, respondAsFeeds } from '../fixtures/feeds.ts'
import { folderOf, textsOf } from '../fixtures/folder.ts'
import { SCENES } from '../golden/questions.ts'
import { turnsDuring } from '../virtual-runtime.ts'
import { NOW, respondingWith, upstream } from './upstream.ts'

type Both = LatestProvider & HistoryProvider
type Files = ReadonlyMap<string, string>

vi.setConfig({ testTimeout: 60_000 })

const ROOT = 'https://folder.example/rates'
const FIRST = '1999-01-04'
const MONTH = { start: '2026-10-21', end: '2026-11-20' }

const root = await mkdtemp(join(tmpdir(), 'ratesmith-folder-'))
afterAll(() => rm(root, { recursive: true }))
afterEach(() => void vi.restoreAllMocks())

/** Puts files into the folder `name`, instead of all that it has. */
async function write(name: string, files: Files): Promise<URL> {
  const folder = join(root, name)
  await rm(folder, { recursive: true, force: true })
  await mkdir(join(folder, 'days'), { recursive: true })
  for (const [path, text] of files) await writeFile(join(folder, path), text)
  return pathToFileURL(folder)
}

const served = (files: Files) => (url: string) => {
  const text = files.get(url.slice(ROOT.length + 1))
  return new Response(text ?? '<!doctype html>', { status: text === undefined ? 404 : 200 })
}

function contextAt(now: number): ProviderContext {
  const signal = new AbortController().signal
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init)
    return respondAsFeeds(request.url, now, await request.text())
  }
  return { fetch, signal, now: () => now }
}

const RECENT = '2025-12-01'

const ecb = createEcbProvider()

describe('a handler over a folder of ratesmith export', () => {
  const norway = createNorgesBankProvider()

  it.each([
    ['all of the European Central Bank', 'from one bank', '', ecb, ['ecb'], FIRST],
    ['official pegs', 'pegged', '', pegged(ecb), ['ecb', '--pegs'], FIRST],
    ['prices', 'bank nbp-a', 'source=nbp-a', createNbpProvider(), ['nbp'], RECENT],
    ['tables of days', 'bank cnb', 'source=cnb', createCnbProvider(), ['cnb'], RECENT],
    ['several banks', 'bank norges-bank', '=norges-bank', norway, ['ecb,norges-bank'], RECENT],
  ])(
    'answers like the original: %s',
    async (_, name, part, bank, [history = '', ...flags], since) => {
      const folder = join(root, 'exported')
      const latest = history.split(',').at(-1) ?? ''
      const args = [
        '--latest',
        latest,
        '--history',
        history,
        '--since',
        since,
        '--no-cache',
        ...flags,
      ]
      const { stderr, code } = await run(['export', folder, ...args], {
        fetch: fetchFromFeeds,
        now: () => NOW,
      })
      expect([code, stderr]).toEqual([0, expect.any(String)])
      const handlerOf = (provider: Both, ecbs: HistoryProvider, fetch: typeof globalThis.fetch) =>
        createRatesHandler({
          providers: {
            latest: provider,
            history: history.includes(',') ? [ecbs, provider] : provider,
          },
          now: () => NOW,
          fetch,
        })
      const original = handlerOf(bank, ecb, fetchFromFeeds)
      const url = pathToFileURL(folder)
      const copy = handlerOf(
        createFolderProvider({ url, provider: bank }),
        createFolderProvider({ url }),
        () => Promise.reject(new Error('no request')),
      )
      const scene = SCENES.find((each) => each.name === name)
      const targets = [...(scene?.warm ?? []), ...(scene?.questions ?? []).map(targetOf)]
      const asked = targets.filter(
        (each) => /\/(latest|convert|history|rates)\b/.test(each) && each.includes(part),
      )
      let good = 0
      for (const target of ['/api/v1/latest', ...asked]) {
        const expected = await answer(original, target)
        expect([target, ...(await answer(copy, target))]).toEqual([target, ...expected])
        good += Number(expected[0] === 200)
      }
      expect(good).toBeGreaterThan(10)
    },
  )
})

function targetOf(question: { target?: string }): string {
  return question.target ?? ''
}

async function answer(handler: RatesHandler, target: string): Promise<unknown[]> {
  const response = await handler(new Request(`http://localhost${target}`))
  return [response.status, response.headers.get('etag'), await response.text()]
}

const SINCE = '2025-11-03'

/** Returns what an export at `now` has of a bank: its last days, and its latest rates. */
async function contentAt(
  now: number,
  { fetchHistory, fetchLatest, attribution } = ecb,
  id = 'ecb',
) {
  const range = { start: id === 'ecb' ? SINCE : MONTH.start, end: toDay(now) }
  const days = { [id]: { ...(await fetchHistory(range, contextAt(now))), attribution } }
  return { since: SINCE, latest: await fetchLatest(contextAt(now)), source: attribution, days }
}

const recent = await contentAt(NOW)
const small = textsOf(recent)

const YEAR = { start: '2025-11-20', end: '2026-11-20' }

/** Returns the folder with other texts, whose digests are right. */
function rewritten(change: (text: string, name: string) => string): Files {
  const texts = [...small].map(([name, text]) => [name, change(text, name)] as const)
  return folderOf(SINCE, new Map(texts))
}

/** Returns the folder with other bytes than its index lists. */
function damaged(change: (text: string) => string | undefined, start = 'days/2026'): Files {
  const files = [...folderOf(SINCE, small)].flatMap(([path, text]) => {
    const changed = RegExp(`^${start}`).test(path) ? change(text) : text
    return changed === undefined ? [] : [[path, changed] as const]
  })
  return new Map(files)
}

interface Listed {
  name: string
  sha256: string
}

const relisted = (change: (index: { files: Listed[] }) => object): Files =>
  damaged((text) => JSON.stringify({ ...JSON.parse(text), ...change(JSON.parse(text)) }), 'index')

const inDays = (change: (lines: string[]) => string[]): Files =>
  rewritten((text, name) =>
    name === 'days/2026.ndjson' ? change(text.split('\n')).join('\n') : text,
  )

describe('createFolderProvider()', () => {
  const good = folderOf(SINCE, small)

  it('has the days of its range from a disk and from a host', async () => {
    const server = createServer(({ url = '' }, response) => {
      const text = good.get(url.slice('/rates/'.length))
      response.writeHead(text === undefined ? 404 : 200).end(text)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = Object(server.address())
    const loopback = await createUndiciFetch({ proxy: false })
    const urls = [`${(await write('both', good)).href}/`, `http://127.0.0.1:${port}/rates/`]
    const expected = await ecb.fetchHistory(MONTH, contextAt(NOW))
    for (const url of urls) {
      const { fetchHistory, attribution } = createFolderProvider({ url })
      const days = await fetchHistory(MONTH, { ...contextAt(NOW), fetch: loopback })
      expect(days).toEqual({ ...expected, attribution })
    }
    server.close()
  })

  it('has what its provider has, and refuses other options', () => {
    const provider = createExchangeRateApiProvider()
    const { attribution, ...functions } = createFolderProvider({ url: ROOT, provider })
    expect(attribution).toBe(provider.attribution)
    expect(Object.keys(functions)).toEqual(['fetchLatest', 'validateStored'])
    const { publication, terms, maxDays } = createNbpProvider()
    const bank = createFolderProvider({ url: ROOT, provider: createNbpProvider() })
    expect(bank).toMatchObject({ publication, terms, maxDays: 366, sanityChecks: true })
    expect([maxDays, 'fetchSeries' in bank]).toEqual([93, false])
    const create = (options: object) => () => createFolderProvider(Object(options))
    expect(create({})).toThrow('url must be a file:, http: or https: URL without a query')
    expect(create({ url: ROOT, provider: {} })).toThrow('provider must be a provider with')
    expect(create({ url: ROOT, bank })).toThrow('unknown option "bank"')
  })

  it('has no days before the first one of the folder', async () => {
    const { context } = upstream([served(good)])
    const { fetchHistory } = createFolderProvider({ url: ROOT })
    const { days } = await fetchHistory({ start: FIRST, end: '2025-11-10' }, context)
    expect(days.map(({ date }) => date).slice(0, 2)).toEqual(['2025-11-03', '2025-11-04'])
    expect((await fetchHistory({ start: FIRST, end: '2024-12-31' }, context)).days).toEqual([])
  })

  it('is `folder` on the command line, with its URL in the environment', async () => {
    const { href } = await write('command', good)
    const env = { RATESMITH_LATEST_URL: href, RATESMITH_HISTORY_URL: href }
    const flags = ['--latest', 'folder', '--history', 'folder', '--no-cache']
    const convert = ['convert', '1', 'eur', 'usd', '--date', '2026-11-19', ...flags]
    const { stderr, stdout } = await run([...convert, '--quiet'], { env, now: () => NOW })
    const { rates } = recent.days['ecb']?.days.find(({ date }) => date === '2026-11-19') ?? {}
    expect([stderr, stdout]).toEqual(['', expect.stringContaining(`${rates?.['USD']}`)])
    const missing = await run(convert, { env: { ...env, RATESMITH_HISTORY_URL: '' } })
    expect(missing.stderr).toMatch(/^ratesmith: RATESMITH_HISTORY_URL: url must be a file:/)
  })

  it('reads a long file a few hundred lines per turn of the event loop', async () => {
    const text = `${JSON.stringify({ date: '', source: '', base: 'x'.repeat(120), rates: {} })}\n`
    const { context } = upstream([served(inDays(() => [text.repeat(20_000)]))])
    const { fetchHistory } = createFolderProvider({ url: ROOT })
    const lines: number[] = []
    const { parse } = JSON
    await turnsDuring((turns) => {
      vi.spyOn(JSON, 'parse').mockImplementation((line) => {
        lines[turns()] = (lines[turns()] ?? 0) + 1
        return parse(line)
      })
      return fetchHistory(YEAR, context)
    })
    const counts = Object.values(lines)
    expect(counts.reduce((sum, count) => sum + count)).toBeGreaterThan(20_000)
    expect(Math.max(...counts)).toBeLessThan(2_000)
  })
})

const DAYS = String.raw`days/2026\.[\da-f]{8}\.ndjson`
const edit = (line: number, from: RegExp, to: string): Files =>
  inDays((lines) => lines.with(line - 1, (lines[line - 1] ?? '').replace(from, to)))
/** Lists the first file also under another name, with the right digits. */
const listing = (name: string): Files =>
  relisted(({ files: [file = { name, sha256: '' }, ...others] }) => {
    const renamed = { ...file, name: name.replace('DIGITS', file.sha256.slice(0, 8)) }
    return { files: [renamed, file, ...others] }
  })
const eachFile = (change: object): Files =>
  relisted(({ files }) => ({ files: files.map((each) => ({ ...each, ...change })) }))
const inFile = (file: string, from: string | RegExp, to: string): Files =>
  rewritten((text, name) => (name === file ? text.replace(from, to) : text))
const FORMAT = 'index.json: it has an unexpected format'

/** Folders that are not those of an export, and what the message says of them. */
const REFUSED: Record<string, [files: Files, message: string]> = {
  'without an index': [new Map(), 'index.json: folder.example returned HTTP 404'],
  'with a page as its index': [damaged(() => '<p>secret', 'index'), 'index.json: it is not JSON'],
  'with a page as a file': [damaged(() => '<p>secret'), `${DAYS}: expected \\d+ bytes, got 9`],
  'of another version': [relisted(() => ({ version: 2 })), `${FORMAT}: version`],
  'with a truncated file': [
    damaged((text) => text.slice(1)),
    `${DAYS}: expected \\d+ bytes, got \\d+`,
  ],
  'with a longer file': [damaged((text) => `${text}secret`), `${DAYS}: .* more than \\d+ bytes`],
  'with another file': [
    damaged((text) => text.replace('1', '2')),
    `${DAYS}: expected another SHA-256`,
  ],
  'without a file': [damaged(() => undefined), `${DAYS}: folder.example returned HTTP 404`],
  'without a year': [
    relisted(({ files }) => ({ files: files.filter(({ name }) => !/2025.*ndjson/.test(name)) })),
    'index.json: days/2025.ndjson is not listed',
  ],
  'with a file twice': [
    relisted(({ files }) => ({ files: [...files, ...files] })),
    'index.json: a file is listed twice',
  ],
  'with other digits': [eachFile({ sha256: '0'.repeat(64) }), `${FORMAT}: files.0, .*`],
  'with files that are too large': [eachFile({ size: 17_000_000 }), `${FORMAT}: files.0, .*`],
  'with a path upwards': [listing('../secret.DIGITS.json'), `${FORMAT}: files.0`],
  'with a path inside upwards': [listing('days/../../secret.DIGITS.json'), `${FORMAT}: files.0`],
  'with an absolute path': [listing('/secret.DIGITS.json'), `${FORMAT}: files.0`],
  'with a URL': [listing('https://secret.example/latest.DIGITS.json'), `${FORMAT}: files.0`],
  'with a line that is not JSON': [edit(3, /$/, 'secret'), `${DAYS}: line 3 is not JSON`],
  'with a line of another form': [
    edit(3, /"rates":/, '"secret":'),
    `${DAYS}: line 3 has an unexpected format: rates`,
  ],
  'with an unfinished line': [inDays((lines) => lines.slice(0, 3)), `${DAYS}: line 3 has no end`],
  'with a line of 66 kB': [
    edit(3, /"rates"/, `"secret":"${'x'.repeat(66_000)}","rates"`),
    `${DAYS}: line 3 has no end`,
  ],
  'with a day of another year': [
    edit(3, /2026/, '2025'),
    `${DAYS}: line 3 is not of a later day of 2026`,
  ],
  'with a day twice': [
    inDays(([first = '', ...lines]) => [first, first, ...lines]),
    `${DAYS}: line 2 is not of a later day of 2026`,
  ],
  'with a day in another base': [edit(3, /"EUR"/, '"USD"'), `${DAYS}: line 3 has another base`],
  'of another source': [inFile('sources.json', '"ecb"', '"secret"'), 'sources.json has no ecb'],
  'with latest rates of another source': [
    inFile('latest.json', 'European Central Bank', 'secret'),
    'latest.json is of another source; expected European Central Bank',
  ],
  'with a link that is a program': [
    inFile('sources.json', 'https://', 'javascript:secret//'),
    `${DAYS.replace('days/2026', 'sources').replace('nd', '')}: it has an unexpected format: sources.0.source.url`,
  ],
}

describe('a folder', () => {
  it.each(Object.entries(REFUSED))(
    '%s is refused, without being quoted',
    async (_, [files, message]) => {
      const { context, requests } = upstream([served(files)])
      const provider = createFolderProvider({ url: ROOT })
      const reading = Promise.all([
        provider.fetchLatest(context),
        provider.fetchHistory(YEAR, context),
      ])
      await expect(reading).rejects.toThrow(
        new RegExp(`^(?:folder.example has no usable )?${message}$`),
      )
      await expect(reading).rejects.toThrow(/^(?:(?!secret)[^])*$/)
      const urls = requests.map(({ url }) => url)
      expect(urls.filter((url) => !url.startsWith(`${ROOT}/`) || /secret/.test(url))).toEqual([])
    },
  )

  it('that lacks a year is refused also for other years', async () => {
    const { context } = upstream([served(REFUSED['without a year']?.[0] ?? new Map())])
    const { fetchHistory } = createFolderProvider({ url: ROOT })
    await expect(fetchHistory(MONTH, context)).rejects.toThrow('days/2025.ndjson is not listed')
  })

  it('of an export of two banks has each under its own name', async () => {
    const norway = createNorgesBankProvider()
    const of = await contentAt(NOW, norway, 'norges-bank')
    const texts = textsOf({ ...of, days: { ...recent.days, ...of.days } })
    const { context } = upstream([served(folderOf(SINCE, texts))])
    const own = createFolderProvider({ url: ROOT, provider: norway })
    expect((await own.fetchLatest(context)).base).toBe('NOK')
    expect(await own.fetchHistory(MONTH, context)).toMatchObject({
      base: 'NOK',
      attribution: { name: 'Norges Bank' },
    })
    await expect(createFolderProvider({ url: ROOT }).fetchLatest(context)).rejects.toThrow(
      'another source',
    )
    const absent = createFolderProvider({ url: ROOT, provider: createCnbProvider() })
    await expect(absent.fetchHistory(MONTH, context)).rejects.toThrow('sources.json has no cnb')
  })

  it('of a newer export is read again, once', async () => {
    const newer = rewritten((text) => text.replace('1.', '1.0'))
    const isIndex = (url: string): boolean => url.endsWith('/index.json')
    const between = (indexes: Files[]) => (url: string) =>
      isIndex(url) ? served(indexes.shift() ?? newer)(url) : served(newer)(url)
    const { context, requests } = upstream([between([folderOf(SINCE, small)])])
    const { fetchHistory } = createFolderProvider({ url: ROOT })
    expect((await fetchHistory(MONTH, context)).days.length).toBeGreaterThan(20)
    expect(requests.filter(({ url }) => isIndex(url))).toHaveLength(2)
    const old = folderOf(SINCE, small)
    const removed = upstream([between([old, old, old])])
    await expect(fetchHistory(MONTH, removed.context)).rejects.toThrow(/HTTP 404$/)
    expect(removed.requests.filter(({ url }) => isIndex(url))).toHaveLength(2)
  })
})

describe('a folder on a disk', () => {
  const { fetchLatest } = createFolderProvider({ url: pathToFileURL(join(root, 'disk')) })
  const context = respondingWith(null)

  it.each([
    [
      'is missing',
      async () => rm(join(root, 'disk'), { recursive: true, force: true }),
      /index.json: ENOENT$/,
    ],
    [
      'lacks a file',
      async () =>
        write(
          'disk',
          damaged(() => undefined, 'latest'),
        ),
      /latest.\w{8}.json: ENOENT$/,
    ],
    [
      'has a longer file',
      async () =>
        write(
          'disk',
          damaged((text) => `${text} `, 'latest'),
        ),
      /latest.\w{8}.json: more than \d+ bytes$/,
    ],
    [
      'has a shorter file',
      async () =>
        write(
          'disk',
          damaged((text) => text.slice(1), 'latest'),
        ),
      /expected \d+ bytes, got \d+$/,
    ],
    [
      'has a folder instead of a file',
      async () => mkdir(join(await brokenIndex(), 'index.json')),
      /index.json: EISDIR$/,
    ],
  ])('that %s is refused', async (_, prepare, message) => {
    await prepare()
    await expect(fetchLatest(context)).rejects.toThrow(message)
  })

  it('is refused where a runtime has no files', async () => {
    await write('disk', folderOf(SINCE, small))
    const get = vi.spyOn(process, 'getBuiltinModule').mockReturnValue(undefined)
    await expect(fetchLatest(context)).rejects.toThrow('index.json: this runtime cannot read files')
    get.mockRestore()
    expect((await fetchLatest(context)).base).toBe('EUR')
  })

  it('is not read after the end of a call', async () => {
    const signal = AbortSignal.abort(new Error('over'))
    await expect(fetchLatest({ ...context, signal })).rejects.toThrow('over')
  })

  async function brokenIndex(): Promise<string> {
    await write('disk', new Map())
    return join(root, 'disk')
  }
})

describe('a handler over a folder that is damaged', () => {
  const NEXT = NOW + 3 * 86_400_000

  it('continues with the last good data, says why, and recovers', async () => {
    const clock = { now: NOW }
    const events: RatesEvent[] = []
    const url = await write('live', folderOf(SINCE, small))
    const folder = createFolderProvider({ url })
    const handler = createRatesHandler({
      providers: { latest: folder, history: folder },
      now: () => clock.now,
      onEvent: (event) => void events.push(event),
    })
    const targets = ['/api/v1/latest?base=EUR', '/api/v1/history?from=EUR&to=USD&period=1M']
    const answers = async (): Promise<unknown[]> =>
      Promise.all(targets.map((target) => answer(handler, target)))
    const before = await answers()
    await write(
      'live',
      damaged((text) => text.replace('1', '2'), '(latest|days)'),
    )
    clock.now = NEXT
    events.length = 0
    await handler.refresh()
    expect(await answers()).toEqual(before)
    const reasons = events.flatMap((event) =>
      event.type === 'upstream_failed' ? event.reason : [],
    )
    expect(reasons).toHaveLength(2)
    expect(reasons.toSorted().join()).toMatch(
      /days\/2026.\w{8}.ndjson: expected another SHA-256,.* latest.\w{8}.json: expected another SHA-256$/,
    )

    const texts = textsOf(await contentAt(NEXT))
    await write('live', folderOf(SINCE, texts))
    clock.now = NEXT + 3_600_000
    await handler.refresh()
    const after = await answers()
    expect(after.map(String).join()).toContain('"d":"2026-11-23"')
    expect(after).not.toEqual(before)
    handler.close()
  })
})
