import { createRequire } from 'node:module'

import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'

import { serveForSuite } from './commands.ts'
import { writeConfig } from './config-file.ts'
import { NODE } from './runtimes.ts'

// npm packages of other authors for these services: mostly CommonJS without types.
const require = createRequire(import.meta.url)

const CONFIG = writeConfig(
  `
    import { fixer } from 'ratesmith/compat/fixer'
    import { frankfurter } from 'ratesmith/compat/frankfurter'
    import { openExchangeRates } from 'ratesmith/compat/open-exchange-rates'
    import { fakeProviders } from 'ratesmith/testing'
    export default {
      providers: fakeProviders(),
      routes: [frankfurter(), fixer({ basePath: '/fixer' }), openExchangeRates()],
    }
  `,
  'config.mjs',
  afterAll,
)

const server = serveForSuite([CONFIG], NODE, [])

type Rates = Record<string, number>

let rates: Rates
let euros: number

beforeAll(async () => {
  rates = (await native('latest?base=USD')).rates
  euros = (await native('convert?from=USD&to=EUR&amount=100')).result
})

async function native(path: string) {
  const response = await fetch(`${server.root}/api/v1/${path}`)
  return Object(await response.json())
}

function redirectFetch(): string[] {
  const urls: string[] = []
  const { fetch } = globalThis
  vi.stubGlobal('fetch', (input: string | URL, init?: RequestInit) => {
    const { href, pathname, search } = new URL(input)
    urls.push(href)
    return fetch(`${server.root}${pathname}${search}`, init)
  })
  onTestFinished(() => void vi.unstubAllGlobals())
  return urls
}

describe('oxr, a client of Open Exchange Rates', () => {
  interface Oxr {
    latest(query?: object): Promise<{ base: string; timestamp: number; rates: Rates }>
    historical(date: string, query?: object): Promise<{ rates: Rates }>
    currencies(): Promise<Record<string, string>>
  }

  const { factory, OxrError } = require('oxr')

  function open(): Oxr {
    const { hostname, port } = new URL(server.root)
    return factory({ protocol: 'http', hostname, port, appId: 'an-id' })
  }

  it('gets latest rates, rates of a day, and names', async () => {
    const oxr = open()
    const latest = await oxr.latest({ symbols: 'EUR,GBP' })
    const { EUR, GBP } = rates
    expect(latest).toMatchObject({ base: 'USD', rates: { EUR, GBP } })
    const dated = await oxr.historical('2015-06-01', { symbols: 'EUR' })
    const expected = await native('latest?base=USD&symbols=EUR&date=2015-06-01')
    expect(dated.rates).toEqual(expected.rates)
    expect(await oxr.currencies()).toMatchObject({ EUR: 'Euro' })
  })

  it('throws its own error for an unknown base', async () => {
    const failure = open().latest({ base: 'XYZ' })
    await expect(failure).rejects.toBeInstanceOf(OxrError)
    await expect(failure).rejects.toMatchObject({ status: 400, message: 'invalid_base' })
  })
})

describe('open-exchange-rates and money', () => {
  function load(path: string): Promise<{ error: string; rates: Rates; base: string }> {
    const oxr = require('open-exchange-rates')
    oxr.set({ app_id: 'an-id' })
    oxr.api_url = `${server.root}/api/`
    return new Promise((resolve) => oxr.load(path, () => resolve(oxr)))
  }

  it('converts at the rates of the server', async () => {
    const fx = require('money')
    const loaded = await load('latest.json')
    fx.rates = loaded.rates
    fx.base = loaded.base
    expect(fx.convert(100, { from: 'USD', to: 'EUR' })).toBeCloseTo(euros, 9)
  })

  it('reports an unknown path', async () => {
    expect((await load('usage.json')).error).toBe('404 (not_found): Not found')
  })
})

describe('easy-currencies', () => {
  const { Converter } = require('easy-currencies')

  function open(...providers: object[]) {
    const converter = new Converter(...providers)
    converter.onError = () => {}
    return converter
  }

  it.each([
    ['Frankfurter', 'https://api.frankfurter.dev/v1/latest?base=USD'],
    ['OpenExchangeRates', 'https://openexchangerates.org/api/latest.json?app_id=an-id&base=USD'],
  ])('converts at the rates of %s', async (name, url) => {
    const urls = redirectFetch()
    const found = await open({ name, key: 'an-id' }).convert(100, 'USD', 'EUR')
    const dated = `convert?from=USD&to=EUR&amount=100&date=${new Date().toISOString().slice(0, 10)}`
    const expected = name === 'Frankfurter' ? (await native(dated)).result : euros
    expect(found).toBeCloseTo(expected, 9)
    expect(urls[0]).toBe(url)
  })

  // A row of the comparison in the README.
  it('throws without its upstream, just after a success', async () => {
    redirectFetch()
    const converter = open({ name: 'Frankfurter' })
    expect(await converter.convert(100, 'USD', 'EUR')).toBeGreaterThan(0)
    vi.stubGlobal('fetch', () => Promise.reject(new TypeError('fetch failed')))
    await expect(converter.convert(100, 'USD', 'EUR')).rejects.toThrow(
      'Request to the provider failed',
    )
  })

  it('reports the error of Frankfurter, whose 404 has no status in its body', async () => {
    redirectFetch()
    const failure = open({ name: 'Frankfurter' }).convert(100, 'XYZ', 'EUR')
    await expect(failure).rejects.toThrow('HTTP 404')
  })
})

describe('exchange-rates-api, a client of api.ratesapi.io', () => {
  const { exchangeRates } = require('exchange-rates-api')
  const open = () => exchangeRates().setApiBaseUrl(server.root)

  it('gets latest rates, rates of a day and rates of a range', async () => {
    const dated = await native('latest?base=USD&symbols=EUR,GBP&date=2018-01-04')
    const at = open().at('2018-01-04').base('USD').symbols(['EUR', 'GBP'])
    expect(await at.fetch()).toEqual(dated.rates)
    expect(await open().latest().symbols('USD').fetch()).toBeGreaterThan(0)
    const { points } = await native('history?from=USD&to=EUR&start=2018-01-02&end=2018-01-04')
    const range = open().from('2018-01-02').to('2018-01-04').base('USD').symbols('EUR')
    const expected = Object(points).map(({ d, r }: { d: string; r: number }) => [d, { EUR: r }])
    expect(await range.fetch()).toEqual(Object.fromEntries(expected))
  })

  it('throws its own error for a pair of one currency', async () => {
    const failure = open().latest().base('EUR').symbols('EUR').fetch()
    await expect(failure).rejects.toThrow('API returned a bad response (HTTP 422)')
  })
})

describe('cashify', () => {
  it('converts at the rates of Open Exchange Rates', async () => {
    const { Cashify } = await import('cashify')
    const body = Object(await (await fetch(`${server.root}/api/latest.json`)).json())
    const cashify = new Cashify({ base: 'USD', rates: body.rates })
    expect(cashify.convert(100, { from: 'USD', to: 'EUR' })).toBeCloseTo(euros, 9)
  })
})
