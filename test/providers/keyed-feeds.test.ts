import { describe, expect, it } from 'vitest'

import { toLatestTable as toCurrencyapiTable } from '../../src/providers/currencyapi-table.ts'
import { createCurrencyapiProvider } from '../../src/providers/currencyapi.ts'
import { toLatestTable as toV6Table } from '../../src/providers/exchange-rate-api-v6-table.ts'
import { createExchangeRateApiV6Provider } from '../../src/providers/exchange-rate-api-v6.ts'
import { toLatestTable as toOpenTable } from '../../src/providers/open-exchange-rates-table.ts'
import { createOpenExchangeRatesProvider } from '../../src/providers/open-exchange-rates.ts'
import type { UpstreamAnswer } from '../../src/providers/read-upstream.ts'
import { UpstreamError } from '../../src/providers/upstream-error.ts'
import {
  currencyapiBody,
  exchangeRateApiV6Body,
  openExchangeRatesBody,
} from '../fixtures/feed-payloads.ts'
import { upstream } from './upstream.ts'

const NOW = Date.UTC(2026, 10, 20, 18, 20)
const HOUR = 3_600_000
const MINUTE = 60_000

function answer(body: unknown, status = 200): UpstreamAnswer {
  return { host: 'feed.example', status, body }
}

describe('a provider with a key', () => {
  it.each([
    [
      createExchangeRateApiV6Provider({ key: 'k-1' }),
      exchangeRateApiV6Body(NOW),
      'https://v6.exchangerate-api.com/v6/latest/USD',
      { authorization: 'Bearer k-1' },
    ],
    [
      createOpenExchangeRatesProvider({ key: 'k-1' }),
      openExchangeRatesBody(NOW),
      'https://openexchangerates.org/api/latest.json',
      { authorization: 'Token k-1' },
    ],
    [
      createCurrencyapiProvider({ key: 'k-1' }),
      currencyapiBody(NOW),
      'https://api.currencyapi.com/v3/latest',
      { apikey: 'k-1' },
    ],
  ])('sends it in a header: %o', async (provider, body, url, headers) => {
    const { context, asked } = upstream([Response.json(body)])
    const { rates } = await provider.fetchLatest(context)
    expect(Object.keys(rates).length).toBeGreaterThan(160)
    expect(asked).toHaveLength(1)
    expect(asked[0]?.url).toBe(url)
    expect(asked[0]?.init.headers).toEqual({ ...headers, accept: 'application/json' })
  })
})

describe('createExchangeRateApiV6Provider()', () => {
  it('has the times and the rates of the feed', () => {
    const body = exchangeRateApiV6Body(NOW)
    const table = toV6Table(answer(body), 'USD')
    expect(table.updatedAt).toBe(Date.UTC(2026, 10, 20) + 1_000)
    expect(table.nextUpdateAt).toBe(Date.UTC(2026, 10, 21) + 1_000)
    expect(table.rates).toEqual(body['conversion_rates'])
  })

  it.each([200, 403, 404])('believes the body, not a status of %d', (status) => {
    const body = { result: 'error', 'error-type': 'quota-reached' }
    expect(() => toV6Table(answer(body, status), 'USD')).toThrow(
      expect.objectContaining({
        message: 'feed.example refused: quota-reached',
        retryAfterMs: 20 * MINUTE,
      }),
    )
  })

  it.each([
    [{ result: 'error', 'error-type': 'a long story' }, 'feed.example refused: unknown'],
    [{ result: 'error', 'error-type': 'no-data-available' }, 'refused: no-data-available'],
    [{ result: 'error', 'error-type': 7 }, 'feed.example refused: unknown'],
    [{ ...exchangeRateApiV6Body(NOW), base_code: 'EUR' }, 'answered for another base, not USD'],
    [{ ...exchangeRateApiV6Body(NOW), conversion_rates: 1 }, 'answered in another form: rates'],
    [null, 'answered in another form'],
  ])('refuses %o', (body, message) => {
    expect(() => toV6Table(answer(body), 'USD')).toThrow(message)
  })

  it('asks for another base, and refuses what is none', async () => {
    const body = { ...exchangeRateApiV6Body(NOW), base_code: 'CZK' }
    const { context, asked } = upstream([Response.json(body)])
    const url = 'http://127.0.0.1:8080/'
    await createExchangeRateApiV6Provider({ key: 'k', url, base: 'CZK' }).fetchLatest(context)
    expect(asked[0]?.url).toBe('http://127.0.0.1:8080/v6/latest/CZK')
    expect(() => createExchangeRateApiV6Provider({ key: 'k', base: 'usd' })).toThrow(TypeError)
  })
})

describe('createOpenExchangeRatesProvider()', () => {
  const body = openExchangeRatesBody(NOW)
  const published = Date.UTC(2026, 10, 20, 18)

  it.each([
    [published + 2 * MINUTE, published + HOUR + 2 * MINUTE],
    [published + 20 * MINUTE, published + HOUR + 2 * MINUTE],
    [published + HOUR + MINUTE, published + HOUR + 2 * MINUTE],
    [published + HOUR + 2 * MINUTE, published + 2 * HOUR + 2 * MINUTE],
    [published + 48 * HOUR, published + 48 * HOUR + 2 * MINUTE],
  ])('at %d expects the next publication at %d', (now, expected) => {
    const { updatedAt, nextUpdateAt } = toOpenTable(answer(body), now)
    expect([updatedAt, nextUpdateAt]).toEqual([published, expected])
  })

  it.each([
    ['invalid_app_id', 401, 'feed.example refused: invalid_app_id'],
    ['not_found', 404, 'feed.example refused: not_found'],
    ['missing_app_id', 401, 'feed.example refused: missing_app_id'],
    ['access_restricted', 403, 'feed.example refused: access_restricted'],
    ['invalid_base', 400, 'feed.example refused: invalid_base'],
    ['not_allowed', 429, 'feed.example refused: not_allowed'],
    ['a long story', 403, 'feed.example refused: status 403'],
    [undefined, 200, 'feed.example refused: status 200'],
  ])('tells of the refusal %j only what is known', (message, status, expected) => {
    const refusal = { error: true, status, message, description: 'a longer story' }
    expect(() => toOpenTable(answer(refusal, status), NOW)).toThrow(
      expect.objectContaining({ message: expected, retryAfterMs: 15 * MINUTE }),
    )
  })

  it.each([
    [{ base: 'EUR' }, 'base'],
    [{ timestamp: 0 }, 'timestamp'],
    [{ rates: undefined }, 'rates'],
  ])('refuses %j', (overrides, where) => {
    expect(() => toOpenTable(answer({ ...body, ...overrides }), NOW)).toThrow(
      `feed.example answered in another form: ${where}`,
    )
  })

  it('refuses what comes with another status, even a table', () => {
    expect(() => toOpenTable(answer(body, 503), NOW)).toThrow(
      new UpstreamError('feed.example answered with status 503'),
    )
  })

  it('is against the dollar', () => {
    expect(toOpenTable(answer(body), NOW).base).toBe('USD')
  })

  it('keeps what has the form of a code, and nothing else', () => {
    const { rates } = toOpenTable(answer({ ...body, rates: { EUR: 0.9, BTC: 1e-5, eur: 1 } }), NOW)
    expect(rates).toEqual({ EUR: 0.9, BTC: 1e-5 })
  })
})

describe('createCurrencyapiProvider()', () => {
  const body = currencyapiBody(NOW)

  it('has the value of every currency, and no coins', () => {
    const { base, rates, updatedAt } = toCurrencyapiTable(answer(body), NOW)
    expect([base, updatedAt]).toEqual(['USD', Date.UTC(2026, 10, 20) - 1_000])
    expect(rates).toMatchObject({ USD: 1, EUR: body.data['EUR']?.value })
    expect(rates).not.toHaveProperty('BTC')
  })

  it.each([
    ['2026-11-19T23:59:59Z', Date.UTC(2026, 10, 20, 23, 59, 59)],
    ['2026-11-20T18:00:00.5Z', Date.UTC(2026, 10, 21, 18) + 500],
    ['2026-11-18T23:59:59Z', Date.UTC(2026, 10, 21)],
    ['2026-11-10T23:59:59Z', Date.UTC(2026, 10, 21)],
  ])('of %s expects the next update at %d', (last_updated_at, expected) => {
    const table = toCurrencyapiTable(answer({ ...body, meta: { last_updated_at } }), NOW)
    expect(table.nextUpdateAt).toBe(expected)
  })

  it.each([
    [{ meta: { last_updated_at: '2026-11-20' } }, 'in another form: meta.last_updated_at'],
    [
      { meta: { last_updated_at: '2026-13-20T00:00:00Z' } },
      'in another form: meta.last_updated_at',
    ],
    [{ meta: null }, 'in another form: meta'],
    [{ data: 'USD' }, 'in another form: data'],
    [{ data: {} }, 'for another base than USD'],
    [{ data: { ...body.data, USD: { code: 'USD', value: 1.1 } } }, 'for another base than USD'],
  ])('refuses %o', (overrides, message) => {
    const odd = answer({ ...body, ...overrides })
    expect(() => toCurrencyapiTable(odd, NOW)).toThrow(`feed.example answered ${message}`)
  })

  it.each([
    ...' 2026-11-19T23:59:59Z,2026-11-19T23:59:59Z ,2026-11-19T23:59:59,2026-11-19 23:59:59Z'.split(
      ',',
    ),
    ...'2026-11-19T23:59:59.Z,2026-11-19T23:59:59+00:00,12026-11-19T23:59:59Z,2026-11-19T25:00:00Z'.split(
      ',',
    ),
    ...'026-11-19T23:59:59Z,2026-1-19T23:59:59Z,2026-11-9T23:59:59Z,2026-11-19T3:59:59Z'.split(','),
    ...'2026-11-19T23:5:59Z,2026-11-19T23:59:5Z,2026-11-19T23:59Z,20 Nov 2026'.split(','),
  ])('takes %j for no time', (last_updated_at) => {
    const odd = answer({ ...body, meta: { last_updated_at } })
    expect(() => toCurrencyapiTable(odd, NOW)).toThrow('in another form: meta.last_updated_at')
  })

  it('takes fractions of a second as they come', () => {
    const meta = { last_updated_at: '2026-11-19T23:59:59.125Z' }
    const { updatedAt } = toCurrencyapiTable(answer({ ...body, meta }), NOW)
    expect(updatedAt).toBe(Date.UTC(2026, 10, 20) - 875)
  })

  it('makes nothing of what is no value', () => {
    const data = { ...body.data, EUR: null, JPY: { code: 'JPY', value: '156' } }
    expect(toCurrencyapiTable(answer({ ...body, data }), NOW).rates).toMatchObject({
      EUR: NaN,
      JPY: NaN,
    })
  })

  it.each([403, 422, 429])('tells a status of %d and not the message', (status) => {
    const refusal = { message: 'a long story', errors: {} }
    expect(() => toCurrencyapiTable(answer(refusal, status), NOW)).toThrow(
      expect.objectContaining({ message: `feed.example answered with status ${status}` }),
    )
  })
})
