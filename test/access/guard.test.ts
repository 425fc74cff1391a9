import { describe, expect, it, vi } from 'vitest'

import { createAccess } from '../../src/access/index.ts'
import type { Admission, Counters, OpenCounters } from '../../src/access/index.ts'
import { RatesError } from '../../src/index.ts'
import { SERVICES } from '../compat/services.ts'
import { openService } from '../fixtures/service.ts'
import { finish } from '../virtual-runtime.ts'
import { PLANS, limitIn, openGuarded, openWithKey, recordedStore, sendersTo } from './service.ts'
import { bodyInOnePart } from '../whole-body.ts'

function brokenCounters(take: () => unknown): Counters {
  // @ts-expect-error counters must return decisions
  return { open: (): OpenCounters => ({ take, close() {} }) }
}

function openWithGuard(admit: () => unknown, close: () => void = () => {}) {
  const access = { createGuard: () => ({ admit, close }) }
  // @ts-expect-error a guard must return admissions
  const service = openService({ access })
  return { ...service, ...sendersTo(service.handler) }
}

/** An object that only resembles a promise. */
function thenable(then: (resolve: (value: unknown) => void) => void): object {
  const [name, others] = ['then', {}]
  return Object.assign(others, { [name]: then })
}

function fail(): never {
  throw new Error('broken')
}

describe('limits', () => {
  it('count requests whose client disconnects before the response', async () => {
    const { handler, send } = openGuarded({ plans: { public: '100/month' } })
    const left = async (): Promise<number> =>
      limitIn((await send({ target: '/v1/status' })).header('ratelimit'), 'month').r
    expect(await left()).toBe(99)
    const signal = AbortSignal.abort()
    const header = (): undefined => undefined
    // Long queries are parsed as jobs, which end when the client disconnects.
    const target = `/api/v1/convert?from=USD&to=EUR,GBP&amount=1${'&_=y'.repeat(200)}`
    expect(await handler.answer({ method: 'GET', target, header })).toMatchObject({ status: 200 })
    expect(await left()).toBe(96)
    const late = await handler.answer({ method: 'GET', target, header, signal })
    expect(late.status).toBe(503)
    expect(await left()).toBe(93)
  })
})

describe('a response to a key', () => {
  it('has the same headers when it is repeated, with the fields of limits only where they are known', async () => {
    const failing: Counters = {
      open: () => ({ take: () => Promise.reject(new Error('no connection')), close() {} }),
    }
    for (const counters of [undefined, failing]) {
      const { send, key } = await openWithKey({}, { counters, whenCountersFail: 'allow' })
      const ask = async () => (await send({ headers: { 'x-api-key': key } })).headers
      const [first, ...others] = [await ask(), await ask(), await ask()]
      const namesOf = (headers: typeof first) => headers.map(([name]) => name)
      for (const headers of others) expect(namesOf(headers)).toEqual(namesOf(first))
      expect(namesOf(first)).not.toContain('')
      expect(namesOf(first).includes('ratelimit')).toBe(counters === undefined)
    }
  })

  it('leaves the cached headers of other responses unchanged', async () => {
    const { send, key } = await openWithKey({}, { anonymous: 'public' })
    await send({ client: 'a' })
    const before = await send({ client: 'a' })
    await send({ headers: { 'x-api-key': key } })
    const after = await send({ client: 'b' })
    expect(after.headers).toEqual(before.headers)
    expect(after.header('vary')).toBeUndefined()
  })
})

const REFUSALS: Readonly<Record<string, Record<number, object>>> = {
  fixer: {
    401: { error: { code: 101, type: 'invalid_access_key' } },
    403: { error: { code: 105, type: 'function_access_restricted' } },
    429: { error: { code: 104, type: 'usage_limit_reached' } },
  },
  openExchangeRates: {
    401: { message: 'invalid_app_id' },
    403: { message: 'access_restricted' },
    429: { message: 'access_restricted' },
  },
}

describe.each(SERVICES)('the compatibility route at $path', (service) => {
  const { routes, error } = service
  const path = `/x${service.path}`

  it('refuses requests in the form of the service', async () => {
    const record = { id: 'a', plan: 'pro', origins: ['https://a.example'] }
    const { store, keys } = await recordedStore([record])
    const [key = ''] = keys
    const access = { keys: store, anonymous: 'refuse' }
    const { handler } = openGuarded(access, { routes: routes({ basePath: '/x' }) })
    const answer = (headers: Record<string, string>) =>
      handler.answer({ method: 'GET', target: path, header: (name) => headers[name] })
    const statuses: number[] = []
    const check = async (headers: Record<string, string>): Promise<void> => {
      const { status, headers: sent, body } = await answer(headers)
      statuses.push(status)
      const given: unknown = JSON.parse(String(bodyInOnePart(body)))
      expect(given).toEqual(error(status))
      expect(given).toMatchObject(REFUSALS[routes.name]?.[status] ?? {})
      const fields = Object.fromEntries(sent)
      expect(fields['cache-control']).toBe('no-store')
      expect(fields['www-authenticate']).toBe(status === 401 ? 'Bearer' : undefined)
      expect(fields['retry-after']).toBe(status === 429 ? '3' : undefined)
    }
    await check({})
    await check({ 'x-api-key': key, origin: 'https://b.example' })
    for (let number = 0; number < 20; number += 1) await answer({ 'x-api-key': key })
    await check({ 'x-api-key': key })
    expect(statuses).toEqual([401, 403, 429])
  })
})

describe('the option client', () => {
  it('identifies clients', async () => {
    const { send } = openGuarded({ client: ({ header }) => String(header('x-tenant')) })
    const from = async (tenant: string) => (await send({ headers: { 'x-tenant': tenant } })).status
    for (let number = 0; number < 5; number += 1) expect(await from('a')).toBe(200)
    expect([await from('a'), await from('b')]).toEqual([429, 200])
  })

  it.each<[string, () => unknown]>([
    ['throws', fail],
    ['returns nothing', () => undefined],
    ['returns a number', () => 7],
    ['returns a promise', async () => 'a'],
    ['returns a long text', () => 'x'.repeat(201)],
  ])('that %s counts all clients together, with an event', async (_name, client) => {
    // @ts-expect-error a client must be a string
    const { send, eventsOf } = openGuarded({ client })
    const statuses: number[] = []
    for (let number = 0; number < 6; number += 1) {
      statuses.push((await send({ client: `203.0.113.${number}` })).status)
    }
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429])
    expect(eventsOf('counters_failed')).toHaveLength(6)
    expect(eventsOf('counters_failed')[0]?.operation).toBe('find_client')
  })
})

const STATE = { remaining: 4, reset: 1_000, wait: 0 }

describe('counters', () => {
  it('give back what requests took that are refused because 10,000 others wait', async () => {
    const decided: ((decision: unknown) => void)[] = []
    let givenBack = 0
    const counters = brokenCounters(() => new Promise((resolve) => void decided.push(resolve)))
    const giveBack = (): void => void (givenBack += 1)
    const { send, handler, eventsOf } = openGuarded({ counters })
    const sent = Array.from({ length: 10_003 }, () => send())
    await expect.poll(() => handler.inspect().waiting).toBe(10_000)
    decided.forEach((decide) => decide({ granted: true, states: [STATE], giveBack }))
    const statuses = (await Promise.all(sent)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 503)).toHaveLength(3)
    expect(statuses.filter((status) => status === 200)).toHaveLength(10_000)
    expect(givenBack).toBe(3)
    expect(eventsOf('overloaded')).toHaveLength(3)
  })
})

describe('a guard of another package', () => {
  const grant = (): Admission => ({ refusal: undefined, finish: (response) => response })

  it('admits and refuses, also with an error of another copy of the package', async () => {
    expect((await openWithGuard(grant).send()).status).toBe(200)
    expect((await openWithGuard(async () => grant()).send()).status).toBe(200)
    const refusal = new RatesError('forbidden', 'Not today')
    const { name, code, summary, status } = refusal
    const copied: object = Object.assign(new Error(summary), { name, code, summary, status })
    for (const error of [refusal, copied]) {
      const sent = await openWithGuard(() => ({ ...grant(), refusal: error })).send()
      const body = { error: { code: 'forbidden', message: 'Not today' } }
      expect([sent.status, JSON.parse(sent.text)]).toEqual([403, body])
    }
  })

  it.each<[string, () => unknown]>([
    ['throws', fail],
    ['rejects with a RatesError', () => Promise.reject(new RatesError('not_found', 'x'))],
    ['hangs', () => new Promise(() => {})],
    ['returns nothing', () => undefined],
    ['returns an object', () => ({})],
    ['returns a refusal that is not an error', () => ({ ...grant(), refusal: 'no' })],
    ['returns a thenable', () => thenable((resolve) => resolve(grant()))],
    ['throws when it is read', () => Object.defineProperty(grant(), 'refusal', { get: fail })],
  ])('that %s refuses with 503, with one event', async (_name, admit) => {
    const { send, runtime, eventsOf } = openWithGuard(admit)
    const { status } = await finish(runtime, send())
    expect(status).toBe(503)
    expect(eventsOf('counters_failed')).toMatchObject([{ operation: 'admit' }])
    expect(eventsOf('internal_error')).toEqual([])
  })

  it.each<[string, () => unknown]>([
    ['throws', fail],
    ['returns nothing', () => undefined],
    ['returns a text', () => 'response'],
    ['returns no headers', () => ({ status: 200 })],
  ])('whose finish %s sends a response that no cache keeps', async (_name, finishing) => {
    const { send, eventsOf } = openWithGuard(() => ({ refusal: undefined, finish: finishing }))
    const { status, header } = await send()
    expect([status, header('cache-control')]).toEqual([200, 'no-store'])
    expect(eventsOf('counters_failed')).toMatchObject([{ operation: 'admit' }])
  })

  it('gives back what it admitted too late', async () => {
    const late = Promise.withResolvers<Admission>()
    const { send, runtime } = openWithGuard(() => late.promise)
    expect((await finish(runtime, send())).status).toBe(503)
    const finishing = vi.fn<Admission['finish']>((response) => response)
    late.resolve({ refusal: undefined, finish: finishing })
    await runtime.advance(0)
    expect(finishing.mock.calls).toMatchObject([[{ status: 503 }, expect.anything()]])
  })

  it('is closed with the handler, even if that throws', () => {
    const close = vi.fn<() => void>(fail)
    openWithGuard(grant, close).handler.close()
    expect(close).toHaveBeenCalledTimes(1)
  })
})

it.each(['authorization', 'x-api-key', 'origin'])(
  'an adapter that throws for the header %s causes a 503, with one event without the key',
  async (broken) => {
    const record = { origins: ['https://a.example'] }
    const { handler, eventsOf, key } = await openWithKey(record, { anonymous: 'public' })
    const header = (name: string): string | undefined => {
      if (name === broken) throw new Error(`bad header: ${key}`)
      return name === 'x-api-key' ? key : undefined
    }
    const sent = { method: 'GET', target: '/api/v1/latest', header }
    expect((await handler.answer(sent)).status).toBe(503)
    const [failed, ...others] = eventsOf('counters_failed')
    expect(others).toEqual([])
    expect(`${failed?.reason} ${Object(failed?.error).stack}`).not.toContain(key)
  },
)

it('one Access for two handlers counts clients in both together', async () => {
  const access = createAccess({ plans: PLANS, anonymous: 'public' })
  const [one, other] = [openService({ access }), openService({ access })].map(({ handler }) =>
    sendersTo(handler),
  )
  for (let number = 0; number < 5; number += 1) await one?.send()
  expect((await other?.send())?.status).toBe(429)
})
