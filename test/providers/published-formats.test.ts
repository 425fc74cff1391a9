import { describe, expect, it } from 'vitest'

import { dayIn, middleOf, perUnit, withPoint, withoutGroups } from '../../src/upstream/published.ts'
import { readSdmxCsv } from '../../src/upstream/sdmx.ts'
import { readXml } from '../../src/upstream/xml.ts'

describe('readXml()', () => {
  const read = (text: string, path = 'a/b') => readXml(text, path)

  it('has the elements at a path, with their attributes, texts inside and the element outside', () => {
    const text =
      '\u{FEFF}\r\n<?xml version="1.0"?>\n<x:a xmlns:x="u" day="1"><x:b n="1" m=\'&lt;\'> t<c>u</c> <c> v </c><x:d/></x:b><b/><e><b>no</b></e></x:a>\n'
    const [first, second, ...others] = read(text)
    expect([first?.attributes.get('n'), first?.attributes.get('m')]).toEqual(['1', '<'])
    expect([first?.attributes.get('constructor'), first?.attributeCount]).toEqual([undefined, 2])
    expect(['c', 'd', 'e'].map((name) => first?.texts.get(name))).toEqual(['v', '', undefined])
    expect(first?.parent?.attributes.get('day')).toBe('1')
    expect([first?.text, second?.text, others]).toEqual(['t', '', []])
    const nested = `${'<a>'.repeat(11)}<a/>${'</a>'.repeat(11)}`
    expect(read(nested, Array.from({ length: 12 }, () => 'a').join('/'))).toHaveLength(1)
  })

  it('decodes entities, once', () => {
    const text = '<a><b>&lt;c&gt; &amp;lt; &quot;&apos;&#233;&#xE9;</b></a>'
    expect(read(text)[0]?.text).toBe(`<c> &lt; "'éé`)
  })

  it.each([
    ['an unknown entity', '<a><b>&nbsp;</b></a>', /malformed or truncated XML at character \d+$/],
    ['an unfinished entity', '<a><b>a & b</b></a>', /malformed/],
    ['an invalid code point', '<a><b>&#x110000;</b></a>', /malformed/],
    ['another root', '<c/>', /expected a as the root/],
    ['an attribute twice', '<a><b c="1" c="2">t</b></a>', /malformed/],
    ['a document type', '<!DOCTYPE a [<!ENTITY b "1">]><a/>', /markup at character 1$/],
    ['a comment, a section or an instruction', '<a><?b?></a>', /markup at character 4$/],
    ['13 levels', `${'<a>'.repeat(12)}<a/>${'</a>'.repeat(12)}`, /more than 12 levels/],
  ])('rejects %s', (_what, text, message) => {
    expect(() => read(text)).toThrow(message)
  })

  it.each([
    ['levels', '<a>', /more than 12 levels/],
    ['levels that look like empty elements', '<a b="/>">', /more than 12 levels/],
    ['open quotes', '<a b="', /malformed|levels/],
    ['elements', '<a/>', /more than 100000 elements/],
    ['ends of lines', '\r', /malformed/],
    ['entities', '&lt;', /malformed/],
    ['characters beyond 16 bits', '😀', /malformed/],
  ])(
    'rejects four million characters of %s in time, without a stack overflow',
    (_, part, message) => {
      const text = `<a>${part.repeat(4_000_000 / part.length)}`
      expect(() => read(text)).toThrow(message)
    },
  )

  it('rejects a document that is truncated at any character, without quoting it', () => {
    const text = '<a><b n="1">secret<c>&lt;</c></b></a>'
    for (let end = 0; end < text.length; end += 1) {
      expect(() => read(text.slice(0, end))).toThrow(/^((?!secret)[^])*$/)
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

it('a day with other texts is none', () => {
  expect(['2026-03-17', '17.3.26', undefined, '17-03-2026', 'March 2, 2026'].map(dayIn)).toEqual([
    '',
    '',
    '',
    '2026-03-17',
    '2026-03-02',
  ])
})
