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
