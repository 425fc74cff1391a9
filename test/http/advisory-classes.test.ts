import * as fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'

import { ask, createCountingHandler } from '../catalogue/catalogue.ts'
import type { Question, Reply } from '../catalogue/catalogue.ts'

// Classes of mistakes that other HTTP libraries have published advisories about.

const PATHS = ['/api/v1/latest', '/api/v1/convert', '/api/v1/history', '/api/rates', '/api/convert']
const KNOWN = ['base', 'symbols', 'from', 'to', 'amount', 'period']
const VALUES = [
  '',
  'EUR',
  'usd',
  'HRK',
  'ZZZ',
  'EUR,GBP',
  '1',
  '1e3',
  '-1',
  '1M',
  '5Y',
  '%',
  '%00',
  'E\tUR',
  ' EUR ',
]
const NONCE = 'n0nce7f3a9c'
const SEED = { seed: 20_261_120 }

const VERSIONED_ERROR = { error: { code: expect.any(String), message: expect.any(String) } }
const EARLIER_ERROR = { error: expect.any(String) }
const NO_ERROR = { error: undefined }

const { handler } = createCountingHandler()

beforeAll(() => handler.refresh())

describe('CORS', () => {
  const questions: Question[] = [
    { method: 'GET', target: '/api/v1/latest' },
    { method: 'GET', target: '/api/v1/latest', headers: { 'if-none-match': '*' } },
    { method: 'GET', target: '/api/v1/latest?base=ZZZ' },
    { method: 'HEAD', target: '/api/v1/history?from=EUR&to=USD' },
    { method: 'POST', target: '/api/v1/convert' },
    { method: 'GET', target: '/api/v1/unknown' },
    { method: 'OPTIONS', target: '/api/v1/latest' },
    { method: 'GET', target: '/api/rates' },
  ]
  const printable = fc.string({ unit: fc.integer({ min: 0x20, max: 0x7e }).map(toCharacter) })
  const origin = fc.oneof(
    fc.constantFrom('null', '*', '', 'https://app.example', 'file://', 'https://a.example, *'),
    fc.webUrl(),
    printable,
  )

  test('is the same for 1,000 random origins, and never allows credentials', async () => {
    await fc.assert(
      fc.asyncProperty(origin, fc.constantFrom(...questions), async (sent, question) => {
        const reply = await ask(handler, {
          ...question,
          headers: { ...question.headers, origin: sent },
        })
        expect(reply).toEqual(await ask(handler, question))
        expect(reply.headers).not.toHaveProperty('access-control-allow-credentials')
        expect(reply.headers['access-control-allow-origin'] ?? '*').toBe('*')
      }),
      { ...SEED, numRuns: 1_000 },
    )
  })
})

describe('reflection', () => {
  const headerNames =
    `accept accept-language authorization cache-control content-type cookie forwarded from host
    if-match if-none-match if-modified-since origin range referer traceparent user-agent vary via x-forwarded-for
    x-forwarded-host x-forwarded-proto x-http-method-override x-original-url x-request-id
    access-control-request-headers access-control-request-method`.split(/\s+/)
  const headers = Object.fromEntries(headerNames.map((name) => [name, NONCE]))
  const targets = [
    ...PATHS,
    '/api/v1/convert?from=USD&to=EUR',
    '/api/v1/history?from=EUR&to=USD',
    '/api/v1/unknown',
    '/',
  ]

  test.each(targets)('of a request header does not happen on %s', async (target) => {
    for (const method of ['GET', 'HEAD', 'OPTIONS', 'POST']) {
      for (const door of ['request', 'answer'] as const) {
        expect(textOf(await ask(handler, { method, target, headers }, door))).not.toContain(NONCE)
      }
    }
  })

  test.each(['/', '/api/', '/api/v1/', '/api/v1/latest/', '/api/v1/latest', '/api/rates'])(
    'of a path does not happen below %s',
    async (prefix) => {
      for (const method of ['GET', 'HEAD', 'OPTIONS', 'POST']) {
        const reply = await ask(handler, { method, target: `${prefix}${NONCE}` })
        expect(textOf(reply)).not.toContain(NONCE)
      }
    },
  )

  test.each(PATHS)('of a parameter that is ignored does not happen on %s', async (path) => {
    for (const query of [`${NONCE}=1`, `x=${NONCE}`, NONCE, `x[${NONCE}]=1`]) {
      expect(
        textOf(await ask(handler, { method: 'GET', target: `${path}?${query}` })),
      ).not.toContain(NONCE)
    }
  })

  test.each([
    ['/api/v1/latest', 'base', ''],
    ['/api/v1/latest', 'symbols', ''],
    ['/api/v1/convert', 'from', 'to=EUR'],
    ['/api/v1/convert', 'to', 'from=EUR'],
    ['/api/v1/convert', 'amount', 'from=EUR&to=USD'],
    ['/api/v1/history', 'from', 'to=EUR'],
    ['/api/v1/history', 'to', 'from=EUR'],
    ['/api/v1/history', 'period', 'from=EUR&to=USD'],
    ['/api/rates', 'base', ''],
    ['/api/convert', 'from', 'to=EUR'],
    ['/api/convert', 'to', 'from=EUR'],
    ['/api/convert', 'amount', 'from=EUR&to=USD'],
  ])('on %s of %s happens once, in the message about it', async (path, name, others) => {
    const target = `${path}?${others}&${name}=${NONCE}&x=${NONCE}`
    const { status, headers, body } = await ask(handler, { method: 'GET', target })
    const { error } = JSON.parse(body)
    const message: string = typeof error === 'string' ? error : error.message
    expect(status).toBe(400)
    expect(message.split(NONCE)).toHaveLength(2)
    expect(message).toContain(name === 'symbols' ? 'symbols' : name)
    expect(body.split(NONCE)).toHaveLength(2)
    expect(JSON.stringify(headers)).not.toContain(NONCE)
  })
})

describe('any query', () => {
  const value = fc.oneof(
    fc.constantFrom(...VALUES),
    fc.string({ unit: 'binary', maxLength: 40 }).map(encodeURIComponentSafely),
    fc.string({ maxLength: 40 }),
  )
  const name = fc.oneof(
    fc.constantFrom(...KNOWN, 'BASE', 'base[]', '?from', '__proto__', 'constructor', 'x'),
    fc.string({ maxLength: 10 }),
  )
  const pairs = fc
    .array(fc.tuple(name, value), { maxLength: 6 })
    .map((list) => list.map((pair) => pair.join('=')).join('&'))
  const query = fc.oneof(pairs, fc.string({ unit: 'binary' }), fc.string())

  test.each(PATHS)('on %s is answered with JSON and 200 or 400', async (path) => {
    await fc.assert(
      fc.asyncProperty(query, async (text) => {
        const reply = await ask(handler, { method: 'GET', target: `${path}?${text}` })
        expect([200, 400]).toContain(reply.status)
        expect(reply.headers['content-type']).toBe('application/json; charset=utf-8')
        const body = JSON.parse(reply.body)
        const isError = reply.status === 400
        expect(isError ? body : { error: body.error }).toEqual(isError ? errorOn(path) : NO_ERROR)
      }),
      { ...SEED, numRuns: 400 },
    )
  })

  test.each(PATHS)('on %s is read the same through both doors', async (path) => {
    await fc.assert(
      fc.asyncProperty(query, async (text) => {
        const question = { method: 'GET', target: `${path}?${text}` }
        expect(await ask(handler, question, 'answer')).toEqual(await ask(handler, question))
      }),
      { ...SEED, numRuns: 400 },
    )
  })

  const parameters = fc.uniqueArray(fc.tuple(fc.constantFrom(...KNOWN, 'x', 'utm', 'Y'), value), {
    selector: ([chosen]) => chosen,
    maxLength: 7,
  })
  const permuted = parameters.chain((list) =>
    fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })),
  )

  test.each(PATHS)('on %s means the same in any order', async (path) => {
    const reply = (list: [string, string][]): Promise<Reply> =>
      ask(handler, { method: 'GET', target: `${path}?${new URLSearchParams(list)}` })
    await fc.assert(
      fc.asyncProperty(permuted, async ([one, other]) => {
        expect(await reply(other)).toEqual(await reply(one))
      }),
      { ...SEED, numRuns: 400 },
    )
  })
})

describe('a request body', () => {
  test.each(PATHS)('is never read on %s', async (path) => {
    let isRead = false
    const body = new ReadableStream(
      {
        pull() {
          isRead = true
          throw new Error('the body was read')
        },
      },
      { highWaterMark: 0 },
    )
    const init = { method: 'POST', body, duplex: 'half' }
    const request = new Request(`http://localhost${path}`, init)
    expect((await handler(request)).status).toBe(405)
    expect(isRead).toBe(false)
    expect(request.bodyUsed).toBe(false)
  })
})

// Last in this file: it cannot be undone.
describe('with a prototype of all objects that cannot be extended', () => {
  const hostile = ['__proto__', 'constructor', 'constructor.prototype.base', '__proto__[base]']

  test.each(PATHS)('answers on %s are the same', async (path) => {
    const targets = hostile.flatMap((key) => [
      `${path}?${key}=EUR`,
      ...KNOWN.map((parameter) => `${path}?${parameter}=${key}`),
    ])
    const replies = (): Promise<Reply[]> =>
      Promise.all(targets.map((target) => ask(handler, { method: 'GET', target })))
    const before = await replies()
    Object.preventExtensions(Object.prototype)
    expect(await replies()).toEqual(before)
    expect(Object.hasOwn(Object.prototype, 'base')).toBe(false)
  })
})

function errorOn(path: string): unknown {
  return path.startsWith('/api/v1/') ? VERSIONED_ERROR : EARLIER_ERROR
}

function textOf(reply: Reply): string {
  return JSON.stringify(reply)
}

function toCharacter(code: number): string {
  return String.fromCharCode(code)
}

/** Percent-encoded, but for a half of a surrogate pair, which stays. */
function encodeURIComponentSafely(text: string): string {
  return text.isWellFormed() ? encodeURIComponent(text) : text
}
