import { describe, expect, it } from 'vitest'

import { addDays } from '../fixtures/dates.ts'
import { publish, show } from './run.ts'

/** Lines of the chart above its axis. */
const HEIGHT = 10

/** The chart that `ratesmith history` draws of rates by days: all of its lines, and the marks in those above the axis. */
async function draw(francs: Record<string, number>, { columns = 40, LANG = 'C' } = {}) {
  const days = Object.keys(francs).sort()
  const args = ['history', 'EUR', 'CHF', '--start', days[0] ?? '', '--end', days.at(-1) ?? '']
  const shown = await show(args, columns, { fetch: publish({ francs }), env: { LANG } })
  // A narrow terminal needs more lines for the title.
  const start = shown.findIndex((line) => /[|│]/.test(line))
  const end = shown.findIndex((line) => line.startsWith('open '))
  const lines = start < 0 ? [] : shown.slice(start, end)
  return { lines, rows: lines.slice(0, HEIGHT).map(marksIn) }
}

/** Where the marks of a line are, behind the axis. */
function marksIn(line: string): number[] {
  const plot = line.slice(line.indexOf('|') + 1)
  return [...plot.matchAll(/\*/g)].map(({ index }) => index)
}

function ratesOf(...rates: number[]): Record<string, number> {
  return Object.fromEntries(rates.map((rate, index) => [`2026-11-1${index}`, rate]))
}

describe('the chart of ratesmith history', () => {
  it('climbs from the lower left to the upper right', async () => {
    const { rows } = await draw(ratesOf(1, 2, 3))
    expect(rows).toHaveLength(HEIGHT)
    expect(Math.max(...(rows[0] ?? []))).toBe(36)
    expect(Math.min(...(rows.at(-1) ?? []))).toBe(0)
    for (const [index, row] of rows.entries()) {
      expect(row.length, `line ${index}`).toBeGreaterThan(0)
      expect(Math.min(...row)).toBeLessThan(Math.min(...(rows[index - 1] ?? [Infinity])))
    }
  })

  it('fills the width, with the highest and the lowest rate and both days', async () => {
    const { lines } = await draw(ratesOf(1.5, 0.25, 1))
    expect(lines[0]).toMatch(/^ 1\.5 \|/)
    expect(lines[9]).toMatch(/^0\.25 \|/)
    expect(lines[10]).toMatch(/^ {5}\+-{34}$/)
    expect(lines[11]).toMatch(/^ {6}2026-11-10 +2026-11-12$/)
    expect(Math.max(...lines.map((line) => line.length))).toBe(40)
  })

  it('shows a day that stands out among 3,000, many of which share its column', async () => {
    const many = Array.from({ length: 3_000 }, (_, day) => [addDays('2015-01-01', day), 1])
    const { rows } = await draw({ ...Object.fromEntries(many), [addDays('2015-01-01', 1_000)]: 9 })
    expect(rows[0]?.length).toBeGreaterThan(0)
  })

  it('leaves room for days without a rate', async () => {
    const { rows } = await draw({ '2026-11-01': 1, '2026-11-02': 3, '2026-11-11': 1 })
    expect(rows[0]?.length).toBeGreaterThan(0)
    expect(rows[0]?.every((column) => column < 10)).toBe(true)
  })

  it('draws a level line, or a single day, in the middle', async () => {
    for (const rates of [ratesOf(2, 2, 2), ratesOf(2)]) {
      const { rows } = await draw(rates)
      expect(rows.findIndex((row) => row.length > 0)).toBe(4)
      expect(rows.findLastIndex((row) => row.length > 0)).toBe(4)
    }
  })

  it('draws eight dots in a character where the terminal has Unicode', async () => {
    const { lines } = await draw(ratesOf(1, 2), { columns: 80, LANG: 'C.UTF-8' })
    expect(lines[0]).toMatch(/^2 │ +[\u2801-\u28FF]+$/)
    expect(lines[9]).toMatch(/^1 │[\u2801-\u28FF]+$/)
    // One dot in every column of dots, as the line is wider than it is high.
    const dots = Array.from(lines.slice(0, HEIGHT).join(''))
      .map((character) => (character.codePointAt(0) ?? 0) - 0x2800)
      .filter((bits) => bits > 0 && bits < 256)
      .reduce((sum, bits) => sum + bits.toString(2).replaceAll('0', '').length, 0)
    expect(dots).toBe((80 - 3) * 2)
  })

  it('is left out where there is no room', async () => {
    expect((await draw(ratesOf(1, 2), { columns: 11 })).lines).not.toEqual([])
    expect((await draw(ratesOf(1, 2), { columns: 10 })).lines).toEqual([])
  })
})
