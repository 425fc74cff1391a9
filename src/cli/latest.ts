import { MAJOR_CURRENCIES } from '../currency-search.ts'
import type { DateRule, LatestRates } from '../index.ts'
import { didYouMean, nearest } from '../known-options.ts'
import type { Changes } from './changes.ts'
import type { CommandContext } from './context.ts'
import { LATEST_OPTIONS, MOVED } from './flags.ts'
import { nameOf, printRates, publicationOf, publicationText } from './output.ts'
import { toRatesFlags } from './session.ts'
import type { RatesFlags } from './session.ts'
import { alignedNumbers, shortened, styledLines, toColumns } from './terminal.ts'
import type { Terminal } from './terminal.ts'
import { UsageError, parseArguments, splitCodes } from './usage.ts'
import { readCode, readCodes, readPair, spellOut } from './words.ts'

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
  const { values, positionals } = parseArguments(
    { args, options: LATEST_OPTIONS, allowPositionals: true },
    MOVED,
  )
  const { date, rule, 'max-age': maxAge, source, sort, all = false } = values
  const { base, symbols } = readTable(values, positionals)
  const flags = toRatesFlags(values)
  checkOrder(sort, flags)
  const isShort = !all && symbols === undefined
  return printRates<LatestBody>(
    {
      path: '/v1/latest',
      params: { base, symbols, date, rule, maxAge, source },
      dataSet: 'latest',
      codes: splitCodes(`${base ?? 'USD'},${symbols ?? ''}`),
      days: { first: date, last: date },
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

/** Returns the codes of the flags, or of words such as `EUR` and `EUR USD,GBP`. */
function readTable(
  { base, symbols }: { base?: string | undefined; symbols?: string | undefined },
  positionals: readonly string[],
): { base: string | undefined; symbols: string | undefined } {
  const text = positionals.join(' ')
  const pair = readPair(positionals)
  const [from, to] = pair ? [pair.from, pair.to] : [text === '' ? undefined : readCode(text)]
  const isTwice = (from !== undefined && base !== undefined) || (to !== undefined && symbols)
  if (isTwice || /[\s,]/.test(from ?? '')) {
    throw new UsageError(
      `latest takes a base and symbols once, for example: ratesmith latest EUR USD,GBP, got ${text}`,
    )
  }
  return {
    base: from ?? (base && readCode(base)),
    symbols: to ?? (symbols && readCodes(symbols)),
  }
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
