import { describe, expect, it, vi } from 'vitest'

import { RatesError } from '../../src/client/index.ts'
import { settled } from '../virtual-runtime.ts'
import { NOW, PAIR, badGateway, clientOf, conversion, inTurn, reasonOf } from './service.ts'

/** A page of HTML, as a proxy answers with. */
const page = (status: number, headers: HeadersInit = {}) => {
  return () => new Response('<!doctype html><title>Down</title>', { status, headers })
}

/** An error in JSON, with the status 400. */
const failure = (error: unknown) => () => Response.json({ error }, { status: 400 })

/** No answer until the request is aborted. */
const untilAborted = ({ signal }: Request): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('aborted')))
  })

describe('an answer that is not one of the service', () => {
  it.each([
    ['a page with a 200', page(200), 'internal_error'],
    ['nothing with a 200', () => new Response(null), 'internal_error'],
    ['a 204', () => new Response(null, { status: 204 }), 'internal_error'],
    ['JSON that is no record', () => Response.json({ from: 'USD' }), 'internal_error'],
    ['JSON that is no object', () => Response.json('result'), 'internal_error'],
    ['null', () => Response.json(null), 'internal_error'],
    ['a record with a 404', () => Response.json({ result: 1 }, { status: 404 }), 'internal_error'],
    ['a 304 that was not asked for', () => new Response(null, { status: 304 }), 'internal_error'],
    ['a page with a 404', page(404), 'internal_error'],
    ['a page with a 500', page(500), 'internal_error'],
    ['a page with a 429', page(429), 'provider_unavailable'],
    ['a page with a 503', page(503), 'provider_unavailable'],
    ['a page with a 504', page(504), 'provider_unavailable'],
    ['no code', failure('No'), 'internal_error'],
    ['an unknown code', failure({ code: 'toString', message: 'No' }), 'internal_error'],
    ['a list of codes', failure({ code: ['no_data'], message: 'No' }), 'internal_error'],
    ['a code without a message', failure({ code: 'no_data' }), 'internal_error'],
  ])('is an error of the client: %s', async (_, answer, code) => {
    const { client, requests } = clientOf(answer)
    const reason = await reasonOf(client.convert(PAIR))
    expect(reason).toBeInstanceOf(RatesError)
    const { status } = answer()
    const isElsewhere = status === 200 || status === 404
    expect(reason).toMatchObject({
      code,
      summary: `Unexpected answer with status ${status}`,
      message: expect.stringMatching(isElsewhere ? /\(baseUrl must end with / : /\d$/),
    })
    expect(requests).toHaveLength(1)
  })

  it('is told in the cause, and not in the message', async () => {
    const { client } = clientOf(inTurn(page(200), failure('No')))
    expect(await reasonOf(client.latest())).toMatchObject({ cause: expect.any(SyntaxError) })
    expect(await reasonOf(client.latest())).toMatchObject({ cause: { error: 'No' } })
  })

  it('tells when to come back', async () => {
    const { client } = clientOf(page(503, { 'retry-after': '120' }))
    expect(await reasonOf(client.latest())).toMatchObject({ retryAfter: 120 })
  })
})

describe('no answer', () => {
  const cause = new TypeError('fetch failed')
  const body = new ReadableStream({ start: (controller) => controller.error(cause) })
  const fail = (): never => {
    throw cause
  }

  it.each([
    ['rejects', async () => fail()],
    ['throws', fail],
    ['breaks off', () => new Response(body)],
  ])('is an error of the client with its cause: a fetch that %s', async (_, answer) => {
    const { client, requests } = clientOf(answer)
    const reason = await reasonOf(client.currencies())
    expect(reason).toBeInstanceOf(RatesError)
    expect(reason).toMatchObject({ code: 'provider_unavailable', cause })
    expect(requests).toHaveLength(1)
  })
})

describe('a 502', () => {
  it.each([
    ['3', 3_000],
    // Dates are half a second closer when they are read, and the rest counts as a whole second.
    [new Date(NOW + 4_000).toUTCString(), 4_000],
    ['2026-11-20T18:00:04+00:00', 4_000],
  ])('is asked again when it says to: with %j, after %d ms', async (retryAfter, pause) => {
    const responses = inTurn(badGateway(retryAfter), conversion)
    const { client, advance, timers, requests } = clientOf(responses)
    await advance(500)
    const converted = client.convert(PAIR)
    await advance(pause - 1)
    expect(requests).toHaveLength(1)
    await advance(1)
    expect(await converted).toMatchObject({ rate: 2 })
    expect(requests.map(({ url }) => url)).toEqual(Array(2).fill(requests[0]?.url))
    expect(timers()).toBe(0)
  })

  it.each([
    ['as a 503 is that says when to come back', page(503, { 'retry-after': '2' }), 2_000],
    ['at once where it says so', badGateway('0'), 0],
    ['where it comes from a proxy', page(502), 1_000],
  ])('is asked again %s', async (_, answer, pause) => {
    const { client, advance } = clientOf(inTurn(answer, conversion))
    const converted = client.convert(PAIR)
    await advance(pause)
    expect(await converted).toMatchObject({ rate: 2 })
  })

  it.each([
    ['nothing', undefined],
    ['nonsense', 'soon'],
    ['text before the seconds', 'in 3'],
    ['text after the seconds', '3 s'],
    ['a date that has passed', new Date(NOW - 60_000).toUTCString()],
  ])('is asked again after one and after two seconds where it says %s', async (_, retryAfter) => {
    const { client, advance, requests } = clientOf(badGateway(retryAfter))
    const reason = reasonOf(client.convert(PAIR))
    const times = []
    for (let second = 0; second < 5; second += 1) {
      times.push(requests.length)
      await advance(1_000)
    }
    expect(times).toEqual([1, 2, 2, 3, 3])
    expect(await reason).toMatchObject({ code: 'provider_unavailable', retryAfter: undefined })
  })

  it.each([
    [undefined, 3],
    [0, 1],
    [1, 2],
    [5, 6],
  ])('is what the client rejects with in the end: with %j retries', async (retries, times) => {
    const { client, advance, requests } = clientOf(badGateway('1'), { retries })
    const reason = reasonOf(client.latest())
    await advance(60_000)
    expect(requests).toHaveLength(times)
    expect(await reason).toMatchObject({
      code: 'provider_unavailable',
      message: 'No rates',
      summary: 'No rates',
      retryAfter: 1,
    })
  })

  it('that wants more than ten seconds is not asked again', async () => {
    const patient = clientOf(badGateway('10'))
    void patient.client.latest().catch(() => {})
    await settled()
    expect(patient.timers()).toBe(1)
    const { client, timers, requests } = clientOf(badGateway('11'))
    expect(await reasonOf(client.latest())).toMatchObject({ retryAfter: 11 })
    expect(requests).toHaveLength(1)
    expect(timers()).toBe(0)
  })
})

describe('a signal', () => {
  const reason = new Error('the page was left')

  it('that has aborted asks for nothing', async () => {
    const { client, requests } = clientOf(() => conversion())
    const signal = AbortSignal.abort(reason)
    for (const call of [
      client.latest({ signal }),
      client.convert({ ...PAIR, signal }),
      client.history({ ...PAIR, signal }),
      client.currencies({ signal }),
      client.status({ signal }),
    ]) {
      expect(await reasonOf(call)).toBe(reason)
    }
    expect(requests).toEqual([])
  })

  it('that aborts meanwhile ends the request', async () => {
    const controller = new AbortController()
    const { client, requests } = clientOf(untilAborted)
    const told = reasonOf(client.latest({ signal: controller.signal }))
    controller.abort(reason)
    expect(await told).toBe(reason)
    expect(requests[0]?.signal.aborted).toBe(true)
  })

  it('that aborts meanwhile counts, though what answers may not care', async () => {
    const controller = new AbortController()
    const { client } = clientOf(() => {
      controller.abort(reason)
      return conversion()
    })
    expect(await reasonOf(client.convert({ ...PAIR, signal: controller.signal }))).toBe(reason)
  })

  it('that aborts before the next try ends the wait for it', async () => {
    const controller = new AbortController()
    const { client, advance, timers, requests } = clientOf(badGateway('5'))
    const told = reasonOf(client.latest({ signal: controller.signal }))
    await advance(1_000)
    controller.abort(reason)
    expect(await told).toBe(reason)
    expect(timers()).toBe(0)
    expect(requests).toHaveLength(1)
  })

  it('that outlives many calls is left without what listened to it', async () => {
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

  it('may be of a time limit', async () => {
    const { client } = clientOf(untilAborted)
    const told = await reasonOf(client.latest({ signal: AbortSignal.timeout(1) }))
    expect(told).toMatchObject({ name: 'TimeoutError' })
  })
})
