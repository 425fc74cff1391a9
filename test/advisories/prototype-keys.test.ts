import { afterEach, expect, test } from 'vitest'

import type { RatesHandlerOptions } from '../../src/index.ts'
import { NOW } from '../catalogue/catalogue.ts'
import { reseal } from '../fixtures/envelopes.ts'
import { frankfurterPayload, openErApiPayload } from '../fixtures/upstream-payloads.ts'
import { createStillHandler, get } from './loaded-handler.ts'

const BEFORE = Object.getOwnPropertyDescriptors(Object.prototype)
const KEYS = ['__proto__', 'constructor', 'toString', 'hasOwnProperty']

const WELL = {
  latest: openErApiPayload({ now: NOW }),
  history: frankfurterPayload({ start: '2026-10-01', end: '2026-11-20', now: NOW }),
}

afterEach(expectUntouched)

function expectUntouched(): void {
  expect(Object.getOwnPropertyDescriptors(Object.prototype)).toEqual(BEFORE)
}

/** Returns the responses of a handler with these upstream bodies. */
async function responsesOf(bodies: typeof WELL, options: RatesHandlerOptions = {}) {
  const fetch = async (input: RequestInfo | URL): Promise<Response> => {
    const isLatest = new Request(input).url.includes('er-api.com')
    return new Response(isLatest ? bodies.latest : bodies.history)
  }
  const handler = createStillHandler({ fetch, ...options })
  const targets = ['latest', 'history?from=EUR&to=USD&period=1M', 'currencies']
  const responses = await Promise.all(targets.map((target) => get(handler, `/api/v1/${target}`)))
  handler.close()
  return responses.map(({ status, body }) => `${status} ${body}`)
}

test.each(KEYS)('%s is not a currency, field or day of an upstream', async (key) => {
  const expected = await responsesOf(WELL)
  const asRate = {
    latest: WELL.latest.replace('"rates":{', `"rates":{"${key}":2,`),
    history: WELL.history.replaceAll(/("\d{4}-\d\d-\d\d":\{)/g, `$1"${key}":2,`),
  }
  const asField = {
    latest: WELL.latest.replace('{', `{"${key}":{"base_code":"EUR","rates":{"EUR":2}},`),
    history: WELL.history.replace('{', `{"${key}":{"base":"USD","rates":{}},`),
  }
  for (const bodies of [asRate, asField]) {
    expect(bodies.latest).not.toBe(WELL.latest)
    expect(await responsesOf(bodies)).toEqual(expected)
  }
  // An invalid day may invalidate the whole upstream response.
  const history = WELL.history.replace('"rates":{', `"rates":{"${key}":{"USD":2},`)
  const [, ofHistory = ''] = await responsesOf({ ...WELL, history })
  expect([expected[1], '502']).toContain(ofHistory.startsWith('502') ? '502' : ofHistory)
})

test.each(KEYS)('%s is ignored in a stored value', async (key) => {
  const store = new Map<string, string>()
  const expected = await responsesOf(WELL, { store })
  expect(store.size).toBe(2)
  for (const [part, added] of [
    ['{', '{"v":1,"data":{"EUR":2}}'],
    ['"data":{', '{"base":"EUR"}'],
    ['"rates":{', '2'],
    ['"attribution":{', '{"name":"x"}'],
  ] as const) {
    const change = (text: string): string => text.replace(part, `${part}"${key}":${added},`)
    const poisoned = new Map([...store].map(([name, text]) => [name, reseal(text, change)]))
    expect(await responsesOf(WELL, { store: poisoned }), part).toEqual(expected)
  }
})
