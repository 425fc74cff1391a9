import { describe, expect, it } from 'vitest'

import { acceptHistory } from '../../src/rates/accept.ts'
import { historyStats } from '../../src/rates/history-stats.ts'
import { dayAt, pairSeries } from '../../src/rates/pair-series.ts'
import type { Pair, PairSeries } from '../../src/rates/pair-series.ts'

const days = [
  { date: '2026-11-16', rates: { USD: 1.16, GBP: 0.88 } },
  { date: '2026-11-17', rates: { USD: 1.15, GBP: 0.87 } },
  { date: '2026-11-18', rates: { USD: 1.17 } },
  { date: '2026-11-19', rates: { GBP: 0.89 } },
  { date: '2026-11-20', rates: { USD: 1.15, GBP: 0.88 } },
]
const market = acceptHistory({ base: 'EUR', days }, Date.UTC(2026, 10, 20, 18)).data

const ALL = { start: '2026-11-01', end: '2026-11-30' }

function pointsOf(series: PairSeries): [string, number][] {
  return Array.from(series.rates, (rate, index) => [dayAt(series, index), rate])
}

function points(pair: Pair, window = ALL): [string, number][] {
  return pointsOf(pairSeries(market, pair, window))
}

describe('pairSeries()', () => {
  it('has the rates as they were published where one unit of the base is asked for', () => {
    expect(points({ from: 'EUR', to: 'USD' })).toEqual([
      ['2026-11-16', 1.16],
      ['2026-11-17', 1.15],
      ['2026-11-18', 1.17],
      ['2026-11-20', 1.15],
    ])
  })

  it('derives all others to 10 digits, on the days that have both', () => {
    expect(points({ from: 'USD', to: 'EUR' }).slice(0, 2)).toEqual([
      ['2026-11-16', 0.8620689655],
      ['2026-11-17', 0.8695652174],
    ])
    expect(points({ from: 'GBP', to: 'USD' })).toEqual([
      ['2026-11-16', 1.318181818],
      ['2026-11-17', 1.32183908],
      ['2026-11-20', 1.306818182],
    ])
  })

  it('begins with its first day and ends with its last', () => {
    const window = { start: '2026-11-17', end: '2026-11-18' }
    expect(points({ from: 'EUR', to: 'USD' }, window).map(([day]) => day)).toEqual([
      '2026-11-17',
      '2026-11-18',
    ])
    expect(points({ from: 'EUR', to: 'GBP' }, window).map(([day]) => day)).toEqual(['2026-11-17'])
    expect(points({ from: 'EUR', to: 'USD' }, { start: '2026-11-21', end: '2026-11-30' })).toEqual(
      [],
    )
  })

  it('has the base at 1 against itself on every day, and nothing of an unknown code', () => {
    expect(points({ from: 'EUR', to: 'EUR' })).toEqual(days.map(({ date }) => [date, 1]))
    expect(points({ from: 'EUR', to: 'QQQ' })).toEqual([])
    expect(points({ from: 'QQQ', to: 'EUR' })).toEqual([])
  })
})

describe('historyStats()', () => {
  it('sums a series up, with the first day of each extreme', () => {
    expect(historyStats(pairSeries(market, { from: 'EUR', to: 'USD' }, ALL))).toEqual({
      open: 1.16,
      close: 1.15,
      high: 1.17,
      low: 1.15,
      changePct: -0.8621,
      average: 1.1575,
      highDate: '2026-11-18',
      lowDate: '2026-11-17',
    })
  })

  it('finds its extremes anywhere', () => {
    expect(historyStats(pairSeries(market, { from: 'EUR', to: 'GBP' }, ALL))).toEqual({
      open: 0.88,
      close: 0.88,
      high: 0.89,
      low: 0.87,
      changePct: 0,
      average: 0.88,
      highDate: '2026-11-19',
      lowDate: '2026-11-17',
    })
  })

  it('has all of one point where there is no other', () => {
    const window = { start: '2026-11-18', end: '2026-11-18' }
    expect(historyStats(pairSeries(market, { from: 'EUR', to: 'USD' }, window))).toEqual({
      open: 1.17,
      close: 1.17,
      high: 1.17,
      low: 1.17,
      changePct: 0,
      average: 1.17,
      highDate: '2026-11-18',
      lowDate: '2026-11-18',
    })
  })

  it('says nothing of nothing', () => {
    expect(historyStats(pairSeries(market, { from: 'EUR', to: 'QQQ' }, ALL))).toBeUndefined()
  })
})
