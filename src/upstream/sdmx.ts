import { readColumns } from '../rates/csv.ts'
import { requireWhole } from './published.ts'
import type { ReadQuotes } from './published.ts'

export interface SdmxForm {
  currency: string
  /** Values of other columns, where present; every row must have one of them. */
  fixed: Readonly<Record<string, readonly string[]>>
}

const GAPS: ReadonlySet<string> = /* @__PURE__ */ new Set(['', 'NaN'])

/** Reads prices of a number of units, except those of the currencies to `skip`, which are indexes. */
/* @__NO_SIDE_EFFECTS__ */
export function sdmx({ skip = [], ...form }: SdmxForm & { skip?: readonly string[] }): ReadQuotes {
  return function* read(text) {
    for (const { date, code, value, units } of readSdmxCsv(requireWhole(text), form)) {
      if (!skip.includes(code)) yield { date, code, price: value, units }
    }
  }
}

/**
 * Yields the observations; `value` is empty for a missing one, `units` a power of ten, empty for a missing one.
 *
 * @throws {Error} if a column is missing, a row has another number of cells than the header, or is of another series than
 * `form`
 */
export function* readSdmxCsv(
  text: string,
  { currency, fixed }: SdmxForm,
): Generator<Record<'date' | 'code' | 'value' | 'units', string>> {
  const [header = ''] = text.split(/\r?\n/, 1)
  const names = Object.keys(fixed).filter((name) => header.split(',').includes(name))
  const columns = [...names, currency, 'TIME_PERIOD', 'OBS_VALUE', 'UNIT_MULT?']
  const expected = names.map((name) => fixed[name] ?? [])
  let line = 1
  for (const cells of readColumns(text, columns)) {
    line += 1
    const wrong = expected.findIndex((values, index) => !values.includes(cells[index] ?? ''))
    if (wrong !== -1) {
      const [usual = ''] = expected[wrong] ?? []
      throw new Error(`line ${line} has an unexpected ${names[wrong] ?? ''}; expected ${usual}`)
    }
    const [code = '', date = '', value = '', power = ''] = cells.slice(names.length)
    if (!/^\d?$/.test(power)) throw new Error(`line ${line} has an unexpected UNIT_MULT`)
    const units = power === '' ? '' : `1${'0'.repeat(Number(power))}`
    yield { date, code, value: GAPS.has(value) ? '' : value, units }
  }
}
