import { describe, expect, it } from 'vitest'

import { createHandlerOn } from '../../src/handler.ts'
import { createRatesHandler } from '../../src/index.ts'
import type { CurrencyList, RatesHandler, RatesHandlerOptions } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { DAY_MS } from '../fixtures/dates.ts'
import { virtualRuntime } from '../virtual-runtime.ts'

const now = (): number => Date.UTC(2026, 10, 20, 18)
const { latest, history } = fakeProviders({ now })

const down = (): Promise<never> => Promise.reject(new Error('down'))
const dead = {
  latest: { ...latest, fetchLatest: down },
  history: { ...history, fetchHistory: down },
}

/** Returns the response of `handler`, and a lookup of its rows by code. */
async function currenciesOf(handler: RatesHandler) {
  const response = await handler(new Request('http://localhost/api/v1/currencies'))
  const record: CurrencyList = JSON.parse(await response.text())
  const find = (code: string) => record.currencies.find((currency) => currency.code === code)
  return { handler, response, record, find }
}

function request(providers: RatesHandlerOptions['providers']) {
  return currenciesOf(createRatesHandler({ providers, now }))
}

describe('GET /api/v1/currencies', () => {
  it('describes every currency and its coverage, including withdrawn ones', async () => {
    const { response, find } = await request({ latest, history })
    expect(response.status).toBe(200)
    const plain = { latest: true, history: true, withdrawn: null }
    const yen = { code: 'JPY', name: 'Japanese Yen', numeric: '392', minorUnits: 0 }
    expect(find('JPY')).toEqual({ ...yen, ...plain })
    expect(find('KWD')).toMatchObject({ minorUnits: 3, latest: true, history: false })
    expect(find('EUR')).toMatchObject(plain)
    expect(find('BOV')).toMatchObject({ latest: false, history: false, withdrawn: null })
    expect(find('HRK')).toEqual({
      code: 'HRK',
      name: 'Croatian Kuna',
      numeric: '191',
      minorUnits: null,
      latest: false,
      history: false,
      withdrawn: { at: '2023-01-01', successor: 'EUR', ratio: 7.5345 },
    })
  })

  it('lists every code once, sorted, with the coverage of the other endpoints', async () => {
    const { handler, record } = await request({ latest, history })
    const codes = record.currencies.map(({ code }) => code)
    expect(codes).toEqual([...new Set(codes)].sort())
    const { rates } = await handler.rates.latest()
    const covered = record.currencies.filter((currency) => currency.latest)
    expect(covered.map(({ code }) => code)).toEqual(Object.keys(rates).sort())
    const inHistory = record.currencies.filter((currency) => currency.history)
    expect(inHistory).toHaveLength(30)
    for (const { code } of inHistory) {
      const { points } = await handler.rates.history({ from: code, to: 'EUR', period: '1W' })
      expect(points.length, code).toBeGreaterThan(3)
    }
  })

  it('lists an unknown code of the feed', async () => {
    const table = { base: 'USD', updatedAt: now(), nextUpdateAt: now(), rates: { QQX: 2 } }
    const { find } = await request({
      latest: { ...latest, fetchLatest: async () => table },
      history,
    })
    expect(find('QQX')).toMatchObject({ name: null, numeric: null, minorUnits: null, latest: true })
    expect(find('JPY')).toMatchObject({ latest: false, history: true })
  })

  it.each([
    ['latest rates', { latest: dead.latest, history }, { latest: null, history: true }],
    ['history', { latest, history: dead.history }, { latest: true, history: null }],
    ['anything', dead, { latest: null, history: null }],
  ])('responds without %s, with no-store', async (_, providers, coverage) => {
    const { response, find } = await request(providers)
    expect(response.status).toBe(200)
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
    expect(find('USD')).toMatchObject({ name: 'US Dollar', ...coverage })
  })

  it('is cacheable for a minute, supports revalidation, and reports a miss if any data was loaded', async () => {
    const handler = createRatesHandler({ providers: { latest, history }, now })
    // Loads the latest rates, but not the history.
    await handler.rates.latest()
    const { response } = await currenciesOf(handler)
    expect(response.headers.get('cache-control')).toMatch(/^public, max-age=60,/)
    expect(response.headers.get('cache-status')).toBe('rates; fwd=miss')
    const headers = { 'if-none-match': response.headers.get('etag') ?? '' }
    const again = await handler(new Request('http://localhost/api/v1/currencies', { headers }))
    expect(again.status).toBe(304)
    expect(again.headers.get('cache-status')).toMatch(/^rates; hit; ttl=\d+$/)
  })

  it('includes codes of a fallback table until that is too old, although nothing else changes', async () => {
    const runtime = virtualRuntime(now())
    /** A provider that publishes once, at `updatedAt`. */
    const once = (name: string, updatedAt: number, rates: Record<string, number>) => ({
      attribution: { name, url: 'https://rates.example' },
      async fetchLatest() {
        if (runtime.now() - updatedAt > DAY_MS) throw new Error('down')
        return { base: 'USD', updatedAt, nextUpdateAt: updatedAt + DAY_MS, rates }
      },
    })
    const wide = once('Wide', now(), { EUR: 0.8, AED: 3.6725 })
    const narrow = once('Narrow', now() + DAY_MS / 2, { EUR: 0.8 })
    const handler = createHandlerOn(() => runtime, {
      providers: { latest: [wide, narrow], history },
      now: runtime.now,
    })
    const coverage = async () => {
      const { find } = await currenciesOf(handler)
      return [find('EUR')?.latest, find('AED')?.latest]
    }
    await handler.refresh()
    await runtime.advance(DAY_MS + 60_000)
    await handler.refresh()
    expect((await handler.rates.latest()).source.name).toBe('Narrow')
    expect(await coverage()).toEqual([true, true])
    await runtime.advance(7 * DAY_MS)
    expect(await coverage()).toEqual([true, false])
  })

  it('equals the result of handler.rates, and changes with the data', async () => {
    const { handler, record } = await request({ latest, history })
    expect(await handler.rates.currencies()).toEqual(record)
    let codes: Record<string, number> = { EUR: 1 }
    let instant = now()
    const table = () => ({ base: 'USD', updatedAt: instant, nextUpdateAt: instant, rates: codes })
    const turning = createRatesHandler({
      providers: { latest: { ...latest, fetchLatest: async () => table() }, history },
      now: () => instant,
    })
    expect((await currenciesOf(turning)).find('JPY')).toMatchObject({ latest: false })
    codes = { EUR: 1, JPY: 2 }
    instant += DAY_MS
    await turning.refresh()
    expect((await currenciesOf(turning)).find('JPY')).toMatchObject({ latest: true })
  })
})
