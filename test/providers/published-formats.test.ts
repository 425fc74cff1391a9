import { describe, expect, it } from 'vitest'

import {
  dayIn,
  formatDay,
  middleOf,
  monthsOf,
  perUnit,
  withDaysBefore,
  withPoint,
  withoutGroups,
  yearsOf,
} from '../../src/upstream/published.ts'
import { readSdmxCsv } from '../../src/upstream/sdmx.ts'
import { readXml } from '../../src/upstream/xml.ts'

describe('readXml()', () => {
  const read = (text: string, path = 'a/b') =>
    [...readXml(text, path)].map(({ text: own, attributes, texts }) => [
      own,
      Object.fromEntries(attributes),
      Object.fromEntries(texts),
    ])

  it('has the elements at a path, with their attributes and the texts inside', () => {
    const text =
      '\u{FEFF}<?xml version="1.0"?>\n<x:a xmlns:x="u"><x:b n="1" m=\'2\'> t <c>u</c><d/></x:b><b/><e><b>no</b></e></x:a>\n'
    expect(read(text)).toEqual([
      ['t', { n: '1', m: '2' }, { c: 'u', d: '' }],
      ['', {}, {}],
    ])
  })

  it('has the last of several texts with a name, without prefixes, among other content', () => {
    const many = Array.from({ length: 100 }, (_, index) => `<c${index}>${index}</c${index}>`)
    const texts = { c: '2', d: '3' }
    for (const inside of [
      '<c>1</c><c>2</c><d>3</d>',
      '<c>1</c>\n<c> 2 </c><x:d>3</x:d>',
      '<c>1</c><c n="1">2</c><d>3</d>',
      '<c>1</c><c>2</c><d>3</d><e><f>4</f></e>',
      '<c>1</c><c>2</c>text<d>3</d>',
    ]) {
      const [found] = read(`<a><b>${inside}</b></a>`)
      expect([inside, found?.[2]]).toEqual([inside, expect.objectContaining(texts)])
    }
    const [[, , found = {}] = []] = read(`<a><b>${many.join('')}</b></a>`)
    expect(Object.keys(Object(found))).toHaveLength(100)
    const nested = `${'<a>'.repeat(11)}<a>t</a>${'</a>'.repeat(11)}`
    expect(read(nested, Array.from({ length: 12 }, () => 'a').join('/'))).toEqual([['t', {}, {}]])
  })

  it('has the element outside', () => {
    const [first, second] = readXml('<a><b day="1"><c/></b><b day="2"><c/></b></a>', 'a/b/c')
    expect([first, second].map((each) => each?.parent?.attributes.get('day'))).toEqual(['1', '2'])
  })

  it('decodes entities, once', () => {
    expect(read('<a><b>&lt;c&gt; &amp;lt; &quot;&apos;&#233;&#xE9;</b></a>')[0]?.[0]).toBe(
      `<c> &lt; "'éé`,
    )
  })

  it.each([
    ['an unknown entity', '<a><b>&nbsp;</b></a>', /unknown entity/],
    ['an unfinished entity', '<a><b>a & b</b></a>', /unknown entity/],
    ['an invalid code point', '<a><b>&#x110000;</b></a>', /unknown entity/],
    ['an entity of an object', '<a><b>&constructor;</b></a>', /unknown entity/],
    ['another root', '<c/>', /expected a as the root/],
    ['an attribute of a whole element twice', '<a><b c="1" c="2">t</b></a>', /duplicate attribute/],
    ['many levels', `${'<a>'.repeat(13)}${'</a>'.repeat(13)}`, /more than 12 levels/],
  ])('rejects %s', (_what, text, message) => {
    expect(() => read(text)).toThrow(message)
  })

  it('rejects a document that is truncated at any character', () => {
    const text = '<a><b n="1">t<c>&lt;</c></b></a>'
    for (let end = 0; end < text.length; end += 1) {
      expect(() => read(text.slice(0, end))).toThrow(Error)
    }
  })
})

describe('readSdmxCsv()', () => {
  const FORM = { currency: 'CUR', fixed: { FREQ: ['D', 'B'], KIND: ['SP'] } }
  const read = (text: string) => [...readSdmxCsv(text, FORM)]

  it('has observations with their units', () => {
    const text =
      'FREQ,CUR,UNIT_MULT,TIME_PERIOD,OBS_VALUE\nB,JPY,2,2026-11-20,6.7\nD,USD,,2026-11-20,NaN\n'
    expect(read(text)).toEqual([
      { date: '2026-11-20', code: 'JPY', value: '6.7', units: '100' },
      { date: '2026-11-20', code: 'USD', value: '', units: '' },
    ])
    expect(() => read(text.replace('JPY,2', 'JPY,1.5'))).toThrow(/line 2 .*unexpected UNIT_MULT/)
  })
})

describe('a published number', () => {
  it.each([
    ['416.2300', '100', 4.1623],
    ['416.2300', 100, 4.1623],
    [1.233, 1000, 0.001233],
    ['0.1', 3, 0.03333333333333333],
    ['58.94', 1, 58.94],
    ['1,5', 1, NaN],
    ['1e3', 1, NaN],
    [' 1', 1, NaN],
    ['-1', 1, NaN],
    ['0', 1, NaN],
    [Infinity, 1, NaN],
    [1, 0, NaN],
    [1, 0.5, NaN],
    [1, 'x', NaN],
  ])('%j for %j units is %f each', (price, units, each) => {
    expect(perUnit(price, units)).toBe(each)
  })

  it('has an exact middle', () => {
    expect(middleOf('31.0929', '31.2957')).toBe(31.1943)
    expect(middleOf(0.1, 0.2)).toBe(0.15)
    expect(middleOf('31.0929', '')).toBeNaN()
  })

  it('may have a decimal comma or commas between thousands, but never both', () => {
    expect(['1,5', '12', '1.500,5', '1,500,5'].map(withPoint)).toEqual([
      '1.5',
      '12',
      'invalid',
      '1.500,5',
    ])
    expect(['1,435.40', '1,435', '18,0923', '1,43.5', '12,345,678.9'].map(withoutGroups)).toEqual([
      '1435.40',
      '1,435',
      '18,0923',
      '1,43.5',
      '12345678.9',
    ])
  })
})

describe('a published day', () => {
  it.each([
    ['17.03.2026', '2026-03-17'],
    ['17/03/2026', '2026-03-17'],
    ['17-03-2026', '2026-03-17'],
    ['17 Mar 2026', '2026-03-17'],
    ['17-Mar-2026', '2026-03-17'],
    ['01/Nov/2026', '2026-11-01'],
    ['March 2, 2026', '2026-03-02'],
    ['March 02, 2026', '2026-03-02'],
    ['2026-03-17', ''],
    ['17.3.26', ''],
    [undefined, ''],
  ])('%j is %j', (text, day) => {
    expect(dayIn(text)).toBe(day)
  })

  it.each([
    ['DD/MM/YYYY', '20/11/2026'],
    ['MM-DD-YYYY', '11-20-2026'],
    ['YYYYMMDD', '20261120'],
    ['DD/MON/YYYY', '20/Nov/2026'],
  ])('has the form %s', (form, text) => {
    expect(formatDay('2026-11-20', form)).toBe(text)
  })
})

describe('spans with whole files', () => {
  it('are years or months', () => {
    expect(yearsOf({ start: '2025-12-31', end: '2026-01-01' })).toEqual([
      { start: '2025-01-01', end: '2025-12-31' },
      { start: '2026-01-01', end: '2026-12-31' },
    ])
    expect(monthsOf({ start: '2026-01-31', end: '2026-02-01' })).toEqual([
      { start: '2026-01-01', end: '2026-01-31' },
      { start: '2026-02-01', end: '2026-02-28' },
    ])
    expect(monthsOf({ start: '2026-02-01', end: '2026-01-31' })).toEqual([])
  })

  it('have the days before', () => {
    expect(withDaysBefore({ start: '2026-01-11', end: '2026-01-13' }, 2)).toEqual([
      { start: '2026-01-01', end: '2026-01-12' },
      { start: '2026-01-03', end: '2026-01-13' },
    ])
  })
})
