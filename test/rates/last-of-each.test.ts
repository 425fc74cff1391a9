import { describe, expect, it } from 'vitest'

import { INTERVALS } from '../../src/rates/interval.ts'
import { lastOfEach } from '../../src/rates/last-of-each.ts'
import { dayAt } from '../../src/rates/pair-series.ts'
import type { PairSeries } from '../../src/rates/pair-series.ts'
import { daysOf } from '../oracle.ts'

/** Of every day between two, with the number of the day as its rate. */
function seriesOf(start: string, end: string): PairSeries {
  const dates = daysOf(start, end)
  const rows = Uint32Array.from(dates.keys())
  return { dates, rows, rates: Float64Array.from(rows, (row) => row + 1) }
}

function daysLeft(series: PairSeries): string[] {
  return Array.from(series.rates, (_, index) => dayAt(series, index))
}

describe('lastOfEach()', () => {
  it('ends weeks on Sunday, also over the turn of a year and before 1970', () => {
    const weeks = lastOfEach(seriesOf('2020-12-25', '2021-01-12'), 'week')
    expect(daysLeft(weeks)).toEqual(['2020-12-27', '2021-01-03', '2021-01-10', '2021-01-12'])
    expect([...weeks.rates]).toEqual([3, 10, 17, 19])
    const early = lastOfEach(seriesOf('1969-12-22', '1970-01-06'), 'week')
    expect(daysLeft(early)).toEqual(['1969-12-28', '1970-01-04', '1970-01-06'])
  })

  it('ends months on their last day, in leap years too', () => {
    const months = lastOfEach(seriesOf('2023-12-30', '2024-03-01'), 'month')
    expect(daysLeft(months)).toEqual(['2023-12-31', '2024-01-31', '2024-02-29', '2024-03-01'])
  })

  it('tells the same month of two years apart', () => {
    const dates = ['2023-05-31', '2024-05-02', '2024-05-03']
    const series = { dates, rows: Uint32Array.of(0, 1, 2), rates: Float64Array.of(1, 2, 3) }
    expect(daysLeft(lastOfEach(series, 'month'))).toEqual(['2023-05-31', '2024-05-03'])
  })

  it('leaves the fewer, the longer the interval is', () => {
    const series = seriesOf('2024-01-01', '2024-12-31')
    const counts = INTERVALS.map((interval) => lastOfEach(series, interval).rates.length)
    expect(counts).toEqual([366, 53, 12])
  })

  it('leaves days as they are, and nothing of nothing', () => {
    const series = seriesOf('2024-02-26', '2024-03-04')
    expect(lastOfEach(series, 'day')).toEqual(series)
    const empty = { dates: series.dates, rows: new Uint32Array(), rates: new Float64Array() }
    expect(daysLeft(lastOfEach(empty, 'week'))).toEqual([])
  })
})
