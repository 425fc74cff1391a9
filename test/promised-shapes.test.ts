import { describe, expect, it } from 'vitest'

import { createRatesHandler } from '../src/index.ts'
import { fakeClock, fakeProviders } from '../src/testing/index.ts'

const now = fakeClock('2026-11-20T18:00:00Z')
const handler = createRatesHandler({ now, providers: fakeProviders({ now }) })

const SOURCE = { name: 'string', url: 'string' }
const STATS = {
  open: 'number',
  close: 'number',
  high: 'number',
  low: 'number',
  changePct: 'number',
  average: 'number',
  highDate: 'string',
  lowDate: 'string',
}
const POINTS = [{ d: 'string', r: 'number' }]
const PAIR = { from: 'string', to: 'string' }
const CONVERSION = { ...PAIR, amount: 'number', rate: 'number', result: 'number' }
const LATEST = { base: 'string', updatedAt: 'number', nextUpdateAt: 'number' }
const RATES = { rates: { CODE: 'number' } }
const CURRENCY = { code: 'string', name: 'string', numeric: 'string', minorUnits: 'number' }
const STATE = {
  ready: 'boolean',
  stale: 'boolean',
  source: SOURCE,
  age: 'number',
  lastAttempt: { at: 'number', outcome: 'string' },
  nextAttemptAt: 'number',
}
const ERROR = { error: { code: 'string', message: 'string' } }

// What 0.1.0 answered. A line is added with a new question, and none is changed before 1.0, nor after it.
const PROMISED: [target: string, status: number, shape: object][] = [
  ['/api/v1/latest', 200, { ...LATEST, ...RATES, source: SOURCE, disclaimer: 'string' }],
  [
    '/api/v1/latest?date=2026-11-18',
    200,
    {
      base: 'string',
      date: 'string',
      updatedAt: 'number',
      nextUpdateAt: 'number',
      ...RATES,
      source: SOURCE,
      disclaimer: 'string',
    },
  ],
  ['/api/v1/convert?from=USD&to=EUR', 200, { ...CONVERSION, updatedAt: 'number', source: SOURCE }],
  [
    '/api/v1/convert?from=USD&to=EUR&reverse=true&date=2026-11-18',
    200,
    { ...CONVERSION, reverse: 'boolean', date: 'string', updatedAt: 'number', source: SOURCE },
  ],
  [
    '/api/v1/convert?from=USD&to=EUR,JPY',
    200,
    {
      from: 'string',
      amount: 'number',
      results: { CODE: { rate: 'number', result: 'number' } },
      updatedAt: 'number',
      source: SOURCE,
    },
  ],
  [
    '/api/v1/history?from=USD&to=EUR',
    200,
    { ...PAIR, period: 'string', points: POINTS, stats: STATS, source: SOURCE },
  ],
  [
    '/api/v1/history?from=USD&to=EUR&start=2026-10-01&interval=week',
    200,
    {
      ...PAIR,
      start: 'string',
      end: 'string',
      interval: 'string',
      points: POINTS,
      stats: STATS,
      source: SOURCE,
    },
  ],
  [
    '/api/v1/currencies',
    200,
    { currencies: [{ ...CURRENCY, latest: 'boolean', history: 'boolean', withdrawn: 'null' }] },
  ],
  [
    '/api/v1/status',
    200,
    {
      ready: 'boolean',
      latest: { updatedAt: 'number', ...STATE },
      history: { lastDay: 'string', ...STATE },
    },
  ],
  [
    '/api/rates',
    200,
    {
      base: 'string',
      ...RATES,
      updatedAt: 'number',
      nextUpdateAt: 'number',
      provider: 'string',
    },
  ],
  ['/api/convert?from=USD&to=EUR', 200, { ...CONVERSION, updatedAt: 'number', provider: 'string' }],
  ['/api/v1/latest?base=XXX', 400, ERROR],
  ['/api/v1/nothing', 404, ERROR],
  ['/api/rates?base=XXX', 400, { error: 'string' }],
  ['/api/nothing', 404, { error: 'string' }],
]

/** The names and types in `value`; codes of currencies are one name, and the first of a list stands for all. */
function shapeOf(value: unknown): unknown {
  if (value === null) return 'null'
  if (Array.isArray(value)) return [shapeOf(value[0])]
  if (typeof value !== 'object') return typeof value
  const entries = Object.entries(value).map(([name, each]) => [nameOf(name), shapeOf(each)])
  return Object.fromEntries(entries)
}

function nameOf(name: string): string {
  return /^[A-Z]{3}$/.test(name) ? 'CODE' : name
}

describe('the shape of an answer', () => {
  it.each(PROMISED)('to %s is what it was', async (target, status, shape) => {
    await handler.refresh()
    const response = await handler(new Request(`http://localhost${target}`))
    expect(response.status).toBe(status)
    // As texts, so that the order counts.
    const answered = JSON.stringify(shapeOf(await response.json()), null, 2)
    expect(answered).toBe(JSON.stringify(shape, null, 2))
  })
})
