import { describe, expect, it } from 'vitest'

import { RatesError, createRatesClient } from '../../src/client/index.ts'
import { PAIR, clientOf, conversion, inTurn, reasonOf } from './service.ts'

const KEY = 'rsk_planted~0123456789'

function refusal(status: number, code: string, retryAfter?: string): () => Response {
  const headers: HeadersInit = retryAfter === undefined ? {} : { 'retry-after': retryAfter }
  return () => Response.json({ error: { code, message: 'No' } }, { status, headers })
}

/** Returns everything that can be read from `value`: its texts, properties and causes. */
function textsOf(value: unknown): string {
  const { message, summary, hint, stack, cause } = Object(value)
  const causes = cause === undefined ? '' : textsOf(cause)
  return [value, JSON.stringify(value), message, summary, hint, stack, causes].join('\n')
}

describe('the option key', () => {
  it('is sent with every request, only as a bearer token', async () => {
    const { client, requests } = clientOf(() => conversion(), { key: KEY })
    await client.convert(PAIR)
    await client.convert(PAIR)
    await client.convertMany([PAIR]).catch(() => undefined)
    expect(requests).toHaveLength(3)
    for (const { url, headers } of requests) {
      expect(headers.get('authorization')).toBe(`Bearer ${KEY}`)
      const others = [...headers].filter(([name]) => name !== 'authorization')
      expect(`${url} ${others.join()}`).not.toContain(KEY)
    }
  })

  it.each([{}, { key: undefined }])('sends no Authorization with %o', async (options) => {
    const { client, requests } = clientOf(() => conversion(), options)
    await client.convert(PAIR)
    expect(requests[0]?.headers.has('authorization')).toBe(false)
  })

  it.each(['', ' ', 'two words', `${KEY}\n`, 'Schlüssel', '\u007f', 5, null, {}, [KEY]])(
    'may not be %j',
    (key) => {
      const options = { baseUrl: 'http://localhost/api', key }
      const create = (): unknown => Reflect.apply(createRatesClient, undefined, [options])
      expect(create).toThrow(TypeError)
      expect(create).toThrow(/^key must be a non-empty string of visible ASCII characters$/)
    },
  )

  it('is in no text of the client and its errors', async () => {
    const failing = (): never => {
      throw new TypeError('fetch failed')
    }
    const responses = inTurn(
      refusal(401, 'unauthorized'),
      refusal(403, 'forbidden'),
      refusal(429, 'rate_limited', '60'),
      () => new Response('<!doctype html>'),
      failing,
    )
    const { client } = clientOf(responses, { key: KEY })
    const reasons: unknown[] = []
    for (let call = 0; call < 5; call += 1) reasons.push(await reasonOf(client.convert(PAIR)))
    const codes = reasons.map((reason) => Object(reason).code)
    const refused = ['unauthorized', 'forbidden', 'rate_limited']
    expect(codes).toEqual([...refused, 'internal_error', 'provider_unavailable'])
    const functions = Object.values(client)
    expect([client, ...functions, ...reasons].map(textsOf).join('\n')).not.toContain(KEY)
    const symbols = Object.getOwnPropertySymbols(client)
    expect([...symbols, ...functions.flatMap(Object.keys)]).toEqual([])
  })
})

describe('a request that is refused', () => {
  it.each([
    [401, 'unauthorized', undefined],
    [401, 'unauthorized', '1'],
    [403, 'forbidden', undefined],
    [403, 'forbidden', '1'],
    [429, 'rate_limited', '11'],
  ])('with %d %s is not retried (Retry-After: %j)', async (status, code, retryAfter) => {
    const { client, requests, timers } = clientOf(refusal(status, code, retryAfter), { key: KEY })
    const reason = await reasonOf(client.convert(PAIR))
    expect(reason).toBeInstanceOf(RatesError)
    const seconds = retryAfter === undefined ? undefined : Number(retryAfter)
    expect(reason).toMatchObject({ code, message: 'No', retryAfter: seconds })
    expect(requests).toHaveLength(1)
    expect(timers()).toBe(0)
  })

  it('by a limit is retried after its Retry-After of at most ten seconds', async () => {
    const { client, requests, advance } = clientOf(
      inTurn(refusal(429, 'rate_limited', '10'), conversion),
      { key: KEY },
    )
    const converted = client.convert(PAIR)
    await advance(9_999)
    expect(requests).toHaveLength(1)
    await advance(1)
    expect(await converted).toMatchObject({ rate: 2 })
  })
})
