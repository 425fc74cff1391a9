export type DecimalSeparator = '.' | ','

const MULTIPLES: Readonly<Record<string, number>> = { k: 3, m: 6, mio: 6, bn: 9 }

/**
 * Reads an amount as people type it, and returns it in the form that the API takes, digits with an optional point; undefined
 * for text that is not an amount, or has two meanings. Accepts groups of thousands (`1,000`, `1 000`, `1'000`, `1_000`), either
 * decimal separator, and `k`, `m` and `bn`. Where `1,500` may be both, `decimal` decides.
 *
 * @param decimal the decimal separator of the user's locale (default `.`)
 */
export function parseTypedAmount(
  text: string,
  decimal: DecimalSeparator = '.',
): string | undefined {
  const compact = text.trim().replaceAll(/(?<=\d)[\s'’_\u00a0\u202f](?=\d{3}(?!\d))/gu, '')
  // The API's own grammar, with exponents.
  const plainForm = decimal === '.' || !/^\d{1,3}(\.\d{3})+$/.test(compact)
  if (plainForm && /^(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i.test(compact))
    return compact.replace(/\.(?=e|$)/i, '')
  const [, digits = '', multiple = ''] = /^([\d.,]+)\s?(k|m|mio|bn)?$/i.exec(compact) ?? []
  const number = toNumber(digits, decimal)
  if (number === undefined) return undefined
  return multiple === '' ? number : `${number}e${MULTIPLES[multiple.toLowerCase()]}`
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

/**
 * Returns a sentence on an amount such as `10.000`, which is ten thousand to many people; undefined for a clear amount, and for
 * a currency with three or more `digits` after the point, or with an unknown number.
 */
export function whyUnclear(text: string, digits: number | null | undefined): string | undefined {
  const [amount, whole = '', fraction = ''] = /^([1-9]\d{0,2})\.(\d{3})$/.exec(text.trim()) ?? []
  if (amount === undefined || typeof digits !== 'number' || digits >= fraction.length)
    return undefined
  const short = String(Number(amount))
  const exact = short === amount ? `${amount}0` : short
  return `${amount} has two meanings: write ${whole}${fraction} or ${exact}`
}
