import { readFileSync, readdirSync } from 'node:fs'

import { zipSync } from 'fflate'
import { describe, expect, test } from 'vitest'

import { fixer } from '../../src/compat/fixer.ts'
import { createExchangeRateApiProvider, createRatesHandler } from '../../src/index.ts'
import type { RatesHandler } from '../../src/index.ts'
import { createLog } from '../../src/log.ts'
import { createEcbDataApiProvider, createEcbProvider } from '../../src/providers/ecb.ts'
import { NOW, entries, toRequestData } from '../catalogue/catalogue.ts'
import type { RequestData } from '../catalogue/catalogue.ts'
import { ENDPOINTS, PARAMETERS } from './endpoints.ts'
import { compress, loadedHandler } from './loaded-handler.ts'

/** Maximum CPU time ratio for four times the input: 4 plus a margin for compiler and garbage collector. Quadratic work has 16. */
const LIMIT = 8

/** Shorter CPU times are too small to measure growth. */
const NEGLIGIBLE_MS = 6

/** A ratio counts only if it exceeds the limit in all samples: machine load slows down only some of them. */
const SAMPLES = 3

/**
 * Input lengths, tried in order until one is slow: exponential or cubic work would never finish with the longest.
 */
const LENGTHS = [22, 300, 5_000, 20_000]

const PIECES = [
  'a A 0 1 9 . - + e E _ : ; , = & ? # @ / \\ % [ ] ( ) < > " \' * ! ~ | ^ N'.split(' '),
  [' ', '\t', '\n', '\r', '\r\n', '\u00a0', '\0', 'é', '\u2028', '\ud800', '💵'],
  'a, a; a= a=& &= %2 %2C %C3 %0 [] ?? // /. /./ /../ /%2e \\/ 1. .1 1e 1e+ -1 00'.split(' '),
  [', ', ' ,', ' , ', '; ', '"a", ', '"\n', ' b="c"', " b='", '<?xml ', 'PK\u0005\u0006'],
  'EUR EUR, "" "," "a", W/"a", <a <a> <a/> </a> -- ?> <!-- {"a": [1,'.split(' '),
  'a;q= ;q=1 q=1, *; gzip,'.split(' '),
].flat()

type Work = () => unknown

/**
 * Returns the ratio of the CPU time of `fourTimes`, with four times the input, to that of `once`. Uses the smallest sample of
 * each. CPU time excludes other processes, so a busy machine does not matter.
 */
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

/**
 * Returns the first repeated piece after one of `starts` for which the time of `workOf` grows faster than the text, or
 * `undefined`.
 */
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

/** Valid prefixes of values by parameter, so that parsers read on. */
const VALUES: Record<string, string[]> = {
  amount: ['1', '1.', '1e'],
  symbols: ['EUR,'],
  to: ['EUR,'],
  date: ['2026-', '2026-02-29'],
  start: ['2026-'],
}

const handler = await loadedHandler()
const compressed = compress(handler)

function workOf(
  { method, target, headers = {} }: RequestData,
  subject: Pick<RatesHandler, 'answer'> = handler,
): Work {
  return () => subject.answer({ method, target, header: (name) => headers[name] })
}

function targetOf(text: string): Work {
  return workOf({ method: 'GET', target: text })
}

/** Returns prefixes of targets with a parameter, on the first endpoint that has it. */
function startsOf(name: string): string[] {
  const { target = '' } = ENDPOINTS.find(({ parameters }) => parameters.includes(name)) ?? {}
  const [path = '', query = ''] = target.split('?')
  const others = query.split('&').filter((pair) => pair !== '' && !pair.startsWith(`${name}=`))
  const before = `${path}?${others.map((pair) => `${pair}&`).join('')}${name}`
  return [before, `${before}=`, ...(VALUES[name] ?? []).map((value) => `${before}=${value}`)]
}

type Understand = (context: Parameters<typeof bank.fetchLatest>[0]) => Promise<unknown>

/** Creates work that reads a text with a provider; `respond` creates the upstream response. */
function readBy(understand: Understand, respond = (text: string) => new Response(text)) {
  return (text: string) => async () => {
    const context = { signal: new AbortController().signal, now: () => NOW }
    await understand({ ...context, fetch: async () => respond(text) }).catch(() => undefined)
  }
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(text, (character) => character.charCodeAt(0))
}

const bank = createEcbProvider()
const api = createEcbDataApiProvider()
const open = createExchangeRateApiProvider()
const ALL_DAYS = { start: '1999-01-04', end: '2026-11-20' }

const readArchive: Understand = (context) => bank.fetchHistory(ALL_DAYS, context)

const READERS: Record<string, [work: (text: string) => Work, starts: string[]]> = {
  JSON: [readBy((context) => open.fetchLatest(context)), []],
  'Retry-After': [
    readBy(
      (context) => open.fetchLatest(context),
      (text) => {
        const value = text.replaceAll(/[^\t\x20-\x7e]/g, 'x')
        return new Response(null, { status: 503, headers: { 'retry-after': value } })
      },
    ),
    ['1', 'Wed, 21 Oct'],
  ],
  'the XML of the bank': [
    readBy((context) => bank.fetchLatest(context)),
    ['<', '<?xml ', '<a', '<a b="', '<gesmes:Envelope>', '<gesmes:Envelope a'],
  ],
  'the CSV of its data API': [
    readBy((context) => api.fetchLatest(context)),
    ['"', 'a\n"', 'CURRENCY,TIME_PERIOD,OBS_VALUE\n', 'CURRENCY,TIME_PERIOD,"'],
  ],
  'the CSV of its archive': [
    readBy(readArchive, (text) => {
      const member = { 'eurofxref-hist.csv': bytesOf(text) }
      return new Response(new Uint8Array(zipSync(member, { level: 0 })))
    }),
    ['Date,USD,\n2026-11-20,', 'Date,USD,\n"'],
  ],
  'its archive': [readBy(readArchive, (text) => new Response(bytesOf(text))), ['PK\u0005\u0006']],
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

  test('of a target', async () => {
    const ofEndpoint = ['', '/', '?', '?x=', '?x[', '?%'].map((text) => `/api/v1/latest${text}`)
    const starts = ['', '/', '//', 'http://', ...ofEndpoint]
    expect(await findGrowth(targetOf, starts)).toBeUndefined()
  })

  test.each(['/elsewhere', '/latest'])('of a query with repeated names on %s', async (path) => {
    const subject = createRatesHandler({ providers: { latest: open }, routes: [fixer()] })
    const workFor = (count: number): Work =>
      workOf({ method: 'GET', target: `${path}?${'a=1&'.repeat(count)}` }, subject)
    expect(await growth(workFor(2_000), workFor(8_000))).toBeLessThanOrEqual(LIMIT)
  })

  test.each(PARAMETERS)('of the parameter %s', async (name) => {
    expect(await findGrowth(targetOf, startsOf(name))).toBeUndefined()
  })

  test('of a URL that a server built from Host', async () => {
    const workFor = (text: string): Work => {
      const request = new Request('http://localhost/', { headers: { host: 'localhost' } })
      Object.defineProperty(request, 'url', { value: `http://${text}` })
      return () => handler(request)
    }
    expect(await findGrowth(workFor, ['', 'localhost', 'localhost/'])).toBeUndefined()
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
    expect(await findGrowth(read, ['', ...starts])).toBeUndefined()
  })

  test('of a reason in the log', async () => {
    const log = createLog({ format: 'text', write: () => {}, now: () => NOW })
    const about = { type: 'upstream_failed', dataSet: 'latest', provider: 'a', elapsed: 1 } as const
    const logged = (reason: string) => () => log({ ...about, reason, error: new Error(reason) })
    expect(await findGrowth(logged, [''])).toBeUndefined()
  })
})

const ROOT = new URL('../../', import.meta.url)

/** Patterns for a base URL, which only the app's author sets. */
const CHOSEN_BY_THE_APP = ['/\\/+$/ in src/client/index.ts', '/\\/+$/ in src/upstream/feed.ts']

/** A regular expression literal after a token that cannot end a value; may contain slashes in brackets. */
const LITERAL =
  /(?<=(?:[=(,:?[!&|;{}]|=>|return|\n)\s*)\/(?![/*])((?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+)\/([dgimsuvy]*)(?=[.,;)\]\s])/g

const STARTS = ['', '/', '"', '<a', '<a b="', '<?xml ', 'http://', '1', '1e', 'a;q=', '-----BEGIN ']

/** All regular expression literals in the sources. */
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
    }),
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

describe('growth()', { timeout: 120_000 }, () => {
  const text = 'a;'.repeat(300_000)
  const scan = (end: number): number => {
    let found = 0
    for (let index = 0; index < end; index += 1) if (text.charCodeAt(index) === 59) found += 1
    return found
  }

  test('accepts linear work', async () => {
    const [once, fourTimes] = [() => scan(150_000), () => scan(600_000)]
    expect(await growth(once, fourTimes)).toBeLessThanOrEqual(LIMIT)
  })

  test.each([/\s*,\s*/g, /\/+$/g, /^(a+)+$/g])('detects the pattern %s', async (pattern) => {
    expect(await findGrowth((text) => () => text.replace(pattern, ''), [''])).toBeDefined()
  })
})
