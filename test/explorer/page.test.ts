import { describe, expect, it, onTestFinished, vi } from 'vitest'

import { pathOf, whyNoHistory } from '../../explorer/api.ts'
import type { ApiRequest } from '../../explorer/api.ts'
import { formatChange, formatRate } from '../../explorer/figures.ts'
import { nearestIndex, percentChanges, plotOf, sparkline } from '../../explorer/plot.ts'
import { parametersOf } from '../../explorer/range.ts'
import { snippetOf } from '../../explorer/snippets.ts'
import { publicationInWords, rateDayInWords, timeInWords } from '../../explorer/times.ts'
import { fragmentOf, parseView } from '../../explorer/view.ts'
import type { CurrencyCoverage, Point } from '../../src/client/index.ts'

describe('words for times', () => {
  const updatedAt = Date.UTC(2026, 8, 5, 9, 4)
  const nextUpdateAt = updatedAt + 86_400_000

  it.each([
    [0, 'expected'],
    [86_400_000 + 600_000, 'expected'],
    [86_400_000 + 600_001, 'overdue since'],
    // The client's clock is behind the server's.
    [-3_600_000, 'expected'],
  ])('name a publication and the next one, %d ms after it: %s', (age, next) => {
    expect(publicationInWords({ updatedAt, nextUpdateAt }, updatedAt + age)).toBe(
      `Published 5 Sep 2026, 09:04 UTC; next ${next} 6 Sep 2026, 09:04 UTC`,
    )
  })

  it('have months of three letters', () => {
    const days = Array.from({ length: 12 }, (_, month) => timeInWords(Date.UTC(2026, month, 25)))
    expect(days.every((day) => /^25 [A-Z][a-z]{2} 2026, 00:00 UTC$/.test(day))).toBe(true)
    expect(new Set(days).size).toBe(12)
  })

  it.each([
    ['2026-07-10', '2026-07-10', 'Friday 10 Jul 2026'],
    ['2026-07-10', '', 'Friday 10 Jul 2026'],
    ['2026-07-10', '2026-07-12', 'Friday 10 Jul 2026, the last before Sunday'],
    ['2026-04-02', '2026-04-09', 'Thursday 2 Apr 2026, the last before 9 Apr 2026'],
  ])('name %s as the day of the rate for %j: %s', (day, asked, words) => {
    expect(rateDayInWords(day, asked)).toBe(words)
  })
})

describe('the view of the page', () => {
  it.each([
    ['', '#amount=100&from=USD&to=EUR&base=USD&period=3M'],
    [
      '#amount=&reverse=true&from=usd&date=2026-07-12&compare=gbp,jpy&unknown=1&toString=2',
      '#amount=&from=USD&to=EUR&reverse=true&date=2026-07-12&base=USD&period=3M&compare=GBP%2CJPY',
    ],
    ['#amount=1 %262', '#amount=1+%262&from=USD&to=EUR&base=USD&period=3M'],
  ])('in the address %j is %s', (fragment, written) => {
    const view = parseView(fragment)
    expect(fragmentOf(view)).toBe(written)
    expect(parseView(written)).toEqual(view)
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
  function plotOne(points: readonly Point[], size: { width: number; height: number }) {
    const { lines, ...plot } = plotOf([points], size)
    const [line] = lines
    if (!line) throw new Error('the chart has no line')
    return { ...plot, ...line }
  }

  const pointsOf = (...rates: number[]) => rates.map((r, index) => ({ d: `2026-11-1${index}`, r }))

  it('draws a line through all points, with days at their distances and higher rates higher', () => {
    const { xs, ys, path, area, left, bottom } = plotOne(POINTS, SIZE)
    const [first = 0, second = 0, third = 0] = xs
    expect((third - second) / (second - first)).toBeCloseTo(4)
    expect(first).toBe(left)
    expect(third).toBeLessThan(SIZE.width)
    const [low = 0, high = 0, middle = 0] = ys
    const downwards = [0, high, middle, low, bottom]
    expect(downwards).toEqual(downwards.toSorted((one, other) => one - other))
    const drawn = xs.map((x, index) => `${x.toFixed(1)} ${ys[index]?.toFixed(1)}`)
    expect(path).toBe(`M${drawn.join('L')}`)
    expect(area).toBe(`${path}V${bottom}H${left.toFixed(1)}Z`)
  })

  it.each([[POINTS.slice(0, 1)], [pointsOf(1, 1, 1)]])(
    'draws a level line, or a single day, in the middle: %j',
    (points) => {
      const { xs, ys, path } = plotOne(points, SIZE)
      expect([...xs, ...ys].every(Number.isFinite)).toBe(true)
      expect(new Set(ys).size).toBe(1)
      expect(path).not.toContain('NaN')
    },
  )

  it.each([
    ['', 0.8396, 0.8864, '0.82, 0.84, 0.86, 0.88, 0.90'],
    ['', 15_308, 17_910, '15000, 16000, 17000, 18000'],
    ['', 0.000061, 0.000064, '0.000061, 0.000062, 0.000063, 0.000064'],
    ['', 1, 1, '0.990, 0.995, 1.000, 1.005, 1.010'],
    ['', 1e-9, 1e9, '0, 500000000, 1000000000'],
    [' %', -12, 4, '-15 %, -10 %, -5 %, 0 %, 5 %'],
    [' %', 0, 0, '-1.0 %, -0.5 %, 0.0 %, 0.5 %, 1.0 %'],
  ])('labels round numbers, with the unit %j, around %d and %d', (unit, first, last, labels) => {
    const { rates, lines, bottom } = plotOf([pointsOf(first, last)], SIZE, unit)
    expect(rates.map(({ label }) => label).join(', ')).toBe(labels)
    const positions = rates.map(({ at }) => at)
    const ys = lines[0]?.ys ?? []
    expect(Math.max(...positions)).toBeCloseTo(bottom)
    expect(Math.max(...positions)).toBeGreaterThanOrEqual(Math.max(...ys))
    expect(Math.min(...positions)).toBeLessThanOrEqual(Math.min(...ys))
    expect(Math.min(...ys)).toBeGreaterThanOrEqual(0)
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

  it('draws a sparkline of the same days and rates in a box of 100 by 20', () => {
    expect(sparkline(POINTS)).toBe('M0.0 19.0L20.0 1.0L100.0 10.0')
    expect(sparkline(POINTS.slice(0, 1))).toBe('M50.0 10.0')
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

  it.each([
    ['2026-11-13', 8, '13 Nov, 14 Nov, 15 Nov, 16 Nov, 17 Nov, 18 Nov, 19 Nov, 20 Nov'],
    ['2026-11-13', 4, '14 Nov, 16 Nov, 18 Nov, 20 Nov'],
    ['2026-10-20', 5, '23 Oct, 30 Oct, 6 Nov, 13 Nov, 20 Nov'],
    ['2025-11-20', 5, 'Feb 2026, Apr 2026, Jun 2026, Sep 2026, Nov 2026'],
    ['1999-01-04', 4, 'Dec 2005, Dec 2012, Dec 2019, Nov 2026'],
    ['2021-11-20', 0, ''],
    ['2026-11-20', 5, '20 Nov'],
  ])(
    'labels days at equal distances back from the newest, from %s with room for %d',
    (start, most, labels) => {
      const points = [start, '2026-11-20'].map((d) => ({ d, r: 1 }))
      const { left } = plotOne(points, SIZE)
      const { days } = plotOne(points, { width: left + 88 * most + 1, height: 200 })
      expect(days.map(({ label }) => label).join(', ')).toBe(labels)
      // The last label is moved into the chart.
      const distances = days.slice(0, -2).map(({ at }, index) => (days[index + 1]?.at ?? 0) - at)
      for (const distance of distances) expect(distance).toBeCloseTo(distances[0] ?? 0)
    },
  )

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
  const pair = { from: 'USD', to: 'EUR' }
  const four = ['GBP', 'JPY', 'CHF']

  it.each([
    ['', [], { ...pair, period: '3M' }],
    ['#period=2W', [], { ...pair, period: '2W' }],
    ['', four, { from: 'USD', to: 'EUR,GBP,JPY,CHF', period: '3M' }],
    ['#period=10Y', [], { ...pair, start: '2018-02-28' }],
    ['#period=10Y', four, { to: 'EUR,GBP,JPY,CHF', start: '2018-02-28', interval: 'week' }],
    ['#period=10Y&end=2020-01-01', [], { ...pair, start: '1999-01-04', end: '2020-01-01' }],
    ['#period=MAX', [], { ...pair, start: '1999-01-04' }],
    ['#period=MAX', ['GBP'], { to: 'EUR,GBP', start: '1999-01-04', interval: 'week' }],
    ['#start=2020-01-01', [], { ...pair, start: '2020-01-01' }],
    ['#end=2001-01-01', [], { ...pair, start: '1999-01-04', end: '2001-01-01' }],
  ])('of %j with %j are the period, or days', (fragment, compared, expected) => {
    vi.useFakeTimers({ now: Date.UTC(2028, 1, 29, 12) })
    onTestFinished(() => void vi.useRealTimers())
    expect(parametersOf(parseView(fragment), compared)).toEqual({ from: 'USD', ...expected })
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
  const reverse: ApiRequest = {
    operation: 'convert',
    parameters: { from: 'USD', to: 'EUR', amount: '5', reverse: 'true', date: '2026-07-12' },
  }
  const open = { baseUrl: 'http://a.example/api', hasKey: false }
  const keyed = { ...open, hasKey: true }

  it('has a path with a list as it is written', () => {
    const path = pathOf('/api', historyOf('EUR,GBP'))
    expect(path).toBe('/api/v1/history?from=USD&to=EUR,GBP&period=1M')
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

  const base = 'http://a.example/api/v1/'
  const url = `'${base}latest?base=EUR'`
  const inQuotes = { baseUrl: "http://a.example/it's", hasKey: false }
  const program = `import { createRatesClient } from 'ratesmith/client'

const rates = createRatesClient({ baseUrl: 'http://a.example/api', key: 'YOUR_KEY' })
await rates.latest({ base: 'EUR' })`
  const fetching = `await (await fetch(${url}, { headers: { 'Authorization': 'Bearer YOUR_KEY' } })).json()`

  it.each([
    ['URL', open, convertAmount("1 &'2"), `${base}convert?from=USD&to=EUR&amount=1+%26%272`],
    [
      'curl',
      open,
      convertAmount("'; ls"),
      `curl '${base}convert?from=USD&to=EUR&amount=%27%3B+ls'`,
    ],
    ['curl', inQuotes, latest, "curl 'http://a.example/it%27s/v1/latest?base=EUR'"],
    ['curl', keyed, latest, `curl -H 'Authorization: Bearer YOUR_KEY' ${url}`],
    ['fetch', keyed, latest, fetching],
    ['client', keyed, latest, program],
    [
      'client',
      open,
      historyOf('EUR,GBP'),
      expect.stringMatching(/ to: \['EUR', 'GBP'\], period: '1M' \}/),
    ],
    [
      'client',
      open,
      reverse,
      expect.stringMatching(/ amount: 5, reverse: true, date: '2026-07-12' \}/),
    ],
    ['Python', keyed, latest, expect.stringMatching(/'Authorization': 'Bearer YOUR_KEY'/)],
    ['CLI', keyed, convertAmount("1'0"), String.raw`ratesmith convert '1'\''0' USD EUR`],
    ['CLI', open, reverse, 'ratesmith convert 5 USD EUR --reverse --date 2026-07-12'],
    ['CLI', open, historyOf('EUR,GBP'), 'ratesmith history USD EUR,GBP --period 1M'],
    ['CLI', keyed, latest, 'ratesmith latest --base EUR'],
  ] as const)('is copied as %s, with %j: %j', (form, target, apiRequest, text) => {
    expect(snippetOf(form, target, apiRequest)).toEqual(text)
  })
})

describe('whyNoHistory', () => {
  function reasonFor(histories: Record<string, boolean | null>, from: string, to: string) {
    const about = { numeric: null, minorUnits: 2, symbol: null } as const
    const currencies = Object.entries(histories).map(
      ([code, history]): [string, CurrencyCoverage] => [
        code,
        { ...about, code, name: code, countries: [], history, latest: true, withdrawn: null },
      ],
    )
    return whyNoHistory({ codes: [], currencies: new Map(currencies), areNamed: true }, from, to)
  }

  it.each([
    ['USD', 'USD', undefined],
    ['USD', 'AED', 'No daily history for AED'],
    ['AED', 'AED', 'No daily history for AED'],
    ['XYZ', 'AED', 'No daily history for XYZ and AED'],
  ])('names the currencies without one, of %s in %s: %s', (from, to, reason) => {
    expect(reasonFor({ USD: true, AED: false }, from, to)).toBe(reason)
  })

  it.each([[{}], [{ USD: true, AED: null }], [{ USD: null }]])(
    'names none while that is unknown: %j',
    (histories) => {
      expect(reasonFor(histories, 'USD', 'AED')).toBeUndefined()
      expect(reasonFor(histories, 'USD', 'XYZ')).toBeUndefined()
    },
  )

  it('names a service without history', () => {
    expect(reasonFor({ USD: false }, 'USD', 'USD')).toBe('This service has no history')
  })
})
