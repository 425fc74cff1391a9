import { describe, expect, it } from 'vitest'

import { createExchangeRateApiProvider } from '../../src/index.ts'
import type { LatestTable } from '../../src/index.ts'
import { openErApiPayload } from '../fixtures/upstream-payloads.ts'
import { NOW, answering, upstream } from './upstream.ts'

const provider = createExchangeRateApiProvider()

const GOOD: Record<string, unknown> = JSON.parse(openErApiPayload({ now: NOW }))

/** What the feed answers when all is well, but for `overrides`. */
function payload(overrides: Record<string, unknown> = {}): Record<string, unknown> {
  return { ...GOOD, ...overrides }
}

/** What the provider makes of an answer. */
function read(body: unknown, init?: ResponseInit): Promise<LatestTable> {
  return provider.fetchLatest(answering(body, init))
}

describe('createExchangeRateApiProvider()', () => {
  const good = (): Response => Response.json(payload())

  it('requests one table with every code, and names its source', async () => {
    const { context, asked } = upstream([good])
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
  ])('requests a table of its base below the root %s', async (url, expected) => {
    const { context, asked } = upstream([Response.json(payload({ base_code: 'CZK' }))])
    const { base } = await createExchangeRateApiProvider({ url, base: 'CZK' }).fetchLatest(context)
    expect([asked[0]?.url, base]).toEqual([expected, 'CZK'])
  })

  it.each(['', 'open.er-api.com', 'ftp://x', 'https://x?key=1', 'https://x#y'])(
    'throws for the root %j',
    (url) => {
      expect(() => createExchangeRateApiProvider({ url })).toThrow(TypeError)
    },
  )

  it.each(['usd', 'US', '../x'])('throws for the base %j', (base) => {
    expect(() => createExchangeRateApiProvider({ base })).toThrow(
      new TypeError(`base must be an upper-case code, got ${base}`),
    )
  })

  it.each(['open.er-api.com', 'www.exchangerate-api.com'])(
    'follows a redirect to %s',
    async (host) => {
      const headers = { location: `https://${host}/x` }
      const { context, asked } = upstream([new Response(null, { status: 302, headers }), good])
      await provider.fetchLatest(context)
      expect(asked.at(-1)?.url).toBe(`https://${host}/x`)
    },
  )

  it('reads a megabyte at most', async () => {
    const { context } = upstream([new Response(' '.repeat(1_048_577))])
    await expect(provider.fetchLatest(context)).rejects.toThrow(
      'open.er-api.com answered 200 with more than 1048576 bytes',
    )
  })
})

describe('the table of the open feed', () => {
  it('has times in ms, and the order and the digits of the rates', async () => {
    const { time_last_update_unix, time_next_update_unix, rates } = payload()
    const table = await read(payload())
    expect(table.updatedAt).toBe(Number(time_last_update_unix) * 1_000)
    expect(table.nextUpdateAt).toBe(Number(time_next_update_unix) * 1_000)
    expect(Object.entries(table.rates)).toEqual(Object.entries(Object(rates)))
  })

  it('says when the feed ends, where it is to end', async () => {
    expect((await read(payload({ time_eol_unix: 1_800_000_000 }))).endsAt).toBe(1_800_000_000_000)
    expect(await read(payload({ time_eol_unix: 0 }))).not.toHaveProperty('endsAt')
  })

  it.each([[undefined], [null], [0]])('is due a day later where the feed says %s', async (next) => {
    const { updatedAt, nextUpdateAt } = await read(payload({ time_next_update_unix: next }))
    expect(nextUpdateAt).toBe(updatedAt + 86_400_000)
  })

  it.each([
    ['quota-reached', 20],
    ['unsupported-code', 15],
    ['malformed-request', 15],
    ['invalid-key', 15],
    ['inactive-account', 15],
    ['plan-upgrade-required', 15],
    ['something-else', undefined],
  ])(
    'is refused with %s for %s minutes, or as long as Retry-After says',
    async (type, minutes = NaN) => {
      const body = { result: 'error', 'error-type': type }
      const message = `open.er-api.com refused: ${type}`
      const pause = minutes * 60_000 || undefined
      await expect(read(body)).rejects.toMatchObject({ message, retryAfterMs: pause })
      const init = { status: 403, headers: { 'retry-after': '7' } }
      await expect(read(body, init)).rejects.toMatchObject({ message, retryAfterMs: 7_000 })
    },
  )

  it.each([203, 206, 500, 503])('is refused with the status %d', async (status) => {
    await expect(read(payload(), { status })).rejects.toThrow(`answered with status ${status}`)
  })

  it.each([
    [{ result: undefined }, 'result'],
    [{ result: 'SUCCESS' }, 'result'],
    [{ time_last_update_unix: undefined }, 'time_last_update_unix'],
    [{ time_last_update_unix: 0 }, 'time_last_update_unix'],
    [{ time_last_update_unix: '1763600000' }, 'time_last_update_unix'],
    [{ time_next_update_unix: 'soon' }, 'time_next_update_unix'],
    [{ base_code: undefined }, 'base_code'],
    [{ rates: undefined }, 'rates'],
    [{ rates: null }, 'rates'],
    [{ rates: 'EUR' }, 'rates'],
    [{ rates: 1, base_code: undefined }, 'base_code, rates'],
  ])('is refused in another form: %j', async (overrides, where) => {
    await expect(read(payload(overrides))).rejects.toThrow(
      new Error(`open.er-api.com answered in another form: ${where}`),
    )
  })

  it.each([
    [null, 'in another form: all of it'],
    ['text', 'in another form: all of it'],
    [1, 'in another form: all of it'],
    [[], 'in another form: all of it'],
    [payload({ base_code: 'EUR' }), 'for EUR, not USD'],
  ])('is refused where the answer is %o', async (body, message) => {
    await expect(read(body)).rejects.toThrow(new Error(`open.er-api.com answered ${message}`))
  })

  it('is refused where it is no market', async () => {
    await expect(read(payload({ rates: {} }))).rejects.toThrow('0 codes are not a market')
  })
})
