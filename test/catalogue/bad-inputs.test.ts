// oxlint-disable vitest/no-conditional-expect -- an entry says which checks apply to it
import { beforeAll, describe, expect, test } from 'vitest'

import { createRatesHandler } from '../../src/index.ts'
import type { RatesHandler } from '../../src/index.ts'
import {
  NOW,
  createCountingHandler,
  entries,
  expand,
  send,
  sendEntry,
  toRequestData,
} from './catalogue.ts'
import type { Entry, ResponseData } from './catalogue.ts'

interface CheckInput {
  entry: Entry
  response: ResponseData
  handler: RatesHandler
  calls: () => number
}

const { handler, calls } = createCountingHandler()
const isBun = 'Bun' in globalThis

const CORS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'ETag, Retry-After, Cache-Status, Link',
  'cross-origin-resource-policy': 'cross-origin',
}

/** Headers that redirect a browser, change how it reads a response, or override `Cache-Control`. */
const UNWANTED = new Set(
  'location refresh content-location content-disposition set-cookie access-control-allow-credentials age expires vary pragma surrogate-control cdn-cache-control'.split(
    ' ',
  ),
)

beforeAll(() => handler.refresh())

describe('every entry of the catalogue', () => {
  test.each(entries.map((entry) => [titleOf(entry), entry] as const))('%s', async (_, entry) => {
    const callsBefore = calls()
    const prototypeBefore = Reflect.ownKeys(Object.prototype)
    const response = await sendEntry(handler, entry, doorOf(entry))
    expect(calls()).toBe(callsBefore)
    expect(Reflect.ownKeys(Object.prototype)).toEqual(prototypeBefore)
    checkExpectation(entry, response)
    checkAlways(entry, response)
    for (const invariant of entry.expect.invariants ?? []) {
      const [name = '', argument = ''] = splitOnce(invariant, ':')
      await INVARIANTS[name]?.({ entry, response, handler, calls }, argument)
    }
  })
})

describe('handler() and handler.answer()', () => {
  const isLostOnBun = (entry: Entry): boolean => isBun && entry.bun !== undefined
  const carried = entries.filter((entry) => !entry.door && !isLostOnBun(entry))
  test.each(carried.map((entry) => [entry.id, entry] as const))('agree on %s', async (_, entry) => {
    const byRequest = await sendEntry(handler, entry, 'request')
    expect(await sendEntry(handler, entry, 'answer')).toEqual(byRequest)
  })

  test.each(entries.filter(isLostOnBun))(
    'differ on Bun, whose Request loses the method, on $id',
    async (entry) => {
      expect((await sendEntry(handler, entry, 'request')).status).toBe(entry.bun?.status)
    },
  )
})

describe('HEAD', () => {
  const read = entries.filter((entry) => entry.method === 'GET')
  test.each(read.map((entry) => [entry.id, entry] as const))(
    'has the status and headers of GET, and Content-Length without a body, on %s',
    async (_, entry) => {
      const { status, headers, body } = await sendEntry(handler, entry, 'answer')
      const length = body === '' ? {} : { 'content-length': String(byteLength(body)) }
      const head = await sendEntry(handler, { ...entry, method: 'HEAD' }, 'answer')
      expect(head).toEqual({ status, headers: { ...headers, ...length }, body: '' })
    },
  )
})

describe('the catalogue', () => {
  test('has unique ids', () => {
    expect(new Set(entries.map((entry) => entry.id)).size).toBe(entries.length)
  })

  test('uses only known invariants', () => {
    const names = entries.flatMap((entry) => entry.expect.invariants ?? [])
    const unknown = names.filter((name) => !Object.hasOwn(INVARIANTS, name.split(':', 1)[0] ?? ''))
    expect(unknown).toEqual([])
  })

  test('has a code or a text for every error with a body', () => {
    const silent = entries.filter(
      ({ method, expect: { status, code, errorText } }) =>
        status >= 400 && method !== 'HEAD' && code === undefined && errorText === undefined,
    )
    expect(silent).toEqual([])
  })
})

const INVARIANTS: Record<string, (input: CheckInput, argument: string) => unknown> = {
  // Checked for every entry, around its request.
  noUpstreamCall: () => {},
  noPrototypePollution: () => {},
  // linear-time.test.ts checks how the time grows with the size.
  linear: () => {},

  async noUpstreamCallWhenCold({ entry }) {
    const cold = createCountingHandler()
    await sendEntry(cold.handler, entry, 'answer')
    expect(cold.calls()).toBe(0)
  },
  noStore({ response }) {
    expect(response.headers['cache-control']).toBe('no-store')
  },
  emptyBody({ response }) {
    expect(response.body).toBe('')
  },
  cors({ response }) {
    expect(response.headers).toMatchObject(CORS)
  },
  cors304({ response }) {
    expect(response.status).toBe(304)
    expect(response.headers).toMatchObject(CORS)
  },
  nosniff({ response }) {
    expect(response.headers['x-content-type-options']).toBe('nosniff')
  },
  jsonContentType({ response }) {
    expect(response.headers['content-type']).toBe('application/json; charset=utf-8')
  },
  maxBody({ response }, bytes) {
    expect(byteLength(response.body)).toBeLessThanOrEqual(Number(bytes))
  },
  noHeader({ response }, name) {
    expect(response.headers).not.toHaveProperty(name)
  },
  noReflection({ response }, text) {
    expect(JSON.stringify(response).toLowerCase()).not.toContain(text.toLowerCase())
  },
  noRedirectFromHost({ response }) {
    expect(Math.floor(response.status / 100)).not.toBe(3)
  },
  async sameCacheKeyAs({ response, handler, calls }, target) {
    const callsBefore = calls()
    const other = await send(handler, { method: 'GET', target })
    expect(response.headers['etag']).toBe(other.headers['etag'])
    expect(response.body).toBe(other.body)
    expect(calls()).toBe(callsBefore)
  },
  async sameBodyAsPlain({ entry, response, handler }) {
    const { target } = await toRequestData(handler, entry)
    const plain = await send(handler, { method: 'GET', target })
    expect(response).toEqual(plain)
  },
  async fullTable({ response, handler }) {
    const { body } = await send(handler, { method: 'GET', target: '/api/v1/latest' })
    expect(ratesKeys(response.body)).toEqual(ratesKeys(body))
  },
  async cacheUntouched({ entry, handler, calls }) {
    const callsBefore = calls()
    const after = await send(handler, { method: 'GET', target: entry.target })
    expect(after.headers['cache-status']).toMatch(/^rates; hit; ttl=\d+$/)
    expect(calls()).toBe(callsBefore)
  },
  async notForwardedUpstream({ entry }, name) {
    const sent: string[] = []
    const recording = createRatesHandler({
      now: () => NOW,
      fetch: async (input, init) => {
        const { url, headers } = new Request(input, init)
        sent.push(JSON.stringify([url, ...headers]))
        throw new TypeError('no network in tests')
      },
    })
    await sendEntry(recording, entry, 'answer')
    expect(sent).not.toEqual([])
    expect(sent.join()).not.toContain(name)
    expect(sent.join()).not.toContain(entry.headers?.[name])
  },
}

function checkExpectation({ expect: wanted }: Entry, response: ResponseData): void {
  const { code, messageIncludes = [], errorText, body, headersMust = {} } = wanted
  expect(response.status, response.body).toBe(wanted.status)
  if (code !== undefined) {
    expect(JSON.parse(response.body)).toEqual({ error: { code, message: expect.any(String) } })
    for (const part of [messageIncludes].flat()) {
      expect(JSON.parse(response.body).error.message).toContain(part)
    }
  }
  if (errorText !== undefined) expect(JSON.parse(response.body)).toEqual({ error: errorText })
  if (body) expect(JSON.parse(response.body)).toMatchObject(body)
  if (wanted.ratesKeys) expect(ratesKeys(response.body)).toEqual([...wanted.ratesKeys].sort())
  expect(response.headers).toMatchObject(headersMust)
}

/** Checks the rules for every response. */
function checkAlways({ target, door }: Entry, { status, headers, body }: ResponseData): void {
  expect(status).toBeLessThan(500)
  expect(status >= 300 && status < 400 && status !== 304).toBe(false)
  expect(Object.keys(headers).filter((name) => UNWANTED.has(name))).toEqual([])
  // `s-maxage` would forbid shared caches to serve stale responses (RFC 9111).
  expect(headers['cache-control'] ?? '').not.toMatch(/s-maxage|private|immutable/)
  expect(headers['x-content-type-options']).toBe('nosniff')
  if (status >= 400) {
    expect(headers['cache-control']).toBe('no-store')
    expect(byteLength(body)).toBeLessThan(1024)
  }
  if (body !== '') {
    expect(headers['content-type']).toBe('application/json; charset=utf-8')
    expect(JSON.parse(body)).toBeTypeOf('object')
  }
  if (status === 405) expect(headers['allow']).toBe('GET, HEAD, OPTIONS')
  if (door === 'answer') return
  const { pathname } = new URL(`http://localhost${expand(target)}`)
  const isVersioned = /^\/api\/v\d+(\/|$)/.test(pathname)
  for (const [name, value] of Object.entries(CORS)) {
    expect(headers[name]).toBe(isVersioned ? value : undefined)
  }
}

function doorOf(entry: Entry): 'request' | 'answer' {
  return isBun && entry.bun ? 'answer' : (entry.door ?? 'request')
}

function titleOf({ id, method, target, expect: { status, code } }: Entry): string {
  const shown = target.length > 60 ? `${target.slice(0, 60)}…` : target
  return `${id}: ${method} ${shown} gets ${status} ${code ?? ''}`.trimEnd()
}

function ratesKeys(body: string): string[] {
  return Object.keys(JSON.parse(body).rates).sort()
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).length
}

function splitOnce(text: string, separator: string): string[] {
  const at = text.indexOf(separator)
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + separator.length)]
}
