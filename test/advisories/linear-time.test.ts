import { readFileSync, readdirSync } from 'node:fs'

import { zipSync } from 'fflate'
import { describe, expect, test, vi } from 'vitest'

import { withCompression } from '../../src/cli/compression.ts'
import { fixer } from '../../src/compat/fixer.ts'
import {
  consoleLogger,
  createExchangeRateApiProvider,
  createRatesHandler,
} from '../../src/index.ts'
import type { RatesHandler } from '../../src/index.ts'
import { createEcbDataApiProvider, createEcbProvider } from '../../src/providers/index.ts'
import { NOW, entries, toRequestData } from '../catalogue/catalogue.ts'
import type { RequestData } from '../catalogue/catalogue.ts'
import { ENDPOINTS, loadedHandler } from './loaded-handler.ts'

/** Maximum CPU time ratio for four times the input: 4 plus a margin for compiler and garbage collector. Quadratic work has 16. */
const LIMIT = 8

/** Shorter CPU times are too small to measure growth. */
const NEGLIGIBLE_MS = 6

/** A ratio counts only if it exceeds the limit in all samples: machine load slows down only some of them. */
const SAMPLES = 3

/** Input lengths, tried in order until one is slow: exponential or cubic work would never finish with the longest. */
const LENGTHS = [24, 1_000, 20_000]

const PIECES = [
  'a 0 9 . - + e _ : ; , = & ? / \\ % [ ( < " * | N'.split(' '),
  [' ', '\t', '\n', '\r\n', '\0', 'é', '\u2028', '💵'],
  'a, a= a=& &= %2 %2C %C3 [] // /./ /../ /%2e 1. 1e 1e+'.split(' '),
  [', ', ' , ', '"a", ', '"\n', ' b="c"', " b='", '<?xml ', 'PK\u0005\u0006'],
  'EUR, "" "," W/"a", <a <a> <a/> </a> --> <!-- {"a": [1,'.split(' '),
].flat()

type Work = () => unknown

/** Returns the ratio of the CPU times, without other processes, of `fourTimes`, with four times the input, and `once`. */
async function growth(once: Work, fourTimes: Work): Promise<number> {
  const fourOnce = async (): Promise<void> => {
    for (let count = 0; count < 4; count += 1) await once()
  }
  // Also warms up: code that is not compiled yet is slower and would hide the growth.
  if ((await cpuMsOf(fourTimes)) <= NEGLIGIBLE_MS) return 1
  let [smallest, smallestOfFour] = [Infinity, Infinity]
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    smallest = Math.min(smallest, (await cpuMsOf(fourOnce)) / 4)
    smallestOfFour = Math.min(smallestOfFour, await cpuMsOf(fourTimes))
    if (smallestOfFour <= NEGLIGIBLE_MS || smallestOfFour <= LIMIT * smallest) break
  }
  return smallestOfFour <= NEGLIGIBLE_MS ? 1 : smallestOfFour / smallest
}

/** Returns the first repeated piece after one of `starts` for which the time grows faster than the text, if there is one. */
async function findGrowth(
  workOf: (text: string) => Work,
  starts: readonly string[],
): Promise<string | undefined> {
  for (const start of starts) {
    for (const piece of PIECES) {
      const workFor = (length: number): Work =>
        workOf(`${start}${piece.repeat(Math.ceil(length / piece.length))}!`)
      const slow = await firstSlow(workFor)
      if (slow === undefined) continue
      const ratio = await growth(workFor(slow / 4), workFor(slow))
      if (ratio > LIMIT) return `${JSON.stringify(start + piece)}: ${ratio.toFixed(1)} times`
    }
  }
  return undefined
}

async function firstSlow(workFor: (length: number) => Work): Promise<number | undefined> {
  for (const length of LENGTHS) {
    const work = workFor(length)
    if ((await cpuMsOf(work)) > NEGLIGIBLE_MS) return length
  }
  return undefined
}

async function cpuMsOf(work: Work): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}

/** Length of the shorter request of a catalogue entry. */
const CHARACTERS = 8_000

const LINEAR = entries.filter((entry) => entry.expect.invariants?.includes('linear'))

const PARAMETERS = [...new Set(ENDPOINTS.flatMap(({ parameters }) => parameters))]

const handler = await loadedHandler()
const codec = async (): Promise<Uint8Array<ArrayBuffer>> => new Uint8Array(1)
const compressed = withCompression(handler, { br: codec, gzip: codec })

function workOf(
  { method, target, headers = {} }: RequestData,
  subject: Pick<RatesHandler, 'answer'> = handler,
): Work {
  return () => subject.answer({ method, target, header: (name) => headers[name] })
}

function targetOf(text: string): Work {
  return workOf({ method: 'GET', target: text })
}

const bank = createEcbProvider()
const open = createExchangeRateApiProvider()

type Understand = (context: Parameters<typeof bank.fetchLatest>[0]) => Promise<unknown>

const readArchive: Understand = (context) =>
  bank.fetchHistory({ start: '1999-01-04', end: '2026-11-20' }, context)

/** Creates work that reads a text with a provider. */
function readBy(understand: Understand, respond = (text: string) => new Response(text)) {
  return (text: string) => async () => {
    const context = { signal: new AbortController().signal, now: () => NOW }
    await understand({ ...context, fetch: async () => respond(text) }).catch(() => undefined)
  }
}

function busy(text: string): Response {
  const value = text.replaceAll(/[^\t\x20-\x7e]/g, 'x')
  return new Response(null, { status: 503, headers: { 'retry-after': value } })
}

function archive(text: string): Response {
  return new Response(
    new Uint8Array(zipSync({ 'eurofxref-hist.csv': bytesOf(text) }, { level: 0 })),
  )
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(text, (character) => character.charCodeAt(0))
}

const READERS: Record<string, [work: (text: string) => Work, starts: string[]]> = {
  JSON: [readBy(open.fetchLatest), ['']],
  'Retry-After': [readBy(open.fetchLatest, busy), ['', '1', 'Wed, 21 Oct']],
  'the XML of a bank': [
    readBy(bank.fetchLatest),
    ['', '<', '<?xml ', '<a', '<a b="', '<gesmes:Envelope>', '<gesmes:Envelope a'],
  ],
  'the CSV of a bank': [
    readBy(createEcbDataApiProvider().fetchLatest),
    ['', '"', 'a\n"', 'CURRENCY,TIME_PERIOD,OBS_VALUE\n', 'CURRENCY,TIME_PERIOD,"'],
  ],
  'the CSV of an archive': [
    readBy(readArchive, archive),
    ['', 'Date,USD,\n2026-11-20,', 'Date,USD,\n"'],
  ],
  'an archive': [
    readBy(readArchive, (text) => new Response(bytesOf(text))),
    ['', 'PK\u0005\u0006'],
  ],
}

describe('CPU time is linear in the length', { timeout: 120_000 }, () => {
  test('of the catalogue entries', async () => {
    expect(LINEAR.length).toBeGreaterThan(10)
    for (const entry of LINEAR) {
      const { target, headers } = await toRequestData(handler, entry)
      const scale = CHARACTERS / (target.length + JSON.stringify(headers).length)
      const once = workOf(await toRequestData(handler, entry, scale))
      const fourTimes = workOf(await toRequestData(handler, entry, 4 * scale))
      expect(await growth(once, fourTimes), entry.id).toBeLessThanOrEqual(LIMIT)
    }
  })

  test.each(PARAMETERS)('of the parameter %s', async (name) => {
    const { target = '' } = ENDPOINTS.find(({ parameters }) => parameters.includes(name)) ?? {}
    const start = `${target}${target.includes('?') ? '&' : '?'}${name}`
    expect(await findGrowth(targetOf, [start, `${start}=`])).toBeUndefined()
  })

  test('of a URL that a server built from Host', async () => {
    const workFor = (text: string): Work => {
      const request = new Request('http://localhost/', { headers: { host: 'localhost' } })
      Object.defineProperty(request, 'url', { value: `http://${text}` })
      return () => handler(request)
    }
    expect(await findGrowth(workFor, ['', 'localhost', 'localhost/'])).toBeUndefined()
  })

  test('of a reason in the log', async () => {
    for (const level of ['info', 'warn', 'error'] as const)
      vi.spyOn(console, level).mockReturnValue()
    const log = consoleLogger()
    const about = { type: 'upstream_failed', dataSet: 'latest', provider: 'a', elapsed: 1 } as const
    const logged = (reason: string) => () => log({ ...about, reason, error: new Error(reason) })
    expect(await findGrowth(logged, [''])).toBeUndefined()
    vi.restoreAllMocks()
  })

  test.each([
    ['a path', ['', '/', '//', 'http://', '/api/v1/latest', '/api/v1/latest/']],
    ['a query', ['', 'x=', 'x[', '%', '&base'].map((each) => `/api/v1/latest?${each}`)],
    ['codes', ['base=', 'symbols=', 'symbols=EUR,'].map((each) => `/api/v1/latest?${each}`)],
    ['an amount', ['', '1', '1.', '1e'].map((each) => `/api/v1/convert?from=USD&amount=${each}`)],
    ['a day', ['date=', 'date=2026-', 'rule='].map((each) => `/api/v1/latest?${each}`)],
    ['a period', ['period=', 'start='].map((each) => `/api/v1/history?from=USD&to=EUR&${each}`)],
  ])('of %s', async (_, starts) => {
    expect(await findGrowth(targetOf, starts)).toBeUndefined()
  })

  test.each(['/elsewhere', '/latest'])('of a query with repeated names on %s', async (path) => {
    const subject = createRatesHandler({ providers: { latest: open }, routes: [fixer()] })
    const workFor = (count: number): Work =>
      workOf({ method: 'GET', target: `${path}?${'a=1&'.repeat(count)}` }, subject)
    expect(await growth(workFor(2_000), workFor(8_000))).toBeLessThanOrEqual(LIMIT)
  })

  test('of request headers', async () => {
    const workFor = (name: string) => (text: string) =>
      workOf({ method: 'GET', target: '/api/v1/latest', headers: { [name]: text } }, compressed)
    for (const name of ['if-match', 'if-none-match']) {
      expect(await findGrowth(workFor(name), ['', '"', 'W/"'])).toBeUndefined()
    }
    const codings = ['', 'gzip', 'gzip;q=', 'gzip;q=0.', 'a ;']
    expect(await findGrowth(workFor('accept-encoding'), codings)).toBeUndefined()
  })

  test.each(Object.entries(READERS))('of %s', async (_, [read, starts]) => {
    expect(await findGrowth(read, starts)).toBeUndefined()
  })
})

const ROOT = new URL('../../', import.meta.url)

/** Patterns for a base URL, which only the app's author sets. */
const CHOSEN_BY_THE_APP = ['/\\/+$/ in src/client/index.ts', '/\\/+$/ in src/upstream/feed.ts']

/** A regular expression literal after a token that cannot end a value; may contain slashes in brackets. */
const LITERAL =
  /(?<=(?:[=(,:?[!&|;{}]|=>|return|\n)\s*)\/(?![/*])((?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+)\/([dgimsuvy]*)(?=[.,;)\]\s])/g

const STARTS = ['', '/', '"', '<a b="', 'http://', '1e', '-----BEGIN ']

/** All regular expression literals in the sources that repeat something. */
const patterns = ['src', 'adapters', 'explorer'].flatMap((folder) =>
  readdirSync(new URL(folder, ROOT), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.startsWith('generated'))
    .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
    .flatMap((path) => {
      const text = readFileSync(new URL(path, ROOT), 'utf8')
      const withoutComments = text.replaceAll(/^\s*(?:\/\/|\/?\*).*$/gm, '')
      return Array.from(withoutComments.matchAll(LITERAL), ([, source = '', flags = '']) => ({
        name: `/${source}/${flags} in ${path}`,
        pattern: new RegExp(source, flags.replace('g', '')),
      }))
    })
    .filter(({ name }) => /[*+]|\{\d/.test(name)),
)

describe('every pattern in the sources', { timeout: 120_000 }, () => {
  test('is found', () => {
    expect(patterns.length).toBeGreaterThan(60)
    expect(patterns.map(({ pattern }) => String(pattern))).toContain('/(W\\/)?("[^"]*")/')
    const names = patterns.map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(CHOSEN_BY_THE_APP))
  })

  test.each(patterns.filter(({ name }) => !CHOSEN_BY_THE_APP.includes(name)))(
    'takes time in proportion to a text: $name',
    async ({ pattern }) => {
      const everywhere = new RegExp(pattern, `${pattern.flags}g`)
      const found = await findGrowth((text) => () => text.replace(everywhere, ''), STARTS)
      expect(found).toBeUndefined()
    },
  )
})
