import { createFrankfurterProvider } from 'ratesmith'

import { toHistoryDays } from '../../src/providers/frankfurter.ts'
import { addDays, subtractMonths, toDay } from '../../src/rates/dates.ts'
import { validateHistory } from '../../src/rates/validate.ts'
import { frankfurterPayload } from '../../test/fixtures/upstream-payloads.ts'
import type { Comparison } from './comparison.ts'
import { NOW } from './responses.ts'

const RANGE = {
  start: addDays(subtractMonths(toDay(NOW), 60), -14),
  end: toDay(NOW),
}

/** How a server processes its first download of reference rates. */
export interface Download extends Comparison {
  /** Size of the resulting columns, in bytes. */
  keptBytes: number
}

/** Compares turning five years of a market into validated columns with `JSON.parse` of their text. */
export async function downloads(): Promise<[ofText: Download, ofBody: Comparison]> {
  const text = frankfurterPayload({ ...RANGE, now: NOW })
  const provider = createFrankfurterProvider()
  const { signal } = new AbortController()
  const context = { fetch: async () => new Response(text), signal, now: () => NOW }
  const readText = () => {
    const response = { host: 'relay', status: 200, body: JSON.parse(text) }
    return validateHistory(toHistoryDays(response, RANGE.start), NOW)
  }
  const readBody = async () => validateHistory(await provider.fetchHistory(RANGE, context), NOW)
  const { data, dropped } = readText()
  if (dropped.length > 0) throw new Error(`dropped ${dropped.join(', ')}`)
  const reference = {
    name: `\`JSON.parse\` of ${text.length.toLocaleString('en')} characters`,
    run: () => JSON.parse(text),
  }
  return [
    {
      name: '5Y text, parsed into columns',
      ours: readText,
      reference,
      goal: 2,
      keptBytes: bytesOf(data),
    },
    { name: 'the same, including the read of its body', ours: readBody, reference },
  ]
}

/** Returns the bytes of all typed arrays in `value`. */
export function bytesOf(value: unknown): number {
  if (ArrayBuffer.isView(value)) return value.byteLength
  if (typeof value !== 'object' || value === null) return 0
  const parts = value instanceof Map ? [...value.values()] : Object.values(value)
  return parts.reduce<number>((sum, part) => sum + bytesOf(part), 0)
}
