import { describe, expect, it } from 'vitest'

import {
  createExchangeRateApiProvider,
  toLatestTable,
} from '../../src/providers/exchange-rate-api.ts'
import { passMarketGates } from '../../src/providers/market-gates.ts'
import { openErApiPayload } from '../fixtures/upstream-payloads.ts'
import { upstream } from './upstream.ts'

const NOW = Date.UTC(2026, 10, 20, 18)

function answer(
  overrides: Record<string, unknown> = {},
  status = 200,
): Parameters<typeof toLatestTable>[0] {
  const body: unknown = JSON.parse(openErApiPayload({ now: NOW, overrides }))
  return { host: 'open.er-api.com', status, body }
}

describe('createExchangeRateApiProvider()', () => {
  it('asks for one table with every code, and names its source', async () => {
    const { context, asked } = upstream([new Response(openErApiPayload({ now: NOW }))])
    const provider = createExchangeRateApiProvider()
    const table = await provider.fetchLatest(context)
    expect(asked.map(({ url }) => url)).toEqual(['https://open.er-api.com/v6/latest/USD'])
    expect(Object.keys(table.rates)).toHaveLength(166)
    expect(provider.attribution).toEqual({
      name: 'Rates By Exchange Rate API',
      url: 'https://www.exchangerate-api.com',
    })
  })

  it.each([
    ['http://127.0.0.1:8080', 'http://127.0.0.1:8080/v6/latest/CZK'],
    ['http://127.0.0.1:8080/mirror//', 'http://127.0.0.1:8080/mirror/v6/latest/CZK'],
  ])('asks below the root %s', async (url, expected) => {
    const payload = openErApiPayload({ now: NOW, overrides: { base_code: 'CZK' } })
    const { context, asked } = upstream([new Response(payload)])
    await createExchangeRateApiProvider({ url, base: 'CZK' }).fetchLatest(context)
    expect(asked[0]?.url).toBe(expected)
  })

  it.each(['', 'open.er-api.com', 'ftp://x', 'https://x?key=1', 'https://x#y'])(
    'refuses %j as a root',
    (url) => {
      expect(() => createExchangeRateApiProvider({ url })).toThrow(TypeError)
    },
  )

  it.each(['usd', 'US', '../x'])('refuses %j as a base', (base) => {
    expect(() => createExchangeRateApiProvider({ base })).toThrow(
      new TypeError(`base must be an upper-case code, got ${base}`),
    )
  })
})

describe('a read of the feed', () => {
  const good = (): Response => new Response(openErApiPayload({ now: NOW }))

  it.each(['open.er-api.com', 'www.exchangerate-api.com'])('may be sent on to %s', async (host) => {
    const moved = new Response(null, { status: 302, headers: { location: `https://${host}/x` } })
    const { context, asked } = upstream([moved, good()])
    await createExchangeRateApiProvider().fetchLatest(context)
    expect(asked.at(-1)?.url).toBe(`https://${host}/x`)
  })

  it('ends at a megabyte', async () => {
    const { context } = upstream([new Response(' '.repeat(1_048_577))])
    await expect(createExchangeRateApiProvider().fetchLatest(context)).rejects.toThrow(
      'open.er-api.com answered 200 with more than 1048576 bytes',
    )
  })

  it('judges what is stored as it judges what is read', async () => {
    const { judge } = createExchangeRateApiProvider()
    expect(judge).toBe(passMarketGates)
    const { context } = upstream([
      new Response(openErApiPayload({ now: NOW, overrides: { rates: {} } })),
    ])
    await expect(createExchangeRateApiProvider().fetchLatest(context)).rejects.toThrow(
      '0 codes are not a market',
    )
  })
})

describe('toLatestTable()', () => {
  it.each([
    ['quota-reached', 20],
    ['unsupported-code', 15],
    ['malformed-request', 15],
    ['invalid-key', 15],
    ['inactive-account', 15],
    ['plan-upgrade-required', 15],
  ])('asks after %s for a pause of %d minutes, unless it says another', (type, minutes) => {
    const body = { result: 'error', 'error-type': type }
    const refused = { host: 'open.er-api.com', status: 200, body }
    expect(() => toLatestTable(refused, 'USD')).toThrow(
      expect.objectContaining({ retryAfterMs: minutes * 60_000 }),
    )
    expect(() => toLatestTable({ ...refused, retryAfterMs: 7 }, 'USD')).toThrow(
      expect.objectContaining({ retryAfterMs: 7 }),
    )
  })

  it('tells when the feed ends, where it is to end', () => {
    expect(toLatestTable(answer({ time_eol_unix: 1_800_000_000 }), 'USD').endsAt).toBe(
      1_800_000_000_000,
    )
    expect(toLatestTable(answer({ time_eol_unix: 0 }), 'USD')).not.toHaveProperty('endsAt')
  })

  it('turns seconds into ms and keeps the order and the digits of the rates', () => {
    const payload = JSON.parse(openErApiPayload({ now: NOW }))
    const table = toLatestTable(answer(), 'USD')
    expect(table.updatedAt).toBe(payload.time_last_update_unix * 1_000)
    expect(table.nextUpdateAt).toBe(payload.time_next_update_unix * 1_000)
    expect(Object.entries(table.rates)).toEqual(Object.entries(payload.rates))
  })

  it.each([[undefined], [null], [0]])(
    'takes the next update for a day later where it is %s',
    (next) => {
      const { updatedAt, nextUpdateAt } = toLatestTable(
        answer({ time_next_update_unix: next }),
        'USD',
      )
      expect(nextUpdateAt).toBe(updatedAt + 86_400_000)
    },
  )

  it.each([
    [{ result: 'error', 'error-type': 'unsupported-code' }, 200, 'refused: unsupported-code'],
    [{ result: 'error', 'error-type': 'invalid-key' }, 403, 'refused: invalid-key'],
  ])('believes the result, not the status: %j with %d', (body, status, message) => {
    const refused = { host: 'open.er-api.com', status, body }
    expect(() => toLatestTable(refused, 'USD')).toThrow(`open.er-api.com ${message}`)
  })

  it.each([203, 206, 500, 503])('refuses a table that comes with %d', (status) => {
    expect(() => toLatestTable(answer({}, status), 'USD')).toThrow(`answered with status ${status}`)
  })

  it('refuses the table of another base', () => {
    expect(() => toLatestTable(answer({ base_code: 'EUR' }), 'USD')).toThrow(
      'open.er-api.com answered for EUR, not USD',
    )
  })

  it.each([
    { result: undefined },
    { result: 'SUCCESS' },
    { time_last_update_unix: undefined },
    { time_last_update_unix: 0 },
    { time_last_update_unix: '1763600000' },
    { time_next_update_unix: 'soon' },
    { base_code: undefined },
    { rates: undefined },
    { rates: null },
    { rates: 'EUR' },
  ])('refuses another form: %j', (overrides) => {
    expect(() => toLatestTable(answer(overrides), 'USD')).toThrow('answered in another form')
  })

  it('says where the form differs', () => {
    expect(() => toLatestTable(answer({ rates: 1, base_code: undefined }), 'USD')).toThrow(
      'open.er-api.com answered in another form: base_code, rates',
    )
  })

  it.each([null, [], 'text', 1])('refuses %j as a payload', (body) => {
    const payload = { host: 'open.er-api.com', status: 200, body }
    expect(() => toLatestTable(payload, 'USD')).toThrow('answered in another form')
  })
})
