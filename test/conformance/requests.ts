import type { RatesHandler } from 'ratesmith'

import { entries, toRequestData } from '../catalogue/catalogue.ts'
import type { RequestData } from '../catalogue/catalogue.ts'

const GOOD_TARGETS = [
  '/api/v1/latest',
  '/api/v1/latest?base=EUR&symbols=USD,GBP,JPY',
  '/api/v1/convert?from=USD&to=EUR&amount=100',
  '/api/v1/convert?from=IDR&to=KWD&amount=0.1',
  '/api/v1/convert?from=USD&to=JPY,KWD,EUR&amount=19.99',
  '/api/v1/convert?from=USD&to=EUR&amount=19.99&reverse=true',
  '/api/v1/convert?from=GBP&to=USD,EUR&date=2020-02-29',
  '/api/v1/convert?from=GBP&to=USD,EUR&date=2020-02-29&rule=next&maxAge=3',
  '/api/v1/latest?format=csv',
  '/api/rates?format=csv',
  '/api/v1/convert?from=USD&to=EUR,JPY&amount=100&reverse=true&format=csv',
  '/api/v1/history?from=USD&to=JPY&period=1Y&format=csv',
  '/api/v1/latest?format=xml',
  '/api/v1/days?start=2024-01-01&source=ecb',
  '/api/v1/days?start=2024-01-01&source=ecb&format=csv',
  '/api/v1/days?start=2026-11-23',
  '/api/v1/currencies',
  '/api/v1/openapi.json',
  '/api/v1/status',
  '/api/rates?base=CHF',
  '/api/convert?from=ISK&to=USD&amount=12.5',
  ...['1W', '1M', '3M', '6M', '1Y', '5Y'].map(
    (period) => `/api/v1/history?from=IDR&to=EUR&period=${period}`,
  ),
]

const AMOUNTS =
  '0 .1 1.005 4.9e-324 3.3333333333333333 123456789.123456789 9007199254740993 999999999999999.9 1e22 ' +
  '123456789012345678901234567890 1.7976931348623157e300'

/** Some bases, and amounts with difficult products for a few pairs each. */
async function conversionTargets(handler: RatesHandler): Promise<string[]> {
  const codes = Object.keys((await handler.rates.latest()).rates)
  const at = (index: number): string => codes[index % codes.length] ?? ''
  const conversions = AMOUNTS.split(' ').flatMap((amount, row) =>
    Array.from({ length: 3 }, (_, index) => {
      const [from, to] = [at(row + index * 7), at(row * 3 + index * 11 + 1)]
      return `/api/v1/convert?from=${from}&to=${to}&amount=${amount}`
    }),
  )
  const bases = codes.filter((_, index) => index % 8 === 0)
  return [...bases.map((code) => `/api/v1/latest?base=${code}`), ...conversions]
}

const OTHER_PREFIXES = ['/FX', '/%66x', '//fx', '/fx/', '/fx%2F', '/fxx', '/f', '']

/**
 * Returns valid requests, and every invalid one of the catalogue that a `Request` can carry, normalised as by `Request`.
 * `prefix` precedes every path.
 */
export async function conformanceRequests(
  handler: RatesHandler,
  prefix: string,
): Promise<RequestData[]> {
  const bad = entries.filter(({ door }) => door !== 'answer')
  const targets = [...GOOD_TARGETS, ...(await conversionTargets(handler))]
  const good = targets.map((target) => ({ method: 'GET', target }))
  const requests = await Promise.all(
    [...good, ...bad].map((entry) => toRequestData(handler, entry)),
  )
  const own = requests.map((request) => {
    const { pathname, search } = new URL(`http://localhost${request.target}`)
    return { ...request, target: prefix + pathname + search }
  })
  if (prefix === '') return own
  const others = OTHER_PREFIXES.map((other) => `${other}/api/v1/latest`)
  return [...own, ...others.map((target) => ({ method: 'GET', target }))]
}
