import { describe, expect, it } from 'vitest'

import { currenciesCsv, toCurrencyList } from '../../src/api/currencies.ts'
import type { CurrencyData } from '../../src/api/currencies.ts'
import type { CurrencyList, RatesErrorCode, RatesHandlerOptions } from '../../src/index.ts'
import { providersThat } from '../advisories/loaded-handler.ts'
import { NOW, market, openService } from '../fixtures/service.ts'
import { DAY } from '../virtual-runtime.ts'

const { latest, history } = market

const dead = { ...market, ...providersThat(() => Promise.reject(new Error('down'))) }

/** Opens a service whose `read` returns the response, and a lookup of its rows by code. */
function open(options?: RatesHandlerOptions) {
  const opened = openService(options)
  async function read(init?: RequestInit) {
    const response = await opened.get('/api/v1/currencies', init)
    const record: CurrencyList = JSON.parse((await response.text()) || '{}')
    const find = (code: string) => record.currencies.find((currency) => currency.code === code)
    return { response, record, find }
  }
  return { ...opened, read }
}

describe('GET /api/v1/currencies', () => {
  it('describes every currency and its coverage, including withdrawn ones', async () => {
    const { response, find } = await open().read()
    expect(response.status).toBe(200)
    const plain = { latest: true, history: true, withdrawn: null }
    const yen = { code: 'JPY', name: 'Japanese Yen', numeric: '392', minorUnits: 0 }
    expect(find('JPY')).toEqual({ ...yen, symbol: '¥', countries: ['JP'], ...plain })
    expect(find('ZAR')).toMatchObject({ symbol: 'R', countries: ['LS', 'NA', 'ZA'] })
    expect(find('XAU')).toMatchObject({ symbol: null, countries: [] })
    expect(find('KWD')).toMatchObject({ minorUnits: 3, latest: true, history: false })
    expect(find('EUR')).toMatchObject(plain)
    expect(find('BOV')).toMatchObject({ latest: false, history: false, withdrawn: null })
    const kuna = { code: 'HRK', name: 'Croatian Kuna', numeric: '191', minorUnits: null }
    const withdrawn = { at: '2023-01-01', successor: 'EUR', ratio: 7.5345 }
    const coverage = { symbol: 'kn', countries: [], latest: false, history: false, withdrawn }
    expect(find('HRK')).toEqual({ ...kuna, ...coverage })
  })

  it('lists every code once, sorted, with the coverage of the other endpoints', async () => {
    const { handler, read } = open()
    const { currencies } = (await read()).record
    const codes = currencies.map(({ code }) => code)
    expect(codes).toEqual([...new Set(codes)].sort())
    const { rates } = await handler.rates.latest()
    const covered = currencies.filter((currency) => currency.latest)
    expect(covered.map(({ code }) => code)).toEqual(Object.keys(rates).sort())
    const inHistory = currencies.filter((currency) => currency.history)
    expect(inHistory).toHaveLength(30)
    for (const { code } of inHistory) {
      const { points } = await handler.rates.history({ from: code, to: 'EUR', period: '1W' })
      expect(points.length, code).toBeGreaterThan(3)
    }
  })

  it('lists an unknown code of the feed', async () => {
    const table = { base: 'USD', updatedAt: NOW, nextUpdateAt: NOW, rates: { QQX: 2 } }
    const providers = { latest: { ...latest, fetchLatest: async () => table }, history }
    const { find } = await open({ providers }).read()
    const unnamed = { name: null, numeric: null, minorUnits: null, symbol: null, countries: [] }
    expect(find('QQX')).toMatchObject({ ...unnamed, latest: true })
    expect(find('JPY')).toMatchObject({ latest: false, history: true })
  })

  it.each([
    ['latest rates', { latest: dead.latest, history }, { latest: null, history: true }],
    ['history', { latest, history: dead.history }, { latest: true, history: null }],
    ['anything', dead, { latest: null, history: null }],
  ])('responds without %s, with no-store', async (_, providers, coverage) => {
    const { response, find } = await open({ providers }).read()
    expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'no-store'])
    expect(find('USD')).toMatchObject({ name: 'US Dollar', ...coverage })
  })

  it('is cacheable for a minute, supports revalidation, and reports a miss if any data was loaded', async () => {
    const { handler, read } = open()
    // Loads the latest rates, but not the history.
    await handler.rates.latest()
    const { response } = await read()
    expect(response.headers.get('cache-control')).toMatch(/^public, max-age=60,/)
    expect(response.headers.get('cache-status')).toBe('rates; fwd=miss')
    const headers = { 'if-none-match': response.headers.get('etag') ?? '' }
    const { response: again } = await read({ headers })
    expect(again.status).toBe(304)
    expect(again.headers.get('cache-status')).toMatch(/^rates; hit; ttl=\d+$/)
  })

  it('includes codes of a fallback table until that is too old, although nothing else changes', async () => {
    const once = (name: string, updatedAt: number, rates: Record<string, number>) => ({
      attribution: { name, url: 'https://rates.example' },
      async fetchLatest({ now }: { now: () => number }) {
        if (now() - updatedAt > DAY) throw new Error('down')
        return { base: 'USD', updatedAt, nextUpdateAt: updatedAt + DAY, rates }
      },
    })
    const wide = once('Wide', NOW, { EUR: 0.8, AED: 3.6725 })
    const narrow = once('Narrow', NOW + DAY / 2, { EUR: 0.8 })
    const { handler, runtime, read } = open({ providers: { latest: [wide, narrow], history } })
    const coverage = async () => {
      const { find } = await read()
      return [find('EUR')?.latest, find('AED')?.latest]
    }
    await handler.refresh()
    await runtime.advance(DAY + 60_000)
    await handler.refresh()
    expect((await handler.rates.latest()).source.name).toBe('Narrow')
    expect(await coverage()).toEqual([true, true])
    await runtime.advance(7 * DAY)
    expect(await coverage()).toEqual([true, false])
  })
})

describe('the currencies with certain codes', () => {
  const listed = (symbols: string[], data: CurrencyData = { latest: null, history: null }) =>
    toCurrencyList(data, '2026-11-26', symbols)

  it('are sorted, once each, in any case, also withdrawn ones', () => {
    const { currencies } = listed(['usd', 'HRK', 'EUR', 'USD'])
    expect(currencies.map(({ code }) => code)).toEqual(['EUR', 'HRK', 'USD'])
    expect(listed([]).currencies).toEqual(expect.arrayContaining(currencies))
  })

  it.each<[RatesErrorCode, CurrencyData]>([
    ['invalid_currency', { latest: null, history: null }],
    ['provider_unavailable', { latest: undefined, history: null }],
    ['provider_unavailable', { latest: null, history: undefined }],
    ['provider_unavailable', { latest: loaded(['XYZ']), history: null }],
    ['invalid_currency', { latest: loaded(['ABC']), history: null }],
  ])('throw %s for an unknown code', (code, data) => {
    expect(() => listed(['EUR', 'xyz'], data)).toThrow(expect.objectContaining({ code }))
    expect(listed(['EUR'], data).currencies).toHaveLength(1)
  })

  it('are lines of CSV, with empty cells for null', () => {
    const list = listed(['AUD', 'CUC', 'BOV'], { latest: undefined, history: null })
    expect(currenciesCsv(list).split('\r\n')).toEqual([
      'code,name,numeric,minorUnits,symbol,countries,latest,history,withdrawnAt,successor,ratio',
      'AUD,Australian Dollar,036,2,$,AU CC CX HM KI NF NR TV,,false,,,',
      'BOV,Bolivian Mvdol,984,2,,,,false,,,',
      'CUC,Cuban Convertible Peso,931,,$,,,false,2021-01-01,CUP,0.041666666666666664',
      '',
    ])
  })
})

/** Returns latest rates whose provider lists some codes without a usable rate. */
function loaded(unavailable: string[]): CurrencyData['latest'] {
  const times = { updatedAt: NOW, publishedAt: NOW, nextUpdateAt: NOW }
  const table = { base: 'USD', ...times, rates: new Map([['USD', 1]]), unavailable }
  return { hit: true, ttl: 1, value: { table, attribution: latest.attribution } }
}
