import { readFileSync, readdirSync } from 'node:fs'

import { describe, expect, test } from 'vitest'

import { printable } from '../../src/cli/printable.ts'
import { chooseEncoding } from '../../src/compression/accept-encoding.ts'
import { isAmount, splitSymbols } from '../../src/endpoints/parameters.ts'
import { visible } from '../../src/errors.ts'
import { isMatch } from '../../src/http/etag.ts'
import { splitTarget, targetBehind } from '../../src/http/target.ts'
import { eachRecord } from '../../src/providers/csv.ts'
import { readEcbCsv } from '../../src/providers/ecb-csv.ts'
import { readEcbXml } from '../../src/providers/ecb-xml.ts'
import { readExrCsv } from '../../src/providers/exr-csv.ts'
import { isRate } from '../../src/providers/reference-days.ts'
import { pauseAfter } from '../../src/providers/upstream-error.ts'
import { readDirectory } from '../../src/providers/zip-directory.ts'
import { isDay } from '../../src/rates/day.ts'
import { entries, toQuestion } from '../catalogue/catalogue.ts'
import type { Question } from '../catalogue/catalogue.ts'
import { ENDPOINTS } from './endpoints.ts'
import { LIMIT, findGrowth, growth } from './growth.ts'
import type { Work } from './growth.ts'
import { loadedHandler } from './loaded-handler.ts'
import { findPatterns } from './patterns.ts'

/**
 * Length of the smaller input: long enough for the size to outweigh everything else, and short enough for both to be
 * kept alike by engines, whose longest texts are a kind of their own, and to be answered within one turn of the scheduler.
 */
const CHARACTERS = 20_000

/** What a stranger may send again and again. */
const PIECES = [
  'a A 0 1 9 . - + e E _ : ; , = & ? # @ / \\ % [ ] ( ) < > " \' * ! ~ | ^ N'.split(' '),
  [' ', '\t', '\n', '\r', '\r\n', '\u00a0', '\0', 'é', '\u2028', '\ud800', '💵'],
  ['a,', 'a;', ', ', ' ,', ' , ', '; ', 'a=', 'a=&', '&=', '%2', '%2C', '%C3', '%0', '[]', '??'],
  ['//', '/.', '/./', '/../', '/%2e', '\\/', '1.', '.1', '1e', '1e+', '-1', '00', 'EUR', 'EUR,'],
  [
    '""',
    '","',
    '"a",',
    '"a", ',
    'W/"a",',
    '"\n',
    '<a',
    '<a>',
    '<a/>',
    '</a>',
    ' b="c"',
    " b='",
    '--',
  ],
  ['a;q=', ';q=1', 'q=1,', '*;', 'gzip,', '<?xml ', '?>', '<!--', 'PK\u0005\u0006', '{"a":', '[1,'],
].flat()

/** What the catalogue says of time. */
const LINEAR = entries.filter((entry) => entry.expect.invariants?.includes('linear'))

/** What reads texts of strangers, and what may stand before those that get far. */
const PARSERS: Record<string, [read: (text: string) => unknown, ...before: string[]]> = {
  'splitTarget()': [splitTarget, '/', 'http://', '/api/v1/latest?', '/?%'],
  'targetBehind()': [(text) => targetBehind(text, `http://${text}`), 'http://'],
  'isMatch()': [(text) => isMatch(text, '"a"'), '"', 'W/"'],
  'chooseEncoding()': [chooseEncoding, 'gzip', 'gzip;q=', 'gzip;q=0.', 'a ;'],
  'splitSymbols()': [splitSymbols, 'EUR,'],
  'isAmount()': [isAmount, '1', '1.', '1e'],
  'isDay()': [isDay, '2026-', '2026-02-29'],
  'isRate()': [isRate, '1', '1.', '0.'],
  'visible()': [visible],
  'pauseAfter()': [readRetryAfter, '1', 'Wed, 21 Oct'],
  'eachRecord()': [(text) => eachRecord(text, () => {}), '"', 'a,"', 'a\n"'],
  'readEcbXml()': [
    readEcbXml,
    '<',
    '<?xml ',
    '<a',
    '<a b="',
    '<gesmes:Envelope>',
    '<gesmes:Envelope a',
  ],
  'readEcbCsv()': [readEcbCsv, 'Date,', 'Date,USD,\n', 'Date,USD,\n2026-11-20,', 'Date,USD,\n"'],
  'readExrCsv()': [readExrCsv, '"', 'CURRENCY,TIME_PERIOD,OBS_VALUE\n', 'CURRENCY,TIME_PERIOD,"'],
  'readDirectory()': [(text) => readDirectory(bytesOf(text)), 'PK\u0005\u0006'],
  'printable()': [printable],
}

/** Where patterns are for the root of a service, which whoever writes or runs an app chooses, and nobody else. */
const CHOSEN_BY_THE_APP = ['src/client/base-url.ts', 'src/providers/root-url.ts']

const handler = await loadedHandler()

describe('twice the input takes at most twice the time', { timeout: 60_000 }, () => {
  test.each(LINEAR)('of $id', async (entry) => {
    const scale = CHARACTERS / lengthOf(await toQuestion(handler, entry))
    const [once, twice] = await Promise.all(
      [scale, 2 * scale].map(async (size) => workOf(await toQuestion(handler, entry, size))),
    )
    expect(await growth(once, twice)).toBeLessThanOrEqual(LIMIT)
  })

  test.each(Object.entries(PARSERS))('of %s', async (_, [read, ...before]) => {
    expect(
      await findGrowth((text) => quietly(() => read(text)), piecesBehind(before)),
    ).toBeUndefined()
  })

  test.each(ENDPOINTS)('of a request to $path', async ({ path, parameters }) => {
    const before = [
      '?',
      '/',
      '?x=',
      '?x[',
      ...parameters.flatMap((name) => [`?${name}=`, `?${name}`]),
    ]
    const asked = (text: string): Work => workOf({ method: 'GET', target: `${path}${text}` })
    expect(await findGrowth(asked, piecesBehind(before))).toBeUndefined()
  })

  test('of the headers of a request', async () => {
    const target = '/api/v1/latest'
    const asked = (text: string): Work => workOf({ method: 'GET', target, headers: { any: text } })
    expect(await findGrowth(asked, piecesBehind(['"']))).toBeUndefined()
  })
})

describe('every pattern in the sources', { timeout: 60_000 }, () => {
  const patterns = findPatterns(readSources())

  test('is found', () => {
    expect(patterns.length).toBeGreaterThan(60)
    expect(patterns.map(({ pattern }) => String(pattern))).toContain('/"[^"]*"/g')
  })

  test.each(patterns)('is linear: $pattern in $path', async ({ path, pattern }) => {
    const before = ['/', '"', '<a', '<a b="', '<?xml ', 'http://', '1', '1e', 'a;q=', '-----BEGIN ']
    const everywhere = new RegExp(pattern, `${pattern.flags.replace('g', '')}g`)
    const found = await findGrowth(
      (text) => () => text.replace(everywhere, ''),
      piecesBehind(before),
    )
    expect(CHOSEN_BY_THE_APP.includes(path) ? undefined : found).toBeUndefined()
  })
})

describe('the measure', { timeout: 30_000 }, () => {
  test('lets linear work pass', async () => {
    const text = 'a;'.repeat(100_000)
    const ratio = await growth(
      () => scan(text, text.length / 2),
      () => scan(text, text.length),
    )
    expect(ratio).toBeLessThanOrEqual(LIMIT)
  })

  test('finds quadratic work', async () => {
    const text = 'a;'.repeat(500)
    const ratio = await growth(
      () => scanAgainAndAgain(text, text.length / 2),
      () => scanAgainAndAgain(text, text.length),
    )
    expect(ratio).toBeGreaterThan(LIMIT)
  })

  test.each([/\s*,\s*/g, /\/+$/g, /^(a+)+$/g])('finds the pattern %s', async (pattern) => {
    const pieces = ['a', '/', ' ', '"', '=', ';'].map((piece) => ['', piece] as const)
    expect(await findGrowth((text) => () => text.replace(pattern, ''), pieces)).toBeDefined()
  })
})

function piecesBehind(before: readonly string[]): [string, string][] {
  return ['', ...before].flatMap((start) => PIECES.map((piece): [string, string] => [start, piece]))
}

function workOf({ method, target, headers = {} }: Question): Work {
  return () => handler.answer({ method, target, header: (name) => headers[name] ?? headers['any'] })
}

/** Most of what strangers send is refused. */
function quietly(work: Work): Work {
  return () => {
    try {
      return work()
    } catch {
      return undefined
    }
  }
}

function readRetryAfter(text: string): unknown {
  const value = text.replaceAll(/[^\t\x20-\x7e]/g, 'x')
  return pauseAfter(new Response(null, { status: 503, headers: { 'retry-after': value } }), 0)
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(text, (character) => character.charCodeAt(0))
}

function lengthOf({ target, headers }: Question): number {
  return target.length + JSON.stringify(headers).length
}

function readSources(): { path: string; text: string }[] {
  const root = new URL('../../', import.meta.url)
  return ['src', 'adapters'].flatMap((folder) =>
    readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !name.startsWith('generated'))
      .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
      .map((path) => ({ path, text: readFileSync(new URL(path, root), 'utf8') })),
  )
}

function scan(text: string, end: number): number {
  let found = 0
  for (let index = 0; index < end; index += 1) if (text.charCodeAt(index) === 59) found += 1
  return found
}

function scanAgainAndAgain(text: string, end: number): number {
  let found = 0
  for (let index = 0; index < end; index += 1) found += scan(text, index)
  return found
}
