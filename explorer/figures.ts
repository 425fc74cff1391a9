const RATE = new Intl.NumberFormat('en-GB', {
  minimumSignificantDigits: 5,
  maximumSignificantDigits: 6,
  maximumFractionDigits: 0,
  roundingPriority: 'morePrecision',
})
/** Formats a rate with six significant digits, and large ones with all digits before the point. */
export function formatRate(rate: number): string {
  return RATE.format(rate)
}

/** Formats a change, in percent, as `+1.50 %`. */
export function formatChange(percent: number): string {
  const digits = Math.abs(percent).toFixed(2)
  const sign = Number(digits) === 0 ? '' : percent > 0 ? '+' : '−'
  return `${sign}${digits} %`
}
