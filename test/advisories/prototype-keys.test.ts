import { afterEach, describe, expect, test } from 'vitest'

import type { RatesHandler, RatesHandlerOptions } from '../../src/index.ts'
import { NOW } from '../catalogue/catalogue.ts'
import { reseal } from '../fixtures/envelopes.ts'
import { frankfurterPayload, openErApiPayload } from '../fixtures/upstream-payloads.ts'
import { ENDPOINTS, PATHS } from './endpoints.ts'
import { createStillHandler, fetchFrom, get, loadedHandler } from './loaded-handler.ts'

// Writing to it, or inheriting from it, fails in this file.
Object.preventExtensions(Object.prototype)

const NAMES = Object.getOwnPropertyNames(Object.prototype)
const OTHERS = ['prototype', 'constructor.prototype.base', '__proto__[base]', '__proto__.EUR']
const KEYS = [...NAMES, ...OTHERS]
const BEFORE = Object.getOwnPropertyDescriptors(Object.prototype)

const WELL = {
  latest: openErApiPayload({ now: NOW }),
  history: frankfurterPayload({ start: '2021-01-01', end: '2026-11-20', now: NOW }),
}

afterEach(expectUntouched)

test('the prototype of all objects is as it was, with every name that it has', () => {
  expect(NAMES).toEqual(expect.arrayContaining(['__proto__', 'constructor', 'toString', 'valueOf']))
  expect(Object.isExtensible(Object.prototype)).toBe(false)
})

describe('a property name of Object.prototype', () => {
  test.each(PATHS)('is not a parameter, on %s', async (path) => {
    const handler = await loadedHandler()
    const { parameters, target } = ENDPOINTS.find((each) => each.path === path) ?? {}
    const plain = await fetchFrom(handler, target ?? path)
    const refused = expect.objectContaining({ status: 400 })
    for (const key of KEYS) {
      for (const name of [key, encodeURIComponent(key), `${key}[base]`, `%5F${key.slice(1)}`]) {
        const query = `${target?.slice(path.length) || '?'}&${name}=EUR&${name}=GBP`
        const response = await fetchFrom(handler, path + query)
        const isIgnored = !path.startsWith('/api/v1/') || /^(_|%5F)/.test(name)
        expect([name, response]).toEqual([name, isIgnored ? plain : refused])
      }
      for (const parameter of parameters ?? []) {
        const { status } = await fetchFrom(handler, `${path}?${parameter}=${key}`)
        expect(status, `${parameter}=${key}`).toBe(400)
      }
    }
  })

  test('is not a currency or day of an upstream', async () => {
    const expected = await responsesOf(handlerOver(WELL))
    for (const key of KEYS) {
      const rate = `"${key}":2,`
      const asRate = {
        latest: WELL.latest.replace('"rates":{', `"rates":{${rate}`),
        history: WELL.history.replaceAll(/("\d{4}-\d\d-\d\d":\{)/g, `$1${rate}`),
      }
      const asField = {
        latest: WELL.latest.replace('{', `{"${key}":{"base_code":"EUR","rates":{"EUR":2}},`),
        history: WELL.history.replace('{', `{"${key}":{"base":"USD","rates":{}},`),
      }
      for (const bodies of [asRate, asField]) {
        expect(bodies.latest).not.toBe(WELL.latest)
        expect(await responsesOf(handlerOver(bodies)), key).toEqual(expected)
      }
      // An invalid day may invalidate the whole upstream response.
      const history = WELL.history.replace('"rates":{', `"rates":{"${key}":{"USD":2},`)
      const [, ofHistory] = await responsesOf(handlerOver({ ...WELL, history }))
      expect([expected[1], '502'], key).toContain(ofHistory?.startsWith('502') ? '502' : ofHistory)
    }
  })

  test('is ignored in a stored value', async () => {
    const store = new Map<string, string>()
    const expected = await responsesOf(handlerOver(WELL, { store }))
    expect(store.size).toBe(2)
    for (const key of KEYS) {
      const changes = [
        (text: string) => text.replace('{', `{"${key}":{"v":1,"data":{"EUR":2}},`),
        (text: string) => text.replace('"data":{', `"data":{"${key}":{"base":"EUR"},`),
        (text: string) => text.replace('"rates":{', `"rates":{"${key}":2,`),
        (text: string) => text.replace('"attribution":{', `"attribution":{"${key}":{"name":"x"},`),
      ]
      for (const change of changes) {
        const poisoned = new Map([...store].map(([name, text]) => [name, reseal(text, change)]))
        expect(await responsesOf(handlerOver(WELL, { store: poisoned })), key).toEqual(expected)
      }
    }
  })
})

/** Creates a handler with these upstream bodies, and a clock that stands still. */
function handlerOver(bodies: typeof WELL, options: RatesHandlerOptions = {}): RatesHandler {
  const fetch = async (input: RequestInfo | URL): Promise<Response> => {
    const isLatest = new Request(input).url.includes('er-api.com')
    return new Response(isLatest ? bodies.latest : bodies.history)
  }
  return createStillHandler({ fetch, ...options })
}

async function responsesOf(handler: RatesHandler): Promise<string[]> {
  const targets = ['latest', 'history?from=EUR&to=USD&period=1M', 'currencies']
  const responses = await Promise.all(targets.map((target) => get(handler, `/api/v1/${target}`)))
  return responses.map(({ status, body }) => `${status} ${body}`)
}

function expectUntouched(): void {
  expect(Object.getOwnPropertyDescriptors(Object.prototype)).toEqual(BEFORE)
}
