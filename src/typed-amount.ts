export type DecimalSeparator = '.' | ','

const MULTIPLES: Readonly<Record<string, string>> = { k: 'e3', m: 'e6', mio: 'e6', bn: 'e9' }

/** The fraction of an amount such as `10.000`, which is ten thousand to many people. */
const AMBIGUOUS = /^([1-9]\d{0,2})\.(\d{3})$/

interface AmountConventions {
  /** Decimal separator of the user's locale (default `.`). */
  decimal?: DecimalSeparator
  /** Digits after the decimal separator of the currency (ISO 4217); null or undefined if unknown. */
  digits?: number | null | undefined
}

/**
 * Reads an amount as people type it, and returns it in the form that the API takes, digits with an optional point; or a sentence
 * on the problem of a text that is not an amount, or has two meanings. Accepts groups of thousands (`1,000`, `1 000`, `1'000`,
 * `1_000`), either decimal separator, exponents, and `k`, `m` and `bn`. Where `1,500` may be both, `decimal` decides; three
 * digits after a decimal separator, as in `1.500`, are a problem for a currency with fewer `digits`.
 */
export function readTypedAmount(
  text: string,
  { decimal = '.', digits }: AmountConventions = {},
): { amount: string; problem?: undefined } | { amount?: undefined; problem: string } {
  const amount = toAmount(text, decimal)
  if (amount === undefined) {
    const problem = `amount must be a number such as 1000${decimal}50, got ${text.trim()}`
    return { problem }
  }
  const [, whole = '', fraction = ''] = AMBIGUOUS.exec(amount) ?? []
  if (fraction === '' || typeof digits !== 'number' || digits >= fraction.length) return { amount }
  const short = String(Number(amount))
  const exact = (short === amount ? `${amount}0` : short).replace('.', decimal)
  const problem = `${whole}${decimal}${fraction} has two meanings: write ${whole}${fraction} or ${exact}`
  return { problem }
}

function toAmount(text: string, decimal: DecimalSeparator): string | undefined {
  const compact = text.trim().replaceAll(/(?<=\d)[\s'’_\u00a0\u202f](?=\d{3}(?!\d))/gu, '')
  // The API's own grammar, with exponents.
  const plainForm = decimal === '.' || !/^\d{1,3}(\.\d{3})+$/.test(compact)
  if (plainForm && /^(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i.test(compact))
    return compact.replace(/\.(?=e|$)/i, '')
  const [, digits = '', multiple = ''] =
    /^([\d.,]+)\s?(k|m|mio|bn|e[+-]?\d+)?$/i.exec(compact) ?? []
  const number = toNumber(digits, decimal)
  return number && number + (MULTIPLES[multiple.toLowerCase()] ?? multiple)
}

function toNumber(digits: string, decimal: DecimalSeparator): string | undefined {
  const other = decimal === '.' ? ',' : '.'
  // The locale's own convention first: `1,500` is 1.5 in Berlin.
  for (const [group, point] of [
    [other, decimal],
    [decimal, other],
  ] as const) {
    // Indian groups have two digits, except the last.
    const form = new RegExp(
      `^(\\d*|\\d{1,3}(\\${group}\\d{3})+|\\d{1,2}(\\${group}\\d{2})+\\${group}\\d{3})(\\${point}\\d*)?$`,
    )
    const number = digits.replaceAll(group, '').replace(point, '.').replace(/\.$/, '')
    if (form.test(digits) && /\d/.test(number)) return number
  }
  return undefined
}
