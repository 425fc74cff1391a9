import type { ConversionRow } from '../api/parameter-types.ts'
import { toPlainText } from '../rates/decimal.ts'
import { dayOf } from './output.ts'
import type { RatesFlags, RatesSession } from './session.ts'
import { parseName, refuseWith } from './usage.ts'

export type DirectiveFormat = 'beancount' | 'ledger'

export function readFormat({
  format,
  json,
  csv,
}: RatesFlags & { format?: string | undefined }): DirectiveFormat | undefined {
  if (format === undefined) return undefined
  refuseWith('--format', { json, csv })
  return parseName('--format', format, ['beancount', 'ledger'])
}

/** The currency `from` costs `rate` of `to`. */
export function toDirective(
  format: DirectiveFormat,
  { day, from, rate, to }: { day: string; from: string; rate: number; to: string },
): string {
  // These programs do not read exponents.
  const price = `${from} ${toPlainText(rate)} ${to}`
  return format === 'ledger' ? `P ${day} ${price}` : `${day} price ${price}`
}

/** Returns the price of each currency of a table in its base, from the published digits: not the inverse of a rounded rate. */
export async function latestDirectives(
  format: DirectiveFormat,
  { base, rates }: { base: string; rates: Readonly<Record<string, number>> },
  choice: object,
  session: RatesSession,
): Promise<string[]> {
  const codes = Object.keys(rates).filter((code) => code !== base)
  const rows: readonly ConversionRow[] = codes.map((from) => ({ ...choice, from, to: base }))
  const results = await session.convertMany(rows)
  return results.map((result) => {
    if (!('rate' in result)) throw new Error('error' in result ? result.error.message : '')
    const { from, rate, to } = result
    return toDirective(format, { day: dayOf(result), from, rate, to })
  })
}
