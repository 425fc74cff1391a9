import * as fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'

import { createRatesHandler } from '../../src/index.ts'
import type { RatesHandler } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import {
  ENDPOINTS,
  NONCE,
  fetchFrom,
  get,
  loadedHandler,
  withoutId,
} from '../advisories/loaded-handler.ts'
import { NOW, send } from './catalogue.ts'
import type { ResponseData } from './catalogue.ts'

const SEED = { seed: 20_261_120 }

const handler = await loadedHandler()
const CHARACTERS = Array.from({ length: 0x110000 }, (_, code) => code)
  .filter((code) => code < 0xd800 || code > 0xdfff)
  .map((code) => String.fromCodePoint(code))

/** Characters that end lines or texts, are invisible, or change the text direction: in no message, header or log line. */
const HARMFUL = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u
const CONTROLS = CHARACTERS.filter(
  (each) => HARMFUL.test(each) && !/[\u{e0002}-\u{e007e}]/u.test(each),
)

const PROTOTYPE = Object.getOwnPropertyDescriptors(Object.prototype)

afterEach(expectUntouched)

function expectUntouched(): void {
  expect(Object.getOwnPropertyDescriptors(Object.prototype)).toEqual(PROTOTYPE)
}

/** Expects no harmful character in the headers and in the decoded JSON. */
function expectHarmless({ headers, body }: ResponseData): void {
  const lines = Object.entries(headers).map((header) => header.join(': '))
  expect(lines.filter((line) => !/^(?!set-cookie)[\x20-\x7e]*$/.test(line))).toEqual([])
  const strings: string[] = []
  if (body.startsWith('{"error"')) JSON.parse(body, (_, value) => void strings.push(String(value)))
  expect(strings.filter((text) => HARMFUL.test(text))).toEqual([])
}

describe('a control character', () => {
  test.each(ENDPOINTS)('is in no response of $path', async ({ path, parameters, target }) => {
    expect(CONTROLS.length).toBeGreaterThan(130)
    const own = target.slice(path.length + 1)
    // All endpoints escape texts in the same way, with and without a version.
    const isWhole = path === '/api/v1/latest' || path === '/api/rates'
    for (const character of CONTROLS.filter((_, index) => isWhole || index % 10 === 0)) {
      const text = encodeURIComponent(character)
      const places = [character, text].flatMap((each) => [
        `${path}${each}`,
        `${path}/${each}?${own}`,
        `${path}?${each}=1`,
      ])
      const values = parameters.map((name) => `${path}?${name}=${text}Set-Cookie:E${text}R`)
      const name = `${path}?${own}&base[${text}]=1`
      for (const each of [...places, ...values, name]) expectHarmless(await get(handler, each))
      const header = (): string => `"${character}", *${character}\r\nSet-Cookie: a=b`
      for (const method of [`GET${character}`, 'GET', 'OPTIONS']) {
        const { status, headers } = await handler.answer({ method, target, header })
        expectHarmless({ status, headers: Object.fromEntries(headers), body: '' })
      }
    }
  })

  test('in the name of a provider is in no header', async () => {
    const now = (): number => NOW
    const { latest } = fakeProviders({ now })
    const name = `a"${CONTROLS.join('')}\\Set-Cookie: a=b`
    const attribution = { name, url: 'https://rates.example' }
    const providers = { latest: { ...latest, attribution } }
    const named = createRatesHandler({ now, providers })
    for (const target of ['/api/v1/latest', '/api/v1/latest?format=csv', '/api/rates?format=csv']) {
      const { status, headers } = await get(named, target)
      expect(status).toBe(200)
      expectHarmless({ status, headers, body: '' })
    }
  })
})

/** Parameters whose error does not echo the value. */
const SILENT = new Set(
  'date change start end interval value fill layout format reverse round rule maxAge source expand quote context'.split(
    ' ',
  ),
)
const WITH_PARAMETERS = ENDPOINTS.filter(({ parameters }) => parameters.length > 0)
const OF_PARAMETERS = ENDPOINTS.flatMap((each) =>
  each.parameters.map((name) => ({ name, ...each })),
)

describe('a text of a request', () => {
  test.each(ENDPOINTS)(
    'is in no header, and at most once in a body, of $path',
    async ({ path }) => {
      for (const method of ['GET', 'HEAD', 'OPTIONS', 'POST']) {
        for (const before of ['', '/', '?', '?x=', '?x[']) {
          for (const ending of ['', '=1', ']=1']) {
            const target = `${path}${before}${NONCE}${ending}`
            const { status, headers, body } = await send(handler, { method, target })
            expect(JSON.stringify(headers)).not.toContain(NONCE)
            expect(body.split(NONCE).length, target).toBeLessThanOrEqual(status === 400 ? 2 : 1)
          }
        }
      }
    },
  )

  test.each(OF_PARAMETERS)(
    'is once in the error of its parameter, if at all: $name of $path',
    async ({ name, path, target }) => {
      const query = new URLSearchParams(target.slice(path.length))
      query.set(name, NONCE)
      query.set('x', NONCE)
      const { status, headers, body } = await fetchFrom(handler, `${path}?${query}`)
      const { error } = JSON.parse(body)
      const message = path.startsWith('/api/v1/') ? error.message : error
      expect(status).toBe(400)
      expect(message).toContain(name)
      expect(message.split(NONCE)).toHaveLength(SILENT.has(name) ? 1 : 2)
      expect(body.split(NONCE)).toHaveLength(SILENT.has(name) ? 1 : 2)
      expect(JSON.stringify(headers)).not.toContain(NONCE)
    },
  )
})

describe('a property name of Object.prototype', () => {
  const NAMES = Object.getOwnPropertyNames(Object.prototype)
  const KEYS = [...NAMES, 'prototype', 'constructor.prototype.base', '__proto__[base]']

  test.each(WITH_PARAMETERS)(
    'is an unknown name and an invalid value, on $path',
    async ({ path, parameters, target }) => {
      expect(NAMES).toEqual(expect.arrayContaining(['__proto__', 'constructor', 'toString']))
      const plain = await fetchFrom(handler, target)
      const refused = expect.objectContaining({ status: 400 })
      for (const key of KEYS) {
        for (const name of [key, encodeURIComponent(key), `${key}[base]`, `%5F${key.slice(1)}`]) {
          const query = `${target.slice(path.length) || '?'}&${name}=EUR&${name}=GBP`
          const isIgnored = !path.startsWith('/api/v1/') || /^(_|%5F)/.test(name)
          const response = await fetchFrom(handler, path + query)
          expect([name, response]).toEqual([name, isIgnored ? plain : refused])
        }
        for (const parameter of parameters) {
          const { status } = await fetchFrom(handler, `${path}?${parameter}=${key}`)
          expect(status, `${parameter}=${key}`).toBe(400)
        }
      }
    },
  )
})

/** Non-ASCII characters that a function of the platform maps to ASCII, by the result. */
const LOOKALIKES = new Map<string, Set<string>>()
for (const character of CHARACTERS.filter((each) => each > '\u007f')) {
  const decomposed = character.normalize('NFKD')
  const forms = [character, character.normalize('NFKC'), decomposed.replace(/\p{M}/gu, '')]
  for (const form of forms.flatMap((each) => [each, each.toUpperCase(), each.toLowerCase()])) {
    if (!/^[\x20-\x7e]+$/.test(form)) continue
    LOOKALIKES.set(form, (LOOKALIKES.get(form) ?? new Set()).add(character))
  }
}
const lookalikesOf = (text: string): string[] => [...(LOOKALIKES.get(text) ?? [])]

/** Also those that some functions trim. */
const SPACES = CHARACTERS.filter((each) => each !== ' ' && (each.trim() === '' || /\s/u.test(each)))

describe('a similar character', () => {
  test('is known from advisories', () => {
    expect(lookalikesOf('S')).toEqual(expect.arrayContaining(['ſ', 'Ｓ', '𝐒']))
    expect(lookalikesOf('I')).toEqual(expect.arrayContaining(['ı', 'İ', 'Ⅰ']))
    expect(lookalikesOf('K')).toContain('\u212a')
    expect(lookalikesOf('1')).toEqual(expect.arrayContaining(['１', '¹']))
    expect(SPACES).toEqual(expect.arrayContaining(['\u00a0', '\ufeff', '\u2003', '\n']))
  })

  test.each<[before: string, value: string]>([
    ['/api/v1/latest?base=', 'ISK'],
    ['/api/v1/latest?base=', 'STN'],
    ['/api/v1/latest?symbols=', 'ISK'],
    ['/api/v1/latest?symbols=GBP,', 'INR'],
    ['/api/v1/latest?date=', '2026-11-12'],
    ['/api/v1/convert?from=EUR&to=', 'SEK'],
    ['/api/v1/convert?from=EUR&to=USD&amount=', '1+2.1E-1'],
    ['/api/v1/history?from=EUR&to=USD&start=', '2026-11-12'],
    ['/api/v1/history?from=EUR&to=USD&period=', '1M'],
    ['/api/rates?base=', 'KWD'],
    ['/api/convert?from=EUR&to=USD&amount=', '12e1'],
  ])('is refused in a value: %s%s', async (before, value) => {
    const odd = Array.from(value, (character, index) =>
      lookalikesOf(character).flatMap((other) => [
        value.slice(0, index) + other + value.slice(index + 1),
        other,
      ]),
    ).flat()
    const ligatures = lookalikesOf(value.slice(0, 2)).map((other) => other + value.slice(2))
    const spaced = SPACES.flatMap((space) => [space + value, value + space])
    expect(odd.length).toBeGreaterThan(40)
    for (const text of [...odd, ...ligatures, ...spaced]) {
      const { status } = await get(handler, before + encodeURIComponent(text))
      expect(status, text).toBe(400)
    }
  })

  test.each(ENDPOINTS)('is refused in a path or a name: $path', async (endpoint) => {
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

  test.each([',', '&', '=', ' '])('of the separator %j separates nothing', async (separator) => {
    expect(lookalikesOf(separator).length).toBeGreaterThan(0)
    for (const other of lookalikesOf(separator)) {
      const { status } = await get(handler, `/api/v1/latest?symbols=EUR${encodeURI(other)}GBP`)
      expect(status, other).toBe(400)
    }
  })
})

const ENDINGS =
  '/ // /. /.. /x/.. . %2F %2f %5C \\ ; ;x=1 %20 + %00 %0d%0a %23 %3F # x .json ~ * /* //evil.example'.split(
    ' ',
  )

function spellingsOf(path: string): string[] {
  const changed = path.split('').flatMap((character, at) => {
    const code = character.charCodeAt(0).toString(16)
    const isSlash = character === '/'
    const others = ['', character + character, character.toUpperCase(), `%${code}`, `%25${code}`]
    const more = [`%00${character}`, isSlash ? '\\' : `${character}%`, isSlash ? '/./' : '/']
    return [...others, ...more].map((other) => path.slice(0, at) + other + path.slice(at + 1))
  })
  const around = [`/.${path}`, `/x/..${path}`, `//evil.example${path}`]
  const all = [path, ...ENDINGS.map((ending) => path + ending), ...around, ...changed]
  return [...new Set(all)].filter((spelling) => spelling.startsWith('/'))
}

describe.each(['/api', '/fx/api', '', '/%C3%A4'])('a path below %j', async (basePath) => {
  const below = await loadedHandler({ basePath })

  test.each(ENDPOINTS)('has exactly one spelling: $path', async ({ path, target }) => {
    const right = basePath + path.slice('/api'.length)
    const query = target.slice(path.length)
    const found: string[] = []
    for (const spelling of spellingsOf(right)) {
      const sent = spelling + query
      const response = await fetchFrom(below, sent)
      // `URL` normalizes some spellings before the handler sees them.
      const { pathname, search } = new URL(`http://localhost${sent}`)
      const isRight = pathname === right
      const status = isRight ? (search === query ? 200 : 400) : 404
      expect([response.status, await get(below, sent)], spelling).toEqual([status, response])
      if (isRight) found.push(spelling)
    }
    expect(found).toContain(right)
  })
})

describe('a response', () => {
  const printable = fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code))
  const odd = 'a/api/rates? a?base=GBP& a# a\\b user@a [::1 <script> :0 a:99999 .. %2e'.split(' ')
  const authorities = fc.oneof(
    fc.constantFrom('localhost', 'evil.example', ...odd),
    fc.string({ unit: printable, minLength: 1 }),
  )
  const targets = fc.constantFrom(
    ...ENDPOINTS.map(({ target }) => target),
    '/api/v1/latest?base=ZZZ',
    '/nothing',
  )

  test('does not depend on Host, in any position', async () => {
    // Also that of the first request of a handler.
    const first = await loadedHandler()
    await fc.assert(
      fc.asyncProperty(authorities, targets, async (authority, target) => {
        const expected = await fetchFrom(handler, target)
        expect(await responseFor(first, authority, target)).toEqual(expected)
        expect(await get(first, target, { host: authority })).toEqual(expected)
      }),
      { ...SEED, numRuns: 200 },
    )
  })

  test('does not depend on the authority of a target', async () => {
    // Without an authority, a URL parses the first path segment as one.
    const plain = authorities.filter((text) => /^[^/\\?#]+$/.test(text))
    const schemes = fc.constantFrom('http://', 'https://', 'HTTP://')
    await fc.assert(
      fc.asyncProperty(schemes, plain, targets, async (scheme, authority, target) => {
        const expected = await get(handler, target)
        expect(await get(handler, scheme + authority + target)).toEqual(expected)
      }),
      { ...SEED, numRuns: 200 },
    )
  })

  test.each(ENDPOINTS)('is read from no header but ETags: $path', async ({ path, target }) => {
    const sent: Record<string, string> = { 'if-match': '"other"', 'if-none-match': '*' }
    for (const method of ['GET', 'HEAD', 'OPTIONS']) {
      for (const asked of [target, `${path}?base=ZZZ`, `${path}/unknown`]) {
        for (const given of [{}, sent]) {
          const read = new Set<string>()
          const header = (name: string) => (read.add(name), Reflect.get(given, name) ?? null)
          const { status } = await handler.answer({ method, target: asked, header })
          const request = new Request(`http://localhost${asked}`, { method })
          Object.defineProperty(request, 'headers', { value: { get: header } })
          expect((await handler(request)).status).toBe(status)
          expect([...read].filter((name) => !(name in sent) && name !== 'host')).toEqual([])
        }
      }
    }
  })

  const value = fc.oneof(
    fc.constantFrom(
      ...'EUR usd HRK ZZZ EUR,GBP 1 1e3 -1 1M 5Y 2026-11-13 week true % %00'.split(' '),
      '',
      'E\tUR',
      ' EUR ',
    ),
    fc
      .string({ unit: 'binary', maxLength: 40 })
      .map((text) => (text.isWellFormed() ? encodeURIComponent(text) : text)),
    fc.string({ maxLength: 40 }),
  )
  const name = fc.oneof(
    fc.constantFrom(...new Set(OF_PARAMETERS.map((each) => each.name))),
    fc.constantFrom('BASE', 'base[]', '?from', '__proto__', 'constructor', 'x'),
    fc.string({ maxLength: 10 }),
  )
  const pairs = fc.array(
    fc.tuple(name, value).map((pair) => pair.join('=')),
    { maxLength: 6 },
  )
  const queries = fc.oneof(
    pairs.map((list) => list.join('&')),
    fc.string({ unit: 'binary' }),
    fc.string(),
  )

  test.each(WITH_PARAMETERS)('is JSON with 200 or 400 for any query: $path', async ({ path }) => {
    await fc.assert(
      fc.asyncProperty(queries, async (text) => {
        const response = await fetchFrom(handler, `${path}?${text}`)
        expect(await get(handler, `${path}?${text}`)).toEqual(response)
        const { status, headers, body } = response
        expect([200, 400]).toContain(status)
        expect(headers['content-type']).toBe('application/json; charset=utf-8')
        const { error } = JSON.parse(body)
        const names = typeof error === 'object' ? Object.keys(error).join() : typeof error
        const wanted = path.startsWith('/api/v1/') ? 'code,message' : 'string'
        expect(names).toBe(status === 200 ? 'undefined' : wanted)
      }),
      { ...SEED, numRuns: 100 },
    )
  })
})

/** Sends a request whose URL has the raw Host, as on Deno; `Request` would reject some. */
async function responseFor(
  from: RatesHandler,
  authority: string,
  target: string,
): Promise<ResponseData> {
  const request = new Request('http://localhost/', { headers: { host: authority } })
  Object.defineProperty(request, 'url', { value: `http://${authority}${target}` })
  const response = await from(request)
  const headers = [...response.headers].sort(([one], [other]) => (one < other ? -1 : 1))
  return withoutId({
    status: response.status,
    headers: Object.fromEntries(headers),
    body: await response.text(),
  })
}
