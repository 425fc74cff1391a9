import { describe, expect, it } from 'vitest'
import type { Parameter } from '../../src/api/parameter-kinds.ts'
import * as z from 'zod/mini'

import { invalidParameter } from '../../src/errors.ts'
import { createQueryParser } from '../../src/http/query.ts'

const text: Parameter = {
  schema: z.string(),
  fromText: (sent) => sent,
  error: (name) => invalidParameter(name, ''),
  description: '',
  aliases: '',
}

const createParser = () =>
  createQueryParser({ path: '/v1/x', parameters: { base: text, to: text } }, ['secret'])

describe('a parser of queries', () => {
  const ofLength = (length: number, start: string): string => `base=${start}`.padEnd(length, '.')

  // Few clients send equal queries of this form.
  it.each([ofLength(769, 'EUR'), 'base=EUR&_=1', 'utm_source=1&base=%45UR', 'base=EUR&secret=k'])(
    'parses a query every time that is long or has other names: %j',
    (query) => {
      const parse = createParser()
      expect(parse(query)).toEqual(parse(query))
      expect(parse(query)).not.toBe(parse(query))
    },
  )

  // Each entry takes 768 characters and 512 bytes of 256 KiB.
  it.each([
    [204, true],
    [205, false],
  ])('evicts the oldest query above 256 KiB: the first of %d is cached: %j', (count, isKept) => {
    const parse = createParser()
    const queries = Array.from({ length: count }, (_, index) => ofLength(768, String(index)))
    const [first] = queries.map((query) => {
      parse(query)
      return parse(query)
    })
    expect(parse(queries[0] ?? '') === first).toBe(isKept)
  })
})
