import * as fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'

import { RatesError } from '../../src/index.ts'
import { ENDPOINTS, PATHS, SEED, query } from './endpoints.ts'
import { turnOfLoop, watchEscapes } from './escapes.ts'
import {
  createStillHandler,
  fetchFrom,
  get,
  loadedHandler,
  providersThat,
} from './loaded-handler.ts'

const escaped = watchEscapes()

afterEach(async () => {
  await turnOfLoop()
  if (escaped.length > 0) throw new Error(`not handled: ${escaped.length}`, { cause: escaped[0] })
})

const THROWN: Record<string, unknown> = {
  undefined,
  null: null,
  'a text': 'text',
  'a symbol': Symbol('thrown'),
  'a function': () => {},
  'an object without a prototype': Object.create(null),
  'an error whose message throws': Object.defineProperty(new Error('x'), 'message', { get: fail }),
  'an error whose cause throws': Object.defineProperty(new Error('x'), 'cause', { get: fail }),
  'an opaque object': new Proxy({}, { get: fail, has: fail, getPrototypeOf: fail }),
}

describe.each(Object.entries(THROWN))('with hooks that throw %s', (_, thrown) => {
  const throws = (): never => {
    throw thrown
  }
  const rejects = async (): Promise<never> => throws()

  test.each([
    ['at once', throws],
    ['later', rejects],
  ])('every request gets a response: %s', async (_when, hook) => {
    const store = { get: hook, set: hook, claim: hook }
    const hooks = { store, onEvent: hook, waitUntil: hook, fetch: hook }
    for (const handler of [
      await loadedHandler(hooks),
      createStillHandler({ ...hooks, providers: providersThat(hook) }),
      createStillHandler(hooks),
    ]) {
      await handler.refresh()
      for (const { target } of ENDPOINTS) {
        const { status } = await get(handler, target)
        expect([200, 502], target).toContain(status)
      }
      handler.close()
    }
  })

  test('every operation resolves, or rejects with a RatesError', async () => {
    const { rates } = createStillHandler({ providers: providersThat(rejects), onEvent: throws })
    const settled = await Promise.allSettled([
      rates.latest(),
      rates.convert({ from: 'USD', to: 'EUR' }),
      rates.history({ from: 'USD', to: 'EUR' }),
      rates.currencies(),
    ])
    expect(settled.map(({ status }) => status)).toContain('rejected')
    for (const each of settled) {
      expect(each.status === 'fulfilled' || each.reason instanceof RatesError).toBe(true)
    }
  })

  test('a request with throwing properties gets a response', async () => {
    const handler = await loadedHandler()
    for (const name of ['method', 'target', 'header', 'signal'] as const) {
      const request = { method: 'GET', target: '/api/v1/latest', header: () => null }
      const broken = Object.defineProperty(request, name, { get: throws })
      expect([200, 500]).toContain((await handler.answer(broken)).status)
    }
    for (const name of ['method', 'url', 'headers', 'signal'] as const) {
      const request = new Request('http://localhost/api/v1/latest')
      Object.defineProperty(request, name, { get: throws })
      expect([200, 500]).toContain((await handler(request)).status)
    }
  })
})

describe('hostile clients', () => {
  const loaded = loadedHandler()
  test.each(PATHS)(
    'get JSON with 200 or 400 for any query, from the handler and from answer(), on %s',
    async (path) => {
      const handler = await loaded
      await fc.assert(
        fc.asyncProperty(query, async (text) => {
          const response = await fetchFrom(handler, `${path}?${text}`)
          expect(await get(handler, `${path}?${text}`)).toEqual(response)
          const { status, headers, body } = response
          expect([200, 400]).toContain(status)
          expect(headers['content-type']).toBe('application/json; charset=utf-8')
          expect(formOf(JSON.parse(body).error)).toBe(formOfErrors(path, status))
        }),
        { ...SEED, numRuns: 200 },
      )
    },
  )
})

function formOf(error: unknown): string {
  return typeof error === 'object' ? Object.keys(Object(error)).join() : typeof error
}

function formOfErrors(path: string, status: number): string {
  if (status === 200) return 'undefined'
  return path.startsWith('/api/v1/') ? 'code,message' : 'string'
}

function fail(): never {
  throw new Error('must not be read')
}
