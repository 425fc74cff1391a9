import { describe, expect, test } from 'vitest'

import { createRatesHandler } from '../../src/index.ts'
import { createLog } from '../../src/log.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { NOW } from '../catalogue/catalogue.ts'
import type { ResponseData } from '../catalogue/catalogue.ts'
import { eventsWith } from '../fixtures/events.ts'
import { ENDPOINTS } from './endpoints.ts'
import { get, loadedHandler } from './loaded-handler.ts'

/** Characters that end lines or texts, are invisible, or change the text direction. */
const RANGES = [
  [0, 0x1f],
  [0x7f, 0x9f],
  [0x200b, 0x200f],
  [0x2028, 0x202e],
  [0x2060, 0x2064],
  [0x2066, 0x206f],
] as const
const OTHERS = [0xad, 0x61c, 0x180e, 0xfeff, 0xfff9, 0xfffb, 0xe0001, 0xe007f]

const CHARACTERS = [
  ...RANGES.flatMap(([first, last]) =>
    Array.from({ length: last - first + 1 }, (_, index) => first + index),
  ),
  ...OTHERS,
].map((code) => String.fromCodePoint(code))

/** Characters that no message, header or log line may contain. */
const HARMFUL = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u

const harmless = new Set<string>()

const now = (): number => NOW
const handler = await loadedHandler()

/** All endpoints except the OpenAPI document, which has line breaks. */
const TESTED = ENDPOINTS.filter(({ path }) => !path.endsWith('/openapi.json'))

test('the characters cover all harmful categories, except for some scripts', () => {
  expect(CHARACTERS.filter((character) => !HARMFUL.test(character))).toEqual([])
  expect(CHARACTERS.length).toBeGreaterThan(95)
})

describe('a request with a harmful character', () => {
  test.each(TESTED)(
    'gets a response without it, on $path',
    async ({ path, parameters, target }) => {
      const own = target.slice(path.length + 1)
      for (const character of CHARACTERS) {
        for (const text of [character, encodeURIComponent(character)]) {
          const targets = [
            `${path}${text}`,
            `${path}/${text}?${own}`,
            `${path}?${text}=1`,
            ...parameters.flatMap((name) => [
              `${path}?${name}=E${text}R`,
              `${path}?${name}=${text}Set-Cookie:${text}a=b`,
              `${path}?${own}&${name}[${text}]=1`,
              `${path}?${own}&${name.toUpperCase()}[${text}x=1`,
            ]),
          ]
          for (const each of targets) expectHarmless(await get(handler, each))
        }
      }
    },
  )

  test('gets a response without it, with any method and headers', async () => {
    for (const character of CHARACTERS) {
      const method = `GET${character}`
      const value = `"${character}", *${character}\r\nSet-Cookie: a=b`
      for (const { target } of ENDPOINTS) {
        for (const sent of [method, 'GET', 'OPTIONS']) {
          const request = { method: sent, target, header: () => value }
          const { status, headers } = await handler.answer(request)
          expectHarmless({ status, headers: Object.fromEntries(headers), body: '{}' })
        }
      }
    }
  })
})

describe('a provider with a harmful character in its name', () => {
  test('puts none into a header', async () => {
    const { latest: market } = fakeProviders({ now })
    const context = { fetch, signal: new AbortController().signal, now }
    const table = await market.fetchLatest(context)
    const latest = { ...market, fetchLatest: async () => table }
    for (const character of CHARACTERS) {
      const attribution = {
        name: `a"${character}\\Set-Cookie: a=b`,
        url: `https://rates.example/${encodeURIComponent(character)}`,
      }
      const named = createRatesHandler({ now, providers: { latest: { ...latest, attribution } } })
      for (const target of ['/api/v1/latest', '/api/v1/latest?format=csv']) {
        const { status, headers } = await get(named, target)
        expect(status).toBe(200)
        expectHarmless({ status, headers, body: '{}' })
      }
    }
  })
})

describe('an event with a harmful character', () => {
  test.each(CHARACTERS.map((character) => [nameOf(character), character]))(
    'is one line in which it is not: %s',
    (_, character) => {
      const text = `a${character}b\r\n\u2028${character}${character}level=error`
      for (const format of ['json', 'text'] as const) {
        for (const event of Object.values(eventsWith(text))) {
          const lines: string[] = []
          createLog({ format, write: (line) => void lines.push(line), now })(event)
          expect(lines.length).toBeLessThanOrEqual(1)
          expect(lines.filter((line) => HARMFUL.test(line))).toEqual([])
          expect(format === 'text' || JSON.parse(lines[0] ?? '{}').event === event.type).toBe(true)
        }
      }
    },
  )
})

/** Expects no harmful character, raw or in decoded JSON. */
function expectHarmless({ headers, body }: ResponseData): void {
  const lines = Object.entries(headers).map((header) => header.join(': '))
  expect(lines.filter((line) => !/^[\x20-\x7e]*$/.test(line))).toEqual([])
  expect(lines.filter((line) => line.startsWith('set-cookie'))).toEqual([])
  const isHarmful = (_key: string, value: unknown): unknown => {
    if (typeof value === 'string' && HARMFUL.test(value)) throw new Error(JSON.stringify(value))
    return value
  }
  const isJson = headers['content-type']?.startsWith('application/json') ?? false
  // Many responses are equal and long.
  if (isJson && !harmless.has(body)) JSON.parse(body, isHarmful)
  harmless.add(body)
}

function nameOf(character: string): string {
  return `U+${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}`
}
