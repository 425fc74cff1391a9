import { invalidCurrency, invalidParameter, missingParameter } from '../errors.ts'
import { isCodeShaped } from '../rates/currency-code.ts'
import { isDay } from '../rates/day.ts'
import type { Day } from '../rates/day.ts'
import type { RateSources } from '../sources/rate-sources.ts'
import { loadConversionTable } from './conversion-table.ts'
import { toConversionResult } from './conversions.ts'
import type { ConversionListParams, ConversionResult } from './conversions.ts'

/**
 * Converts with any parameters; expects a well-formed `from` and `amount`. `today` is the current day (UTC).
 *
 * @throws {RatesError} `missing_parameter`, `invalid_parameter`, and as `toConversionResult` does
 */
export async function convertAny(
  sources: RateSources,
  params: ConversionListParams,
  today: Day,
): Promise<ConversionResult<ConversionListParams>> {
  const { to, date, reverse } = params
  assertTargets(to)
  if (date !== undefined && !(typeof date === 'string' && isDay(date))) {
    throw invalidParameter('date', 'must be YYYY-MM-DD')
  }
  if (reverse !== undefined && typeof reverse !== 'boolean') {
    throw invalidParameter('reverse', 'must be true or false')
  }
  const codes = [params.from, to].flat()
  const { value } = await loadConversionTable(sources, { codes, date, today })
  return toConversionResult(value, params)
}

// Callers without TypeScript can pass any value.
function assertTargets(to: unknown): void {
  if (to === undefined) throw missingParameter('to')
  const codes: readonly unknown[] = Array.isArray(to) ? to : [to]
  if (codes.length === 0) throw invalidCurrency('to', '')
  for (const code of codes) if (!isCodeShaped(code)) throw invalidCurrency('to', String(code))
}
