import { describe, expect, it, vi } from 'vitest'

import { RatesError } from '../../src/client/index.ts'
import { settled } from '../virtual-runtime.ts'
import { NOW, PAIR, badGateway, clientOf, conversion, inTurn, reasonOf } from './service.ts'

const page = (status: number, headers: HeadersInit = {}) => {
  return () => new Response('<!doctype html><title>Down</title>', { status, headers })
}

const failure = (error: unknown) => () => Response.json({ error }, { status: 400 })

const untilAborted = ({ signal }: Request): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('aborted')))
  })

describe('a response that does not come from the service', () => {
  it.each([
    ['a page with a 200', page(200), 'internal_error'],
    ['an empty 200', () => new Response(null), 'internal_error'],
    ['a 204', () => new Response(null, { status: 204 }), 'internal_error'],
    ['JSON without a rate', () => Response.json({ from: 'USD' }), 'internal_error'],
    ['null', () => Response.json(null), 'internal_error'],
    ['a rate with a 404', () => Response.json({ result: 1 }, { status: 404 }), 'internal_error'],
    ['a 304 without a condition', () => new Response(null, { status: 304 }), 'internal_error'],
    ['a page with a 404', page(404), 'internal_error'],
    ['a page with a 500', page(500), 'internal_error'],
    ['a page with a 429', page(429), 'provider_unavailable'],
    ['a page with a 503', page(503), 'provider_unavailable'],
    ['no code', failure('No'), 'internal_error'],
    ['an unknown code', failure({ code: 'toString', message: 'No' }), 'internal_error'],
    ['a list of codes', failure({ code: ['no_data'], message: 'No' }), 'internal_error'],
    ['a code without a message', failure({ code: 'no_data' }), 'internal_error'],
  ])('is an error with its status: %s', async (_, respond, code) => {
    const { client, requests } = clientOf(respond)
    const reason = await reasonOf(client.convert(PAIR))
    expect(reason).toBeInstanceOf(RatesError)
    const { status } = respond()
    const isWrongBaseUrl = status === 200 || status === 404
    expect(reason).toMatchObject({
      code,
      summary: expect.stringMatching(new RegExp(` ${status}$`)),
      message: expect.stringMatching(isWrongBaseUrl ? /\(baseUrl .*\)$/ : /\d$/),
    })
    expect(requests).toHaveLength(1)
  })
})

it('the body of such a response is in the cause of the error, and not in its message', async () => {
  const { client } = clientOf(inTurn(page(200), failure('No')))
  expect(await reasonOf(client.latest())).toMatchObject({ cause: expect.any(SyntaxError) })
  expect(await reasonOf(client.latest())).toMatchObject({ cause: { error: 'No' } })
})

describe('a failed request', () => {
  const cause = new TypeError('fetch failed')
  const body = new ReadableStream({ start: (controller) => controller.error(cause) })
  const fail = (): never => {
    throw cause
  }

  it.each([
    ['rejects', async () => fail()],
    ['throws', fail],
    ['breaks off', () => new Response(body)],
  ])('is an error with its cause: a fetch that %s', async (_, respond) => {
    const { client, requests } = clientOf(respond)
    const reason = await reasonOf(client.currencies())
    expect(reason).toBeInstanceOf(RatesError)
    expect(reason).toMatchObject({ code: 'provider_unavailable', cause })
    expect(requests).toHaveLength(1)
  })
})

describe('a 502', () => {
  it.each([
    ['3', 3_000],
    // The response arrives after half a second; the remaining time is rounded up to a whole second.
    [new Date(NOW + 4_000).toUTCString(), 4_000],
    ['2026-11-20T18:00:04+00:00', 4_000],
  ])('is retried after its Retry-After: with %j, after %d ms', async (retryAfter, delay) => {
    const responses = inTurn(badGateway(retryAfter), conversion)
    const { client, advance, timers, requests } = clientOf(responses)
    await advance(500)
    const converted = client.convert(PAIR)
    await advance(delay - 1)
    expect(requests).toHaveLength(1)
    await advance(1)
    expect(await converted).toMatchObject({ rate: 2 })
    expect(requests.map(({ url }) => url)).toEqual(Array(2).fill(requests[0]?.url))
    expect(timers()).toBe(0)
  })

  it.each([
    [page(503, { 'retry-after': '2' }), 2_000],
    [badGateway('0'), 0],
    // From a proxy.
    [page(502), 1_000],
  ])('is retried if it has other forms: %o', async (respond, delay) => {
    const { client, advance } = clientOf(inTurn(respond, conversion))
    const converted = client.convert(PAIR)
    await advance(delay)
    expect(await converted).toMatchObject({ rate: 2 })
  })

  it.each([undefined, 'soon', 'in 3', '3 s', new Date(NOW - 60_000).toUTCString()])(
    'is retried after one and after two seconds if Retry-After is %s',
    async (retryAfter) => {
      const { client, advance, requests } = clientOf(badGateway(retryAfter))
      const reason = reasonOf(client.convert(PAIR))
      const times = []
      for (let second = 0; second < 5; second += 1) {
        times.push(requests.length)
        await advance(1_000)
      }
      expect(times).toEqual([1, 2, 2, 3, 3])
      expect(await reason).toMatchObject({ code: 'provider_unavailable', retryAfter: undefined })
    },
  )

  it.each([
    [undefined, 3],
    [0, 1],
    [1, 2],
    [5, 6],
  ])('is the final error: with %j retries', async (retries, times) => {
    const { client, advance, requests } = clientOf(badGateway('1'), { retries })
    const reason = reasonOf(client.latest())
    await advance(60_000)
    expect(requests).toHaveLength(times)
    const about = { message: 'No rates', summary: 'No rates', retryAfter: 1 }
    expect(await reason).toMatchObject({ code: 'provider_unavailable', ...about })
  })

  it('with a Retry-After of more than ten seconds is not retried', async () => {
    const waiting = clientOf(badGateway('10'))
    void waiting.client.latest().catch(() => {})
    await settled()
    expect(waiting.timers()).toBe(1)
    const { client, timers, requests } = clientOf(badGateway('11'))
    expect(await reasonOf(client.latest())).toMatchObject({ retryAfter: 11 })
    expect(requests).toHaveLength(1)
    expect(timers()).toBe(0)
  })
})

describe('a signal', () => {
  const reason = new Error('the page was left')

  it('that has aborted prevents the request', async () => {
    const { client, requests } = clientOf(() => conversion())
    for (const name of ['latest', 'convert', 'history', 'currencies', 'status']) {
      const call = Object(client)[name]({ ...PAIR, signal: AbortSignal.abort(reason) })
      expect(await reasonOf(call)).toBe(reason)
    }
    expect(requests).toEqual([])
  })

  it('that aborts during the request ends it, even if a response arrives', async () => {
    for (const respond of [untilAborted, () => conversion()]) {
      const controller = new AbortController()
      const { client, requests } = clientOf((request) => {
        queueMicrotask(() => controller.abort(reason))
        return respond(request)
      })
      expect(await reasonOf(client.convert({ ...PAIR, signal: controller.signal }))).toBe(reason)
      expect(requests[0]?.signal.aborted).toBe(true)
    }
  })

  it('that aborts before a retry ends the wait for it', async () => {
    const controller = new AbortController()
    const { client, advance, timers, requests } = clientOf(badGateway('5'))
    const rejected = reasonOf(client.latest({ signal: controller.signal }))
    await advance(1_000)
    controller.abort(reason)
    expect(await rejected).toBe(reason)
    expect(timers()).toBe(0)
    expect(requests).toHaveLength(1)
  })

  it('keeps no listener after a call', async () => {
    const { signal } = new AbortController()
    const added = vi.spyOn(signal, 'addEventListener')
    const removed = vi.spyOn(signal, 'removeEventListener')
    const { client, advance } = clientOf(inTurn(badGateway('1'), conversion))
    const converted = client.convert({ ...PAIR, signal })
    await advance(1_000)
    await converted
    const listeners = removed.mock.calls.map(([, listener]) => listener)
    expect(listeners).toHaveLength(1)
    expect(added.mock.calls.map(([, listener]) => listener)).toContain(listeners[0])
  })

  it('may be a timeout', async () => {
    const { client } = clientOf(untilAborted)
    const rejected = await reasonOf(client.latest({ signal: AbortSignal.timeout(1) }))
    expect(rejected).toMatchObject({ name: 'TimeoutError' })
  })
})
