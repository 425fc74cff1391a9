import * as fc from 'fast-check'
import { expect, it } from 'vitest'

import { addDays } from '../fixtures/dates.ts'
import { handlerOfDays } from './markets.ts'

const decimal = fc
  .tuple(fc.integer({ min: 1, max: 99_999_999_999 }), fc.integer({ min: -25, max: 25 }))
  .map(([digits, power]) => Number(`${digits}e${power}`))
const double = fc.double({ min: 1e-100, max: 1e100, noNaN: true })
const numbers = [
  [1, 2, 10, 100, 0.1, 0.5, 0.05, 0.85367936, 1.1579, 168.4478835, 4_500_000, 9_999_999_999],
  [1e10, 12_345_678_901, 999_999_999.9, 1_000_000_000.5, 0.000001, 0.0000012345, 0.00000099],
  [1e-7, 1e21, 1e22, 1.5e90, 5e-99, 0.1 + 0.2, 1 / 3, 2 / 3, 9.9999999999, 9.99999999999],
  [0.99999999995, 123_456.7890123, Number.MAX_SAFE_INTEGER, 1e100, 1e-100],
  // The longest possible number.
  Array.from({ length: 40 }, () => 1.2345678901234567e-100),
  fc.sample(fc.oneof(decimal, double), { seed: 20_261_121, numRuns: 9_000 }),
].flat()

/** Of the newest five years: older ones are compared with each other. */
const DAYS = 1_800

it('writes rates like JSON.stringify() and String() do', async () => {
  for (let first = 0; first < numbers.length; first += DAYS) {
    const column = numbers.slice(first, first + DAYS)
    const dates = column.map((_, index) => addDays('2021-12-01', index))
    const days = dates.map((date, index) => [date, { USD: column[index] ?? NaN }])
    const handler = handlerOfDays(Object.fromEntries(days))
    const target = 'http://localhost/api/v1/history?from=EUR&to=USD&start=2021-12-01'
    const text = await (await handler(new Request(target))).text()
    const points = text.slice(text.indexOf('['), text.indexOf(']') + 1)
    const written = JSON.stringify(dates.map((d, index) => ({ d, r: column[index] })))
    expect(points === written).toBe(true)
    const csv = await (await handler(new Request(`${target}&format=csv`))).text()
    const cells = csv.split('\r\n').map((line) => line.split(',')[3])
    expect(cells).toEqual(['rate', ...column.map(String), undefined])
  }
})
