import { expect, it } from 'vitest'

import { openService } from './fixtures/service.ts'

const quotes = { secrets: ['a secret of thirty-two bytes, or more'] }
const { handler, json } = openService({ quotes })

const SOURCE = 'source: { name: string, url: string }'
const RATES = 'rates: { CODE: number }'
const UPDATED = 'updatedAt: number'
const UPDATES = `${UPDATED}, nextUpdateAt: number`
const CONVERSION = 'from: string, to: string, amount: number, rate: number, result: number'
const POINTS = 'points: [{ d: string, r: number }]'
const STATS =
  'stats: { open: number, close: number, high: number, low: number, changePct: number, ' +
  'average: number, highDate: string, lowDate: string }'
const CURRENCY =
  'code: string, name: string, numeric: string, minorUnits: number, symbol: null, ' +
  'countries: [string], latest: boolean, history: boolean, withdrawn: null'
const STATE =
  `ready: boolean, stale: boolean, ${SOURCE}, age: number, ` +
  'lastAttempt: { at: number, outcome: string }, nextAttemptAt: number'
const ERROR = 'error: { code: string, message: string }'

// The responses of 0.1.0. New requests add lines; existing lines never change, before or after 1.0.
const PROMISED: [target: string, fields: string][] = [
  ['v1/latest', `base: string, ${UPDATES}, ${RATES}, ${SOURCE}, disclaimer: string`],
  [
    'v1/latest?date=2026-11-18',
    `base: string, date: string, ${UPDATES}, ${RATES}, ${SOURCE}, disclaimer: string`,
  ],
  ['v1/convert?from=USD&to=EUR', `${CONVERSION}, ${UPDATED}, ${SOURCE}`],
  [
    'v1/convert?from=USD&to=EUR&reverse=true&date=2026-11-18',
    `${CONVERSION}, reverse: boolean, date: string, ${UPDATED}, ${SOURCE}`,
  ],
  [
    'v1/convert?from=USD&to=EUR,JPY',
    `from: string, amount: number, results: { CODE: { rate: number, result: number } }, ${UPDATED}, ${SOURCE}`,
  ],
  [
    'v1/quote?from=USD&to=EUR',
    `${CONVERSION}, ${UPDATED}, ${SOURCE}, jti: string, expiresAt: number, quote: string`,
  ],
  [
    'v1/history?from=USD&to=EUR',
    `from: string, to: string, period: string, ${POINTS}, ${STATS}, ${SOURCE}`,
  ],
  [
    'v1/history?from=USD&to=EUR&start=2026-10-01&interval=week',
    `from: string, to: string, start: string, end: string, interval: string, ${POINTS}, ${STATS}, ${SOURCE}`,
  ],
  [
    'v1/days?start=2026-11-20&symbols=USD',
    'date: string, source: string, base: string, rates: { CODE: number }',
  ],
  ['v1/currencies', `currencies: [{ ${CURRENCY} }]`],
  [
    'v1/status',
    `ready: boolean, latest: { ${UPDATED}, ${STATE} }, history: { lastDay: string, ${STATE} }`,
  ],
  ['rates', `base: string, ${RATES}, ${UPDATES}, provider: string`],
  ['convert?from=USD&to=EUR', `${CONVERSION}, ${UPDATED}, provider: string`],
  ['v1/latest?base=XXX', ERROR],
  ['v1/nothing', ERROR],
  ['rates?base=XXX', 'error: string'],
  ['nothing', 'error: string'],
]

/** Returns the names and types in `value`; currency codes count as one name, and the first item of a list represents all. */
function shapeOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return `[${shapeOf(value[0])}]`
  if (typeof value !== 'object') return typeof value
  const fields = Object.entries(value).map(([name, each]) => {
    return `${name.replace(/^[A-Z]{3}$/, 'CODE')}: ${shapeOf(each)}`
  })
  return `{ ${[...new Set(fields)].join(', ')} }`
}

it.each(PROMISED)('the shape of /api/%s is the same as in 0.1.0', async (target, fields) => {
  await handler.refresh()
  expect(shapeOf(await json(`/api/${target}`))).toBe(`{ ${fields} }`)
})
