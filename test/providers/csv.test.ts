import * as fc from 'fast-check'
import Papa from 'papaparse'
import { describe, expect, it } from 'vitest'

import { readCsv } from '../../src/providers/ecb/data-api.ts'

const recordsOf = (text: string): string[][] => [...readCsv(text)]

const cell = fc.string({ unit: fc.constantFrom(...'ab1,;"\r\n é'.split('')) })
const table = fc
  .integer({ min: 2, max: 4 })
  .map((width) => fc.array(cell, { minLength: width, maxLength: width }))
  .chain((row) => fc.array(row, { minLength: 1 }))

describe('readCsv()', () => {
  it.each([
    ['', '[]'],
    ['a', '[["a"]]'],
    ['a,b\n', '[["a","b"]]'],
    ['a,\r\n,b', '[["a",""],["","b"]]'],
    ['"a","b"\n', '[["a","b"]]'],
    ['"a""b",""\r\nc,""""', '[["a\\"b",""],["c","\\""]]'],
    ['"a\r\nb,c",d\ne,f', '[["a\\r\\nb,c","d"],["e","f"]]'],
    ['a\n\nb', '[["a"],[""],["b"]]'],
  ])('reads %j as %s', (text, records) => {
    expect(JSON.stringify(recordsOf(text))).toBe(records)
  })

  it.each(['a"b', '"a"b', '"a', 'a,"b\nc', '"a""', 'a,"b"\rc'])('throws for %j', (text) => {
    expect(() => recordsOf(text)).toThrow(/^line 1 .*quote/)
  })

  it.each(['\n', '\r\n'] as const)('reads the output of another program, with %j', (newline) => {
    const property = fc.property(table, fc.boolean(), (rows, quotes) => {
      expect(recordsOf(Papa.unparse(rows, { newline, quotes }))).toEqual(rows)
    })
    fc.assert(property, { numRuns: 500 })
  })

  // A reader with quadratic time exceeds the time limit of the test.
  it('reads a million quotes', () => {
    const [[cell] = []] = recordsOf(`"${'""'.repeat(500_000)}"`)
    expect(cell === '"'.repeat(500_000)).toBe(true)
    expect(recordsOf('"a",b\n'.repeat(200_000))).toHaveLength(200_000)
  })
})
