import { symbolOf } from '../src/currency-search.ts'
import type { Choices } from './dom.ts'

/** Returns the text of a currency in a field. */
export function labelOf(code: string, { names }: Choices): string {
  const name = names.get(code)
  return name === undefined ? code : `${code} – ${name}`
}

/** Returns the symbol of a currency, or the two letters of its country, with which codes begin. */
export function signOf(code: string): string {
  const symbol = symbolOf(code)
  return symbol === code ? code.slice(0, 2) : symbol
}
