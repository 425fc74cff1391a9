import { describe, expect, test } from 'vitest'

import { ENDPOINTS } from './endpoints.ts'
import { get, loadedHandler } from './loaded-handler.ts'

const LAST = 0x10ffff

/** Characters by the ASCII text that they look like or turn into. */
const LOOKALIKES = findLookalikes()

/** Non-ASCII white space, which some functions trim. */
const SPACES = characters().filter(
  (character) => character !== ' ' && (character.trim() === '' || /^\s$/u.test(character)),
)

/** Valid values: path, other parameters, name and value. */
const VALUES: [path: string, others: string, name: string, value: string][] = [
  ['/api/v1/latest', '', 'base', 'ISK'],
  ['/api/v1/latest', '', 'symbols', 'ISK'],
  ['/api/v1/latest', '', 'date', '2026-11-12'],
  ['/api/v1/convert', 'to=EUR', 'from', 'ISK'],
  ['/api/v1/convert', 'from=EUR', 'to', 'ISK'],
  ['/api/v1/convert', 'from=EUR&to=USD', 'amount', '1+2.1E-1'],
  ['/api/v1/convert', 'from=EUR&to=USD', 'amount', '12'],
  ['/api/v1/history', 'to=EUR', 'from', 'ISK'],
  ['/api/v1/history', 'from=EUR', 'to', 'ISK'],
  ['/api/v1/history', 'from=EUR&to=USD', 'start', '2026-11-12'],
  ['/api/v1/history', 'from=EUR&to=USD', 'period', '1M'],
  ['/api/v1/history', 'from=EUR&to=USD', 'period', '1Y'],
  ['/api/rates', '', 'base', 'ISK'],
  ['/api/convert', 'to=EUR', 'from', 'ISK'],
  ['/api/convert', 'from=EUR', 'to', 'ISK'],
  ['/api/convert', 'from=EUR&to=USD', 'amount', '12e1'],
]

const handler = await loadedHandler()

test('the look-alikes include the ones known from advisories', () => {
  expect(LOOKALIKES.size).toBeGreaterThan(50)
  expect(lookalikesOf('S')).toEqual(expect.arrayContaining(['ſ', 'Ｓ', '𝐒']))
  expect(lookalikesOf('I')).toEqual(expect.arrayContaining(['ı', 'İ', 'Ⅰ']))
  expect(lookalikesOf('K')).toContain('\u212a')
  expect(lookalikesOf('ST')).toContain('ﬆ')
  expect(lookalikesOf('1')).toEqual(expect.arrayContaining(['１', '¹']))
  expect(SPACES).toEqual(expect.arrayContaining(['\u00a0', '\ufeff', '\u2003', '\n']))
})

async function statusOf(path: string, others: string, name: string, value: string) {
  const target = `${path}?${others}&${name}=${encodeURIComponent(value)}`
  return (await get(handler, target)).status
}

describe('a similar letter', () => {
  test('is rejected in a currency code', async () => {
    const known = 'USD INR STN SEK GBP CHF MXN ZAR JPY VND QAR MWK OMR LKR ETB'.split(' ')
    const pieces = [...LOOKALIKES].flatMap(([text, others]) =>
      known
        .filter((code) => code.includes(text))
        .flatMap((code) => [...others].map((other) => code.replace(text, other))),
    )
    expect(pieces.length).toBeGreaterThan(2_000)
    for (const odd of pieces)
      expect(await statusOf('/api/v1/latest', '', 'base', odd), odd).toBe(400)
  })

  test.each(VALUES)('or space is rejected in a value: %s?%s&%s=%s', async (...row) => {
    const [path, others, name, value] = row
    let tried = 0
    for (const [index, character] of value.split('').entries()) {
      for (const other of lookalikesOf(character)) {
        for (const odd of [value.slice(0, index) + other + value.slice(index + 1), other]) {
          expect(await statusOf(path, others, name, odd), odd).toBe(400)
          tried += 1
        }
      }
    }
    expect(tried).toBeGreaterThan(40)
    for (const space of SPACES) {
      expect(await statusOf(path, others, name, space + value), space).toBe(400)
      expect(await statusOf(path, others, name, value + space), space).toBe(400)
    }
  })

  test.each(ENDPOINTS)('is rejected in a path or a name: $path', async (endpoint) => {
    const { path, parameters, target } = endpoint
    for (const character of new Set(path)) {
      for (const other of lookalikesOf(character)) {
        const odd = path.replaceAll(character, encodeURIComponent(other))
        expect((await get(handler, odd)).status, odd).toBe(404)
      }
    }
    const plain = await get(handler, target)
    for (const name of parameters) {
      for (const other of lookalikesOf(name.slice(0, 1))) {
        const odd = `${target}${target.includes('?') ? '&' : '?'}${encodeURIComponent(other)}${name.slice(1)}=ZZZ`
        const { status, body } = await get(handler, odd)
        // Without a version, names that are like no parameter are ignored.
        const isIgnored = !path.startsWith('/api/v1/') && body === plain.body
        expect(isIgnored ? 400 : status, odd).toBe(400)
      }
    }
  })

  test('of a separator separates nothing', async () => {
    for (const separator of [',', '&', '=', ' ']) {
      expect(lookalikesOf(separator).length).toBeGreaterThan(0)
      for (const other of lookalikesOf(separator)) {
        expect(await statusOf('/api/v1/latest', '', 'symbols', `EUR${other}GBP`), other).toBe(400)
      }
    }
  })
})

/** Finds all non-ASCII characters that a platform function maps to ASCII, by the result. */
function findLookalikes(): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>()
  for (const character of characters().filter((each) => each > '\u007f')) {
    const forms = [
      character.toUpperCase(),
      character.toLowerCase(),
      character.normalize('NFKC'),
      character.normalize('NFKD'),
      character.normalize('NFKD').replace(/\p{M}/gu, ''),
    ]
    for (const form of new Set(forms)) {
      for (const text of [form, form.toUpperCase(), form.toLowerCase()]) {
        if (!/^[\x20-\x7e]+$/.test(text)) continue
        found.set(text, (found.get(text) ?? new Set()).add(character))
      }
    }
  }
  return found
}

function lookalikesOf(text: string): string[] {
  return [...(LOOKALIKES.get(text) ?? [])]
}

function characters(): string[] {
  return Array.from({ length: LAST + 1 }, (_, code) => code)
    .filter((code) => code < 0xd800 || code > 0xdfff)
    .map((code) => String.fromCodePoint(code))
}
