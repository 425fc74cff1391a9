import { afterEach, describe, expect, it, vi } from 'vitest'

import { createRatesClient, RatesError } from '../../src/client/index.ts'
import { createRatesHandler, RatesError as ErrorOfHandler } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { clientOf, conversion, NOW } from './service.ts'

const now = (): number => NOW
const handler = createRatesHandler({ providers: fakeProviders({ now }), now })
const client = createRatesClient({ baseUrl: 'http://localhost/api', fetch: handler })

const PAIR = { from: 'USD', to: 'EUR' }

afterEach(() => vi.unstubAllGlobals())

/** The path and query of what is asked for with `question`. */
async function targetOf(
  ask: (client: ReturnType<typeof clientOf>['client']) => Promise<unknown>,
): Promise<string> {
  const { client, requests } = clientOf(() => Response.json({}))
  await ask(client).catch(() => {})
  return requests.map(({ url }) => url.replace('http://localhost/api', '')).join()
}

describe('a client of a handler', () => {
  it('has its latest rates', async () => {
    expect(await client.latest()).toEqual(await handler.rates.latest())
    const question = { base: 'gbp', symbols: ['eur', 'USD'] }
    expect(await client.latest(question)).toEqual(await handler.rates.latest(question))
  })

  it('has its conversions, whatever the amount', async () => {
    for (const amount of [undefined, 0, 0.1, 1e-7, 1e21, 1.5e300]) {
      const question = { ...PAIR, amount }
      expect(await client.convert(question)).toEqual(await handler.rates.convert(question))
    }
  })

  it('has its history', async () => {
    expect(await client.history(PAIR)).toEqual(await handler.rates.history(PAIR))
    const question = { ...PAIR, period: '5Y' } as const
    expect(await client.history(question)).toEqual(await handler.rates.history(question))
  })

  it('has its currencies', async () => {
    const { currencies } = await client.currencies()
    expect(currencies).toEqual((await handler.rates.currencies()).currencies)
    expect(currencies.find(({ code }) => code === 'JPY')).toMatchObject({ minorUnits: 0 })
  })

  it.each([
    ['invalid_currency', () => client.latest({ base: 'XYZ' })],
    ['invalid_currency', () => client.latest({ base: '' })],
    ['invalid_currency', () => client.latest({ symbols: ['EUR', 'XYZ'] })],
    ['invalid_currency', () => client.convert({ from: 'USD', to: 'a&b=c' })],
    ['invalid_amount', () => client.convert({ ...PAIR, amount: NaN })],
    ['invalid_amount', () => client.convert({ ...PAIR, amount: -1 })],
    ['unsupported_currency', () => client.history({ from: 'USD', to: 'KID' })],
  ])('rejects with the %s of it', async (code, ask) => {
    const reason: unknown = await ask().catch((error: unknown) => error)
    expect(reason).toBeInstanceOf(RatesError)
    expect(reason).toMatchObject({ name: 'RatesError', code, retryAfter: undefined })
  })

  it('rejects with its message', async () => {
    const question = { from: 'USD', to: 'HRK' }
    const { message } = Object(
      await handler.rates.convert(question).catch((error: unknown) => error),
    )
    expect(message).toContain('EUR')
    await expect(client.convert(question)).rejects.toThrow(message)
  })

  it('rejects with what is an error of the handler too', () => {
    expect(RatesError).toBe(ErrorOfHandler)
  })
})

describe('a question', () => {
  it('says nothing that it was not given', async () => {
    expect(await targetOf((client) => client.latest())).toBe('/v1/latest')
    expect(await targetOf((client) => client.latest({ symbols: [] }))).toBe('/v1/latest')
    expect(await targetOf((client) => client.convert(PAIR))).toBe('/v1/convert?from=USD&to=EUR')
    expect(await targetOf((client) => client.currencies())).toBe('/v1/currencies')
  })

  it('says all that it was given', async () => {
    expect(
      await targetOf((client) => client.latest({ base: 'EUR', symbols: ['USD', 'GBP'] })),
    ).toBe('/v1/latest?base=EUR&symbols=USD%2CGBP')
    expect(await targetOf((client) => client.convert({ ...PAIR, amount: 1e21 }))).toBe(
      '/v1/convert?from=USD&to=EUR&amount=1e%2B21',
    )
    expect(await targetOf((client) => client.history({ ...PAIR, period: '1Y' }))).toBe(
      '/v1/history?from=USD&to=EUR&period=1Y',
    )
  })
})

describe('baseUrl', () => {
  const urlOf = async (baseUrl: string): Promise<string | undefined> => {
    const { client, requests } = clientOf(() => conversion(), { baseUrl })
    await client.convert(PAIR)
    return requests[0]?.url.replace(/\/v1\/convert\?.*/, '')
  }

  it.each([
    ['https://app.example', 'https://app.example'],
    ['https://app.example/', 'https://app.example'],
    ['https://app.example/api', 'https://app.example/api'],
    ['https://app.example/api//', 'https://app.example/api'],
    ['HTTP://127.0.0.1:8787/fx/rates/', 'http://127.0.0.1:8787/fx/rates'],
  ])('may be %s', async (baseUrl, root) => {
    expect(await urlOf(baseUrl)).toBe(root)
  })

  it.each([
    '',
    '/api',
    '//app.example/api',
    'app.example/api',
    'localhost:8787/api',
    'ftp://app.example/api',
    'https://app.example/api?key=1',
    'https://app.example/api#latest',
    'https://ada:secret@app.example/api',
    'https://',
  ])('may not be %j', (baseUrl) => {
    const create = (): unknown => createRatesClient({ baseUrl, fetch: handler })
    expect(create).toThrow(TypeError)
    expect(create).toThrow(/^baseUrl must be /)
    expect(create).not.toThrow(/secret/)
  })

  it('may be a path in a browser', async () => {
    vi.stubGlobal('location', { href: 'https://app.example/prices/today?currency=EUR' })
    expect(await urlOf('/api')).toBe('https://app.example/api')
    expect(await urlOf('/')).toBe('https://app.example')
    expect(() => createRatesClient({ baseUrl: 'api' })).toThrow(TypeError)
  })

  it('may not be a path of a page that came from nowhere', () => {
    vi.stubGlobal('location', { href: 'about:blank' })
    expect(() => createRatesClient({ baseUrl: '/api' })).toThrow(TypeError)
  })
})

describe('an option that cannot be used', () => {
  it.each([
    ['fetch', 'https://app.example'],
    ['fetch', null],
    ['retries', -1],
    ['retries', NaN],
  ])('is named: %s of %j', (name, value) => {
    const options = { baseUrl: 'https://app.example/api', [name]: value }
    expect(() => createRatesClient(options)).toThrow(new RegExp(`^${name} must be `))
  })
})

describe('without a fetch of its own', () => {
  it('takes the one that the platform has when it is called', async () => {
    const client = createRatesClient({ baseUrl: 'http://localhost/api' })
    vi.stubGlobal('fetch', handler)
    expect(await client.convert(PAIR)).toMatchObject({ from: 'USD', to: 'EUR', amount: 1 })
  })
})
