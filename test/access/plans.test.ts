import { describe, expect, it } from 'vitest'

import { createAccess, createMemoryCounters } from '../../src/access/index.ts'
import type { Access, Plan } from '../../src/access/index.ts'
import { createRatesHandler } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { operations } from '../openapi/document.ts'
import { ADVICE } from '../parameters/services.ts'
import { openGuard, openGuarded } from './service.ts'

const plans = { public: '60/min' }
const keys = { find: () => undefined }

function create(options: unknown): unknown {
  const access: Access = Reflect.apply(createAccess, undefined, [options])
  return createRatesHandler({ access, providers: fakeProviders() })
}

describe('createAccess', () => {
  it.each([
    [{ plans, keys }],
    [{ plans, anonymous: 'public' }],
    [{ plans, keys, anonymous: 'refuse' }],
    [{ plans, keys, anonymous: undefined, client: undefined, counters: undefined }],
    [{ plans: { a: '60/min', b: '100000/month', c: ' 5/10s ,7/month' }, keys }],
    [{ plans: { 'a.b-c_1': '1/month' }, keys, queryParameters: [] }],
    [{ plans, keys, queryParameters: ['access_key', 'app_id', 'api-key', '_k'] }],
    [
      {
        plans: { a: '1/s', b: '100000000/1day, 1000000000/month' },
        keys,
      },
    ],
  ])('accepts %j', (options) => {
    expect(create(options)).toHaveProperty('answer')
  })

  it.each<[options: unknown, message: string]>([
    [undefined, 'options must be an object'],
    [{}, 'plans must be an object with at least one plan'],
    [{ plans: {}, keys }, 'plans must be an object with at least one plan'],
    [{ plans: ['1/s'], keys }, 'plans must be an object with at least one plan'],
    [{ plans: 'public', keys }, 'plans must be an object with at least one plan'],
    [{ plans: { refuse: '1/s' }, keys }, 'names of plans must be'],
    [{ plans: { 'a b': '1/s' }, keys }, 'names of plans must be'],
    [{ plans: { '': '1/s' }, keys }, 'names of plans must be'],
    [{ plans: { a: '60/min' } }, 'anonymous must be the name of a plan'],
    ...[{ burst: '1/s' }, {}, null, 60, undefined].map((plan): [unknown, string] => [
      { plans: { a: plan }, keys },
      "plans.a must be a text such as '60/min', '100/10s' or '600/min, 100000/month', got ",
    ]),
    ...'60|60/m|60/fortnight|1/s 2/month|60/min,|60/0s|60/2day|-1/s|1.5/s|60/toString|1/2month||x'
      .split('|')
      .map((text): [unknown, string] => [
        { plans: { a: text }, keys },
        `plans.a must have requests per s, min, h, day (at most a day) or month, such as 60/min, got ${text}`,
      ]),
    ...['1/s,2/min', '1/month, 2/month', '1/s, 2/month, 3/month'].map((text): [unknown, string] => [
      { plans: { a: text }, keys },
      `plans.a must have at most one limit by month and one by a shorter period, got ${text}`,
    ]),
    ...['0/s', '100000001/day', '99999999999999999999/s'].map((text): [unknown, string] => [
      { plans: { a: text }, keys },
      `plans.a must have 1 to 100000000 requests per period, got ${text}`,
    ]),
    ...['0/month', '1000000001/month'].map((text): [unknown, string] => [
      { plans: { a: text }, keys },
      `plans.a must have 1 to 1000000000 requests per month, got ${text}`,
    ]),
    [{ plans, anonymous: 'pro' }, "anonymous must be 'refuse' or the name of a plan (public)"],
    [{ plans, anonymous: true, keys }, "anonymous must be 'refuse' or the name of a plan (public)"],
    [{ plans, anonymous: 'toString', keys }, "anonymous must be 'refuse' or the name of a plan"],
    [{ plans }, 'unless keys is given'],
    [{ plans, anonymous: 'refuse' }, 'unless keys is given'],
    [{ plans, keys: {} }, 'keys.find must be a function'],
    [{ plans, keys: null }, 'keys.find must be a function'],
    [{ plans, keys, counters: {} }, 'counters.open must be a function'],
    [{ plans, keys, counters: null }, 'counters.open must be a function'],
    [{ plans, keys, client: 'x-real-ip' }, 'client must be a function'],
    [{ plans, keys, queryParameters: 'access_key' }, 'queryParameters must be an array'],
    [{ plans, keys, queryParameters: null }, 'queryParameters must be an array'],
    ...['', 'a b', 'a[]', '?key', 7, 'x'.repeat(65)].map((name): [unknown, string] => [
      { plans, keys, queryParameters: [name] },
      'queryParameters must contain names of letters, digits, _ and -',
    ]),
  ])('throws a TypeError for %j: %s', (options, message) => {
    expect(() => create(options)).toThrow(TypeError)
    expect(() => create(options)).toThrow(message)
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
    const names = ['access_key']
    const changing = {
      plans: { public: '60/min' as Plan },
      anonymous: 'public',
      queryParameters: names,
    }
    const { send } = openGuarded(changing)
    names.push('other')
    changing.plans.public = '1/day'
    const statuses = [await send(), await send(), await send({ target: '/v1/latest?other=x' })]
    expect(statuses.map(({ status }) => status)).toEqual([200, 200, 200])
  })
})

describe('createMemoryCounters', () => {
  it.each([0, -1, 1.5, NaN, Infinity, '5', null])('throws a TypeError for %j clients', (given) => {
    const make = (): unknown =>
      Reflect.apply(createMemoryCounters, undefined, [{ maxClients: given }])
    expect(make).toThrow(TypeError)
    expect(make).toThrow('maxClients must be a whole number of clients')
  })
})
