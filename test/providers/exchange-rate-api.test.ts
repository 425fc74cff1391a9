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
  it('requests a table with every code, of another base too', async () => {
    expect(Object.keys((await read(payload())).rates)).toHaveLength(166)
    const { context, asked } = upstream([Response.json(payload({ base_code: 'CZK' }))])
    const { base } = await createExchangeRateApiProvider({ base: 'CZK' }).fetchLatest(context)
    expect([asked[0]?.url, base]).toEqual(['https://open.er-api.com/v6/latest/CZK', 'CZK'])
  })

  it.each(['usd', 'US', '../x'])('throws for the base %j', (base) => {
    expect(() => createExchangeRateApiProvider({ base })).toThrow(
      new TypeError(`base must be an upper-case code, got ${base}`),
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

  it.each([
    [null, 'in another form: all of it'],
    ['text', 'in another form: all of it'],
    [1, 'in another form: all of it'],
    [[], 'in another form: all of it'],
    [payload({ base_code: 'EUR' }), 'for EUR, not USD'],
  ])('is refused where the answer is %o', async (body, message) => {
    await expect(read(body)).rejects.toThrow(new Error(`open.er-api.com answered ${message}`))
  })

  it('is refused if it does not look like a market', async () => {
    await expect(read(payload({ rates: {} }))).rejects.toThrow('0 codes are not a market')
  })
})
