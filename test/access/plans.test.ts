import { describe, expect, it } from 'vitest'

import { createAccess, createMemoryCounters } from '../../src/access/index.ts'
import type { Access, Plan } from '../../src/access/index.ts'
import { createRatesHandler } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { operations } from '../openapi/document.ts'
import { ADVICE } from '../parameters/services.ts'
import { openGuarded } from './service.ts'

const plans = { public: { burst: '60/min' } }
const keys = { find: () => undefined }

/** Creates a handler with access by untyped options. */
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
    [{ plans: { 'a.b-c_1': { month: 1 } }, keys, queryParameters: [] }],
    [{ plans, keys, queryParameters: ['access_key', 'app_id', 'api-key', '_k'] }],
    [
      {
        plans: { a: { burst: '1/s' }, b: { burst: '100000000/1day', month: 1_000_000_000 } },
        keys,
      },
    ],
  ])('accepts %j', (options) => {
    expect(create(options)).toHaveProperty('guard')
  })

  it.each<[options: unknown, message: string]>([
    [undefined, 'options must be an object'],
    [{}, 'plans must be an object with at least one plan'],
    [{ plans: {}, keys }, 'plans must be an object with at least one plan'],
    [{ plans: [{ burst: '1/s' }], keys }, 'plans must be an object with at least one plan'],
    [{ plans: 'public', keys }, 'plans must be an object with at least one plan'],
    [{ plans: { refuse: { burst: '1/s' } }, keys }, 'names of plans must be'],
    [{ plans: { 'a b': { burst: '1/s' } }, keys }, 'names of plans must be'],
    [{ plans: { '': { burst: '1/s' } }, keys }, 'names of plans must be'],
    [{ plans: { a: {} }, keys }, 'plans.a must have a burst or a month limit'],
    [{ plans: { a: null }, keys }, 'plans.a must be an object'],
    [{ plans: { a: '60/min' } }, 'anonymous must be the name of a plan'],
    ...['', '60', '60/fortnight', '1/s 2/month'].map((text): [unknown, string] => [
      { plans: { a: text }, keys },
      'plans.a.burst must be requests per period',
    ]),
    ...['60/min,', '1/s,2/min', '1/month, 2/month', '1/s, 2/month, 3/month'].map(
      (text): [unknown, string] => [
        { plans: { a: text }, keys },
        'plans.a may have one limit by month and one by a shorter period, got ',
      ],
    ),
    [{ plans: { a: '0/month' }, keys }, 'plans.a.month must be a whole number of requests'],
    [{ plans: { a: { bursts: '1/s' } }, keys }, 'did you mean "plans.a.burst"?'],
    ...['60', '60/m', '60/min ', '60/0s', '60/2day', '-1/s', '1.5/s', '60/toString', 60, null].map(
      (burst): [unknown, string] => [
        { plans: { a: { burst } }, keys },
        'plans.a.burst must be requests per period',
      ],
    ),
    ...['0/s', '100000001/day', '99999999999999999999/s'].map((burst): [unknown, string] => [
      { plans: { a: { burst } }, keys },
      'plans.a.burst must be a whole number of requests from 1 to 100000000',
    ]),
    ...[0, -1, 1.5, NaN, Infinity, '10', 1_000_000_001].map((month): [unknown, string] => [
      { plans: { a: { month } }, keys },
      'plans.a.month must be a whole number of requests from 1 to 1000000000',
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

  it('reads a plan as text like one of parts', async () => {
    const limitsOf = async (plan: Plan | string): Promise<string | undefined> => {
      const { send } = openGuarded({ plans: { public: plan } })
      return (await send({ target: '/v1/status' })).header('ratelimit-policy')
    }
    const parts = { burst: '600/min', month: 100_000 }
    expect(await limitsOf('600/min, 100000/month')).toEqual(await limitsOf(parts))
    expect(await limitsOf('100000/month,600/min')).toEqual(await limitsOf(parts))
    expect(await limitsOf('5/10s')).toBe('"burst";q=5;w=10')
  })

  it('does not change with its options', async () => {
    const names = ['access_key']
    const changing = { plans: { ...plans }, anonymous: 'public', queryParameters: names }
    const { send } = openGuarded(changing)
    names.push('other')
    changing.plans.public = { burst: '1/day' }
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
