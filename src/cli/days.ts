import { toAlternatives } from '../known-options.ts'
import {
  DAY_MS,
  FIRST_REFERENCE_DAY,
  PERIODS,
  isDay,
  periodOf,
  subtractMonths,
  toDay,
} from '../rates/dates.ts'
import type { DayRange } from '../rates/dates.ts'
import { UsageError } from './usage.ts'

const WEEKDAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday']

/**
 * Returns the day that `text` names in UTC: `2020-02-28`, `today`, `yesterday`, `30d`, `-30d`, `30 days ago`, also with weeks,
 * months and years, and `friday` or `last friday`, the last one before today. Undefined for other texts.
 *
 * @throws {UsageError} for a day in another form, such as `28.02.2020`
 */
function readDay(text: string, now: number): string | undefined {
  const word = text.trim().toLowerCase()
  if (/^\d{4}-\d\d-\d\d$/.test(word)) return word
  if (word === 'today') return toDay(now)
  if (word === 'yesterday') return toDay(now - DAY_MS)
  const name = word.replace(/^last\s+/, '')
  const weekday = WEEKDAYS.findIndex((each) => each === name || each.slice(0, 3) === name)
  if (weekday >= 0) {
    const ago = (new Date(now).getUTCDay() - weekday + 7) % 7
    return toDay(now - (ago || 7) * DAY_MS)
  }
  const [, count, unit = ''] =
    /^(?:-\s?(?=\S+$))?(\d{1,5})\s?(d|w|m|y|(?:day|week|month|year)s?(?:\sago)?)$/.exec(word) ?? []
  if (count !== undefined) return daysAgo(Number(count), unit.charAt(0), now)
  refuseOtherForm(word)
  return undefined
}

function daysAgo(count: number, unit: string, now: number): string {
  if (unit === 'd' || unit === 'w') return toDay(now - count * (unit === 'd' ? 1 : 7) * DAY_MS)
  return subtractMonths(toDay(now), unit === 'y' ? 12 * count : count)
}

/** The order of day and month of `03.02.2020` is never guessed. */
function refuseOtherForm(text: string): void {
  const [, first = '', , second = '', third = ''] =
    /^(\d{1,4})([-./])(\d{1,2})\2(\d{1,4})$/.exec(text) ?? []
  if (first === '') return
  const parts = first.length > 2 ? [first, second, third] : [third, second, first]
  const [year, ...rest] = parts.map((part) => part.padStart(2, '0'))
  const orders = first.length > 2 ? [rest] : [rest, rest.toReversed()]
  const days = [...new Set(orders.map((order) => [year, ...order].join('-')))].filter(isDay)
  if (days.length > 1)
    throw new UsageError(`${text} has two meanings: write ${toAlternatives(days)}`)
  const way = days[0] === undefined ? ', or a word such as yesterday' : `: write ${days[0]}`
  throw new UsageError(`a day must be YYYY-MM-DD${way}, got ${text}`)
}

/** Reads a day, `2020`, `2020-03` and `max`. */
function readDays(text: string, now: number): DayRange | undefined {
  if (/^max$/i.test(text)) return { first: FIRST_REFERENCE_DAY, last: toDay(now) }
  const [, year, month] = /^((?:19|20)\d\d)(?:-(\d\d))?$/.exec(text) ?? []
  const start = `${year}-${month ?? '01'}-01`
  if (isDay(start)) return periodOf(start, month === undefined ? 12 : 1)
  const day = readDay(text, now)
  return day === undefined ? undefined : { first: day, last: day }
}

type Span = Partial<Record<'period' | 'start' | 'end', string>>

/** Reads `1y`, `5 years` and what `readDays` reads; a day is the first one. */
function readSpan(text: string, now: number): Span | undefined {
  const [, count, unit = ''] = /^(\d)\s?([wmy]|weeks?|months?|years?)$/i.exec(text) ?? []
  const name = `${count}${unit.charAt(0).toUpperCase()}`
  const period = PERIODS.find((each) => each === name)
  if (period) return { period }
  const { first, last = '' } = readDays(text, now) ?? {}
  if (first === undefined) return undefined
  return first === last || last === toDay(now) ? { start: first } : { start: first, end: last }
}

type Reader = (text: string, now: number) => Readonly<Record<string, string>> | undefined

function reader(flag: string, read: (text: string, now: number) => string | undefined): Reader {
  return (text, now) => {
    const day = read(text, now)
    return day === undefined ? undefined : { [flag]: day }
  }
}

/** By flag, what the words after it mean: flags with their values. */
const READERS = new Map<string, Reader>([
  ['--date', reader('date', readDay)],
  ['-d', reader('date', readDay)],
  ['--start', reader('start', (text, now) => readDays(text, now)?.first)],
  ['--since', reader('since', (text, now) => readDays(text, now)?.first)],
  ['--end', reader('end', (text, now) => readDays(text, now)?.last)],
  ['--period', readSpan],
  ['-p', readSpan],
])

/** Replaces the words after flags for days by days, and joins lists (`USD, GBP`), for the parser of arguments. */
export function spellOut(args: readonly string[], now: number): string[] {
  const left = [...args]
  const spelled: string[] = []
  while (left.length > 0 && left[0] !== '--') {
    const found = takeFlag(left, now)
    if (found) {
      spelled.push(...found)
      continue
    }
    const arg = left.shift() ?? ''
    const before = spelled.at(-1) ?? '-'
    const isList = before.endsWith(',') || arg.startsWith(',')
    // A day at the end, not an amount.
    const isAgo = /^-\d+[dwmy]$/i.test(arg) && left.every((each) => each.startsWith('-'))
    if (isList && !before.startsWith('-') && !arg.startsWith('-')) spelled.push(spelled.pop() + arg)
    else spelled.push(isAgo ? arg.slice(1) : arg === '->' ? 'to' : arg)
  }
  return [...spelled, ...left]
}

/** Takes a flag and the longest words that mean days; undefined, and takes nothing, if the first argument is another one. */
function takeFlag(args: string[], now: number): string[] | undefined {
  const [, flag = args[0] ?? '', value] = /^(--\w+)=(.*)$/s.exec(args[0] ?? '') ?? []
  const read = READERS.get(flag)
  const words = value === undefined ? args.slice(1) : [value]
  const wordsOf = (count: number): string[] => words.slice(0, count)
  const longest = read && readLongest(wordsOf, (text) => read(text, now))
  if (!longest) return undefined
  args.splice(0, value === undefined ? 1 + longest.count : 1)
  return Object.entries(longest.found).flatMap(([name, day]) => [`--${name}`, day])
}

/** Returns what the most words mean that mean something. */
function readLongest<Found>(
  wordsOf: (count: number) => readonly string[],
  read: (text: string) => Found | undefined,
): { count: number; found: Found } | undefined {
  for (const count of [3, 2, 1]) {
    const words = wordsOf(count)
    const found = words.length < count ? undefined : read(words.join(' '))
    if (found !== undefined) return { count, found }
  }
  return undefined
}

/** Takes the longest words that `read` reads at the end, and the words `before` that belong to them. */
function takeEnd<Found>(
  words: readonly string[],
  read: (text: string) => Found | undefined,
  before: RegExp,
): { words: string[]; found?: Found; dropped?: string } {
  const all = words.join(' ').trim().split(/\s+/)
  const longest = readLongest((count) => all.slice(-count), read)
  if (!longest) return { words: all }
  const left = all.slice(0, -longest.count)
  const dropped = left.splice(left.findLastIndex((word) => !before.test(word)) + 1)
  return { words: left, found: longest.found, dropped: dropped.join(' ') }
}

/** Takes the day at the end of words, if there is one: `yesterday`, `on 2020-02-28`, `2 weeks ago`. */
export function takeDay(given: readonly string[], now: number) {
  const { words, found: day } = takeEnd(given, (text) => readDay(text, now), /^(?:on|at)$/i)
  const last = words.at(-1) ?? ''
  if (words.length > 2 && /^(?:19|20)\d\d(?:-\d{1,2})?$/.test(last))
    throw new UsageError(`a day must be YYYY-MM-DD, or a word such as yesterday, got ${last}`)
  return { words, day }
}

/** Takes the period, or the first day and as needed the last, at the end of words: `1y`, `since 2020`, `2019 to 2020-06-30`. */
export function takeSpan(given: readonly string[], now: number): Span & { words: string[] } {
  const read = (text: string): Span | undefined => readSpan(text, now)
  const around = /^(?:on|in|for|over|last|past|the|since|from|between|and|to|until|till|-|–)$/i
  const { words, found = {}, dropped = '' } = takeEnd(given, read, around)
  const { start, end = start } = found
  if (start === undefined || end === undefined) return { words, ...found }
  const { words: before, found: earlier } = takeEnd(words, read, around)
  if (earlier?.start !== undefined) return { words: before, start: earlier.start, end }
  if (/since|from/i.test(dropped)) return { words, start }
  return /to|until|till/i.test(dropped) ? { words, end } : { words, ...found }
}
