import { describe, expect, it } from 'vitest'
import * as z from 'zod/mini'

import { createQueryParser } from '../../src/http/query.ts'

const optional = z.optional(z.string())

/** Creates a parser with the parameters `base` and `to`. */
function parserOf(more: { isRecurring?: boolean }) {
  return createQueryParser({
    parameters: { base: optional, to: optional },
    failures: {},
    toParams: (params): object => params,
    ...more,
  })
}

describe('a parser of recurring queries', () => {
  const ofLength = (length: number, start: string): string => `base=${start}`.padEnd(length, '.')

  const SHORT = ['', 'base=EUR', 'base=%45UR', '&to=USD&&base=EUR&', ofLength(768, 'EUR')]

  it.each(SHORT)('caches a query at its second request: %j', (query) => {
    const parse = parserOf({ isRecurring: true })
    const [first, second, third] = [parse(query), parse(query), parse(query)]
    expect(second).toEqual(first)
    expect(third).toBe(second)
  })

  it.each([
    // Few clients send equal queries of this form.
    [{ isRecurring: true }, ofLength(769, 'EUR')],
    [{ isRecurring: true }, 'base=EUR&session=1'],
    [{ isRecurring: true }, 'session=1&base=%45UR'],
    [{ isRecurring: true }, 'session'],
    [{ isRecurring: false }, 'base=EUR'],
    [{}, 'base=EUR'],
  ])('parses the query every time: %j %j', (rules, query) => {
    const parse = parserOf(rules)
    expect(parse(query)).toEqual(parse(query))
    expect(parse(query)).not.toBe(parse(query))
  })

  // Each entry takes 768 characters and 512 bytes of 256 KiB.
  it.each([
    [204, true],
    [205, false],
  ])('evicts the oldest query above 256 KiB: the first of %d is cached: %j', (count, isKept) => {
    const parse = parserOf({ isRecurring: true })
    const queries = Array.from({ length: count }, (_, index) => ofLength(768, String(index)))
    const [first] = queries.map((query) => {
      parse(query)
      return parse(query)
    })
    expect(parse(queries[0] ?? '') === first).toBe(isKept)
  })
})
