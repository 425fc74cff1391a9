import { OPERATIONS } from '../api/parameters.ts'
import { MAJOR_CURRENCIES } from '../currency-search.ts'
import type { DateRule, LatestRates } from '../index.ts'
import type { CommandContext } from './context.ts'
import { LATEST_OPTIONS, parseFlags, rowDefaults, withWords } from './flags.ts'
import { ageOf, nameOf, printRates, publicationText } from './output.ts'
import { latestDirectives, readFormat } from './price-directives.ts'
import { toRatesFlags } from './session.ts'
import type { RatesFlags } from './session.ts'
import { alignedNumbers, shortened, styledLines, toColumns } from './terminal.ts'
import type { Terminal } from './terminal.ts'
import { UsageError, parseName } from './usage.ts'
import { readCode, readCodes, readPair, spellOut, takeDay } from './words.ts'

// Longer names are cut; without room for the minimum, no names are shown.
const MAX_NAME_LENGTH = 28
const MIN_NAME_LENGTH = 6

type LatestBody = LatestRates & {
  date?: string
  asked?: string
  rule?: DateRule
  /** The lines of `--format`. */
  directives?: string[]
}

const ORDERS = ['change', 'code', 'rate']

export async function latest(typed: string[], context: CommandContext): Promise<number> {
  const args = spellOut(typed, context.now())
  const { values, positionals, params } = parseFlags(args, LATEST_OPTIONS, OPERATIONS.latest)
  const { sort, all = false } = values
  const { words, day } = takeDay(positionals, context.now())
  const sent = withWords(spelled(params), { date: day, ...readTable(words) })
  const { symbols, date } = sent
  const flags = toRatesFlags(values)
  checkOrder(sort, flags)
  const format = readFormat(values)
  const isShort = !all && symbols === undefined
  return printRates<LatestBody>(
    {
      operation: 'latest',
      params: withWords(sent, { change: sort === 'change' ? '1D' : undefined }),
      age: ageOf,
      async enrich(table, session) {
        if (!format) return
        const choice = { ...rowDefaults(values), date }
        table.directives = await latestDirectives(format, table, choice, session)
      },
      show: (table, terminal, now) =>
        table.directives ?? [
          ...styledLines(
            'title',
            `1 ${table.base} on ${publicationText(table, date, now)}`,
            terminal,
          ),
          ...showRates(sorted(table, sort), isShort, terminal),
        ],
      list: (table) =>
        table.directives ??
        Object.entries(sorted(table, sort).rates).map(([code, rate]) => {
          const percent = table.change ? [table.change.percent[code] ?? ''] : []
          return [code, rate, ...percent, nameOf(code)].join('\t')
        }),
    },
    flags,
    context,
  )
}

/** Replaces words for currencies by their codes. */
function spelled({ base, symbols, ...params }: Readonly<Record<string, string>>) {
  return {
    ...params,
    ...(base && { base: readCode(base) }),
    ...(symbols && { symbols: readCodes(symbols) }),
  }
}

/** Reads `EUR` and `EUR USD,GBP`. */
function readTable(words: readonly string[]): { base?: string; symbols?: string } {
  const text = words.join(' ')
  const pair = readPair(words)
  if (pair) return { base: pair.from, symbols: pair.to }
  if (text === '') return {}
  const base = readCode(text)
  if (!/[\s,]/.test(base)) return { base }
  throw new UsageError(`latest takes a base and symbols, as in latest EUR USD,GBP, got ${text}`)
}

function checkOrder(sort: string | undefined, { json, csv }: RatesFlags): void {
  if (sort === undefined) return
  parseName('--sort', sort, ORDERS)
  if (json || csv) throw new UsageError('--sort cannot be combined with --json or --csv')
}

/** Returns the table with its rates in order; rates without a change are last. */
function sorted(table: LatestBody, sort: string | undefined): LatestBody {
  if (sort === undefined) return table
  const { rates, change } = table
  const keyOf = (code: string): number =>
    sort === 'rate' ? (rates[code] ?? 0) : -(change?.percent[code] ?? -Infinity)
  const codes = Object.keys(rates).toSorted()
  if (sort !== 'code') {
    codes.sort((one, other) => (keyOf(one) === keyOf(other) ? 0 : keyOf(one) - keyOf(other)))
  }
  return { ...table, rates: Object.fromEntries(codes.map((code) => [code, rates[code] ?? NaN])) }
}

function showRates(table: LatestBody, isShort: boolean, terminal: Terminal): string[] {
  const entries = Object.entries(table.rates)
  const major = isShort ? entries.filter(([code]) => MAJOR_CURRENCIES.includes(code)) : []
  if (major.length === 0) return toColumns(cellsOf(table, terminal), terminal.width)
  const shown = { ...table, rates: Object.fromEntries(major) }
  return [
    ...toColumns(cellsOf(shown, terminal), terminal.width),
    ...styledLines(
      'aside',
      `${major.length} of ${entries.length} currencies; --all shows all`,
      terminal,
    ),
  ]
}

function cellsOf({ rates, change }: LatestBody, { width, hasUnicode }: Terminal): string[] {
  const plain = alignedNumbers(Object.values(rates))
  const percents = Object.keys(rates).map((code) => toPercent(change?.percent[code]))
  const numbers = change ? plain.map((each, index) => `${each}  ${percents[index]}`) : plain
  const room = width - 'USD'.length - (numbers[0]?.length ?? 0) - 2 - 2
  const nameWidth = room < MIN_NAME_LENGTH ? 0 : Math.min(room, MAX_NAME_LENGTH)
  return Object.keys(rates).map((code, index) => {
    const name = shortened(nameOf(code), { width: nameWidth, hasUnicode })
    return `${code}  ${numbers[index]}  ${name}`.trimEnd()
  })
}

function toPercent(percent: number | undefined): string {
  const text = percent === undefined ? '' : `${percent > 0 ? '+' : ''}${percent.toFixed(2)} %`
  return text.padStart('+10.00 %'.length)
}
