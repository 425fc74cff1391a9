import { describe, expect, it } from 'vitest'

import type { RatesDay } from '../../src/index.ts'
import { badGateway, clientOf, handler, inTurn } from './service.ts'

const PARAMS = { start: '2026-10-01', symbols: ['USD', 'GBP'] }

async function collect(days: AsyncIterable<RatesDay>) {
  const found: RatesDay[] = []
  try {
    for await (const day of days) found.push(day)
    return { days: found }
  } catch (error) {
    return { days: found, error }
  }
}

/** Returns a response with these parts, which fails after the last one or ends with it. */
function partsOf(parts: readonly (string | Uint8Array)[], failure?: Error): Response {
  const left = parts.map((part) =>
    typeof part === 'string' ? new TextEncoder().encode(part) : part,
  )
  const body = new ReadableStream({
    pull(controller) {
      const part = left.shift()
      if (part) controller.enqueue(part)
      else if (failure) controller.error(failure)
      else controller.close()
    },
  })
  return new Response(body)
}

const LINE = '{"date":"2026-11-20","source":"ecb","base":"EUR","rates":{"USD":1.2}}\n'

const ERROR = '{"error":{"code":"provider_unavailable","message":"No rates"}}\n'

describe('client.days()', () => {
  it('has the records of the handler', async () => {
    const { client, requests } = clientOf((request) => handler(request))
    const { days } = await collect(client.days(PARAMS))
    expect(days.length).toBeGreaterThan(30)
    expect(days).toEqual((await collect(handler.rates.days(PARAMS))).days)
    expect(requests.map(({ url }) => new URL(url).search)).toEqual([
      '?start=2026-10-01&symbols=USD%2CGBP',
    ])
  })

  it('yields each record when its line has come, however it is divided', async () => {
    const line = LINE.replace('}}', '},"tableNumber":"1/Ä"}')
    const bytes = Array.from(new TextEncoder().encode(line.repeat(2)), (byte) =>
      Uint8Array.of(byte),
    )
    const { client } = clientOf(() => partsOf(bytes))
    expect((await collect(client.days(PARAMS))).days).toEqual([JSON.parse(line), JSON.parse(line)])
  })

  it.each([
    ['ends within a line', () => partsOf([LINE, LINE.slice(0, 20)]), 'provider_unavailable'],
    ['is cut', () => partsOf([LINE], new Error('reset')), 'provider_unavailable'],
    ['has a line with an error', () => partsOf([LINE, ERROR]), 'provider_unavailable'],
    ['has another line', () => partsOf([LINE, '<html>\n']), 'internal_error'],
    ['has another object', () => partsOf([LINE, '{"error":{}}\n']), 'internal_error'],
    ['has an endless line', () => partsOf([LINE, 'x'.repeat(2_000_000)]), 'internal_error'],
  ])('fails after the records before where the response %s', async (_, respond, code) => {
    const { client } = clientOf(respond)
    const { days, error } = await collect(client.days(PARAMS))
    expect(days).toEqual([JSON.parse(LINE)])
    expect(error).toMatchObject({ name: 'RatesError', code })
  })

  it('repeats a request that is refused with a 502, not one whose body has begun', async () => {
    const respond = inTurn(badGateway('1'), () => partsOf([LINE], new Error('reset')))
    const { client, requests, advance } = clientOf(respond)
    const collected = collect(client.days(PARAMS))
    await advance(1_000)
    expect(await collected).toMatchObject({ days: [{}], error: { code: 'provider_unavailable' } })
    expect(requests).toHaveLength(2)
  })

  it('ends the response with its signal, and when the caller reads no further', async () => {
    let cancelled = 0
    const endless = (): Response =>
      new Response(
        new ReadableStream({
          pull: (controller) => controller.enqueue(new TextEncoder().encode(LINE)),
          cancel: () => void (cancelled += 1),
        }),
      )
    const { client } = clientOf(endless)
    for await (const day of client.days(PARAMS)) if (day) break
    expect(cancelled).toBe(1)
    const controller = new AbortController()
    const reason = new Error('enough')
    const read = async (): Promise<void> => {
      for await (const day of client.days({ ...PARAMS, signal: controller.signal })) {
        if (day) controller.abort(reason)
      }
    }
    await expect(read()).rejects.toBe(reason)
    expect(cancelled).toBe(2)
  })
})
