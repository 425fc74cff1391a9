import { describe, expect, test } from 'vitest'

import { isCodeShaped } from '../../src/rates/currency-code.ts'
import { isDay } from '../../src/rates/day.ts'
import { isAmount } from '../../src/endpoints/parameters.ts'
import { ask } from '../catalogue/catalogue.ts'
import { ENDPOINTS } from './endpoints.ts'
import { loadedHandler } from './loaded-handler.ts'

const LAST = 0x10ffff

/** Texts of ASCII that one other character turns into, or passes for, with the characters. */
const LOOKALIKES = findLookalikes()

/** Characters that some function takes for white space, and so takes away. */
const SPACES = characters().filter(
  (character) => character !== ' ' && (character.trim() === '' || /^\s$/u.test(character)),
)

const handler = await loadedHandler()

test('the look-alikes are those that are known to have done harm, and more', () => {
  expect(LOOKALIKES.size).toBeGreaterThan(50)
  expect(lookalikesOf('S')).toEqual(expect.arrayContaining(['ſ', 'Ｓ', '𝐒']))
  expect(lookalikesOf('I')).toEqual(expect.arrayContaining(['ı', 'İ', 'Ⅰ']))
  expect(lookalikesOf('K')).toContain('\u212a')
  expect(lookalikesOf('ST')).toContain('ﬆ')
  expect(lookalikesOf('1')).toEqual(expect.arrayContaining(['１', '¹']))
  expect(SPACES).toEqual(expect.arrayContaining(['\u00a0', '\ufeff', '\u2003', '\n']))
})

describe('a look-alike', () => {
  test('is no part of a currency code', async () => {
    const known = [
      'USD',
      'INR',
      'STN',
      'SEK',
      'GBP',
      'CHF',
      'MXN',
      'ZAR',
      'JPY',
      'VND',
      'QAR',
      'MWK',
      'OMR',
      'LKR',
      'ETB',
    ]
    let tried = 0
    for (const code of known) {
      for (const [text, others] of LOOKALIKES) {
        if (!code.includes(text)) continue
        for (const other of others) {
          const odd = code.replace(text, other)
          expect(isCodeShaped(odd), odd).toBe(false)
          tried += 1
        }
      }
    }
    expect(tried).toBeGreaterThan(2_000)
  })

  test.each([
    ['/api/v1/latest', 'base', ''],
    ['/api/v1/latest', 'symbols', ''],
    ['/api/v1/convert', 'from', 'to=EUR'],
    ['/api/v1/convert', 'to', 'from=EUR'],
    ['/api/v1/history', 'from', 'to=EUR'],
    ['/api/v1/history', 'to', 'from=EUR'],
    ['/api/rates', 'base', ''],
    ['/api/convert', 'from', 'to=EUR'],
    ['/api/convert', 'to', 'from=EUR'],
  ])('is refused on %s in %s', async (path, name, others) => {
    for (const code of ['USD', 'ISK', 'PLN']) {
      for (const letter of code) {
        for (const other of lookalikesOf(letter)) {
          const target = `${path}?${others}&${name}=${encodeURIComponent(code.replace(letter, other))}`
          const { status } = await ask(handler, { method: 'GET', target }, 'answer')
          expect(status, target).toBe(400)
        }
      }
    }
  })

  test('is no part of an amount, a day or a period', async () => {
    for (const digit of ['1', '2', '.', '+', '-', 'e', 'E', 'M', 'Y']) {
      for (const other of lookalikesOf(digit)) {
        expect(isAmount(`1${other}2`), other).toBe(false)
        expect(isAmount(other), other).toBe(false)
        expect(
          isDay('2026-11-12'.replace(digit, other)) && '2026-11-12'.includes(digit),
          other,
        ).toBe(false)
        for (const period of ['1M', '1Y']) {
          const odd = encodeURIComponent(period.replace(digit, other))
          const target = `/api/v1/history?from=EUR&to=USD&period=${odd}`
          const { status } = await ask(handler, { method: 'GET', target }, 'answer')
          expect(status === 400 || !period.includes(digit), target).toBe(true)
        }
      }
    }
  })

  test.each(ENDPOINTS)(
    'is no part of a path or a name: $path',
    async ({ path, parameters, target }) => {
      for (const character of new Set(path)) {
        for (const other of lookalikesOf(character)) {
          const odd = path.replaceAll(character, encodeURIComponent(other))
          const { status } = await ask(handler, { method: 'GET', target: odd }, 'answer')
          expect(status, odd).toBe(404)
        }
      }
      const plain = await ask(handler, { method: 'GET', target }, 'answer')
      for (const name of parameters) {
        for (const other of lookalikesOf(name.slice(0, 1))) {
          const odd = `${target}${target.includes('?') ? '&' : '?'}${encodeURIComponent(other)}${name.slice(1)}=ZZZ`
          expect(await ask(handler, { method: 'GET', target: odd }, 'answer'), odd).toEqual(plain)
        }
      }
    },
  )

  test('of a separator separates nothing', async () => {
    for (const separator of [',', '&', '=', ' ']) {
      for (const other of lookalikesOf(separator)) {
        const odd = encodeURIComponent(`EUR${other}GBP`)
        const { status } = await ask(
          handler,
          { method: 'GET', target: `/api/v1/latest?symbols=${odd}` },
          'answer',
        )
        expect(status, odd).toBe(400)
      }
    }
  })
})

describe('a space that is none of ASCII', () => {
  test.each([
    ['/api/v1/latest', 'base', 'EUR', ''],
    ['/api/v1/latest', 'symbols', 'EUR', ''],
    ['/api/v1/latest', 'date', '2026-11-12', ''],
    ['/api/v1/convert', 'from', 'EUR', 'to=USD'],
    ['/api/v1/convert', 'to', 'EUR', 'from=USD'],
    ['/api/v1/convert', 'amount', '1', 'from=EUR&to=USD'],
    ['/api/v1/history', 'period', '1M', 'from=EUR&to=USD'],
    ['/api/rates', 'base', 'EUR', ''],
    ['/api/convert', 'amount', '1', 'from=EUR&to=USD'],
  ])('is not taken away on %s from %s', async (path, name, value, others) => {
    for (const space of SPACES) {
      for (const text of [`${space}${value}`, `${value}${space}`]) {
        const target = `${path}?${others}&${name}=${encodeURIComponent(text)}`
        const { status } = await ask(handler, { method: 'GET', target }, 'answer')
        expect(status, target).toBe(400)
      }
    }
  })
})

/** Every character beyond ASCII that some function of the platform makes ASCII of, or takes for it, by what it becomes. */
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
