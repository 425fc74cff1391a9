import { describe, expect, it } from 'vitest'
import * as z from 'zod/mini'

import { createQueryParser } from '../../src/http/query.ts'
import { RatesError } from '../../src/index.ts'

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

describe('a query parser with schemas', () => {
  const rules = {
    parameters: {
      from: z.string('missing'),
      to: z.string('missing').check(z.refine((text) => text.length < 4, 'long')),
    },
    failures: {
      missing: (parameter: string) => new RatesError('missing_parameter', `no ${parameter}`),
      long: (parameter: string, sent: string) =>
        new RatesError('invalid_parameter', `${parameter} is not ${sent}`),
    },
    toParams: ({ from, to }: { from: string; to: string }) => [from, to],
  }

  it.each([
    ['', 'no from'],
    ['to=EURO', 'no from'],
    ['from=USD', 'no to'],
    ['from=USD&to=EURO', 'to is not EURO'],
  ])('throws the first error in the order of the schemas for %j', (query, message) => {
    expect(() => createQueryParser(rules)(query)).toThrow(expect.objectContaining({ message }))
  })

  it('throws when a schema names an unknown failure', () => {
    const { missing } = rules.failures
    const parse = createQueryParser({ ...rules, failures: { missing } })
    expect(() => parse('from=USD&to=EURO')).toThrow(/unknown failure.*long/)
  })

  const short = z.string().check(z.refine((text: string) => text.length < 4, 'long'))
  const halves = z.transform((text: string) => text.split('-'))

  it.each([
    ['text with checks', short],
    ['optional text', z.optional(short)],
    ['text with a regular expression', z.string().check(z.regex(/^[a-z]*$/, 'long'))],
    ['one of some texts', z.custom<string>((text) => text === 'EUR' || text === '', 'long')],
    ['text that is transformed', z.pipe(short, halves)],
    ['optional text that is transformed', z.optional(z.pipe(short, halves))],
    ['text of two transformations', z.pipe(z.pipe(short, halves), z.array(short))],
    ['a list', z.pipe(halves, z.array(short))],
  ])('returns what the schema returns: %s', (_, to) => {
    const parse = createQueryParser({
      parameters: { to },
      failures: { long: rules.failures.long },
      toParams: (params): unknown => params.to,
    })
    const texts = ['', 'EUR', 'EURO', 'a-b', 'a-bcde-f']
    const [valid = [], invalid = []] = [true, false].map((isValid) =>
      texts.filter((sent) => z.safeParse(to, sent).success === isValid),
    )
    expect(valid.length).toBeGreaterThan(0)
    expect(invalid.length).toBeGreaterThan(0)
    for (const sent of valid) expect(parse(`to=${sent}`)).toEqual(z.parse(to, sent))
    for (const sent of invalid) expect(() => parse(`to=${sent}`)).toThrow('to is not')
  })
})

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
