import { describe, expect, it, vi } from 'vitest'

import { RatesError } from '../../src/client/index.ts'
import { settled } from '../virtual-runtime.ts'
import { badGateway, clientOf, conversion, inTurn, NOW, reasonOf } from './service.ts'

const PAIR = { from: 'USD', to: 'EUR' }
const HTML = '<!doctype html><title>Down</title>'

describe('an answer that is not one of the service', () => {
  it.each([
    ['a page with a 200', () => new Response(HTML), 'internal_error'],
    ['nothing with a 200', () => new Response(null), 'internal_error'],
    ['a 204', () => new Response(null, { status: 204 }), 'internal_error'],
    ['JSON that is no record', () => Response.json({ from: 'USD' }), 'internal_error'],
    ['JSON that is no object', () => Response.json('result'), 'internal_error'],
    ['null', () => Response.json(null), 'internal_error'],
    ['a record with a 404', () => Response.json({ result: 1 }, { status: 404 }), 'internal_error'],
    ['a 304 that was not asked for', () => new Response(null, { status: 304 }), 'internal_error'],
    ['a page with a 404', () => new Response(HTML, { status: 404 }), 'internal_error'],
    ['a page with a 500', () => new Response(HTML, { status: 500 }), 'internal_error'],
    ['a page with a 429', () => new Response(HTML, { status: 429 }), 'provider_unavailable'],
    ['a page with a 503', () => new Response(HTML, { status: 503 }), 'provider_unavailable'],
    ['a page with a 504', () => new Response(HTML, { status: 504 }), 'provider_unavailable'],
    ['no code', () => Response.json({ error: 'No' }, { status: 400 }), 'internal_error'],
    [
      'a code that nobody knows',
      () => Response.json({ error: { code: 'toString', message: 'No' } }, { status: 400 }),
      'internal_error',
    ],
    [
      'a code without a message',
      () => Response.json({ error: { code: 'no_data' } }, { status: 404 }),
      'internal_error',
    ],
  ])('is an error of the client: %s', async (_, answer, code) => {
    const { client, requests } = clientOf(answer)
    const reason = await reasonOf(client.convert(PAIR))
    expect(reason).toBeInstanceOf(RatesError)
    expect(reason).toMatchObject({
      code,
      message: `Unexpected answer with status ${answer().status}`,
    })
    expect(requests).toHaveLength(1)
  })

  it('is told in the cause, and not in the message', async () => {
    const page = clientOf(() => new Response(HTML))
    expect(await reasonOf(page.client.latest())).toMatchObject({ cause: expect.any(SyntaxError) })
    const other = clientOf(() => Response.json({ error: 'No' }, { status: 400 }))
    expect(await reasonOf(other.client.latest())).toMatchObject({ cause: { error: 'No' } })
  })

  it('tells when to come back', async () => {
    const headers = { 'retry-after': '120' }
    const { client } = clientOf(() => new Response(HTML, { status: 503, headers }))
    expect(await reasonOf(client.latest())).toMatchObject({ retryAfter: 120 })
  })
})

describe('no answer', () => {
  it('is an error of the client with its cause', async () => {
    const cause = new TypeError('fetch failed')
    const { client, requests } = clientOf(() => Promise.reject(cause))
    const reason = await reasonOf(client.currencies())
    expect(reason).toBeInstanceOf(RatesError)
    expect(reason).toMatchObject({ code: 'provider_unavailable', cause })
    expect(requests).toHaveLength(1)
  })

  it('is an answer that breaks off', async () => {
    const cause = new Error('reset')
    const body = new ReadableStream({ start: (controller) => controller.error(cause) })
    const { client } = clientOf(() => new Response(body))
    expect(await reasonOf(client.latest())).toMatchObject({ code: 'provider_unavailable', cause })
  })

  it('is a fetch that throws', async () => {
    const { client } = clientOf(inTurn())
    expect(await reasonOf(client.latest())).toMatchObject({ code: 'provider_unavailable' })
  })
})

describe('a 502', () => {
  it('is asked again when it says to', async () => {
    const { client, advance, timers, requests } = clientOf(inTurn(badGateway('3'), conversion))
    const converted = client.convert(PAIR)
    await advance(2_999)
    expect(requests).toHaveLength(1)
    await advance(1)
    expect(await converted).toMatchObject({ rate: 2 })
    expect(requests.map(({ url }) => url)).toEqual(Array(2).fill(requests[0]?.url))
    expect(timers()).toBe(0)
  })

  it('is asked again at once where it says so', async () => {
    const { client, advance } = clientOf(inTurn(badGateway('0'), conversion))
    const converted = client.convert(PAIR)
    await advance(0)
    expect(await converted).toMatchObject({ rate: 2 })
  })

  it.each([
    ['nothing', undefined],
    ['nonsense', 'soon'],
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

  it('may name a date, and is not asked again before that', async () => {
    const date = new Date(NOW + 4_000).toUTCString()
    const { client, advance, requests } = clientOf(inTurn(badGateway(date), conversion))
    await advance(500)
    const converted = client.convert(PAIR)
    await advance(3_999)
    expect(requests).toHaveLength(1)
    await advance(1)
    expect(await converted).toMatchObject({ rate: 2 })
  })

  it('may come from a proxy', async () => {
    const page = (): Response => new Response(HTML, { status: 502 })
    const { client, advance } = clientOf(inTurn(page, conversion))
    const converted = client.convert(PAIR)
    await advance(1_000)
    expect(await converted).toMatchObject({ rate: 2 })
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
    ]) {
      expect(await reasonOf(call)).toBe(reason)
    }
    expect(requests).toEqual([])
  })

  it('that aborts meanwhile ends the request', async () => {
    const controller = new AbortController()
    const { client, requests } = clientOf(
      ({ signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(new Error('aborted')))
        }),
    )
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
    expect(added.mock.calls.map(([, listener]) => listener)).toEqual(
      expect.arrayContaining(listeners),
    )
  })

  it('may be of a time limit', async () => {
    const { client } = clientOf(
      ({ signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(new Error('aborted')))
        }),
    )
    const told = await reasonOf(client.latest({ signal: AbortSignal.timeout(1) }))
    expect(told).toMatchObject({ name: 'TimeoutError' })
  })
})
