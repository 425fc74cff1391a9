import { unknownName } from '../api/check.ts'
import type { Ledger } from '../api/csv-rows.ts'
import { ROW } from '../api/parameters.ts'
import { RatesError } from '../index.ts'
import { UsageError, parseName } from './usage.ts'

export interface CellFlags {
  decimal?: string | undefined
  'date-format'?: string | undefined
  'time-zone'?: string | undefined
}

/** @throws {UsageError} for an unknown value of a flag */
export function createSpeller(flags: CellFlags): Ledger['spell'] {
  const amountOf = createAmountReader(flags.decimal)
  const dayOf = createDayReader(flags)
  return (name, cell) => {
    if (cell === '') return cell
    return name === 'amount' ? amountOf(cell) : name === 'date' ? dayOf(cell) : cell
  }
}

function refused(name: 'amount' | 'date', cell: string, hint: string): RatesError {
  const { code, summary } = ROW.parameters[name].error(name, cell)
  return new RatesError(code, summary, { hint, parameter: name })
}

const MARKS = {
  comma: { group: '.', mark: ',', example: '1.234,50' },
  point: { group: ',', mark: '.', example: '1,234.50' },
} as const

/** Reads groups of three digits between points or commas, spaces and apostrophes. */
function createAmountReader(decimal: string | undefined): (cell: string) => string {
  if (decimal === undefined) {
    return (cell) => {
      if (!cell.includes(',')) return cell
      throw refused('amount', cell, 'has a comma: use --decimal comma, or --decimal point')
    }
  }
  const known = parseName('--decimal', decimal, ['comma', 'point'])
  const { group, mark, example } = MARKS[known]
  const between = `[${group} '’\u00a0\u202f]`
  const whole = String.raw`\d{1,3}(${between})\d{3}(?:\1\d{3})*|\d+`
  const form = new RegExp(String.raw`^-?(?:(?:${whole})(?:[${mark}]\d+)?|[${mark}]\d+)$`)
  return (cell) => {
    if (!form.test(cell))
      throw refused('amount', cell, `must be digits and a decimal ${known}, such as ${example}`)
    return cell.replaceAll(new RegExp(between, 'g'), '').replace(mark, '.')
  }
}

const EXAMPLES = {
  none: 'must be YYYY-MM-DD; --date-format reads others',
  DMY: 'must be a day, month and year of four digits, such as 31/01/2026',
  MDY: 'must be a month, day and year of four digits, such as 01/31/2026',
  YMD: 'must be a year of four digits, month and day, such as 2026/01/31',
}

/** Without a format, days are as in the API; with one, between `-`, `.` or `/`, or eight digits. */
function patternOf(format: keyof typeof EXAMPLES): string {
  if (format === 'none') return String.raw`(?<Y>\d{4})-(?<M>\d\d)-(?<D>\d\d)`
  const isClear = String.raw`(?=\d{8}(?!\d)|\d+[-./])`
  const [first, second, third] = Array.from(format, (part) =>
    part === 'Y' ? String.raw`(?<Y>\d{4}|\d\d)` : String.raw`(?<${part}>\d\d?)`,
  )
  return String.raw`${isClear}${first}(?<mark>[-./]?) ?${second}\k<mark> ?${third}\.?`
}

const TIME = String.raw`(?:[T ,]+(?<hour>\d\d?):(?<minute>\d\d)(?::(?<second>\d\d)(?:[.,]\d+)?)?(?: ?(?<half>[AP])M)?(?: ?(?<offset>Z|UTC|GMT|[-+]\d\d(?::?\d\d)?))?)?`

/** A time without an offset does not change the day; one with an offset has the day of the time zone. */
function createDayReader(flags: CellFlags): (cell: string) => string {
  const { 'date-format': format, 'time-zone': timeZone } = flags
  const known =
    format === undefined ? 'none' : parseName('--date-format', format, ['DMY', 'MDY', 'YMD'])
  const form = new RegExp(`^${patternOf(known)}${TIME}$`, 'i')
  const dayAt = timeZone === undefined ? undefined : createCalendar(timeZone)
  return (cell) => {
    const found = form.exec(cell)?.groups
    if (found?.['Y']?.length !== 4) throw refused('date', cell, EXAMPLES[known])
    const { Y, M = '', D = '', hour = '0', minute = '00', second = '00', half, offset } = found
    const day = `${Y}-${M.padStart(2, '0')}-${D.padStart(2, '0')}`
    if (!ROW.parameters.date.schema.safeParse(day).success) {
      throw refused('date', cell, `${EXAMPLES[known]}; that day does not exist`)
    }
    const hours =
      half === undefined ? hour : String((Number(hour) % 12) + (/p/i.test(half) ? 12 : 0))
    const time = `${hours.padStart(2, '0')}:${minute}:${second}`
    const instant = Date.parse(`${day}T${time}${toOffset(offset)}`)
    if (Number.isNaN(instant)) throw refused('date', cell, 'that time does not exist')
    if (offset === undefined) return day
    if (dayAt) return dayAt(instant)
    throw refused('date', cell, 'a time with an offset needs --time-zone, such as Europe/Warsaw')
  }
}

function toOffset(offset = 'Z'): string {
  const [, hours, minutes = '00'] = /^([-+]\d\d):?(\d\d)?$/.exec(offset) ?? []
  return hours === undefined ? 'Z' : `${hours}:${minutes}`
}

function createCalendar(timeZone: string): (instant: number) => string {
  try {
    const parts = { year: 'numeric', month: '2-digit', day: '2-digit' } as const
    const local = new Intl.DateTimeFormat('en-US', { timeZone, ...parts })
    return (instant) => {
      const found = local.formatToParts(instant).map(({ type, value }) => [type, value])
      const { year, month, day } = Object.fromEntries(found)
      return `${year}-${month}-${day}`
    }
  } catch (cause) {
    const message = `--time-zone must be a name such as Europe/Warsaw, got ${timeZone || '""'}`
    throw new UsageError(message, { cause })
  }
}

/**
 * Reads `from=Currency,date="Booking date"`: the column for each parameter.
 *
 * @throws {UsageError}
 */
export function parseColumns(list: string): Record<string, string> {
  const names: Record<string, string> = {}
  const item = /\s*([^\s=,"]+)\s*=\s*(?:"((?:[^"]|"")+)"|([^,"=]+))\s*(?:,|$)/y
  while (item.lastIndex < list.length) {
    const [found, name = '', quoted, plain = ''] = item.exec(list) ?? []
    if (found === undefined) {
      throw new UsageError(`--columns must be like from=Currency,date="Booking date", got ${list}`)
    }
    if (!Object.hasOwn(ROW.parameters, name)) {
      throw new UsageError(`--columns: ${unknownName(ROW, name).message}`)
    }
    if (Object.hasOwn(names, name)) throw new UsageError(`--columns contains ${name} twice`)
    names[name] = (quoted?.replaceAll('""', '"') ?? plain).trim()
  }
  return names
}
