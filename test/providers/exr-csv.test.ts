import * as fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'

import { readExrCsv } from '../../src/providers/exr-csv.ts'
import { ecbDays, exrCsv } from '../fixtures/ecb-files.ts'
import { arbitraryDays, expectSameDays } from './days.ts'

// Generous: the machine may be busy.
vi.setConfig({ testTimeout: 60_000 })

const GOOD = `FREQ,CURRENCY,CURRENCY_DENOM,TIME_PERIOD,OBS_VALUE,TITLE
D,GBP,EUR,2026-11-19,0.87,"Pound, or ""sterling"""
D,GBP,EUR,2026-11-20,0.88,"Pound
in two lines"
D,USD,EUR,2026-11-19,1.1,Dollar
D,USD,EUR,2026-11-20,1.20,Dollar
`

const DAYS = [
  { date: '2026-11-19', rates: { GBP: 0.87, USD: 1.1 } },
  { date: '2026-11-20', rates: { GBP: 0.88, USD: 1.2 } },
]

describe('readExrCsv()', () => {
  it.each([false, true])('reads an answer of the data API, with all columns: %s', (isFull) => {
    const days = ecbDays('2025-11-20', '2026-11-20', Date.UTC(2026, 10, 20, 18))
    expect(days.length).toBeGreaterThan(250)
    expectSameDays(readExrCsv(exrCsv(days, { isFull })), days)
  })

  it.each([
    ['line feeds', GOOD],
    ['carriage returns', GOOD.replaceAll('\n', '\r\n')],
    ['no line feed at the end', GOOD.slice(0, -1)],
    ['rows in another order', GOOD.replace(/(D,GBP[^]*?)(D,USD[^]*)/, '$2$1')],
    ['as many digits as a rate may have', GOOD.replace('1.20', `1.2${'0'.repeat(27)}`)],
    ['a gap', `${GOOD}D,ISK,EUR,2026-11-19,,Krona\n`],
    ['a gap in words', `${GOOD}D,ISK,EUR,2026-11-19,NaN,Krona\n`],
    ['a closing day, on which all are gaps', `${GOOD}D,GBP,EUR,2026-11-21,,Pound\n`],
    ['quotes around everything', GOOD.replaceAll(/(?<=^|,)[\w.-]+(?=,|$)/gm, '"$&"')],
  ])('reads %s', (_what, text) => {
    expect(readExrCsv(text)).toEqual(DAYS)
  })

  it.each([
    ['nothing', '', 'there is no day'],
    ['a page of HTML', '<!doctype html>', 'there is no column CURRENCY'],
    ['a header alone', GOOD.slice(0, GOOD.indexOf('\n')), 'there is no day'],
    ['no column of values', GOOD.replace('OBS_VALUE', 'VALUE'), 'there is no column OBS_VALUE'],
    ['no column of days', GOOD.replace('TIME_PERIOD', 'PERIOD'), 'there is no column TIME_PERIOD'],
    ['a column twice', GOOD.replace('TITLE', 'OBS_VALUE'), 'there are two columns OBS_VALUE'],
    ['another frequency', GOOD.replace('D,USD', 'M,USD'), 'has the FREQ "M"'],
    ['another base', GOOD.replace('USD,EUR', 'USD,GBP'), 'has the CURRENCY_DENOM "GBP"'],
    ['another type', GOOD.replace('TITLE', 'EXR_TYPE'), 'has the EXR_TYPE "Pound, or \\"sterling'],
    ['another multiple', GOOD.replace('TITLE', 'UNIT_MULT'), 'has the UNIT_MULT "Pound, or'],
    ['a cell too many', GOOD.replace('1.1,', '1.1,1,'), 'line 4 has 7 cells, not 6'],
    ['a cell too few', GOOD.replace('1.1,', ''), 'line 4 has 5 cells, not 6'],
    ['an empty line', GOOD.replace('\nD,USD', '\n\nD,USD'), 'line 4 has 1 cells, not 6'],
    ['a month', GOOD.replaceAll('2026-11-19', '2026-11'), '"2026-11" is no day'],
    ['no code', GOOD.replace('USD', 'E5'), '"E5" is no currency'],
    ['a word for a value', GOOD.replace('1.1', 'n/a'), '"n/a" is no rate'],
    ['a value below 0', GOOD.replace('1.1', '-1.1'), '"-1.1" is no rate'],
    ['a currency twice', GOOD.replace('20,1.20', '19,1.20'), 'USD is there twice on one day'],
    ['a quote amid a cell', GOOD.replace('Dollar', 'Doll"ar'), 'line 4 has a quote amid a cell'],
    ['a quote that ends amid one', GOOD.replace('Dollar', '"Doll"ar'), '4 has a quote amid a cell'],
    ['an open quote', GOOD.replace('Dollar', '"Dollar'), 'line 4 has a quote that is not closed'],
  ])('refuses %s', (_what, text, message) => {
    expect(() => readExrCsv(text)).toThrow(message)
  })

  it('reads back all that is written', () => {
    fc.assert(
      fc.property(arbitraryDays(), fc.boolean(), (days, isFull) => {
        expect(readExrCsv(exrCsv(days, { isFull }))).toEqual(days)
      }),
    )
  })
})
