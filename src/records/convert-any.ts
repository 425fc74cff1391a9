import { invalidCurrency, invalidParameter, missingParameter } from '../errors.ts'
import { isCodeShaped } from '../rates/currency-code.ts'
import { isDay } from '../rates/day.ts'
import type { Day } from '../rates/day.ts'
import type { RateSources } from '../sources/rate-sources.ts'
import { loadConversionTable } from './conversion-table.ts'
import { toConversionResult } from './conversions.ts'
import type { ConversionResult, ConversionListParams } from './conversions.ts'

/**
 * The record that answers `question`, whose `from` and `amount` are well-formed, on the day `today` (UTC).
 *
 * @throws {RatesError}
 */
export async function convertAny(
  sources: RateSources,
  params: ConversionListParams,
  today: Day,
): Promise<ConversionResult<ConversionListParams>> {
  const { to, date, reverse } = params
  assertTargets(to)
  if (date !== undefined && !(typeof date === 'string' && isDay(date))) {
    throw invalidParameter('date', 'YYYY-MM-DD')
  }
  if (reverse !== undefined && typeof reverse !== 'boolean') {
    throw invalidParameter('reverse', 'true or false')
  }
  const codes = [params.from, to].flat()
  const { value } = await loadConversionTable(sources, { codes, date, today })
  return toConversionResult(value, params)
}

/** From code without types, anything may come. */
function assertTargets(to: unknown): void {
  if (to === undefined) throw missingParameter('to')
  const codes: readonly unknown[] = Array.isArray(to) ? to : [to]
  if (codes.length === 0) throw invalidCurrency('to', '')
  for (const code of codes) if (!isCodeShaped(code)) throw invalidCurrency('to', String(code))
}
