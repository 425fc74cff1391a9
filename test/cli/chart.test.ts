import { describe, expect, it } from 'vitest'

import { drawChart } from '../../src/cli/terminal/chart.ts'

const ASCII = { width: 40, height: 5, hasUnicode: false }

function pointsOf(...rates: number[]) {
  return rates.map((r, index) => ({ d: `2026-11-0${index + 1}`, r }))
}

/** Where the marks of a line are, behind the axis. */
function marksIn(line: string): number[] {
  const plot = line.slice(line.indexOf('|') + 1)
  return [...plot.matchAll(/\*/g)].map(({ index }) => index)
}

describe('drawChart', () => {
  it('climbs from the lower left to the upper right', () => {
    const lines = drawChart(pointsOf(1, 2, 3), ASCII)
    const rows = lines.slice(0, 5).map(marksIn)
    expect(Math.max(...(rows[0] ?? []))).toBe(36)
    expect(Math.min(...(rows[4] ?? []))).toBe(0)
    for (const [index, row] of rows.entries()) {
      expect(row.length, `line ${index}`).toBeGreaterThan(0)
      expect(Math.min(...row)).toBeLessThan(Math.min(...(rows[index - 1] ?? [Infinity])))
    }
  })

  it('is as wide as it may be, with the highest and the lowest rate and both days', () => {
    const lines = drawChart(pointsOf(1.5, 0.25, 1), ASCII)
    expect(lines[0]).toMatch(/^ 1\.5 \|/)
    expect(lines[4]).toMatch(/^0\.25 \|/)
    expect(lines[5]).toMatch(/^ {5}\+-{34}$/)
    expect(lines[6]).toMatch(/^ {6}2026-11-01 +2026-11-03$/)
    expect(Math.max(...lines.map((line) => line.length))).toBe(40)
  })

  it('shows a day that stands out, however many days share its column', () => {
    const many = Array.from({ length: 3_000 }, (_, day) => ({
      d: new Date(day * 86_400_000).toISOString().slice(0, 10),
      r: day === 1_000 ? 9 : 1,
    }))
    const [top = ''] = drawChart(many, ASCII)
    expect(marksIn(top).length).toBeGreaterThan(0)
  })

  it('goes by time: days without a rate take their room', () => {
    const points = [
      { d: '2026-11-01', r: 1 },
      { d: '2026-11-02', r: 3 },
      { d: '2026-11-11', r: 1 },
    ]
    const [top = ''] = drawChart(points, ASCII)
    expect(marksIn(top).every((column) => column < 10)).toBe(true)
  })

  it('draws a level line in the middle, and a single day as well', () => {
    for (const points of [pointsOf(2, 2, 2), pointsOf(2)]) {
      const lines = drawChart(points, ASCII)
      expect(marksIn(lines[2] ?? '').length).toBeGreaterThan(0)
      expect(lines.join('\n').match(/\*/g)?.length).toBe(marksIn(lines[2] ?? '').length)
    }
  })

  it('has eight dots in a character where it may', () => {
    const lines = drawChart(pointsOf(1, 2), { ...ASCII, hasUnicode: true })
    expect(lines[0]).toMatch(/^2 │ +[\u2801-\u28FF]+$/)
    expect(lines[4]).toMatch(/^1 │[\u2801-\u28FF]+$/)
    // One dot in every column of dots, as the line is wider than it is high.
    const dots = Array.from(lines.slice(0, 5).join(''))
      .map((character) => (character.codePointAt(0) ?? 0) - 0x2800)
      .filter((bits) => bits > 0 && bits < 256)
      .reduce((sum, bits) => sum + bits.toString(2).replaceAll('0', '').length, 0)
    expect(dots).toBe((ASCII.width - 3) * 2)
  })

  it('is not there where there is no room, or nothing to draw', () => {
    expect(drawChart(pointsOf(1, 2), { ...ASCII, width: 10 })).toEqual([])
    expect(drawChart([], ASCII)).toEqual([])
  })
})
