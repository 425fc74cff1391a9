import { describe, expect, it } from 'vitest'

import { historyCoverageOf, pathOf } from '../../explorer/api.ts'
import type { ApiRequest } from '../../explorer/api.ts'
import { dateInWords, durationInWords, parseView, publicationInWords } from '../../explorer/dom.ts'
import { formatChange, formatRate } from '../../explorer/figures.ts'
import { nearestIndex, percentChanges, plotOf } from '../../explorer/plot.ts'
import { parametersOf } from '../../explorer/range.ts'
import { snippetOf } from '../../explorer/snippets.ts'
import type { Size } from '../../explorer/plot.ts'
import type { CurrencyCoverage, Point } from '../../src/client/index.ts'

const HOUR = 3_600_000

describe('words for times', () => {
  it.each([
    [-5, 'less than a minute'],
    [59_999, 'less than a minute'],
    [60_000, '1 minute'],
    [HOUR - 1, '59 minutes'],
    [HOUR, '1 hour'],
    [48 * HOUR - 1, '47 hours'],
    [48 * HOUR, '2 days'],
    [400 * 24 * HOUR, '400 days'],
  ])('are rounded down: %d ms are %s', (duration, words) => {
    expect(durationInWords(duration)).toBe(words)
  })

  it.each([
    [3 * HOUR, 'Published 3 hours ago, next update expected in 21 hours'],
    [24 * HOUR - 1, 'Published 23 hours ago, next update expected in less than a minute'],
    [24 * HOUR + 60_000, 'Published 24 hours ago, next update due now'],
    [75 * HOUR, 'Published 3 days ago, next update overdue by 2 days'],
    // The client's clock is behind the server's.
    [-HOUR, 'Published less than a minute ago, next update expected in 25 hours'],
  ])('name the age of a publication and the next one, after %d ms: %s', (now, words) => {
    expect(publicationInWords({ updatedAt: 0, nextUpdateAt: 24 * HOUR }, now)).toBe(words)
  })

  it('include the day of the week of a date', () => {
    expect(dateInWords('2026-11-20')).toMatch(/^Friday,? 20 November 2026$/)
  })
})

describe('plotOf', () => {
  const SIZE = { width: 600, height: 200 }
  const POINTS = [
    { d: '2026-11-18', r: 2 },
    { d: '2026-11-19', r: 4 },
    { d: '2026-11-23', r: 3 },
  ]

  /** Returns the chart of one series, with its line. */
  function plotOne(points: readonly Point[], size: Size) {
    const { lines, ...plot } = plotOf([points], size)
    const [line] = lines
    if (!line) throw new Error('the chart has no line')
    return { ...plot, ...line }
  }

  /** Returns the coordinates in the `d` of a path. */
  function coordinatesIn(path: string): number[][] {
    const pairs = path.replace(/[MZ]/g, '').split('L')
    return pairs.map((pair) => pair.split(' ').map(Number))
  }

  it('spaces days evenly, including days without a point', () => {
    const [first = 0, second = 0, third = 0] = plotOne(POINTS, SIZE).xs
    expect((third - second) / (second - first)).toBeCloseTo(4)
  })

  it('draws higher rates higher, within the edges', () => {
    const { xs, ys, left, bottom } = plotOne(POINTS, SIZE)
    const [low = 0, high = 0, middle = 0] = ys
    expect(low).toBeGreaterThan(middle)
    expect(middle).toBeGreaterThan(high)
    expect(high).toBeGreaterThanOrEqual(0)
    expect(low).toBeLessThanOrEqual(bottom)
    expect(xs[0]).toBe(left)
    expect(xs[2]).toBeLessThan(SIZE.width)
  })

  it('draws a line through all points, and an area down to the lower edge', () => {
    const { xs, ys, path, area, bottom } = plotOne(POINTS, SIZE)
    const drawn = coordinatesIn(path)
    expect(drawn).toHaveLength(3)
    drawn.forEach(([x, y], index) => {
      expect(x).toBeCloseTo(xs[index] ?? 0, 0)
      expect(y).toBeCloseTo(ys[index] ?? 0, 0)
    })
    expect(area).toBe(`${path}V${bottom}H${drawn[0]?.[0]?.toFixed(1)}Z`)
  })

  it.each([[POINTS.slice(0, 1)], [POINTS.map(({ d }) => ({ d, r: 1 }))]])(
    'draws a level line, or a single day, in the middle: %j',
    (points) => {
      const { xs, ys, path } = plotOne(points, SIZE)
      expect([...xs, ...ys].every(Number.isFinite)).toBe(true)
      expect(new Set(ys).size).toBe(1)
      expect(path).not.toContain('NaN')
    },
  )

  it.each([
    [0.8396, 0.8864, ['0.82', '0.84', '0.86', '0.88', '0.90']],
    [15_308, 17_910, ['15000', '16000', '17000', '18000']],
    [0.000061, 0.000064, ['0.000061', '0.000062', '0.000063', '0.000064']],
    [1, 1, ['0.990', '0.995', '1.000', '1.005', '1.010']],
  ])('labels round numbers around %d and %d', (low, high, labels) => {
    const points = [low, high].map((r, index) => ({ d: `2026-11-1${index}`, r }))
    const { rates, ys, bottom } = plotOne(points, SIZE)
    expect(rates.map(({ label }) => label)).toEqual(labels)
    const positions = rates.map(({ at }) => at)
    expect(Math.max(...positions)).toBeCloseTo(bottom)
    expect(Math.max(...positions)).toBeGreaterThanOrEqual(Math.max(...ys))
    expect(Math.min(...positions)).toBeLessThanOrEqual(Math.min(...ys))
  })

  it.each([
    [-12, 4, ['-15 %', '-10 %', '-5 %', '0 %', '5 %']],
    [0, 0, ['-1.0 %', '-0.5 %', '0.0 %', '0.5 %', '1.0 %']],
    [-2, -2, ['-2.02 %', '-2.01 %', '-2.00 %', '-1.99 %', '-1.98 %']],
  ])('labels changes from %d to %d, with their unit', (first, second, labels) => {
    const points = [first, second].map((r, index) => ({ d: `2026-11-1${index}`, r }))
    const { rates, lines, bottom } = plotOf([points], SIZE, ' %')
    expect(rates.map(({ label }) => label)).toEqual(labels)
    expect(lines[0]?.ys.every((y) => y >= 0 && y <= bottom)).toBe(true)
  })

  it('draws several series on the same axes, each from its own first day', () => {
    const later = POINTS.slice(1).map(({ d, r }) => ({ d, r: r * 2 }))
    const { lines, area } = plotOf([POINTS, later], SIZE)
    const [one, other] = lines
    expect(other?.xs).toEqual(one?.xs.slice(1))
    expect(other?.ys.at(-1)).toBeLessThan(one?.ys.at(-1) ?? 0)
    // 4 and 2 × 2, and 6 = 2 × 3 above all.
    expect(Math.min(...(other?.ys ?? []))).toBeLessThan(one?.ys[1] ?? 0)
    expect(area.startsWith(one?.path ?? '-')).toBe(true)
  })

  it('indexes a series to the change since its first day', () => {
    expect(percentChanges(POINTS).map(({ r }) => r)).toEqual([0, 100, 50])
    expect(percentChanges(POINTS.slice(0, 1))).toEqual([{ d: '2026-11-18', r: 0 }])
  })

  it.each([200, 390, 700, 1200])('keeps every label within %d px', (width) => {
    for (const start of ['2026-11-12', '2026-08-23', '2025-11-23', '2021-11-23', '1999-01-04']) {
      for (const end of ['2026-11-23', '2026-11-01']) {
        const points = [start, end].map((d) => ({ d, r: 1 }))
        const { days } = plotOne(points, { width, height: 200 })
        for (const { at, label } of days) expect(at + label.length * 3.6).toBeLessThan(width)
      }
    }
  })

  it('draws rates of any size within the edges', () => {
    const points = [1e-9, 1e9].map((r, index) => ({ d: `2026-11-1${index}`, r }))
    const { ys, bottom } = plotOne(points, SIZE)
    expect(ys.every((y) => y >= 0 && y <= bottom)).toBe(true)
  })

  it.each([
    ['2026-11-13', 8, '13 Nov, 14 Nov, 15 Nov, 16 Nov, 17 Nov, 18 Nov, 19 Nov, 20 Nov'],
    ['2026-11-13', 4, '14 Nov, 16 Nov, 18 Nov, 20 Nov'],
    ['2026-10-20', 5, '23 Oct, 30 Oct, 6 Nov, 13 Nov, 20 Nov'],
    ['2025-11-20', 5, '2026, Apr, Jul, Oct'],
    ['2021-11-20', 5, '2022, 2023, 2024, 2025, 2026'],
    ['2021-11-20', 0, ''],
    ['1999-01-04', 9, '2000, 2005, 2010, 2015, 2020, 2025'],
    ['1999-01-04', 4, '2000, 2010, 2020'],
  ])('labels days from %s with room for %d', (start, most, labels) => {
    const points = [start, '2026-11-20'].map((d) => ({ d, r: 1 }))
    const { left } = plotOne(points, SIZE)
    const { days } = plotOne(points, { width: left + 72 * most + 1, height: 200 })
    expect(days.map(({ label }) => label).join(', ')).toBe(labels)
  })

  it('finds the point nearest to a position', () => {
    const positions = [-5, 0, 4.9, 5.1, 14, 29, 31, 900]
    const found = positions.map((x) => nearestIndex([0, 10, 20, 40], x))
    expect(found).toEqual([0, 0, 0, 1, 1, 2, 3, 3])
    expect(nearestIndex([7], 900)).toBe(0)
  })
})

describe('figures of the chart', () => {
  it.each([
    [0.8396305626, '0.839631'],
    [16_170.394, '16,170.4'],
    [105_392_512.72361657, '105,392,513'],
    [0.0000061234567, '0.00000612346'],
    [1, '1.0000'],
    [150, '150.00'],
  ])('have six significant digits: %d is %s', (rate, text) => {
    expect(formatRate(rate)).toBe(text)
  })

  it.each([
    [-0.4183, '−0.42 %'],
    [12.3456, '+12.35 %'],
    [0, '0.00 %'],
    [0.001, '0.00 %'],
  ])('have a sign if they change: %d is %s', (change, text) => {
    expect(formatChange(change)).toBe(text)
  })
})

describe('parameters of the chart', () => {
  const parametersFor = (fragment: string, compared: string[] = []) =>
    parametersOf(parseView(fragment), compared)
  const pair = { from: 'USD', to: 'EUR' }

  it.each([
    ['', [], { ...pair, period: '3M' }],
    ['#period=2W', [], { ...pair, period: '2W' }],
    ['', ['GBP', 'JPY'], { from: 'USD', to: 'EUR,GBP,JPY', period: '3M' }],
    ['#period=MAX', [], { ...pair, start: '1999-01-04' }],
    ['#start=2020-01-01', [], { ...pair, start: '2020-01-01' }],
    ['#end=2001-01-01', [], { ...pair, start: '1999-01-04', end: '2001-01-01' }],
    ['#period=MAX', ['GBP'], { from: 'USD', to: 'EUR,GBP', start: '1999-01-04', interval: 'week' }],
  ])('of %j with %j are the period, or days', (fragment, compared, expected) => {
    expect(parametersFor(fragment, compared)).toEqual(expected)
  })
})

describe('a request', () => {
  const convertAmount = (amount: string): ApiRequest => ({
    operation: 'convert',
    parameters: { from: 'USD', to: 'EUR', amount },
  })
  const historyOf = (to: string): ApiRequest => ({
    operation: 'history',
    parameters: { from: 'USD', to, period: '1M' },
  })
  const latest: ApiRequest = { operation: 'latest', parameters: { base: 'EUR' } }
  const open = { baseUrl: 'http://a.example/api', hasKey: false }
  const keyed = { ...open, hasKey: true }

  it('has a path with the amount as typed, or with a list', () => {
    const typed = pathOf('/api', convertAmount('1 &2'))
    expect(typed).toBe('/api/v1/convert?from=USD&to=EUR&amount=1+%262')
    const list = pathOf('/api', historyOf('EUR,GBP'))
    expect(list).toBe('/api/v1/history?from=USD&to=EUR,GBP&period=1M')
  })

  it.each([
    ['100', '100'],
    [' 1e3 ', '1000'],
    ['.5', '0.5'],
    ['', "''"],
    ["it's", "'it\\'s'"],
    ['"\\', "'\"\\\\'"],
  ])('has the argument of a program for the amount %j: %s', (typed, argument) => {
    expect(snippetOf('client', open, convertAmount(typed))).toContain(
      `.convert({ from: 'USD', to: 'EUR', amount: ${argument} })`,
    )
  })

  const url = "'http://a.example/api/v1/latest?base=EUR'"
  const inQuotes = { baseUrl: "http://a.example/it's", hasKey: false }
  const program = `import { createRatesClient } from 'ratesmith/client'

const rates = createRatesClient({ baseUrl: 'http://a.example/api', key: 'YOUR_KEY' })
await rates.latest({ base: 'EUR' })`
  const fetching = `await (await fetch(${url}, { headers: { 'Authorization': 'Bearer YOUR_KEY' } })).json()`

  it.each([
    [
      'url',
      open,
      convertAmount("1'0"),
      expect.stringMatching(/^http:.*\/v1\/convert\?from=USD&to=EUR&amount=1%270$/),
    ],
    [
      'curl',
      open,
      convertAmount("1'; ls '"),
      expect.stringMatching(/^curl 'http:[^']+amount=1%27%3B\+ls\+%27'$/),
    ],
    [
      'curl',
      inQuotes,
      latest,
      expect.stringMatching(/^curl 'http:\/\/a\.example\/it%27s\/v1\/[^']+'$/),
    ],
    ['curl', keyed, latest, `curl -H 'Authorization: Bearer YOUR_KEY' ${url}`],
    ['fetch', keyed, latest, fetching],
    ['client', keyed, latest, program],
    [
      'client',
      open,
      historyOf('EUR,GBP'),
      expect.stringMatching(/history\(\{.* to: \['EUR', 'GBP'\], period: '1M' \}\)/),
    ],
    ['python', keyed, latest, expect.stringMatching(/'Authorization': 'Bearer YOUR_KEY'/)],
    ['cli', keyed, convertAmount("1'0"), String.raw`ratesmith convert '1'\''0' USD EUR`],
    ['cli', open, historyOf('EUR'), 'ratesmith history USD EUR --period 1M'],
    ['cli', open, historyOf('EUR,GBP'), 'ratesmith history USD EUR,GBP --period 1M'],
    ['cli', keyed, latest, 'ratesmith latest --base EUR'],
  ] as const)('is copied as %s, with %j: %j', (form, target, apiRequest, text) => {
    expect(snippetOf(form, target, apiRequest)).toEqual(text)
  })
})

describe('the coverage of history', () => {
  /** Returns a currency with the last day in each source, `null` where it is unknown. */
  function currency(
    code: string,
    history: boolean | null,
    lastDays?: Record<string, string | null>,
  ): CurrencyCoverage {
    const histories =
      lastDays &&
      Object.entries(lastDays).map(([name, to]) => {
        return { from: null, to, source: { name, url: 'https://bank.example' } }
      })
    const about = { name: code, numeric: null, minorUnits: 2, symbol: null, countries: [] }
    return {
      code,
      history,
      ...about,
      latest: true,
      withdrawn: null,
      ...(histories && { histories }),
    }
  }

  it('includes pairs of two covered currencies', () => {
    const { whyNone } = historyCoverageOf([currency('USD', true), currency('AED', false)])
    expect(whyNone('USD', 'USD')).toBeUndefined()
    expect(whyNone('USD', 'AED')).toBe('No daily history for AED')
    expect(whyNone('AED', 'AED')).toBe('No daily history for AED')
    expect(whyNone('XYZ', 'AED')).toMatch(/AED and XYZ|XYZ and AED/)
  })

  it('includes all pairs while it is unknown', () => {
    const unknown = historyCoverageOf([currency('USD', null), currency('AED', null)])
    expect(unknown.isComplete).toBe(false)
    expect(unknown.whyNone('USD', 'AED')).toBeUndefined()
    const day = '2026-11-20'
    const partly = [
      currency('USD', true, { a: day }),
      currency('KWD', true, { b: day }),
      currency('AED', null, {}),
    ]
    expect(historyCoverageOf(partly).whyNone('USD', 'KWD')).toBeUndefined()
    expect(historyCoverageOf(partly.slice(0, 2)).whyNone('USD', 'KWD')).toContain('both')
  })

  it.each([
    ['2026-11-20', true],
    ['2026-11-04', true],
    [null, true],
    ['2026-06-30', false],
  ])('includes a currency whose last day in the common source is %s: %s', (lastDay, isIn) => {
    const { whyNone } = historyCoverageOf([
      currency('USD', true, { a: '2026-11-20', b: '2026-11-20' }),
      currency('KWD', true, { b: lastDay, c: '2026-11-20' }),
    ])
    expect(whyNone('USD', 'KWD') === undefined).toBe(isIn)
  })

  it('names a service without history', () => {
    expect(historyCoverageOf([currency('USD', false)]).whyNone('USD', 'USD')).toMatch(/service/)
  })
})
