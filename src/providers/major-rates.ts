import type { QuotedRates } from '../rates/rate-table.ts'

/**
 * Currencies that trade freely, or are pegged to one that does, in markets so deep that all sources agree within a fraction
 * of a percent. Others move by more than 3 % every month or two, or have an official rate besides the market rate.
 */
const MAJORS = 'USD JPY GBP CHF AUD CAD NZD SEK NOK DKK CNY HKD SGD'.split(' ')

/**
 * Returns the major currencies that differ by more than the share `tolerance` from `expected` against the euro, such as
 * `USD +5.0 %`.
 *
 * @throws {Error} if no major currency is in both
 */
export function findDeviations(
  published: QuotedRates,
  expected: QuotedRates,
  tolerance: number,
): string[] {
  const ratios = MAJORS.map((code) => ({
    code,
    ratio: againstEuro(published, code) / againstEuro(expected, code),
  })).filter(({ ratio }) => ratio > 0)
  if (ratios.length === 0) {
    throw new Error(`expected EUR and one of ${MAJORS.join(', ')} in both tables`)
  }
  return ratios
    .filter(({ ratio }) => Math.max(ratio, 1 / ratio) > 1 + tolerance)
    .map(({ code, ratio }) => `${code} ${ratio > 1 ? '+' : ''}${((ratio - 1) * 100).toFixed(1)} %`)
}

function againstEuro({ base, rateOf }: QuotedRates, code: string): number {
  const quote = (quoted: string): number => (quoted === base ? 1 : Number(rateOf(quoted) ?? NaN))
  return quote(code) / quote('EUR')
}
