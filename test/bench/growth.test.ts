import { DOMParser, onErrorStopParsing } from '@xmldom/xmldom'
import type { Element } from '@xmldom/xmldom'
import { describe, expect, it } from 'vitest'

import { drawGrowth } from '../../bench/scale/picture.ts'
import type { Chart } from '../../bench/scale/picture.ts'

const CHARTS: Chart[] = [
  {
    title: 'by connections',
    points: [
      { size: 1, label: '1', ratesmith: 11_000, bare: 12_000 },
      { size: 64, label: '64', ratesmith: 70_000, bare: 73_000 },
      { size: 5_000, label: '5,000', ratesmith: 48_000, bare: 50_000 },
    ],
  },
  {
    title: 'by <length> & more',
    points: [
      { size: 24, label: '1 month', ratesmith: 71_000, bare: 69_000 },
      { size: 7_144, label: '27 years', ratesmith: 19_000, bare: 21_000 },
    ],
  },
]
const LINES = ['ratesmith', 'bare'] as const

/** Parses a picture strictly; returns its charts, without its legend. */
function chartsOf(picture: string): Element[] {
  const parser = new DOMParser({ onError: onErrorStopParsing })
  const { documentElement: root } = parser.parseFromString(picture, 'image/svg+xml')
  return elements(root, 'g').filter((group) => group.hasAttribute('transform'))
}

/** Returns the places of the points of a line, from the left. */
function placesOf(chart: Element | undefined, line: string): { x: number; y: number }[] {
  const [group] = elements(chart, 'g').filter((each) => each.getAttribute('class') === line)
  const read = (circle: Element, name: string): number => Number(circle.getAttribute(name))
  return elements(group, 'circle').map((circle) => ({
    x: read(circle, 'cx'),
    y: read(circle, 'cy'),
  }))
}

function elements(parent: Element | null | undefined, name: string): Element[] {
  return parent ? [...parent.getElementsByTagName(name)] : []
}

describe('the picture of growth', () => {
  it('is well-formed, small, and the same for the same results', () => {
    const picture = drawGrowth(CHARTS)
    expect(chartsOf(picture)).toHaveLength(CHARTS.length)
    expect(picture).not.toMatch(/NaN|Infinity|undefined/)
    expect(picture.length).toBeLessThan(12_000)
    expect(drawGrowth(structuredClone(CHARTS))).toBe(picture)
  })

  it('has titles and labels as text', () => {
    const charts = chartsOf(drawGrowth(CHARTS))
    for (const [index, { title, points }] of CHARTS.entries()) {
      const texts = elements(charts[index], 'text').map(({ textContent }) => textContent)
      expect(texts).toEqual(expect.arrayContaining([title, ...points.map(({ label }) => label)]))
    }
  })

  it.each(LINES)('has one point per sample for %s, larger sizes further to the right', (line) => {
    const charts = chartsOf(drawGrowth(CHARTS))
    for (const [index, { points }] of CHARTS.entries()) {
      const places = placesOf(charts[index], line).map(({ x }) => x)
      expect(places).toHaveLength(points.length)
      expect(places).toEqual([...new Set(places)].sort((one, other) => one - other))
    }
  })

  it('draws larger values higher, in all charts', () => {
    const charts = chartsOf(drawGrowth(CHARTS))
    const drawn = CHARTS.flatMap(({ points }, index) =>
      LINES.flatMap((line) => {
        const places = placesOf(charts[index], line)
        return points.map((point, at) => ({ value: point[line], y: places[at]?.y ?? NaN }))
      }),
    )
    const upwards = drawn.toSorted((one, other) => one.value - other.value).map(({ y }) => y)
    expect(upwards).toHaveLength(10)
    expect(upwards).toEqual([...new Set(upwards)].sort((one, other) => other - one))
  })

  it('draws points in proportion to their distance from zero', () => {
    const [chart] = chartsOf(
      drawGrowth([
        {
          title: 'by size',
          points: [
            { size: 1, label: '1', ratesmith: 1_000, bare: 3_000 },
            { size: 10, label: '10', ratesmith: 2_000, bare: 3_000 },
            { size: 100, label: '100', ratesmith: 3_000, bare: 3_000 },
          ],
        },
      ]),
    )
    const [first, second, third] = placesOf(chart, 'ratesmith')
    expect((first?.y ?? 0) - (second?.y ?? 0)).toBeCloseTo((second?.y ?? 0) - (third?.y ?? 0), 0)
    expect((second?.x ?? 0) - (first?.x ?? 0)).toBeCloseTo((third?.x ?? 0) - (second?.x ?? 0), 0)
  })

  it('draws a single sample', () => {
    const picture = drawGrowth([
      { title: 'by size', points: [{ size: 8, label: '8', ratesmith: 40_000, bare: 50_000 }] },
    ])
    expect(picture).not.toMatch(/NaN|Infinity|undefined/)
    const [chart] = chartsOf(picture)
    const [[ours], [bare]] = [placesOf(chart, 'ratesmith'), placesOf(chart, 'bare')]
    expect(ours?.x).toBe(bare?.x)
    expect(ours?.y).toBeGreaterThan(bare?.y ?? NaN)
  })
})
