import { describe, expect, it } from 'vitest'

import { createAccess, createKey } from '../../src/access/index.ts'
import type { AccessOptions } from '../../src/access/index.ts'
import plain from '../../src/generated/openapi.json' with { type: 'json' }
import { createRatesHandler } from '../../src/index.ts'
import type { RatesHandler } from '../../src/index.ts'
import type { Body } from './document.ts'
import { QUOTES, bodiesOf, expectSound, operationAt, readDocument } from './document.ts'
import {
  differences,
  exampleOf,
  handler as withoutAccess,
  history,
  latest,
  now,
  send,
} from './live.ts'

const plans = { paid: '1000/min, 100000/month', single: '1/min' } as const

const created = await Promise.all([createKey(), createKey(), createKey()])
const [paid, single, old] = created.map(({ key }) => ({ authorization: `Bearer ${key}` }))
const planOf = new Map(created.map(({ hash }, index) => [hash, ['paid', 'single', 'old'][index]]))

function handlerWith(options: Partial<AccessOptions> = {}): RatesHandler {
  const keys = {
    find(hash: string) {
      const plan = planOf.get(hash)
      return plan === undefined ? undefined : { id: plan, plan }
    },
  }
  const access = createAccess({ plans, keys, ...options })
  return createRatesHandler({ providers: { latest, history }, now, access, quotes: QUOTES })
}

const guarded = handlerWith()
const { document, operations, sharedResponses, lookUp, faultsOf } = await readDocument(guarded)

const text = JSON.stringify(document)

const FREE = ['/v1', '/v1/openapi.json']
/** Needs a key and takes nothing. */
const USAGE = '/v1/usage'
const counted = operations.filter(({ path }) => ![...FREE, USAGE].includes(path))

const schemes = {
  bearer: { type: 'http', scheme: 'bearer' },
  apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
}

describe('the OpenAPI document of a handler with access', () => {
  it('differs from that of other handlers, whose document is the generated one', async () => {
    const { body } = await send({ path: '/v1/openapi.json' }, '', {}, withoutAccess)
    expect(body).toBe(JSON.stringify({ ...plain, servers: [{ url: '/api' }] }))
    expect(text).not.toBe(body)
    expect(Object.keys(document)).toEqual(Object.keys(plain))
    expect(Object(document['info']).description).toContain(plain.info.description)
  })

  it.each<[string, Partial<AccessOptions>, object[], object]>([
    ['requires a key', {}, [{ bearer: [] }, { apiKey: [] }], {}],
    ['makes a key optional', { anonymous: 'single' }, [{ bearer: [] }, { apiKey: [] }, {}], {}],
    [
      'names query parameters',
      { queryParameters: ['access_key', 'app_id'] },
      [{ bearer: [] }, { apiKey: [] }, { queryKey1: [] }, { queryKey2: [] }],
      {
        queryKey1: { type: 'apiKey', in: 'query', name: 'access_key' },
        queryKey2: { type: 'apiKey', in: 'query', name: 'app_id' },
      },
    ],
  ])('%s', async (_, options, security, more) => {
    const read = await readDocument(handlerWith(options))
    expect(read.document['security']).toEqual(security)
    const expected = { ...schemes, ...more }
    expect(read.lookUp('#/components/securitySchemes')).toEqual(expected)
    await expectSound(read)
  })

  it('requires a key for a guard without rules about keys', async () => {
    const finish = <Response>(response: Response): Response => response
    const guard = { admit: () => ({ refusal: undefined, finish }), close: () => {} }
    const read = await readDocument(createRatesHandler({ access: { createGuard: () => guard } }))
    expect(read.document['security']).toEqual([{ bearer: [] }, { apiKey: [] }])
  })

  it('has the refusals of every operation but the list of endpoints and the document itself', () => {
    const open = operations.filter((operation) => 'security' in operation)
    expect(open).toMatchObject(FREE.map((path) => ({ path, security: [] })))
    const refusals = ['401', '403', '429']
    const { post } = Object(document['paths'])['/v1/convert']
    for (const { path, responses } of [...operations, { path: '', ...post }]) {
      const described = refusals.filter((status) => responses[status] !== undefined)
      expect([path, described]).toEqual([path, FREE.includes(path) ? [] : refusals])
    }
  })

  it('describes the errors of keys and limits, with examples that match their schemas', () => {
    const code = Object(lookUp('#/components/schemas/Error/properties/error/properties/code'))
    for (const each of ['unauthorized', 'forbidden', 'rate_limited']) {
      expect(code.enum).toContain(each)
      expect(code.description).toContain(`\`${each}\`: `)
    }
    const bodies = Object.values(sharedResponses).map(bodiesOf).flatMap<Body>(Object.values)
    for (const { schema, examples } of bodies) {
      for (const [name, { value }] of Object.entries(examples)) {
        expect([name, faultsOf(schema, value)]).toEqual([name, ''])
        expect(Object(value).error?.code ?? name).toBe(name)
      }
    }
    expect(bodies.length).toBeGreaterThan(5)
  })
})

describe.each(counted)('$operationId of a handler with access', (operation) => {
  const query = exampleOf(operation)

  async function responseOf(
    headers: HeadersInit = {},
    search: string = query,
    from: RatesHandler = guarded,
  ): Promise<Headers> {
    const received = await send(operation, search, { headers }, from)
    expect(differences(operation, received, faultsOf)).toEqual([])
    return new Headers([...received.headers, ['status', String(received.status)]])
  }

  it('sends a 200, a 304 and a 400 to a key, and a 200 without one, as described', async () => {
    const success = await responseOf(paid)
    expect(Object.fromEntries(success)).toMatchObject({
      status: '200',
      vary: 'Authorization, X-API-Key',
      'ratelimit-policy': '"burst";q=1000;w=60, "month";q=100000',
      ratelimit: expect.stringMatching(/^"burst";r=\d+;t=\d+, "month";r=\d+;t=\d+$/),
      'cache-control': expect.stringMatching(/^(private, |no-store$)/),
    })
    const tag = success.get('etag')
    const unchanged = await responseOf({ ...paid, 'if-none-match': tag ?? '"none"' })
    expect(unchanged.get('status')).toBe(tag === null ? '200' : '304')
    const repeated = operation.parameters.map(({ name }) => `${name}=1&${name}=2`)
    const wrong = await responseOf(paid, `?${repeated.join('&')}`)
    expect(wrong.get('status')).toBe(repeated.length === 0 ? '200' : '400')
    const plain = await responseOf({}, query, handlerWith({ anonymous: 'paid' }))
    expect(plain.get('status')).toBe('200')
    const isPublic = plain.get('cache-control')?.startsWith('public') ?? false
    expect(plain.has('ratelimit')).toBe(!isPublic)
  })

  it('refuses requests as described', async () => {
    const unauthorized = await responseOf()
    expect(unauthorized.get('status')).toBe('401')
    expect(unauthorized.get('www-authenticate')).toMatch(/^Bearer/)
    expect((await responseOf({ 'x-api-key': 'wrong' })).get('status')).toBe('401')
    expect((await responseOf(old)).get('status')).toBe('403')
    const limited = handlerWith()
    await responseOf(single, query, limited)
    expect(Object.fromEntries(await responseOf(single, query, limited))).toMatchObject({
      status: '429',
      'retry-after': expect.stringMatching(/^\d+$/),
      ratelimit: expect.stringMatching(/^"burst";r=0;t=\d+$/),
    })
  })
})

it('serves what is left for a key as described, also where that is nothing', async () => {
  const [described = operationAt(USAGE)] = operations.filter(({ path }) => path === USAGE)
  const handler = handlerWith({ anonymous: 'paid' })
  const usageOf = async (headers: HeadersInit = {}) => {
    const received = await send(described, '', { headers }, handler)
    expect(differences(described, received, faultsOf)).toEqual([])
    return received
  }
  await send(operationAt('/v1/status'), '', { headers: single ?? {} }, handler)
  for (let count = 0; count < 2; count += 1) {
    const { status, body, headers } = await usageOf(single)
    const limits = [{ name: 'burst', quota: 1, remaining: 0, resetsAt: now() + 60_000 }]
    expect([status, JSON.parse(body)]).toEqual([200, { plan: 'single', limits }])
    expect(headers.get('cache-control')).toBe('private, no-store')
  }
  const refused = [{}, { 'x-api-key': 'wrong' }, old].map(async (headers) => usageOf(headers))
  expect((await Promise.all(refused)).map(({ status }) => status)).toEqual([401, 401, 403])
})

it.each(FREE)('serves %s without a key, and without counting', async (free) => {
  const [described = operationAt(free)] = operations.filter(({ path }) => path === free)
  const received = await send(described, '', {}, guarded)
  expect([received.status, differences(described, received, faultsOf)]).toEqual([200, []])
  expect(received.headers.get('cache-control')).toMatch(/^public/)
  expect(received.headers.has('ratelimit')).toBe(false)
})
