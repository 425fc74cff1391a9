import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'

import { problemOf, readAmount } from '../../explorer/amount.ts'
import { pathOf, whyNoHistory } from '../../explorer/api.ts'
import { amountInWords, formatAmount, formatChange, formatRate } from '../../explorer/figures.ts'
import { nextSort, sortRows } from '../../explorer/order.ts'
import { nearestIndex, percentChanges, plotOf, sparkline } from '../../explorer/plot.ts'
import { parametersOf } from '../../explorer/range.ts'
import { snippetOf } from '../../explorer/snippets.ts'
import { publicationInWords, rateDayInWords, timeInWords } from '../../explorer/times.ts'
import { fragmentOf, parseView } from '../../explorer/view.ts'
import type { CurrencyCoverage, Point } from '../../src/client/index.ts'
import { called, callsIn } from '../fixtures/calls.ts'
import type { Functions } from '../fixtures/calls.ts'

const SIZE = { width: 600, height: 200 }

const ROWS = [
  { code: 'USD', name: 'US Dollar', rate: 1, change: 0 },
  { code: 'JPY', name: 'Japanese Yen', rate: 160, change: -0.6 },
  { code: 'AED', name: 'UAE Dirham', rate: 3.67 },
  { code: 'EUR', name: 'Euro', rate: 0.9, change: 1 },
]

/** Returns the labels of days from `start` on in a chart with room for `most`. */
function dayLabels(start: string, most: number): string[] {
  const points = [start, '2026-11-20'].map((d) => ({ d, r: 1 }))
  const { left } = plotOf([points], SIZE)
  return plotOf([points], { width: left + 88 * most + 1, height: 200 }).days.map(
    ({ label }) => label,
  )
}

function reasonFor(histories: Record<string, boolean | null>, from: string, to: string) {
  const about = { numeric: null, minorUnits: 2, symbol: null, countries: [], withdrawn: null }
  const currencies = Object.entries(histories).map(
    ([code, history]): [string, CurrencyCoverage] => [
      code,
      { ...about, code, name: code, history, latest: true },
    ],
  )
  return whyNoHistory({ codes: [], currencies: new Map(currencies), areNamed: true }, from, to)
}

const AMOUNTS = { readAmount, problemOf, formatAmount, amountInWords, formatRate, formatChange }
const TIMES = { publicationInWords, timeInWords, rateDayInWords, parseView, nextSort }
const CHARTS = { plotOf, sparkline, nearestIndex, percentChanges, dayLabels }

/** The functions of the table; those with other names show a part of a result. */
const FUNCTIONS: Functions = {
  ...AMOUNTS,
  ...TIMES,
  ...CHARTS,
  pathOf,
  snippetOf,
  whyNoHistory: reasonFor,
  sortedCodes: (sort: string, first: string[]) =>
    sortRows(ROWS, sort, first).map(({ code }) => code),
  rewritten: (fragment: string) => fragmentOf(parseView(fragment)),
  parametersOf: (fragment: string, codes: string[]) => parametersOf(parseView(fragment), codes),
  rateLabels: (points: Point[], unit: string) =>
    plotOf([points], SIZE, unit).rates.map(({ label }) => label),
}

describe('the explorer', () => {
  beforeAll(() => void vi.useFakeTimers({ now: Date.UTC(2028, 1, 29, 12), toFake: ['Date'] }))
  afterAll(() => void vi.useRealTimers())

  it.each(callsIn('explorer/values.txt'))('%s', async (line) => {
    expect(await called(line, FUNCTIONS)).toBe(line)
  })

  it.each([200, 390, 700, 1200])('keeps every label within %d px', (width) => {
    for (const start of ['2026-11-12', '2026-08-23', '2025-11-23', '2021-11-23', '1999-01-04']) {
      for (const end of ['2026-11-23', '2026-11-01']) {
        const { days } = plotOf([[start, end].map((d) => ({ d, r: 1 }))], { width, height: 200 })
        for (const { at, label } of days) expect(at + label.length * 3.6).toBeLessThan(width)
      }
    }
  })
})
