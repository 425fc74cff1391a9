import { describe, expect, it } from 'vitest'

import { RatesError } from '../../src/errors.ts'
import { acceptHistory } from '../../src/rates/accept.ts'
import { crossRate } from '../../src/rates/rate-table.ts'
import { datedSnapshot, requireQuoted, sinceOf } from '../../src/records/dated.ts'

const attribution = { name: 'Bank', url: 'https://bank.example' }
const days = [
  { date: '2022-12-30', rates: { USD: 1.0666, HRK: 7.5365 } },
  { date: '2023-01-02', rates: { USD: 1.0683, JPY: 139.5 } },
]
const history = acceptHistory({ base: 'EUR', days }, Date.UTC(2023, 0, 3)).data
const snapshot = { history, attribution, start: '1999-01-04' }
const TODAY = '2023-01-03'

function codeOf(work: () => unknown): string {
  try {
    work()
  } catch (error) {
    if (error instanceof RatesError) return error.code
  }
  return 'none'
}

describe('datedSnapshot()', () => {
  it('is the table of the day, with what was quoted then and no more', () => {
    const dated = datedSnapshot(snapshot, '2022-12-30', TODAY)
    expect(dated).toMatchObject({ date: '2022-12-30', attribution })
    expect([...dated.table.rates]).toEqual([
      ['EUR', 1],
      ['HRK', 7.5365],
      ['USD', 1.0666],
    ])
    expect(crossRate(dated.table, 'USD', 'HRK')).toBe(7.065910369)
  })

  it('was published at 16:00 in Frankfurt, and is published next on the next working day', () => {
    const { table } = datedSnapshot(snapshot, '2022-12-30', TODAY)
    expect(new Date(table.updatedAt).toISOString()).toBe('2022-12-30T15:00:00.000Z')
    expect(new Date(table.nextUpdateAt).toISOString()).toBe('2023-01-02T15:00:00.000Z')
  })

  it.each([
    ['2022-12-31', '2022-12-30'],
    ['2023-01-01', '2022-12-30'],
    ['2023-01-03', '2023-01-02'],
    ['2023-01-04', '2023-01-02'],
  ])('of %s is that of %s, the last before it', (date, published) => {
    expect(datedSnapshot(snapshot, date, TODAY).date).toBe(published)
  })

  it('refuses what is in the future east of Greenwich, too', () => {
    expect(codeOf(() => datedSnapshot(snapshot, '2023-01-05', TODAY))).toBe('invalid_parameter')
  })

  it.each(['2022-12-29', '1998-12-31', '2099-01-01'])('has no data of %s', (date) => {
    expect(codeOf(() => datedSnapshot(snapshot, date, '2099-01-01'))).toBe('no_data')
  })
})

describe('requireQuoted()', () => {
  const dated = datedSnapshot(snapshot, '2023-01-03', TODAY)

  it.each([
    ['usd', 'USD'],
    ['Eur', 'EUR'],
    ['JPY', 'JPY'],
  ])('reads %s as %s', (sent, code) => {
    expect(requireQuoted(snapshot, dated, 'to', sent)).toBe(code)
  })

  it('has no data of what is quoted on other days only, and says what became of it', () => {
    expect(() => requireQuoted(snapshot, dated, 'to', 'hrk')).toThrow(
      expect.objectContaining({
        code: 'no_data',
        parameter: 'to',
        message:
          'No reference rates of HRK on 2023-01-02 (withdrawn on 2023-01-01, use EUR, 1 EUR = 7.5345 HRK)',
      }),
    )
  })

  it('does not support what is quoted on no day, and says what is on that one', () => {
    expect(() => requireQuoted(snapshot, dated, 'from', 'xyz')).toThrow(
      expect.objectContaining({
        code: 'unsupported_currency',
        parameter: 'from',
        message: 'Unsupported from currency: xyz (the rates of 2023-01-02 cover EUR, JPY, USD)',
      }),
    )
  })
})

describe('sinceOf()', () => {
  it('reaches over every holiday', () => {
    expect(sinceOf('2026-04-06')).toBe('2026-03-23')
  })
})
