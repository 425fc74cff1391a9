const RATE = new Intl.NumberFormat('en-GB', {
  minimumSignificantDigits: 5,
  maximumSignificantDigits: 6,
  maximumFractionDigits: 0,
  roundingPriority: 'morePrecision',
})
const CHANGE = new Intl.NumberFormat('en-GB', {
  minimumFractionDigits: 2,
  maximumFractionDigits: 2,
  signDisplay: 'exceptZero',
})

/** Formats a rate with six significant digits, and large ones with all digits before the point. */
export function formatRate(rate: number): string {
  return RATE.format(rate)
}

/** Formats a change, in percent, as `+1.50 %`. */
export function formatChange(percent: number): string {
  return `${CHANGE.format(percent).replace('-', '−')} %`
}
