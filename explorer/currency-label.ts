import { make } from './dom.ts'
import type { Choices } from './view.ts'

export function labelOf(code: string, { currencies }: Choices): string {
  const name = currencies.get(code)?.name
  return name ? `${code} – ${name}` : code
}

/** Creates the sign of a currency: its symbol, or the two letters of its country, with which codes begin. */
export function makeSign(code = ''): HTMLElement {
  return make('span', { className: 'sign', ariaHidden: 'true' }, signOf(code))
}

export function signOf(code: string): string {
  const symbol = symbolOf(code)
  return symbol === code ? code.slice(0, 2) : symbol
}

/** Returns the symbol that the browser has, also before the first response. */
export function symbolOf(code: string): string {
  const options = { style: 'currency', currency: code, currencyDisplay: 'narrowSymbol' } as const
  try {
    const parts = new Intl.NumberFormat(code === 'USD' ? 'en-US' : 'en', options).formatToParts(0)
    return parts.find(({ type }) => type === 'currency')?.value ?? code
  } catch {
    return code
  }
}
