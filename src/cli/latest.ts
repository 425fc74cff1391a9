import { OPERATIONS } from '../api/parameters.ts'
import { MAJOR_CURRENCIES } from '../currency-search.ts'
import type { DateRule, LatestRates } from '../index.ts'
import { didYouMean, nearest } from '../known-options.ts'
import type { Changes } from './changes.ts'
import type { CommandContext } from './context.ts'
import { LATEST_OPTIONS, parseFlags, withWords } from './flags.ts'
import { nameOf, printRates, publicationOf, publicationText } from './output.ts'
import { toRatesFlags } from './session.ts'
import type { RatesFlags } from './session.ts'
import { alignedNumbers, shortened, styledLines, toColumns } from './terminal.ts'
import type { Terminal } from './terminal.ts'
import { UsageError } from './usage.ts'
import { readCode, readCodes, readPair, spellOut, takeDay } from './words.ts'

// Longer names are cut; without room for the minimum, no names are shown.
const MAX_NAME_LENGTH = 28
const MIN_NAME_LENGTH = 6

type LatestBody = LatestRates & {
  date?: string
  asked?: string
  rule?: DateRule
  /** Change since the previous day by code, in percent. */
  changes?: Changes
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
  const isShort = !all && symbols === undefined
  return printRates<LatestBody>(
    {
      operation: 'latest',
      params: sent,
      publication: publicationOf,
      async enrich(table, session) {
        if (sort === 'change') {
          const { loadChanges } = await import('./changes.ts')
          table.changes = await loadChanges(table, session)
        }
        table.rates = sorted(table, sort)
      },
      show: (table, terminal, now) => [
        ...styledLines(
          'title',
          `1 ${table.base} on ${publicationText(table, date, now)}`,
          terminal,
        ),
        ...showRates(table, isShort, terminal),
      ],
      list: ({ rates, changes }) =>
        Object.entries(rates).map(([code, rate]) => {
          const change = changes ? [changes.get(code) ?? ''] : []
          return [code, rate, ...change, nameOf(code)].join('\t')
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
  if (!ORDERS.includes(sort)) {
    const suggestion = didYouMean(nearest(sort, ORDERS, 2))
    throw new UsageError(`--sort must be change, code or rate, got ${sort || '""'}${suggestion}`)
  }
  if (json || csv) throw new UsageError('--sort cannot be combined with --json or --csv')
}

/** Returns the rates in order; rates without a change are last. */
function sorted({ rates, changes }: LatestBody, sort: string | undefined): Record<string, number> {
  const entries = Object.entries(rates)
  if (sort === undefined) return rates
  if (sort === 'code')
    return Object.fromEntries(entries.toSorted(([one], [other]) => (one < other ? -1 : 1)))
  const keyOf = ([code, rate]: [string, number]): number =>
    sort === 'rate' ? rate : -(changes?.get(code) ?? -Infinity)
  return Object.fromEntries(
    entries.toSorted((one, other) => {
      const [first, second] = [keyOf(one), keyOf(other)]
      return first === second ? 0 : first - second
    }),
  )
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

function cellsOf({ rates, changes }: LatestBody, { width, hasUnicode }: Terminal): string[] {
  const plain = alignedNumbers(Object.values(rates))
  const percents = Object.keys(rates).map((code) => toPercent(changes?.get(code)))
  const numbers = changes ? plain.map((each, index) => `${each}  ${percents[index]}`) : plain
  const room = width - 'USD'.length - (numbers[0]?.length ?? 0) - 2 - 2
  const nameWidth = room < MIN_NAME_LENGTH ? 0 : Math.min(room, MAX_NAME_LENGTH)
  return Object.keys(rates).map((code, index) => {
    const name = shortened(nameOf(code), { width: nameWidth, hasUnicode })
    return `${code}  ${numbers[index]}  ${name}`.trimEnd()
  })
}

function toPercent(change: number | undefined): string {
  const text = change === undefined ? '' : `${change > 0 ? '+' : ''}${change.toFixed(2)} %`
  return text.padStart('+10.00 %'.length)
}
