import * as fc from 'fast-check'
import { strToU8, zipSync } from 'fflate'
import { describe, expect, it } from 'vitest'

import type { HistoryDay, HistoryProvider } from '../../src/index.ts'
import { createEcbDataApiProvider, createEcbProvider } from '../../src/providers/index.ts'
import { exrCsv, historyCsv, shortHistoryXml } from '../fixtures/ecb-files.ts'
import { arbitraryDays } from './days.ts'
import { upstream } from './upstream.ts'

const TODAY = '2026-11-20'

type Body = string | Uint8Array<ArrayBuffer>

type Read = (text: string, first?: string) => Promise<HistoryDay[]>

/** Returns all days that `provider` reads from `body`, on the evening of `today`. */
async function daysIn(provider: HistoryProvider, body: Body, since: string, today: string) {
  const { context } = upstream([new Response(body)])
  const now = (): number => Date.parse(`${today}T18:00Z`)
  const range = { start: since, end: '2027-12-31' }
  return [...(await provider.fetchHistory(range, { ...context, now })).days]
}

const readEcbCsv: Read = (text) => {
  const archive = zipSync({ 'eurofxref-hist.csv': strToU8(text) }, { level: 0 })
  return daysIn(createEcbProvider(), archive, '1999-01-01', TODAY)
}
// On its first day, because the provider reads the archive for a history longer than 80 days.
const readEcbXml: Read = (text, first = TODAY) => daysIn(createEcbProvider(), text, first, first)
const readExrCsv: Read = (text) => daysIn(createEcbDataApiProvider(), text, '1999-01-01', TODAY)
const allColumns = (days: HistoryDay[]): string => exrCsv(days, { isFull: true })

describe.each([
  ['eurofxref-hist.csv', readEcbCsv, historyCsv],
  ['eurofxref-hist-90d.xml', readEcbXml, shortHistoryXml],
  ['a response of the data API', readExrCsv, exrCsv],
  ['a response of the data API with all columns', readExrCsv, allColumns],
] as const)('the reader of %s', (_, read, write) => {
  it('reads back everything that is written', async () => {
    const property = fc.asyncProperty(arbitraryDays(), async (days) => {
      expect(await read(write(days), days[0]?.date)).toEqual(days)
    })
    await fc.assert(property)
  })
})

function twoDays(...rates: [object, object]): object[] {
  return rates.map((each, index) => ({ date: `2026-11-${19 + index}`, rates: each }))
}

const HEADER = 'Date,USD,JPY,ISK,'
const CSV_DAYS = twoDays({ USD: 1.1, JPY: 180 }, { USD: 1.2, ISK: 143.25 })
const CSV = `${HEADER}\n2026-11-20,1.2,N/A,143.25,\n2026-11-19,1.10,180,N/A,\n`

describe('a history in CSV', () => {
  it.each([
    ['line feeds', CSV],
    ['carriage returns', CSV.replaceAll('\n', '\r\n')],
    ['no commas at the ends', CSV.replaceAll(',\n', '\n')],
    ['no line feed at the end', CSV.slice(0, -1)],
    ['another order', `${HEADER}\n2026-11-19,1.1,180,N/A,\n2026-11-20,1.2,N/A,143.25,\n`],
    ['a day without rates', `${CSV}2026-11-18,N/A,N/A,N/A,\n`],
  ])('has lines with %s', async (_what, text) => {
    expect(await readEcbCsv(text)).toEqual(CSV_DAYS)
  })

  it.each([
    ['a page of HTML', '<!doctype html>', /header .*Date/],
    ['a header alone', `${HEADER}\n`, /at least 1 day, got 0/],
    ['no code', CSV.replace('JPY', 'jpy'), /column 3 .*code/],
    ['a column without a name', CSV.replace('JPY', ''), /column 3 .*code/],
    ['a currency twice', CSV.replace('JPY', 'USD'), /duplicate USD .*header/],
    ['a day twice', CSV.replace('11-19', '11-20'), /duplicate .*2026-11-20/],
    ['no day', CSV.replace('11-19', '02-30'), /line 3 .*date.*YYYY-MM-DD/],
    ['another date', CSV.replace('2026-11-20', '20 November 2026'), /line 2 .*date/],
    ['a cell too many', CSV.replace('1.10,', '1.10,1,'), /line 3 .*6 cells.* 5/],
    ['a cell too few', CSV.replace('1.10,', ''), /line 3 .*4 cells.* 5/],
    ['a cell after the last comma', CSV.replace('25,', '25,1'), /line 2 .*after its last comma/],
    ['a decimal comma', CSV.replace('1.10', '"1,10"'), /line 3 .*6 cells.* 5/],
    ['another alphabet', CSV.replace('180', '１８０'), /line 3 has an invalid JPY rate/],
    ['more digits than numbers have', CSV.replace('180', '9'.repeat(400)), /line 3 .*rate/],
    [
      'lone carriage returns',
      CSV.replace(',\n2026-11-19', ',\r2026-11-19'),
      /line 2 has 9 cells, expected 5/,
    ],
  ])('is rejected with %s', async (_what, text, message) => {
    await expect(readEcbCsv(text)).rejects.toThrow(message)
  })

  it('is rejected with any cell that is not a plain decimal', async () => {
    const units = fc.constantFrom(...'019.-+eE NA/x'.split(''))
    const cells = fc.string({ unit: units, maxLength: 20 })
    const property = fc.asyncProperty(cells, async (cell) => {
      const isGood = cell === 'N/A' || /^(0|[1-9]\d*)(\.\d+)?$/.test(cell)
      const reading = readEcbCsv(`Date,USD,GBP\n2026-11-20,${cell},1\n`)
      const rates = cell === 'N/A' ? { GBP: 1 } : { USD: Number(cell), GBP: 1 }
      const expected = isGood ? [{ date: '2026-11-20', rates }] : 'rejected'
      expect(await reading.catch(() => 'rejected')).toEqual(expected)
    })
    await fc.assert(property, { numRuns: 2_000 })
  })
})

const EXR = `FREQ,CURRENCY,CURRENCY_DENOM,TIME_PERIOD,OBS_VALUE,TITLE
D,GBP,EUR,2026-11-19,0.87,"Pound, or ""sterling"""
D,GBP,EUR,2026-11-20,0.88,"Pound
in two lines"
D,USD,EUR,2026-11-19,1.1,Dollar
D,USD,EUR,2026-11-20,1.20,Dollar
`

const EXR_DAYS = twoDays({ GBP: 0.87, USD: 1.1 }, { GBP: 0.88, USD: 1.2 })

describe('a response of the data API', () => {
  it.each([
    ['line feeds', EXR],
    ['no line feed at the end', EXR.slice(0, -1)],
    ['rows in another order', EXR.replace(/(D,GBP[^]*?)(D,USD[^]*)/, '$2$1')],
    ['as many digits as a rate may have', EXR.replace('1.20', `1.2${'0'.repeat(27)}`)],
    ['a gap', `${EXR}D,ISK,EUR,2026-11-19,,Krona\n`],
    ['a gap in words', `${EXR}D,ISK,EUR,2026-11-19,NaN,Krona\n`],
    ['a closing day, on which all are gaps', `${EXR}D,GBP,EUR,2026-11-21,,Pound\n`],
    ['quotes around everything', EXR.replaceAll(/(?<=^|,)[\w.-]+(?=,|$)/gm, '"$&"')],
  ])('may have %s', async (_what, text) => {
    expect(await readExrCsv(text)).toEqual(EXR_DAYS)
  })

  it.each([
    ['a page of HTML', '<!doctype html>', /missing column CURRENCY/],
    ['a header alone', EXR.slice(0, EXR.indexOf('\n')), /at least 1 day, got 0/],
    ['no column of values', EXR.replace('OBS_VALUE', 'VALUE'), /missing column OBS_VALUE/],
    ['a column twice', EXR.replace('TITLE', 'OBS_VALUE'), /duplicate column OBS_VALUE/],
    ['another frequency', EXR.replace('D,USD', 'M,USD'), /line 4 .*FREQ/],
    ['another base', EXR.replace('USD,EUR', 'USD,GBP'), /line 4 .*CURRENCY_DENOM/],
    ['another type', EXR.replace('TITLE', 'EXR_TYPE'), /line 2 .*EXR_TYPE/],
    ['another multiple', EXR.replace('TITLE', 'UNIT_MULT'), /line 2 .*UNIT_MULT/],
    ['a cell too many', EXR.replace('1.1,', '1.1,1,'), /line 4 .*7 cells.* 6/],
    ['a month', EXR.replaceAll('2026-11-19', '2026-11'), /day 1 .*date.*YYYY-MM-DD/],
    ['no code', EXR.replace('USD', 'E5'), /line 4 .*code/],
    ['a word for a value', EXR.replace('1.1', 'n/a'), /line 4 .*rate/],
    ['a currency twice', EXR.replace('20,1.20', '19,1.20'), /duplicate USD on one day/],
    ['a quote inside a cell', EXR.replace('Dollar', 'Doll"ar'), /line 4 .*quote inside a cell/],
    ['an open quote', EXR.replace('Dollar', '"Dollar'), /line 4 .*unclosed quote/],
  ])('is rejected with %s', async (_what, text, message) => {
    await expect(readExrCsv(text)).rejects.toThrow(message)
  })
})

const XML =
  '<?xml version="1.0"?><gesmes:Envelope xmlns="a"><Cube><Cube time="2026-11-20"><Cube currency="USD" rate="1.1"/></Cube></Cube></gesmes:Envelope>'

function changed(part: string, text: string): string {
  expect(XML).toContain(part)
  return XML.replace(part, text)
}

describe('a file in XML', () => {
  const HEADING = '<gesmes:Sender><gesmes:name>A</gesmes:name></gesmes:Sender>'

  it.each([
    ['attributes in another order', 'currency="USD" rate="1.1"', 'rate="1.1" currency="USD"'],
    ['no prolog', '<?xml version="1.0"?>', ''],
    ['line breaks around', XML, `\n${XML}\r\n`],
    ['headings', '<Cube>', `${HEADING}<Cube>`],
  ])('may have %s', async (_what, part, text) => {
    const days = [{ date: '2026-11-20', rates: { USD: 1.1 } }]
    expect(await readEcbXml(changed(part, text))).toEqual(days)
  })

  const RATE = '<Cube currency="USD" rate="1.1"/>'
  const NAMED_BY_ENTITY = '<gesmes:name>&b;</gesmes:name>'
  const FIVE_LEVELS = `${'<gesmes:name>'.repeat(4)}${'</gesmes:name>'.repeat(4)}`
  const OPENING = '<Cube time="2026-11-20">'

  it.each([
    ['a page of HTML', XML, '<!doctype html><p>Back soon', /markup at character 1$/],
    ['an entity in a rate', '"1.1"', '"&b;"', /entity/],
    ['an entity in a name', '<Cube>', `${NAMED_BY_ENTITY}<Cube>`, /entity/],
    ['a character by number', '"USD"', '"&#85;SD"', /entity/],
    ['another root', XML, XML.replaceAll('gesmes:', ''), /unexpected element/],
    ['text between', '<Cube>', 'a<Cube>', /unexpected text/],
    ['an unknown element', '<Cube>', '<Cube><a/>', /unexpected element/],
    ['an unknown attribute', 'rate=', 'unit="100" rate=', /unexpected element/],
    [
      'an attribute twice',
      'rate=',
      'rate="2" rate=',
      /malformed or truncated XML at character \d+$/,
    ],
    ['a rate above a day', `<Cube>${OPENING}`, `<Cube>${RATE}${OPENING}`, /unexpected element/],
    ['a day in a day', OPENING, `${OPENING}<Cube time="2026-11-19"/>`, /unexpected element/],
    ['five open elements', '<Cube>', `${FIVE_LEVELS}<Cube>`, /more than 4 levels/],
    ['no day', '2026-11-20', '2026-02-30', /day 1 .*date.*YYYY-MM-DD/],
    ['no code', 'USD', 'usd', /day 1 .*code/],
    ['a code that objects have', 'USD', '__proto__', /day 1 .*code/],
    ['a comma in a rate', '1.1', '1,1', /day 1 .*rate/],
    ['a rate of hundreds of digits', '1.1', '9'.repeat(400), /day 1 .*rate/],
    ['a currency twice', RATE, RATE.repeat(2), /duplicate USD on one day/],
    ['a day twice', OPENING, `${OPENING}${RATE}</Cube>${OPENING}`, /duplicate .*2026-11-20/],
    ['a day without rates', RATE, '', /2026-11-20 has no rates/],
    ['no days', `${OPENING}${RATE}</Cube>`, '', /at least 1 day, got 0/],
  ])('is rejected with %s', async (_what, part, text, message) => {
    await expect(readEcbXml(changed(part, text))).rejects.toThrow(message)
  })
})
