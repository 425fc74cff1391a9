/** The separator of decimals in the browser's locale. `navigator.language` may be a name that `Intl` refuses, such as `C`. */
export const DECIMAL = (1.5).toLocaleString()[1] === ',' ? ',' : '.'

/** Longer amounts are errors of the API. */
const MAX_LENGTH = 64

/** Groups the digits of an amount in the form of the API, with the separators of the user. */
export function inFieldForm(amount: string): string {
  const [, whole, fraction = ''] = /^(\d+)(\.\d+)?$/.exec(amount.slice(0, MAX_LENGTH)) ?? []
  if (whole === undefined || amount.length > MAX_LENGTH) return amount
  return withUsersSeparators(BigInt(whole).toLocaleString('en-US') + fraction)
}

/** Replaces the separators of the page by those of the user. */
export function withUsersSeparators(text: string): string {
  if (DECIMAL === '.') return text
  return text.replaceAll(/[.,]/g, (separator) => (separator === '.' ? ',' : '.'))
}

/** Formats an amount with all its digits and the name of its currency, as `1,000.50 US dollars`. */
export function amountInWords(amount: number, code: string): string {
  const exact = { trailingZeroDisplay: 'stripIfInteger', maximumFractionDigits: 20 } as const
  return wordsOf(amount, code, exact).join('')
}

/** Returns the name of a currency for several of its units, as `Swiss francs`; the code without one. */
export function nameOfMany(code: string): string {
  return wordsOf(2, code, { maximumFractionDigits: 0 }).at(-1) ?? code
}

function wordsOf(amount: number, currency: string, options: Intl.NumberFormatOptions): string[] {
  const form = { style: 'currency', currencyDisplay: 'name', currency, ...options } as const
  try {
    return new Intl.NumberFormat('en-US', form).formatToParts(amount).map(({ value }) => value)
  } catch {
    // A code of other than three letters.
    return [new Intl.NumberFormat('en-US', options).format(amount), ' ', currency]
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

/** Formats a change, in percent, as `▲ +1.50 %`, with the class of its colour. */
export function changeInWords(percent: number): { text: string; className: string } {
  const className = percent > 0 ? 'up' : percent < 0 ? 'down' : ''
  const mark = { up: '▲ ', down: '▼ ', '': '' }[className]
  return { text: mark + formatChange(percent), className }
}
