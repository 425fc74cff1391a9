import type { Slices } from '../../async.ts'
import type { HistoryDay } from '../../upstream/provider.ts'
import { readSdmxCsv } from '../../upstream/sdmx.ts'
import type { SdmxForm } from '../../upstream/sdmx.ts'
import { addRate, parseRate, requireCode, requireDay, toPublishedDays } from './files.ts'

const EXR: SdmxForm = {
  currency: 'CURRENCY',
  fixed: {
    FREQ: ['D'],
    CURRENCY_DENOM: ['EUR'],
    EXR_TYPE: ['SP00'],
    EXR_SUFFIX: ['A'],
    UNIT_MULT: ['0', ''],
  },
}

/** A few ms of work. */
const ROWS_PER_SLICE = 4_096

/**
 * A row for every observation, in any order. Columns may be in any order; unknown columns are ignored.
 *
 * @throws {Error} if any row differs from this format, or is of another series
 */
export function* readExrCsv(text: string): Slices<HistoryDay[]> {
  const days = new Map<string, Record<string, number>>()
  let line = 1
  for (const { date, code, value } of readSdmxCsv(text, EXR)) {
    line += 1
    if (line % ROWS_PER_SLICE === 0) yield
    requireCode(code, 'line', line)
    if (value === '') continue
    let rates = days.get(date)
    if (!rates) days.set(date, (rates = {}))
    addRate(rates, code, parseRate(value, 'line', line))
  }
  return toPublishedDays(
    [...days].map(([date, rates], index) => ({ date: requireDay(date, 'day', index + 1), rates })),
  )
}
