import { readColumns } from '../rates/csv.ts'

export interface SdmxForm {
  currency: string
  /** Values of other columns, where present; every row must have one of them. */
  fixed: Readonly<Record<string, readonly string[]>>
}

/** An observation; `value` is empty for a missing one, `units` a power of ten. */
export interface Observation {
  date: string
  code: string
  value: string
  units: string
}

const GAPS: ReadonlySet<string> = new Set(['', 'NaN'])

/**
 * @throws {Error} if a column is missing, a row has another number of cells than the header, or is of another series than
 * `form`
 */
export function* readSdmxCsv(text: string, { currency, fixed }: SdmxForm): Generator<Observation> {
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
    if (power !== '' && !/^\d$/.test(power)) {
      throw new Error(`line ${line} has an unexpected UNIT_MULT`)
    }
    yield {
      date,
      code,
      value: GAPS.has(value) ? '' : value,
      units: `1${'0'.repeat(Number(power))}`,
    }
  }
}
