import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { readEcbXml } from '../../src/providers/ecb-xml.ts'
import { dailyXml, ecbDays, newest, shortHistoryXml } from '../fixtures/ecb-files.ts'
import { arbitraryDays } from './arbitrary-days.ts'

const NOW = Date.UTC(2026, 10, 20, 18)

const GOOD =
  '<?xml version="1.0"?><gesmes:Envelope xmlns="a"><Cube><Cube time="2026-11-20"><Cube currency="USD" rate="1.1"/></Cube></Cube></gesmes:Envelope>'

/** `GOOD` with `text` in the place of `part`. */
function changed(part: string, text: string): string {
  expect(GOOD).toContain(part)
  return GOOD.replace(part, text)
}

describe('readEcbXml()', () => {
  it('reads the files as the bank writes them: either quotes, any white space, newest first', () => {
    const days = ecbDays('2026-08-24', '2026-11-20', NOW)
    expect(readEcbXml(shortHistoryXml(days))).toEqual(days)
    expect(readEcbXml(dailyXml(newest(NOW)))).toEqual([newest(NOW)])
  })

  it.each([
    [
      'attributes in another order',
      changed('currency="USD" rate="1.1"', 'rate="1.1" currency="USD"'),
    ],
    ['both quotes', changed('currency="USD"', "currency='USD'")],
    ['white space within tags', changed('currency="USD"', '\r\n currency = "USD"\t')],
    ['an end tag of its own', changed('"1.1"/>', '"1.1"></Cube>')],
    ['no prolog', changed('<?xml version="1.0"?>', '')],
    ['line breaks around', `\n${GOOD}\r\n`],
    [
      'headings',
      changed('<Cube>', '<gesmes:Sender><gesmes:name>A</gesmes:name></gesmes:Sender><Cube>'),
    ],
  ])('reads %s', (_what, text) => {
    expect(readEcbXml(text)).toEqual([{ date: '2026-11-20', rates: { USD: 1.1 } }])
  })

  it.each([
    ['nothing', '', 'the XML does not end'],
    ['a page of HTML', '<!doctype html><p>Back soon', '"<!doctype html><p>Ba…" is no tag of it'],
    [
      'a document type',
      changed('?>', '?><!DOCTYPE a [<!ENTITY b "1.1">]>'),
      '"<!DOCTYPE a [<!ENTIT…" is no tag',
    ],
    ['an entity in a rate', changed('"1.1"', '"&b;"'), '"&b;" is no rate'],
    [
      'an entity in a heading',
      changed('<Cube>', '<gesmes:name>&b;</gesmes:name><Cube>'),
      'there is "&b;" in gesmes:name',
    ],
    ['a character by number', changed('"USD"', '"&#85;SD"'), '"&#85;SD" is no currency'],
    ['a comment', changed('<Cube>', '<!-- --><Cube>'), 'is no tag of it'],
    ['a section', changed('<Cube>', '<![CDATA[]]><Cube>'), 'is no tag of it'],
    ['an instruction', changed('<Cube>', '<?a?><Cube>'), 'is no tag of it'],
    [
      'another root',
      GOOD.replaceAll('gesmes:Envelope', 'Envelope'),
      'there is an element "Envelope"',
    ],
    ['text between', changed('<Cube>', 'a<Cube>'), 'there is "a" in gesmes:Envelope'],
    ['text before', `a${GOOD}`, 'there is "a" in gesmes:Envelope'],
    ['more behind', `${GOOD}<a/>`, 'there is more behind the XML'],
    [
      'an unknown element',
      changed('<Cube>', '<Cube><a/>'),
      'there is an element "gesmes:Envelope Cube…',
    ],
    ['an unknown attribute', changed('rate=', 'unit="100" rate='), 'there is an element'],
    ['an attribute twice', changed('rate=', 'rate="2" rate='), 'an element has "rate" twice'],
    ['an attribute without quotes', changed('"1.1"', '1.1'), 'is no tag of it'],
    ['a rate above a day', changed('<Cube time="2026-11-20">', ''), 'there is an element'],
    [
      'a day in a day',
      changed('<Cube time="2026-11-20">', '<Cube time="2026-11-20"><Cube time="2026-11-19">'),
      'there is an element',
    ],
    [
      'end tags in the wrong order',
      changed('</Cube></gesmes:Envelope>', '</gesmes:Envelope></Cube>'),
      'is closed and not open',
    ],
    ['an end tag too many', changed('</Cube>', '</Cube></Cube></Cube>'), 'is closed and not open'],
    ['no day', changed('2026-11-20', '2026-02-30'), '"2026-02-30" is no day'],
    ['no code', changed('USD', 'usd'), '"usd" is no currency'],
    ['a code that objects have', changed('USD', '__proto__'), '"__proto__" is no currency'],
    ['a comma in a rate', changed('1.1', '1,1'), '"1,1" is no rate'],
    ['a rate below 0', changed('1.1', '-1.1'), '"-1.1" is no rate'],
    [
      'a rate of hundreds of digits',
      changed('1.1', '9'.repeat(400)),
      '"99999999999999999999…" is no rate',
    ],
    [
      'a currency twice',
      changed('<Cube c', '<Cube currency="USD" rate="2"/><Cube c'),
      'USD is there twice on one day',
    ],
    [
      'a day twice',
      changed(
        '<Cube><Cube time',
        '<Cube><Cube time="2026-11-20"><Cube currency="USD" rate="1"/></Cube><Cube time',
      ),
      '2026-11-20 is there twice',
    ],
    [
      'a day without rates',
      changed('<Cube currency="USD" rate="1.1"/>', ''),
      '2026-11-20 has no rates',
    ],
    [
      'no days',
      changed('<Cube time="2026-11-20"><Cube currency="USD" rate="1.1"/></Cube>', ''),
      'there is no day',
    ],
  ])('refuses %s', (_what, text, message) => {
    expect(() => readEcbXml(text)).toThrow(message)
  })

  it('refuses a text that is cut anywhere', () => {
    for (let length = 0; length < GOOD.length; length += 1) {
      expect(() => readEcbXml(GOOD.slice(0, length)), String(length)).toThrow(Error)
    }
  })

  // A reader whose time grows with the square of the length exceeds the time limit of the runner.
  it.each([
    ['spaces in a tag', `<Cube${' '.repeat(1_000_000)}`],
    ['attributes in a tag', `<Cube${' a="1"'.repeat(200_000)}`],
    ['a name', `<${'a'.repeat(1_000_000)}`],
    ['a value', `<Cube a="${'a'.repeat(1_000_000)}`],
    ['a prolog', `<?xml ${'?'.repeat(1_000_000)}`],
    ['white space', ' '.repeat(1_000_000)],
    ['open elements', '<gesmes:name>'.repeat(20_000)],
  ])('refuses a million characters of %s', (_what, text) => {
    expect(() => readEcbXml(text)).toThrow(Error)
  })

  it('reads back all that is written', () => {
    fc.assert(
      fc.property(arbitraryDays(), (days) => {
        expect(readEcbXml(shortHistoryXml(days))).toEqual(days)
      }),
    )
  })
})
