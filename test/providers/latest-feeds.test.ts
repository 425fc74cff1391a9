import { describe, expect, it } from 'vitest'

import type { LatestTable } from '../../src/index.ts'
import {
  createCurrencyapiProvider,
  createExchangeRateApiProvider,
  createExchangeRateApiV6Provider,
  createOpenExchangeRatesProvider,
} from '../../src/providers/index.ts'
import type { ExchangeRateApiV6Options } from '../../src/providers/index.ts'
import {
  currencyapiBody,
  exchangeRateApiV6Body,
  openExchangeRatesBody,
} from '../fixtures/feeds/keyed.ts'
import { openErApiPayload } from '../fixtures/upstream-payloads.ts'
import { HOUR, MINUTE } from '../virtual-runtime.ts'
import { manyRates, respondingWith, upstream } from './upstream.ts'

const NOW = Date.UTC(2026, 10, 20, 18, 20)

const openErApiBody: Record<string, unknown> = JSON.parse(openErApiPayload({ now: NOW }))

const ACCOUNT = { key: 'k-1', url: 'https://feed.example' }

const v6Body = exchangeRateApiV6Body(NOW)
const createOpen = ({ url, base }: ExchangeRateApiV6Options) =>
  createExchangeRateApiProvider({ url, base })

describe.each([
  ['createExchangeRateApiProvider()', createOpen, openErApiBody],
  ['createExchangeRateApiV6Provider()', createExchangeRateApiV6Provider, v6Body],
])('%s', (_name, create, good) => {
  it('requests another base', async () => {
    const { context, requests } = upstream([Response.json({ ...good, base_code: 'CZK' })])
    const { base } = await create({ ...ACCOUNT, base: 'CZK' }).fetchLatest(context)
    expect([requests[0]?.url, base]).toEqual(['https://feed.example/v6/latest/CZK', 'CZK'])
  })

  it.each(['usd', 'US', '../x'])('throws for the base %j', (base) => {
    expect(() => create({ ...ACCOUNT, base })).toThrow(
      new RegExp(`^base must be .*upper-case code, got ${base}$`),
    )
  })
})

describe('createExchangeRateApiProvider()', () => {
  const good = openErApiBody

  function read(body: unknown, init?: ResponseInit): Promise<LatestTable> {
    return createExchangeRateApiProvider().fetchLatest(respondingWith(body, init))
  }

  it('has times in ms, and the order and the digits of the rates', async () => {
    const { time_last_update_unix, time_next_update_unix, rates } = good
    const table = await read(good)
    expect(table.updatedAt).toBe(Number(time_last_update_unix) * 1_000)
    expect(table.nextUpdateAt).toBe(Number(time_next_update_unix) * 1_000)
    expect(Object.entries(table.rates)).toEqual(Object.entries(Object(rates)))
    expect(Object.keys(table.rates)).toHaveLength(166)
  })

  it('has the announced end of the feed, if any', async () => {
    expect((await read({ ...good, time_eol_unix: 1_800_000_000 })).endsAt).toBe(1_800_000_000_000)
    expect(await read({ ...good, time_eol_unix: 0 })).not.toHaveProperty('endsAt')
  })

  it.each([[undefined], [null], [0]])('is due in a day if the next update is %s', async (next) => {
    const { updatedAt, nextUpdateAt } = await read({ ...good, time_next_update_unix: next })
    expect(nextUpdateAt).toBe(updatedAt + 86_400_000)
  })

  const OF_ACCOUNTS =
    'unsupported-code malformed-request invalid-key inactive-account plan-upgrade-required'

  it.each<[type: string, retryAfterMs?: number]>([
    ['quota-reached', 20 * MINUTE],
    ...OF_ACCOUNTS.split(' ').map((type): [string, number] => [type, 15 * MINUTE]),
    ['something-else'],
  ])('fails with the error %s for %s ms, or until Retry-After', async (type, retryAfterMs) => {
    const body = { result: 'error', 'error-type': type }
    const known = type === 'something-else' ? 'unknown' : type
    const message = expect.stringMatching(`^open\\.er-api\\.com .*error ${known}$`)
    await expect(read(body)).rejects.toMatchObject({ message, retryAfterMs })
    const init = { status: 403, headers: { 'retry-after': '7' } }
    await expect(read(body, init)).rejects.toMatchObject({ message, retryAfterMs: 7_000 })
  })

  it('fails if the response has another base', async () => {
    await expect(read({ ...good, base_code: 'EUR' })).rejects.toThrow(
      /^open\.er-api\.com .*another base.*USD$/,
    )
  })
})

describe('createExchangeRateApiV6Provider()', () => {
  const body = v6Body

  function read(body: unknown, status = 200): Promise<LatestTable> {
    const context = respondingWith(body, { status }, NOW)
    return createExchangeRateApiV6Provider(ACCOUNT).fetchLatest(context)
  }

  it('has the times and the rates of the feed', async () => {
    const { updatedAt, nextUpdateAt, rates } = await read(body)
    const days = [Date.UTC(2026, 10, 20), Date.UTC(2026, 10, 21)]
    expect([updatedAt, nextUpdateAt]).toEqual(days.map((day) => day + 1_000))
    expect(rates).toEqual(body['conversion_rates'])
  })

  it('has only codes in capitals, and NaN for values that are not numbers', async () => {
    const conversion_rates = { ...manyRates(), EUR: '0.9', eur: 1, JPY: {} }
    const { rates } = await read({ ...body, conversion_rates })
    expect(rates).toEqual({ ...manyRates(), EUR: NaN, JPY: NaN })
  })

  it.each([
    [200, 20],
    [403, 15],
    [404, 15],
  ])('fails with an error and the status %d for %d minutes', async (status, minutes) => {
    const refusal = { result: 'error', 'error-type': 'quota-reached' }
    await expect(read(refusal, status)).rejects.toMatchObject({
      message: expect.stringMatching(/^feed\.example .*error quota-reached$/),
      retryAfterMs: minutes * MINUTE,
    })
  })

  it.each([
    [{ result: 'error', 'error-type': 'a long story' }, /error unknown$/],
    [{ result: 'error', 'error-type': 'no-data-available' }, /error no-data-available$/],
    [{ result: 'error', 'error-type': 7 }, /error unknown$/],
    [{ ...body, base_code: 'EUR' }, /another base.*USD$/],
  ])('rejects %o', async (body, reason) => {
    const message = expect.stringMatching(/^feed\.example /)
    await expect(read(body)).rejects.toMatchObject({ message })
    await expect(read(body)).rejects.toThrow(reason)
  })
})

describe('createOpenExchangeRatesProvider()', () => {
  const body = openExchangeRatesBody(NOW)
  const published = Date.UTC(2026, 10, 20, 18)

  function read(body: unknown, status = 200, now = NOW): Promise<LatestTable> {
    const context = respondingWith(body, { status }, now)
    return createOpenExchangeRatesProvider(ACCOUNT).fetchLatest(context)
  }

  it.each([
    [published + 2 * MINUTE, published + HOUR + 2 * MINUTE],
    [published + 20 * MINUTE, published + HOUR + 2 * MINUTE],
    [published + HOUR + MINUTE, published + HOUR + 2 * MINUTE],
    [published + HOUR + 2 * MINUTE, published + 2 * HOUR + 2 * MINUTE],
    [published + 48 * HOUR, published + 48 * HOUR + 2 * MINUTE],
  ])('at %d expects the next publication at %d', async (now, expected) => {
    const { base, updatedAt, nextUpdateAt } = await read(body, 200, now)
    expect([base, updatedAt, nextUpdateAt]).toEqual(['USD', published, expected])
  })

  it.each([
    ['invalid_app_id', 401, 'invalid_app_id', 15],
    ['not_found', 404, 'not_found', 15],
    ['missing_app_id', 401, 'missing_app_id', 15],
    ['app_id_inactive', 401, 'app_id_inactive', 15],
    ['access_restricted', 403, 'access_restricted', 15],
    ['invalid_base', 400, 'invalid_base', 15],
    ['not_allowed', 429, 'not_allowed', 20],
    ['a long story', 403, 'HTTP 403', 15],
    [null, 200, 'HTTP 200', 15],
    [undefined, 200, 'HTTP 200', 15],
    [undefined, 500, 'HTTP 500', 15],
  ])('describes the error %j as far as it is known', async (message, status, reason, minutes) => {
    const refusal = { error: true, status, message, description: 'a longer story' }
    await expect(read(refusal, status)).rejects.toMatchObject({
      message: expect.stringMatching(`^feed\\.example .*${reason}`),
      retryAfterMs: minutes * MINUTE,
    })
  })

  it('has every code of a currency, and no other key', async () => {
    const { BTC, ...rates } = Object(body['rates'])
    expect((await read({ ...body, rates: { ...rates, BTC, eur: 1 } })).rates).toEqual(rates)
  })
})

describe('createCurrencyapiProvider()', () => {
  const body = currencyapiBody(NOW)

  function read(overrides: object): Promise<LatestTable> {
    const context = respondingWith({ ...body, ...overrides }, {}, NOW)
    return createCurrencyapiProvider(ACCOUNT).fetchLatest(context)
  }

  it('has the value of every currency, and no cryptocurrencies', async () => {
    const { base, rates, updatedAt } = await read({})
    expect([base, updatedAt]).toEqual(['USD', Date.UTC(2026, 10, 20) - 1_000])
    expect(rates).toMatchObject({ USD: 1, EUR: body.data['EUR']?.value })
    expect(rates).not.toHaveProperty('BTC')
  })

  it.each([
    ['2026-11-19T23:59:59Z', Date.UTC(2026, 10, 20, 23, 59, 59)],
    ['2026-11-19T23:59:59.125Z', Date.UTC(2026, 10, 21) - 875],
    ['2026-11-20T18:00:00.5Z', Date.UTC(2026, 10, 21, 18) + 500],
    ['2026-11-18T23:59:59Z', Date.UTC(2026, 10, 21)],
    ['2026-11-10T23:59:59Z', Date.UTC(2026, 10, 21)],
  ])('of %s expects the next update at %d', async (last_updated_at, expected) => {
    const { updatedAt, nextUpdateAt } = await read({ meta: { last_updated_at } })
    expect([updatedAt, nextUpdateAt]).toEqual([Date.parse(last_updated_at), expected])
  })

  const otherBase = { ...body.data, USD: { code: 'USD', value: 1.1 } }

  it.each([[{}], [otherBase]])('rejects %o', async (data) => {
    await expect(read({ data })).rejects.toThrow(/^feed\.example .*another base.*USD$/)
  })

  const NO_TIMES = [
    '2026-11-20,2026-13-20T00:00:00Z,20 Nov 2026, 2026-11-19T23:59:59Z,2026-11-19T23:59:59Z ',
    '2026-11-19T23:59:59,2026-11-19 23:59:59Z,2026-11-19T23:59:59.Z,2026-11-19T23:59:59+00:00',
    '12026-11-19T23:59:59Z,2026-11-19T25:00:00Z,026-11-19T23:59:59Z,2026-1-19T23:59:59Z',
    '2026-11-9T23:59:59Z,2026-11-19T3:59:59Z,2026-11-19T23:5:59Z,2026-11-19T23:59:5Z',
    '2026-11-19T23:59Z',
  ]

  it.each(NO_TIMES.join().split(','))('rejects the time %j', async (last_updated_at) => {
    const reading = read({ meta: { last_updated_at } })
    await expect(reading).rejects.toThrow(/^feed\.example .*: meta\.last_updated_at$/)
  })

  it('has NaN for values that are not numbers', async () => {
    const data = { ...body.data, EUR: null, JPY: { code: 'JPY', value: '156' } }
    expect((await read({ data })).rates).toMatchObject({ EUR: NaN, JPY: NaN })
  })
})
