import { describe, expect, it } from 'vitest'

import { createAccess, createMemoryCounters } from '../../src/access/index.ts'
import type { Access, Plan } from '../../src/access/index.ts'
import { createClientAddress } from '../../src/core.ts'
import { createRatesHandler } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { called, callsIn } from '../fixtures/calls.ts'
import { operations } from '../openapi/document.ts'
import { ADVICE } from '../parameters/services.ts'
import { limitIn, openGuard, openGuarded, recordedStore } from './service.ts'
import type { Sent } from './service.ts'

const QUOTA = 1_000_000

async function openMeter() {
  const { store, keys } = await recordedStore([{ id: 'a', plan: 'all' }])
  const plans = { all: `${QUOTA}/month` } as const
  const { send } = openGuarded({ keys: store, anonymous: 'refuse', plans })
  return async (sent: Sent): Promise<[status: number, cost: number]> => {
    const headers = { 'x-api-key': keys[0], ...sent.headers }
    const { status, header } = await send({ ...sent, headers })
    // A response that costs nothing has no fields.
    const { r: left } = limitIn(header('ratelimit'), 'month')
    return [status, Number.isNaN(left) ? 0 : QUOTA - left]
  }
}

/** Returns the message of a TypeError; null without one. */
function messageOf(create: () => unknown): string | null {
  try {
    create()
    return null
  } catch (error) {
    return error instanceof TypeError ? error.message : `not a TypeError: ${String(error)}`
  }
}

function create(options: unknown): unknown {
  const access: Access = Reflect.apply(createAccess, undefined, [options])
  return createRatesHandler({ access, providers: fakeProviders() })
}

const FUNCTIONS = {
  clientOf: (client: string | null, headers: Record<string, string> = {}, options = {}) =>
    createClientAddress(options)({
      header: (name) => headers[name],
      ...(client !== null && { client }),
    }),
  invalidAddresses: (options: object) => messageOf(() => createClientAddress(options)),
  invalidAccess(options: { keys?: unknown } | null) {
    const keys = options?.keys === true ? { find: () => undefined } : options?.keys
    const given = options === null ? undefined : { ...options, ...('keys' in options && { keys }) }
    return messageOf(() => create(given))
  },
  cost: async (target: string) => (await openMeter())({ target }),
}

describe('access', () => {
  it.each(callsIn('access/values.txt'))('%s', async (line) => {
    expect(await called(line, FUNCTIONS)).toBe(line)
  })
})

const CODES = 'EUR GBP JPY CHF SEK NOK DKK PLN CZK HUF RON AUD'.split(' ')
const commas = (count: number): string => ','.repeat(count)

describe('a request costs', () => {
  it.each([
    [2, 200, `to=${commas(1_500)}EUR${commas(400)},GBP`],
    [10, 200, `to=${commas(300)}${CODES.join()}`],
    [1, 400, `to=${'EUR,'.repeat(600)}`],
    [1, 400, `to=EUR&${'x'.repeat(9_000)}&amount=x`],
  ])('%d: %d for a long query', async (cost, status, query) => {
    const meter = await openMeter()
    expect(await meter({ target: `/v1/convert?from=USD&${query}` })).toEqual([status, cost])
  })

  const row = JSON.stringify({ from: 'USD', to: ['EUR', 'EUR', 'EUR'] })
  const csv = (rows: number): string => `from,to,amount\n${'USD,EUR,1\n'.repeat(rows)}`

  it.each<[cost: number, status: number, form: string, body: string]>([
    [1, 200, 'json', '[{"from":"USD","to":"EUR"}]'],
    [1, 200, 'json', '[{"from":"USD","to":"EUR"},{"from":"GBP","to":"eur"}]'],
    [3, 200, 'json', '[{"from":"USD","to":["EUR","GBP"]},{"from":"GBP","to":"JPY"}]'],
    [10, 200, 'json', `[{"from":"USD","to":${JSON.stringify(CODES)}}]`],
    [10, 200, 'json', JSON.stringify(CODES.map((to) => ({ from: 'USD', to })))],
    [1, 200, 'json', '[]'],
    [1, 200, 'json', '[{"from":"USD"},{"to":7},null]'],
    [2, 200, 'csv', 'from,to,amount\nUSD,EUR,1\nUSD,GBP,1\n'],
    [1, 200, 'csv', csv(1_000)],
    [2, 200, 'csv', csv(1_001)],
    [2, 200, 'json', `[${`${row},`.repeat(333)}{"from":"USD","to":["EUR","EUR"]}]`],
    [10, 200, 'csv', csv(10_000)],
    [3, 200, 'json', '[{"from":"USD","to":"EUR"}]'.padEnd(2 * 102_400 + 1)],
    [1, 400, 'json', '{'],
    [3, 400, 'json', '{'.padEnd(3 * 102_400)],
    [10, 400, 'csv', commas(1_048_576)],
    [1, 413, 'json', ' '.repeat(1_048_577)],
    [1, 400, 'json', ''],
    [1, 415, 'xml', '<a/>'],
  ])('%d: %d for a POST of %s %.60s', async (cost, status, form, body) => {
    const meter = await openMeter()
    const headers = { 'content-type': form === 'csv' ? 'text/csv' : `application/${form}` }
    const sent = { method: 'POST', target: '/v1/convert', headers, body }
    expect(await meter(sent)).toEqual([status, cost])
  })
})

const plans = { public: '60/min' }
const keys = { find: () => undefined }

describe('createAccess', () => {
  it('accepts undefined for every option but plans', () => {
    const none = { anonymous: undefined, client: undefined, counters: undefined }
    expect(create({ plans, keys, ...none })).toHaveProperty('answer')
    expect(() => create({ plans: { a: undefined }, keys })).toThrow('plans.a must be a text')
  })

  it('refuses every parameter of the OpenAPI document as the name of a key', () => {
    const names = operations.flatMap(({ parameters }) => parameters.map(({ name }) => name))
    expect(names.length).toBeGreaterThan(12)
    for (const name of [...names, ...ADVICE.keys(), 'BASE', 'max_age', 'start-date']) {
      const message = `queryParameters must not contain names that the API reads or refuses, got ${name}`
      const call = () => create({ plans, keys, queryParameters: [name] })
      expect(call).toThrow(new TypeError(message))
    }
  })

  it('sends the limits of a plan in one order', async () => {
    const policyOf = async (plan: Plan): Promise<string | undefined> =>
      (await openGuard({ plans: { public: plan } }).ask()).header('ratelimit-policy')
    const both = '"burst";q=600;w=60, "month";q=100000'
    expect(await policyOf('600/min, 100000/month')).toBe(both)
    expect(await policyOf('100000/month,600/min')).toBe(both)
    expect(await policyOf('5/10s')).toBe('"burst";q=5;w=10')
  })

  it('does not change with its options', async () => {
    const [plans, queryParameters] = [{ public: '60/min' as Plan }, ['access_key']]
    const { send } = openGuarded({ plans, anonymous: 'public', queryParameters })
    queryParameters.push('other')
    plans.public = '1/day'
    const statuses = [await send(), await send(), await send({ target: '/v1/latest?other=x' })]
    expect(statuses.map(({ status }) => status)).toEqual([200, 200, 200])
  })
})

it.each([0, -1, 1.5, NaN, Infinity, '5', null])('there are no counters for %j clients', (given) => {
  const make = (): unknown => createMemoryCounters(Object({ maxClients: given }))
  expect(make).toThrow(/^maxClients must be a whole number of clients/)
})
