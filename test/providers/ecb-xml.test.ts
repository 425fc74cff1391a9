import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { readEcbXml } from '../../src/providers/ecb-xml.ts'
import { dailyXml, ecbDays, newest, shortHistoryXml } from '../fixtures/ecb-files.ts'
import { arbitraryDays } from './days.ts'

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

  const HEADING = '<gesmes:Sender><gesmes:name>A</gesmes:name></gesmes:Sender>'

  it.each([
    ['attributes in another order', 'currency="USD" rate="1.1"', 'rate="1.1" currency="USD"'],
    ['both quotes', 'currency="USD"', "currency='USD'"],
    ['white space within tags', 'currency="USD"', '\r\n currency = "USD"\t'],
    ['a separate end tag', '"1.1"/>', '"1.1"></Cube>'],
    ['no prolog', '<?xml version="1.0"?>', ''],
    ['line breaks around', GOOD, `\n${GOOD}\r\n`],
    ['headings', '<Cube>', `${HEADING}<Cube>`],
  ])('reads %s', (_what, part, text) => {
    expect(readEcbXml(changed(part, text))).toEqual([{ date: '2026-11-20', rates: { USD: 1.1 } }])
  })

  const RATE = '<Cube currency="USD" rate="1.1"/>'
  const OPENING = '<Cube time="2026-11-20">'

  it.each([
    ['nothing', GOOD, '', 'the XML does not end'],
    ['a page of HTML', GOOD, '<!doctype html><p>Back soon', '"<!doctype html><p>Ba…" is no tag'],
    [
      'a document type',
      '?>',
      '?><!DOCTYPE a [<!ENTITY b "1.1">]>',
      '"<!DOCTYPE a [<!ENTIT…" is no',
    ],
    ['an entity in a rate', '"1.1"', '"&b;"', '"&b;" is no rate'],
    [
      'an entity in a heading',
      '<Cube>',
      '<gesmes:name>&b;</gesmes:name><Cube>',
      '"&b;" in gesmes:n',
    ],
    ['a character by number', '"USD"', '"&#85;SD"', '"&#85;SD" is no currency'],
    ['a comment', '<Cube>', '<!-- --><Cube>', 'is no tag of it'],
    ['a section', '<Cube>', '<![CDATA[]]><Cube>', 'is no tag of it'],
    ['an instruction', '<Cube>', '<?a?><Cube>', 'is no tag of it'],
    ['another root', GOOD, GOOD.replaceAll('gesmes:', ''), 'there is an element "Envelope"'],
    ['text between', '<Cube>', 'a<Cube>', 'there is "a" in gesmes:Envelope'],
    ['text before', GOOD, `a${GOOD}`, 'there is "a" in gesmes:Envelope'],
    ['more behind', GOOD, `${GOOD}<a/>`, 'there is more behind the XML'],
    ['an unknown element', '<Cube>', '<Cube><a/>', 'there is an element "gesmes:Envelope Cube…'],
    ['an unknown attribute', 'rate=', 'unit="100" rate=', 'there is an element'],
    ['an attribute twice', 'rate=', 'rate="2" rate=', 'an element has "rate" twice'],
    ['an attribute without quotes', '"1.1"', '1.1', 'is no tag of it'],
    ['a rate above a day', `<Cube>${OPENING}`, '<Cube>', 'there is an element'],
    ['a day in a day', OPENING, `${OPENING}<Cube time="2026-11-19">`, 'there is an element'],
    ['crossed end tags', '</Cube></gesmes:Envelope>', '</gesmes:Envelope></Cube>', 'not open'],
    ['an end tag too many', '</Cube>', '</Cube></Cube></Cube>', 'is closed and not open'],
    ['no day', '2026-11-20', '2026-02-30', '"2026-02-30" is no day'],
    ['no code', 'USD', 'usd', '"usd" is no currency'],
    ['a code that objects have', 'USD', '__proto__', '"__proto__" is no currency'],
    ['a comma in a rate', '1.1', '1,1', '"1,1" is no rate'],
    ['a rate below 0', '"1.1', '"-1.1', '"-1.1" is no rate'],
    ['a rate of hundreds of digits', '1.1', '9'.repeat(400), '"99999999999999999999…" is no rate'],
    ['a currency twice', RATE, RATE.repeat(2), 'USD is there twice on one day'],
    ['a day twice', OPENING, `${OPENING}${RATE}</Cube>${OPENING}`, '2026-11-20 is there twice'],
    ['a day without rates', RATE, '', '2026-11-20 has no rates'],
    ['no days', `${OPENING}${RATE}</Cube>`, '', 'there is no day'],
  ])('refuses %s', (_what, part, text, message) => {
    expect(() => readEcbXml(changed(part, text))).toThrow(message)
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
