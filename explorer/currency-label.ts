import { symbolOf } from '../src/currency-search.ts'
import { make } from './dom.ts'
import type { Choices } from './dom.ts'

export function labelOf(code: string, { names }: Choices): string {
  const name = names.get(code)
  return name === undefined ? code : `${code} – ${name}`
}

/** Creates the sign of a currency: its symbol, or the two letters of its country, with which codes begin. */
export function makeSign(code = ''): HTMLElement {
  return make('span', { className: 'sign', ariaHidden: 'true' }, signOf(code))
}

export function signOf(code: string): string {
  const symbol = symbolOf(code)
  return symbol === code ? code.slice(0, 2) : symbol
}
