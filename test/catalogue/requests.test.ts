// oxlint-disable vitest/no-conditional-expect -- an entry says which checks apply to it
import { beforeAll, describe, expect, test } from 'vitest'

import { createRatesClient } from '../../src/client/index.ts'
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
}

const { handler, calls } = createCountingHandler()
const isBun = 'Bun' in globalThis
const isLostOnBun = (entry: Entry): boolean => isBun && entry.bun !== undefined

const CORS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'ETag, Retry-After, Cache-Status, Link',
  'cross-origin-resource-policy': 'cross-origin',
}

const PREFLIGHT =
  'access-control-allow-headers access-control-allow-methods access-control-max-age'.split(' ')

/** Others could redirect a browser, set a cookie, allow credentials, or change how a response is read or cached. */
const KNOWN =
  'allow cache-control cache-status content-length content-type etag last-modified link x-content-type-options'.split(
    ' ',
  )

/** Loads latest rates, and days of the last five years and before. */
beforeAll(async () => {
  await handler.refresh()
  await handler.rates.convert({ from: 'EUR', to: 'USD', date: '1999-01-04' })
})

describe('every entry of the catalogue, through both doors and with HEAD', () => {
  test.each(entries.map((entry) => [titleOf(entry), entry] as const))('%s', async (_, entry) => {
    const callsBefore = calls()
    const prototypeBefore = Reflect.ownKeys(Object.prototype)
    const response = await sendEntry(handler, entry, doorOf(entry))
    checkExpectation(entry, response)
    checkAlways(entry, response)
    if (!entry.door && !isLostOnBun(entry)) {
      expect(await sendEntry(handler, entry, 'answer')).toEqual(response)
    }
    if (entry.method === 'GET') {
      const { status, headers, body } = response
      const length = body === '' ? {} : { 'content-length': String(byteLength(body)) }
      const head = await sendEntry(handler, { ...entry, method: 'HEAD' }, 'answer')
      expect(head).toEqual({ status, headers: { ...headers, ...length }, body: '' })
    }
    for (const invariant of entry.expect.invariants ?? []) {
      const [name = '', argument = ''] = invariant.split(/:(.*)/s)
      const check = INVARIANTS[name] ?? (() => expect.unreachable(`unknown: ${name}`))
      await check({ entry, response, handler }, argument)
    }
    expect(calls()).toBe(callsBefore)
    expect(Reflect.ownKeys(Object.prototype)).toEqual(prototypeBefore)
  })

  test('is one of many, has its own id, and a code or a text if it is an error', () => {
    expect(entries.length).toBeGreaterThan(650)
    expect(new Set(entries.map((entry) => entry.id)).size).toBe(entries.length)
    const silent = entries.filter(
      ({ method, expect: { status, code, errorText } }) =>
        status >= 400 && method !== 'HEAD' && code === undefined && errorText === undefined,
    )
    expect(silent).toEqual([])
  })
})

test.each(entries.filter(isLostOnBun))(
  'handler() and handler.answer() differ on Bun, whose Request loses the method, on $id',
  async (entry) => {
    expect((await sendEntry(handler, entry, 'request')).status).toBe(entry.bun?.status)
  },
)

/** Returns a question that functions and clients can be asked, too: no lists, no repeated names, no names of queries alone. */
function toCall({ method, target, headers, expect: { code } }: Entry) {
  const [, operation, query] =
    /^\/api\/v1\/(latest|convert|history)(?:\?([^?#]*))?$/.exec(expand(target)) ?? []
  const pairs = [...new URLSearchParams(query)]
  const isAlike = pairs.every(
    ([name, value], at) =>
      /^(?!symbols|reverse|format|maxAge|__)\w+$/.test(name) &&
      !(name === 'to' && value.includes(',')) &&
      pairs.findIndex(([other]) => other === name) === at,
  )
  const params = Object.fromEntries(pairs)
  return code && method === 'GET' && operation && isAlike && !headers && { operation, params }
}

describe('handler.rates and a client', () => {
  const client = createRatesClient({ baseUrl: 'http://localhost/api', fetch: handler, retries: 0 })
  const asked = entries.flatMap((entry) => {
    const call = toCall(entry)
    return call ? [[titleOf(entry), entry, call] as const] : []
  })

  test('are asked most questions', () => expect(asked.length).toBeGreaterThan(190))

  test.each(asked)('reject with the error of %s', async (_, entry, { operation, params }) => {
    const { error } = JSON.parse((await sendEntry(handler, entry, 'answer')).body)
    for (const door of [handler.rates, client]) {
      const call: (params: object) => Promise<unknown> = Reflect.get(door, operation)
      await expect(call(params)).rejects.toMatchObject(error)
    }
  })
})

type Check = (input: CheckInput, argument: string) => unknown

const INVARIANTS: Record<string, Check> = {
  // linear-time.test.ts checks how the time grows with the size.
  linear: () => {},
  async noUpstreamCallWhenCold({ entry }) {
    const cold = createCountingHandler()
    await sendEntry(cold.handler, entry, 'answer')
    expect(cold.calls()).toBe(0)
  },
  noReflection({ response }, text) {
    expect(JSON.stringify(response).toLowerCase()).not.toContain(text.toLowerCase())
  },
  async sameCacheKeyAs({ response, handler }, target) {
    const other = await send(handler, { method: 'GET', target })
    expect(response.headers['etag']).toBe(other.headers['etag'])
    expect(response.body).toBe(other.body)
  },
  async sameBodyAsPlain({ entry, response, handler }) {
    const { target } = await toRequestData(handler, entry)
    expect(response).toEqual(await send(handler, { method: 'GET', target }))
  },
  async fullTable({ response, handler }) {
    const { body } = await send(handler, { method: 'GET', target: '/api/v1/latest' })
    expect(ratesKeys(response.body)).toEqual(ratesKeys(body))
  },
  async cacheUntouched({ entry, handler }) {
    const after = await send(handler, { method: 'GET', target: entry.target })
    expect(after.headers['cache-status']).toMatch(/^rates; hit; ttl=\d+$/)
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

function checkAlways(entry: Entry, { status, headers, body }: ResponseData): void {
  const { target, method, door } = entry
  const { pathname } = new URL(`http://localhost${expand(target)}`)
  const isVersioned = /^\/api\/v\d+(\/|$)/.test(pathname)
  const isPreflight = method === 'OPTIONS' && status === 204
  const cors = isVersioned ? [...Object.keys(CORS), ...(isPreflight ? PREFLIGHT : [])] : []
  if (door !== 'answer') {
    const known = [...KNOWN, ...cors]
    expect(Object.keys(headers).filter((name) => !known.includes(name))).toEqual([])
    expect(headers).toMatchObject(isVersioned ? CORS : {})
  }
  expect([200, 204, 304, 400, 404, 405, 412, 415]).toContain(status)
  // `s-maxage` would forbid shared caches to serve stale responses (RFC 9111).
  expect(headers['cache-control'] ?? '').not.toMatch(/s-maxage|private|immutable/)
  expect(headers['x-content-type-options']).toBe('nosniff')
  expect('allow' in headers).toBe(status === 405 || isPreflight)
  if (status >= 400) {
    expect(headers['cache-control']).toBe('no-store')
    expect(byteLength(body)).toBeLessThan(1024)
  }
  expect(body === '').toBe(method === 'HEAD' || status === 204 || status === 304)
  if (body !== '') {
    expect(headers['content-type']).toBe('application/json; charset=utf-8')
    expect(JSON.parse(body)).toBeTypeOf('object')
  }
  if (status === 200) expect(headers['etag']).toMatch(/^"[\w-]+"$/)
}

function doorOf(entry: Entry): 'request' | 'answer' {
  return isLostOnBun(entry) ? 'answer' : (entry.door ?? 'request')
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
