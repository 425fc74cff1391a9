import { pegs } from '../src/rates/pegs.ts'

/** Names the official peg of a currency: `1 USD = 3.6725 AED, official peg since 1997`; undefined without one in force. */
export function pegInWords(code: string): string | undefined {
  const { anchor, ratio, price, band, since = '', until } = pegs.get(code) ?? {}
  if (anchor === undefined || until) return undefined
  const year = since.slice(0, 4)
  if (band) return `1 ${anchor} = ${band.join(' to ')} ${code}, official band since ${year}`
  const terms = price ? `1 ${code} = ${price} ${anchor}` : `1 ${anchor} = ${ratio} ${code}`
  return `${terms}, official peg since ${year}`
}
