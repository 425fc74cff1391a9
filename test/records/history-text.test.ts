import { describe, expect, it } from 'vitest'

import { acceptHistory } from '../../src/rates/accept.ts'
import { PERIODS } from '../../src/rates/period.ts'
import { createHistoryWriter } from '../../src/records/history-text.ts'
import { historyRecord, pairHistory } from '../../src/records/history.ts'
import { fakeProviders } from '../../src/testing/index.ts'

const NOW = Date.UTC(2026, 10, 20, 18)
const { history: provider } = fakeProviders()
const context = { fetch, signal: new AbortController().signal, now: () => NOW }
const market = await provider.fetchHistory({ start: '2021-11-01', end: '2026-11-20' }, context)

/** The market as the provider has it, then with days and rates missing, and with rates of many digits. */
const MARKETS: [string, typeof market][] = [
  ['as published', market],
  [
    'with gaps',
    {
      base: 'EUR',
      days: market.days.map(({ date, rates: { USD, JPY, ...rates } }, index) => ({
        date,
        rates: { ...rates, ...(index % 3 && USD && { USD }), ...(index % 5 && JPY && { JPY }) },
      })),
    },
  ],
  [
    'with rates of all sizes',
    {
      base: 'EUR',
      days: market.days.map(({ date, rates }, index) => ({
        date,
        rates: { ...rates, USD: 3e-9 * (index + 1), JPY: 1e20 / (index + 3), GBP: 1 / (index + 3) },
      })),
    },
  ],
]

describe('a history writer', () => {
  const write = createHistoryWriter()

  it.each(MARKETS)('is the record as JSON, for every pair of a market %s', (_how, answer) => {
    const { data: history } = acceptHistory(answer, NOW)
    const attribution = { name: 'Банк „Ö“ 💶', url: 'https://bank.example/?a="b"' }
    const codes = ['EUR', ...history.columns.keys()]
    let length = 0
    for (const from of codes) {
      for (const to of codes.slice(0, 8)) {
        const period = PERIODS[length % PERIODS.length]
        const pair = pairHistory(
          { history, attribution, start: '' },
          { from, to, period },
          '2026-11-20',
        )
        const text = new TextDecoder().decode(write(pair))
        length += text.length
        // Not by `toBe`, which takes long to compare so many long texts.
        expect(text === JSON.stringify(historyRecord(pair)), `${from} ${to} ${period}`).toBe(true)
      }
    }
    expect(length).toBeGreaterThan(500_000)
  })
})
