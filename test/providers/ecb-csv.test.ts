import * as fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'

import { readEcbCsv } from '../../src/providers/ecb-csv.ts'
import { ecbDays, historyCsv } from '../fixtures/ecb-files.ts'
import { arbitraryDays, expectSameDays } from './days.ts'

// Generous: the machine may be busy.
vi.setConfig({ testTimeout: 60_000 })

const HEADER = 'Date,USD,JPY,ISK,'
const DAYS = [
  { date: '2026-11-19', rates: { USD: 1.1, JPY: 180 } },
  { date: '2026-11-20', rates: { USD: 1.2, ISK: 143.25 } },
]
const GOOD = `${HEADER}\n2026-11-20,1.2,N/A,143.25,\n2026-11-19,1.10,180,N/A,\n`

/** What `read` returns, as JSON. */
function attempt(read: () => unknown): string {
  try {
    return JSON.stringify(read())
  } catch {
    return 'refused'
  }
}

describe('readEcbCsv()', () => {
  it('reads the file as the bank writes it, ascending', () => {
    const days = ecbDays('1999-01-04', '2026-11-20', Date.UTC(2026, 10, 20, 18))
    expect(days.length).toBeGreaterThan(7_000)
    expectSameDays(readEcbCsv(historyCsv(days)), days)
  })

  it.each([
    ['line feeds', GOOD],
    ['carriage returns', GOOD.replaceAll('\n', '\r\n')],
    ['no commas at the ends', GOOD.replaceAll(',\n', '\n')],
    ['no line feed at the end', GOOD.slice(0, -1)],
    ['neither', GOOD.replaceAll(',\n', '\n').slice(0, -1)],
    ['another order', `${HEADER}\n2026-11-19,1.1,180,N/A,\n2026-11-20,1.2,N/A,143.25,\n`],
    ['a day without rates', `${GOOD}2026-11-18,N/A,N/A,N/A,\n`],
  ])('reads lines with %s', (_what, text) => {
    expect(readEcbCsv(text)).toEqual(DAYS)
  })

  it.each([
    ['nothing', '', 'the header begins with ""'],
    ['a page of HTML', '<!doctype html>', 'the header begins with "<!doctype html>"'],
    ['no header', GOOD.slice(HEADER.length + 1), 'the header begins with "2026-11-20"'],
    ['a header alone', `${HEADER}\n`, 'there is no day'],
    ['no code', GOOD.replace('JPY', 'jpy'), '"jpy" is no currency'],
    ['a column without a name', GOOD.replace('JPY', ''), '"" is no currency'],
    ['a currency twice', GOOD.replace('JPY', 'USD'), 'USD is there twice in the header'],
    ['a day twice', GOOD.replace('11-19', '11-20'), '2026-11-20 is there twice'],
    ['no day', GOOD.replace('11-19', '02-30'), '"2026-02-30" is no day'],
    ['another date', GOOD.replace('2026-11-20', '20 November 2026'), '"20 Novembe" is no day'],
    ['a cell too many', GOOD.replace('1.10,', '1.10,1,'), 'line 3 has 6 cells, not 5'],
    ['a cell too few', GOOD.replace('1.10,', ''), 'line 3 has 4 cells, not 5'],
    ['a cell behind the last comma', GOOD.replace('25,', '25,1'), 'line 2 has "1" at its end'],
    ['spaces', GOOD.replaceAll(',', ', '), 'is no currency'],
    ['an empty cell', GOOD.replace('180', ''), 'line 3 has "" for JPY'],
    ['an empty line', GOOD.replace('\n2026-11-19', '\n\n2026-11-19'), 'is no day'],
    ['another word', GOOD.replace('180', 'n/a'), 'line 3 has "n/a" for JPY'],
    ['a longer word', GOOD.replace('180', 'N/Ab'), 'line 3 has "N/Ab" for JPY'],
    ['a number below 0', GOOD.replace('180', '-180'), 'line 3 has "-180" for JPY'],
    ['a power of ten', GOOD.replace('180', '18e1'), 'line 3 has "18e1" for JPY'],
    ['a base of sixteen', GOOD.replace('180', '0x18'), 'line 3 has "0x18" for JPY'],
    ['a decimal comma', GOOD.replace('1.10', '"1,10"'), 'line 3 has 6 cells, not 5'],
    ['a zero at the start', GOOD.replace('180', '0180'), 'line 3 has "0180" for JPY'],
    ['another alphabet', GOOD.replace('180', '１８０'), 'it is not all ASCII'],
    ['two points', GOOD.replace('1.10', '1.1.0'), 'line 3 has "1.1.0" for USD'],
    ['a point at the start', GOOD.replace('1.10', '.10'), 'line 3 has ".10" for USD'],
    ['a point at the end', GOOD.replace('1.10', '1.'), 'line 3 has "1." for USD'],
    ['more digits than numbers have', GOOD.replace('180', '9'.repeat(400)), 'line 3 has'],
    [
      'lone carriage returns',
      GOOD.replace(',\n2026-11-19', ',\r2026-11-19'),
      'line 2 does not end',
    ],
  ])('refuses %s', (_what, text, message) => {
    expect(() => readEcbCsv(text)).toThrow(message)
  })

  it('reads every rate as the number that its text stands for', () => {
    const digits = fc.stringMatching(/^\d{1,14}$/)
    fc.assert(
      fc.property(digits, fc.option(digits), (zeros, part) => {
        const whole = zeros.replace(/^0+(?=\d)/, '')
        const text = part === null ? whole : `${whole}.${part}`
        const [day] = readEcbCsv(`Date,USD,\n2026-11-20,${text},\n`)
        expect(day?.rates['USD']).toBe(Number(text))
      }),
      { numRuns: 2_000 },
    )
  })

  it('refuses a cell that is no plain decimal, whatever it is', () => {
    const units = fc.constantFrom(...'019.-+eE NA/x'.split(''))
    fc.assert(
      fc.property(fc.string({ unit: units, maxLength: 20 }), (cell) => {
        const isGood = cell === 'N/A' || /^(0|[1-9]\d*)(\.\d+)?$/.test(cell)
        const read = attempt(() => readEcbCsv(`Date,USD,GBP\n2026-11-20,${cell},1\n`))
        const rates = cell === 'N/A' ? { GBP: 1 } : { USD: Number(cell), GBP: 1 }
        const expected = isGood ? JSON.stringify([{ date: '2026-11-20', rates }]) : 'refused'
        expect(read).toBe(expected)
      }),
      { numRuns: 2_000 },
    )
  })

  it('reads back all that is written', () => {
    fc.assert(
      fc.property(arbitraryDays(), (days) => {
        expect(readEcbCsv(historyCsv(days))).toEqual(days)
      }),
    )
  })

  // A reader whose time grows with the square of the length exceeds the time limit of the runner.
  it.each([
    ['a line', `${HEADER}\n2026-11-20,${'1'.repeat(1_000_000)}`],
    ['cells', `${HEADER}\n2026-11-20${',1'.repeat(1_000_000)}`],
    ['lines', `${HEADER}\n${'\n'.repeat(1_000_000)}`],
    ['a header', `Date,${'USD'.repeat(1_000_000)}`],
  ])('refuses a million characters of %s', (_what, text) => {
    expect(() => readEcbCsv(text)).toThrow(Error)
  })
})
