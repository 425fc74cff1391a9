import { describe, expect, it } from 'vitest'

import { dayTicks } from '../../src/explorer/day-ticks.ts'
import { nearestIndex, plotOf } from '../../src/explorer/plot.ts'
import { rateTicks } from '../../src/explorer/rate-ticks.ts'

const SIZE = { width: 600, height: 200 }
const POINTS = [
  { d: '2026-11-18', r: 2 },
  { d: '2026-11-19', r: 4 },
  { d: '2026-11-23', r: 3 },
]

/** The numbers in the `d` of a path, in pairs. */
function placesIn(path: string): number[][] {
  return path
    .replace(/[MZ]/g, '')
    .split('L')
    .map((place) => place.split(' ').map(Number))
}

describe('plotOf', () => {
  it('has as much room for a day without a point as for one with it', () => {
    const { xs } = plotOf(POINTS, SIZE)
    const [first = 0, second = 0, third = 0] = xs
    expect((third - second) / (second - first)).toBeCloseTo(4)
  })

  it('has higher rates further up, all of them between the edges', () => {
    const { xs, ys, left, bottom } = plotOf(POINTS, SIZE)
    const [low = 0, high = 0, middle = 0] = ys
    expect(low).toBeGreaterThan(middle)
    expect(middle).toBeGreaterThan(high)
    expect(high).toBeGreaterThanOrEqual(0)
    expect(low).toBeLessThanOrEqual(bottom)
    expect(xs[0]).toBe(left)
    expect(xs[2]).toBeLessThan(SIZE.width)
  })

  it('draws a line through all points, and an area down to the lower edge', () => {
    const { xs, ys, line, area, bottom } = plotOf(POINTS, SIZE)
    const places = placesIn(line)
    expect(places).toHaveLength(3)
    places.forEach(([x, y], index) => {
      expect(x).toBeCloseTo(xs[index] ?? 0, 0)
      expect(y).toBeCloseTo(ys[index] ?? 0, 0)
    })
    expect(placesIn(area).slice(3)).toEqual([
      [places[2]?.[0], bottom],
      [places[0]?.[0], bottom],
    ])
  })

  it.each([[POINTS.slice(0, 1)], [POINTS.map(({ d }) => ({ d, r: 1 }))]])(
    'draws what never moves, or has one day, in the middle: %j',
    (points) => {
      const { xs, ys, line } = plotOf(points, SIZE)
      expect([...xs, ...ys].every(Number.isFinite)).toBe(true)
      expect(new Set(ys).size).toBe(1)
      expect(line).not.toContain('NaN')
    },
  )

  it('is quick with five years', () => {
    const points = Array.from({ length: 1300 }, (_, index) => ({
      d: new Date(index * 86_400_000).toISOString().slice(0, 10),
      r: 1 + Math.sin(index / 50) / 10,
    }))
    const start = performance.now()
    plotOf(points, SIZE)
    expect(performance.now() - start).toBeLessThan(100)
  })
})

describe('nearestIndex', () => {
  it.each([
    [-5, 0],
    [0, 0],
    [4.9, 0],
    [5.1, 1],
    [14, 1],
    [29, 2],
    [31, 3],
    [900, 3],
  ])('at %d finds the point %d', (x, index) => {
    expect(nearestIndex([0, 10, 20, 40], x)).toBe(index)
  })

  it('finds the only point', () => {
    expect(nearestIndex([7], 900)).toBe(0)
  })
})

describe('rateTicks', () => {
  it.each([
    [
      [0.8396, 0.8864],
      ['0.82', '0.84', '0.86', '0.88', '0.90'],
    ],
    [
      [15_308, 17_910],
      ['15000', '16000', '17000', '18000'],
    ],
    [
      [0.000061, 0.000064],
      ['0.000061', '0.000062', '0.000063', '0.000064'],
    ],
    [
      [1, 1],
      ['0.990', '0.995', '1.000', '1.005', '1.010'],
    ],
  ])('has round numbers around %j', (rates, labels) => {
    expect(rateTicks(rates).labels.map(({ label }) => label)).toEqual(labels)
  })

  it.each([[[0.8396, 0.8864]], [[7]], [[1e-9, 1e9]]])('reaches beyond all of %j', (rates) => {
    const { low, high } = rateTicks(rates)
    expect(low).toBeLessThanOrEqual(Math.min(...rates))
    expect(high).toBeGreaterThanOrEqual(Math.max(...rates))
  })
})

describe('dayTicks', () => {
  it.each([
    [
      '2026-11-13',
      8,
      ['13 Nov', '14 Nov', '15 Nov', '16 Nov', '17 Nov', '18 Nov', '19 Nov', '20 Nov'],
    ],
    ['2026-11-13', 4, ['14 Nov', '16 Nov', '18 Nov', '20 Nov']],
    ['2026-10-20', 5, ['23 Oct', '30 Oct', '6 Nov', '13 Nov', '20 Nov']],
    ['2025-11-20', 5, ['2026', 'Apr', 'Jul', 'Oct']],
    ['2021-11-20', 5, ['2022', '2023', '2024', '2025', '2026']],
    ['2021-11-20', 0, []],
  ])('from %s has at most %d', (start, most, labels) => {
    const ticks = dayTicks(Date.parse(start), Date.parse('2026-11-20'), most)
    expect(ticks.map(({ label }) => label)).toEqual(labels)
  })
})
