import { symbolOf } from '../src/currency-search.ts'
import { make } from './dom.ts'
import type { Choices } from './dom.ts'

/** Returns the text of a currency in a field. */
export function labelOf(code: string, { names }: Choices): string {
  const name = names.get(code)
  return name === undefined ? code : `${code} – ${name}`
}

/** Creates the sign of a currency: its symbol, or the two letters of its country, with which codes begin. */
export function makeSign(code = ''): HTMLElement {
  const sign = make('span', signOf(code))
  sign.className = 'sign'
  sign.ariaHidden = 'true'
  return sign
}

/** Returns the text of a sign. */
export function signOf(code: string): string {
  const symbol = symbolOf(code)
  return symbol === code ? code.slice(0, 2) : symbol
}
