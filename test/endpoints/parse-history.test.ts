import { describe, expect, it } from 'vitest'

import { parseHistory } from '../../src/endpoints/v1/parse-history.ts'

const PLAIN = 'from=EUR&to=USD'

describe('the query of a history', () => {
  it('is read as it was sent', () => {
    expect(parseHistory('from=eur&to=USD&period=1W').question).toEqual({
      from: 'eur',
      to: 'USD',
      period: '1W',
    })
    const days = 'start=2026-11-01&end=2026-11-20&interval=week&format=csv'
    expect(parseHistory(`${PLAIN}&${days}`).question).toEqual({
      from: 'EUR',
      to: 'USD',
      start: '2026-11-01',
      end: '2026-11-20',
      interval: 'week',
      format: 'csv',
    })
  })

  it('is read once', () => {
    expect(parseHistory(PLAIN)).toBe(parseHistory(PLAIN))
  })

  it('asks for days and not for a date', () => {
    expect(() => parseHistory(`${PLAIN}&date=2026-11-20`)).toThrow('date (use start and end)')
  })

  it.each([
    ['', 'Missing required parameter: from'],
    ['from=EUR', 'Missing required parameter: to'],
    ['from=EURO&to=USD', 'Invalid from currency: EURO'],
    [`${PLAIN}&period=2W`, 'Invalid period: 2W'],
    [`${PLAIN}&start=today`, 'Invalid parameter: start (YYYY-MM-DD)'],
    [`${PLAIN}&end=2026-11-31`, 'Invalid parameter: end (YYYY-MM-DD)'],
    [`${PLAIN}&interval=year`, 'Invalid parameter: interval (day, week or month)'],
    [`${PLAIN}&format=xml`, 'Invalid parameter: format (json or csv)'],
    ['from=EURO&to=US&period=&start=&end=&interval=&format=', 'Invalid from currency: EURO'],
  ])('of %j is refused', (query, message) => {
    expect(() => parseHistory(query)).toThrow(message)
  })
})

/** The key of a query, read anew: what few can ask again is not remembered. */
function keyOf(query: string): string {
  return parseHistory(`${query}&session=1`).key
}

describe('the key of a history', () => {
  it.each([
    'to=USD&from=EUR',
    'from=eur&to=usd',
    'from=%45UR&to=USD&theme=dark',
    `${PLAIN}&period=1M`,
    `${PLAIN}&format=json`,
  ])('is the same for %j', (query) => {
    expect(keyOf(query)).toBe(keyOf(PLAIN))
  })

  it('is another for every other question', () => {
    const days = ['start=2026-11-01', 'end=2026-11-01', 'interval=day', 'interval=week']
    const others = ['period=1W', 'format=csv', 'start=2026-11-01&end=2026-11-02', ...days]
    const queries = [
      PLAIN,
      'from=USD&to=EUR',
      'from=EUR&to=JPY',
      'from=JPY&to=USD',
      ...others.map((other) => `${PLAIN}&${other}`),
    ]
    expect(new Set(queries.map(keyOf)).size).toBe(queries.length)
  })
})
