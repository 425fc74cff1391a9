import { invalidCurrency, invalidParameter, missingParameter } from '../errors.ts'
import { isCodeShaped } from '../rates/currency-code.ts'
import { isDay } from '../rates/day.ts'
import type { Day } from '../rates/day.ts'
import type { RateSources } from '../sources/sources.ts'
import { readConversionTable } from './conversion-table.ts'
import { conversionsRecord } from './conversions.ts'
import type { ConversionAnswer, ConversionsQuestion } from './conversions.ts'

/**
 * The record that answers `question`, whose `from` and `amount` are well-formed, on the day `today` (UTC).
 *
 * @throws {RatesError}
 */
export async function answerConversion(
  sources: RateSources,
  question: ConversionsQuestion,
  today: Day,
): Promise<ConversionAnswer<ConversionsQuestion>> {
  const { to, date, reverse } = question
  refuseTargets(to)
  if (date !== undefined && !(typeof date === 'string' && isDay(date))) {
    throw invalidParameter('date', 'YYYY-MM-DD')
  }
  if (reverse !== undefined && typeof reverse !== 'boolean') {
    throw invalidParameter('reverse', 'true or false')
  }
  const codes = [question.from, to].flat()
  const { value } = await readConversionTable(sources, { codes, date, today })
  return conversionsRecord(value, question)
}

/** From code without types, anything may come. */
function refuseTargets(to: unknown): void {
  if (to === undefined) throw missingParameter('to')
  const codes: readonly unknown[] = Array.isArray(to) ? to : [to]
  if (codes.length === 0) throw invalidCurrency('to', '')
  for (const code of codes) if (!isCodeShaped(code)) throw invalidCurrency('to', String(code))
}
