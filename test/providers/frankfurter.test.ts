import { describe, expect, it } from 'vitest'

import { createFrankfurterProvider, toHistoryDays } from '../../src/providers/frankfurter.ts'
import { frankfurterPayload } from '../fixtures/upstream-payloads.ts'
import { upstream } from './upstream.ts'

const RANGE = { start: '2026-11-07', end: '2026-11-20', now: Date.UTC(2026, 10, 20, 18) }

function answer(overrides: object = {}, status = 200): Parameters<typeof toHistoryDays>[0] {
  const body: unknown = JSON.parse(frankfurterPayload(RANGE))
  return { host: 'api.frankfurter.dev', status, body: { ...Object(body), ...overrides } }
}

describe('createFrankfurterProvider()', () => {
  it('asks with both ends and without a base, and names its source', async () => {
    const { context, asked } = upstream([new Response(frankfurterPayload(RANGE))])
    const provider = createFrankfurterProvider()
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

  it('asks below another root', async () => {
    const { context, asked } = upstream([new Response(frankfurterPayload(RANGE))])
    await createFrankfurterProvider({ url: 'http://127.0.0.1:8081/' }).fetchHistory(RANGE, context)
    expect(asked[0]?.url).toBe('http://127.0.0.1:8081/v1/2026-11-07..2026-11-20')
  })

  it.each(['api.frankfurter.dev', 'frankfurter.dev'])('may be sent on to %s', async (host) => {
    const moved = new Response(null, { status: 302, headers: { location: `https://${host}/x` } })
    const { context, asked } = upstream([moved, new Response(frankfurterPayload(RANGE))])
    await createFrankfurterProvider().fetchHistory(RANGE, context)
    expect(asked.at(-1)?.url).toBe(`https://${host}/x`)
  })

  it('reads no more than four megabytes', async () => {
    const { context } = upstream([new Response(' '.repeat(4_194_305))])
    await expect(createFrankfurterProvider().fetchHistory(RANGE, context)).rejects.toThrow(
      'api.frankfurter.dev answered 200 with more than 4194304 bytes',
    )
  })

  it('refuses a root that is no URL', () => {
    expect(() => createFrankfurterProvider({ url: '/v1' })).toThrow(TypeError)
  })
})

describe('toHistoryDays()', () => {
  it('drops the row before the start that the relay snaps back to', () => {
    const json = JSON.parse(frankfurterPayload(RANGE))
    expect(Object.keys(json.rates)[0]).toBe('2026-11-06')
    expect(toHistoryDays(answer(), RANGE.start).days[0]?.date).toBe('2026-11-09')
  })

  it('has the first day that is asked for', () => {
    expect(toHistoryDays(answer(), '2026-11-09').days[0]?.date).toBe('2026-11-09')
  })

  it('has no days where the relay has none', () => {
    expect(toHistoryDays(answer({ rates: {} }), RANGE.start).days).toEqual([])
  })

  it.each([404, 422, 500, 206])('refuses an answer with %d', (status) => {
    expect(() => toHistoryDays(answer({}, status), RANGE.start)).toThrow(
      `api.frankfurter.dev answered with status ${status}`,
    )
  })

  it.each([
    ['scaled', { amount: 100 }],
    ['against another base', { base: 'USD' }],
    ['without rates', { rates: undefined }],
    ['with rates that are no table', { rates: { '2026-11-09': 1.1 } }],
  ])('refuses an answer %s', (_what, overrides) => {
    expect(() => toHistoryDays(answer(overrides), RANGE.start)).toThrow('answered in another form')
  })

  it('names the days that are no tables, and not all of very many', () => {
    const days = [
      '2026-11-09',
      '2026-11-10',
      '2026-11-11',
      '2026-11-12',
      '2026-11-13',
      '2026-11-16',
    ]
    const rates = {
      '2026-11-06': { USD: 1.1 },
      ...Object.fromEntries(days.map((day) => [day, 1.1])),
    }
    expect(() => toHistoryDays(answer({ rates }), RANGE.start)).toThrow(
      `api.frankfurter.dev answered in another form: ${days
        .slice(0, 5)
        .map((day) => `rates.${day}`)
        .join(', ')}`,
    )
  })

  it('refuses rates that are a list', () => {
    expect(() => toHistoryDays(answer({ rates: [{ USD: 1.1 }] }), RANGE.start)).toThrow(
      'api.frankfurter.dev answered in another form: rates',
    )
  })

  it('refuses the rows of the second version', () => {
    const body = [{ date: '2026-11-09', base: 'EUR', quote: 'USD', rate: 1.1 }]
    const rows = { host: 'api.frankfurter.dev', status: 200, body }
    expect(() => toHistoryDays(rows, RANGE.start)).toThrow('answered in another form')
  })
})
