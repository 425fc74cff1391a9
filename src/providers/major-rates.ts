import type { QuotedRates } from '../rates/plausibility.ts'

/**
 * Currencies that trade freely, or follow one that does, in markets so deep that all sources agree to a fraction of a
 * percent. Others move by more than 3 % every month or two, or have an official rate beside that of the market.
 */
const MAJORS = 'USD JPY GBP CHF AUD CAD NZD SEK NOK DKK CNY HKD SGD'.split(' ')

/**
 * Which major currencies are further than the share `tolerance` from `expected`, both against the euro: `USD +5.0 %`.
 *
 * @throws {Error} where there is nothing to compare
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
  if (ratios.length === 0) throw new Error('there is no major currency in both')
  return ratios
    .filter(({ ratio }) => Math.max(ratio, 1 / ratio) > 1 + tolerance)
    .map(({ code, ratio }) => `${code} ${ratio > 1 ? '+' : ''}${((ratio - 1) * 100).toFixed(1)} %`)
}

/** Units of `code` for one euro; NaN where that cannot be said. */
function againstEuro({ base, rateOf }: QuotedRates, code: string): number {
  const quote = (quoted: string): number => (quoted === base ? 1 : Number(rateOf(quoted) ?? NaN))
  return quote(code) / quote('EUR')
}
