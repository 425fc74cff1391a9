import * as fc from 'fast-check'
import Papa from 'papaparse'
import { describe, expect, it } from 'vitest'

import { readCsv } from '../../src/rates/csv.ts'
import type { CsvSeparator } from '../../src/rates/csv.ts'

const recordsOf = (text: string, separator?: CsvSeparator): string[][] => [
  ...readCsv(text, separator),
]

const cell = fc.string({ unit: fc.constantFrom(...'ab1,;\t"\r\n é'.split('')) })
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
    ['\u{FEFF}a,b', '[["a","b"]]'],
    ['\u{FEFF}"a",\u{FEFF}b', '[["a","\u{FEFF}b"]]'],
    ['\u{FEFF}', '[]'],
    ['a\rb,"c\r\n"\r\nd\n\re', '[["a"],["b","c\\r\\n"],["d"],[""],["e"]]'],
    ['a,"b"\rc', '[["a","b"],["c"]]'],
    [' "a" , " b ",c ', '[["a"," b ","c "]]'],
  ])('reads %j as %s', (text, records) => {
    expect(JSON.stringify(recordsOf(text))).toBe(records)
  })

  it.each(['a"b', '"a"b', '"a', 'a,"b\nc', '"a""', '"a" b'])('throws for %j', (text) => {
    expect(() => recordsOf(text)).toThrow(/^line 1 .*quote/)
    const records = readCsv(`a,b\n${text}`)
    expect(records.next().value).toEqual(['a', 'b'])
    expect(() => records.next()).toThrow(/^line 2 .*quote/)
  })

  const FORMS = ([',', ';', '\t'] as const).flatMap((separator) =>
    ['\n', '\r\n', '\r'].map((newline) => ({ separator, newline })),
  )

  it.each(FORMS)('reads the output of another program: $separator $newline', (form) => {
    const property = fc.property(table, fc.boolean(), (rows, quotes) => {
      const text = Papa.unparse(rows, { newline: form.newline, delimiter: form.separator, quotes })
      expect(recordsOf(text, form.separator)).toEqual(rows)
    })
    fc.assert(property, { numRuns: 200 })
  })

  it('passes a malformed line on, and reads the others', () => {
    const malformed = (line: string, error: unknown): string[] => [`${line}: ${String(error)}`]
    const records = [...readCsv('a,b\nc"d,e\r\nf,"g\nh,"i"\n\n"j', ',', malformed)]
    expect(records.map(([first = '', ...others]) => [first.slice(0, 15), ...others])).toEqual([
      ['a', 'b'],
      ['c"d,e: Error: l'],
      ['f,"g: Error: li'],
      ['h', 'i'],
      [''],
      ['"j: Error: line'],
    ])
  })

  // A reader with quadratic time exceeds the time limit of the test.
  it('reads a million quotes', () => {
    const [[cell] = []] = recordsOf(`"${'""'.repeat(500_000)}"`)
    expect(cell === '"'.repeat(500_000)).toBe(true)
    expect(recordsOf('"a",b\n'.repeat(200_000))).toHaveLength(200_000)
    expect(recordsOf('a,b\r'.repeat(200_000))).toHaveLength(200_000)
    const lines = ['"a\n', '","\n', '"""\n', '""a\n'].flatMap((line) => line.repeat(100_000))
    const read = [...readCsv(lines.join(''), ',', (line) => [line])]
    expect(read.length).toBeGreaterThan(100_000)
  })
})
