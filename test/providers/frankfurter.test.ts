import { describe, expect, it } from 'vitest'

import { createFrankfurterProvider } from '../../src/index.ts'
import type { HistoryDays } from '../../src/index.ts'
import { frankfurterPayload } from '../fixtures/upstream-payloads.ts'
import { NOW, answering, upstream } from './upstream.ts'

const RANGE = { start: '2026-11-07', end: '2026-11-20' }
const provider = createFrankfurterProvider()

const GOOD: Record<string, unknown> = JSON.parse(frankfurterPayload({ ...RANGE, now: NOW }))

/** What the relay answers when all is well, but for `overrides`. */
function payload(overrides: object = {}): Record<string, unknown> {
  return { ...GOOD, ...overrides }
}

/** What the provider makes of an answer. */
function read(body: unknown, range = RANGE): Promise<HistoryDays> {
  return provider.fetchHistory(range, answering(body))
}

describe('createFrankfurterProvider()', () => {
  it('requests both ends without a base, and names its source', async () => {
    const { context, asked } = upstream([Response.json(payload())])
    const { base, days } = await provider.fetchHistory(RANGE, context)
    expect(asked.map(({ url }) => url)).toEqual([
      'https://api.frankfurter.dev/v1/2026-11-07..2026-11-20',
    ])
    expect(base).toBe('EUR')
    expect(days).toHaveLength(10)
    expect(provider.attribution).toEqual({
      name: 'European Central Bank (via Frankfurter)',
      url: 'https://frankfurter.dev',
    })
  })

  it('requests days below another root', async () => {
    const { context, asked } = upstream([Response.json(payload())])
    await createFrankfurterProvider({ url: 'http://127.0.0.1:8081/' }).fetchHistory(RANGE, context)
    expect(asked[0]?.url).toBe('http://127.0.0.1:8081/v1/2026-11-07..2026-11-20')
  })

  it.each(['api.frankfurter.dev', 'frankfurter.dev'])('follows a redirect to %s', async (host) => {
    const moved = new Response(null, { status: 302, headers: { location: `https://${host}/x` } })
    const { context, asked } = upstream([moved, Response.json(payload())])
    await provider.fetchHistory(RANGE, context)
    expect(asked.at(-1)?.url).toBe(`https://${host}/x`)
  })

  it('reads four megabytes at most', async () => {
    const { context } = upstream([new Response(' '.repeat(4_194_305))])
    await expect(provider.fetchHistory(RANGE, context)).rejects.toThrow(
      'api.frankfurter.dev answered 200 with more than 4194304 bytes',
    )
  })

  it('throws for a root that is no URL', () => {
    expect(() => createFrankfurterProvider({ url: '/v1' })).toThrow(TypeError)
  })
})

describe('the days of Frankfurter', () => {
  it('lack the row before the start that the relay snaps back to', async () => {
    expect(Object.keys(Object(payload()['rates']))[0]).toBe('2026-11-06')
    expect((await read(payload())).days[0]?.date).toBe('2026-11-09')
  })

  it('begin with the first day of the range', async () => {
    const range = { ...RANGE, start: '2026-11-09' }
    expect((await read(payload(), range)).days[0]?.date).toBe('2026-11-09')
  })

  it('are none where the relay has none', async () => {
    expect((await read(payload({ rates: {} }))).days).toEqual([])
  })

  it.each([404, 422, 500, 206])('are refused with the status %d', async (status) => {
    const context = answering(payload(), { status, headers: { 'retry-after': '7' } })
    await expect(provider.fetchHistory(RANGE, context)).rejects.toMatchObject({
      name: 'UpstreamError',
      message: `api.frankfurter.dev answered with status ${status}`,
      retryAfterMs: 7_000,
    })
  })

  // The last one has more odd days than are named, and one that is none.
  const odd = ['09', '10', '11', '12', '13', '16'].map((day) => [`2026-11-${day}`, 1.1])

  it.each([
    ['scaled', payload({ amount: 100 }), 'amount'],
    ['against another base', payload({ base: 'USD' }), 'base'],
    ['without rates', payload({ rates: undefined }), 'rates'],
    ['with a list of rates', payload({ rates: [{ USD: 1.1 }] }), 'rates'],
    ['with null for its rates', payload({ rates: null }), 'rates'],
    ['with a day that is no table', payload({ rates: { '2026-11-09': 1.1 } }), 'rates.2026-11-09'],
    ['with a day that is null', payload({ rates: { '2026-11-09': null } }), 'rates.2026-11-09'],
    [
      'in the rows of the second version',
      [{ date: '2026-11-09', base: 'EUR', quote: 'USD', rate: 1.1 }],
      'all of it',
    ],
    [
      'with more odd days than are named',
      payload({ rates: { '2026-11-06': { USD: 1.1 }, ...Object.fromEntries(odd) } }),
      odd
        .slice(0, 5)
        .map(([date]) => `rates.${date}`)
        .join(', '),
    ],
  ])('are refused in an answer %s', async (_what, body, where) => {
    await expect(read(body)).rejects.toThrow(
      new Error(`api.frankfurter.dev answered in another form: ${where}`),
    )
  })
})
