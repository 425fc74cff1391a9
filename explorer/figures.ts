/** Formats an amount with all its digits and the name of its currency, as `1,000.50 US dollars`. */
export function amountInWords(amount: number, code: string): string {
  const all = { maximumFractionDigits: 20 }
  try {
    return new Intl.NumberFormat('en-US', {
      style: 'currency',
      currency: code,
      currencyDisplay: 'name',
      trailingZeroDisplay: 'stripIfInteger',
      ...all,
    }).format(amount)
  } catch {
    // A code of other than three letters.
    return `${new Intl.NumberFormat('en-US', all).format(amount)} ${code}`
  }
}

/** Formats an amount with the digits of its currency; small ones with two significant digits. */
export function formatAmount(amount: number, digits = 2): string {
  return new Intl.NumberFormat('en-US', {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
    maximumSignificantDigits: 2,
    roundingPriority: 'morePrecision',
  }).format(amount)
}

const RATE = new Intl.NumberFormat('en-US', {
  minimumSignificantDigits: 5,
  maximumSignificantDigits: 6,
  maximumFractionDigits: 0,
  roundingPriority: 'morePrecision',
})

/** Formats a rate with six significant digits, large ones with all digits before the point. */
export function formatRate(rate: number): string {
  return RATE.format(rate)
}

/** Formats a change, in percent, as `+1.50 %`. */
export function formatChange(percent: number): string {
  const digits = Math.abs(percent).toFixed(2)
  const sign = Number(digits) === 0 ? '' : percent > 0 ? '+' : '−'
  return `${sign}${digits} %`
}
