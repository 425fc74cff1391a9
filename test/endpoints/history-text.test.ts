import { describe, expect, it } from 'vitest'

import { createRatesHandler } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { PERIODS } from '../oracle.ts'

const NOW = Date.UTC(2026, 10, 20, 18)
const { history: provider } = fakeProviders()
const context = { fetch, signal: new AbortController().signal, now: () => NOW }
const market = await provider.fetchHistory({ start: '2021-11-01', end: '2026-11-20' }, context)

/** The market as the provider has it, then with days and rates missing, and with rates of many digits. */
const MARKETS = {
  'as published': market.days,
  'with gaps': market.days.map(({ date, rates: { USD, JPY, ...rates } }, index) => ({
    date,
    rates: { ...rates, ...(index % 3 && USD && { USD }), ...(index % 5 && JPY && { JPY }) },
  })),
  'with rates of all sizes': market.days.map(({ date, rates }, index) => ({
    date,
    rates: { ...rates, USD: 3e-9 * (index + 1), JPY: 1e20 / (index + 3), GBP: 1 / (index + 3) },
  })),
}

describe('the text of a history', () => {
  const markets = Object.entries(MARKETS)
  it.each(markets)('is the record as JSON, for every pair of a market %s', async (_how, days) => {
    const attribution = { name: 'Банк „Ö“ 💶', url: 'https://bank.example/?a="b"' }
    const history = { attribution, fetchHistory: async () => ({ base: 'EUR', days }) }
    const { answer: ask, rates } = createRatesHandler({ providers: { history }, now: () => NOW })
    const codes = ['EUR', ...Object.keys(market.days[0]?.rates ?? {})]
    expect(codes.length).toBeGreaterThan(25)
    let length = 0
    for (const from of codes) {
      for (const to of codes.slice(0, 8)) {
        const period = PERIODS[length % PERIODS.length]
        const target = `/api/v1/history?from=${from}&to=${to}&period=${period}`
        const { body } = await ask({ method: 'GET', target, header: () => null })
        const text = await new Response(body).text()
        const record = await rates.history({ from, to, period })
        length += text.length
        // Not by `toBe`, which takes long to compare so many long texts.
        expect(text === JSON.stringify(record), `${from} ${to} ${period}`).toBe(true)
      }
    }
    expect(length).toBeGreaterThan(500_000)
  })
})
