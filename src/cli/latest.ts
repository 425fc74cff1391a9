import { latestCsv } from '../api/csv.ts'
import { OPERATIONS } from '../api/parameters.ts'
import { MAJOR_CURRENCIES } from '../currency-search.ts'
import type { LatestRates } from '../index.ts'
import type { CommandContext } from './context.ts'
import { spellOut, takeDay } from './days.ts'
import { LATEST_OPTIONS, parseFlags, rowDefaults, withWords } from './flags.ts'
import { nameOf, printRates, publicationText, toPercent } from './output.ts'
import { latestDirectives, readFormat } from './price-directives.ts'
import { alignedNumbers, styledLines, toColumnTable } from './terminal.ts'
import type { Terminal } from './terminal.ts'
import { UsageError, parseName, refuseWith } from './usage.ts'
import { noteOn, readCode, readCodes, readPair, splitList } from './words.ts'

export async function latest(typed: string[], context: CommandContext): Promise<number> {
  const args = spellOut(typed, context.now())
  const { values, positionals, params } = parseFlags(args, LATEST_OPTIONS, OPERATIONS.latest)
  const { sort, all = false } = values
  if (sort !== undefined) {
    parseName('--sort', sort, ['change', 'code', 'rate'])
    refuseWith('--sort', { json: values.json, csv: values.csv })
  }
  const format = readFormat(values)
  const { words, day } = takeDay(positionals, context.now())
  const change = sort === 'change' ? '1D' : undefined
  const { notes = [], ...table } = readTable(words)
  const asked = withWords(params, { date: day, change, ...table })
  const { base, symbols, date } = asked
  return printRates<LatestRates>(
    {
      operation: 'latest',
      params: {
        ...asked,
        ...(base && { base: readCode(base) }),
        ...(symbols && { symbols: readCodes(symbols) }),
      },
      notes: new Set([...notes, ...noteOn([base ?? '', ...splitList(symbols ?? '')])]),
      request: async (rates, typed) => rates.latest(typed),
      csv: latestCsv,
      lines(found, { terminal, now, session }) {
        const choice = { ...rowDefaults(values), date }
        if (format) return latestDirectives(format, found, choice, session)
        const table = sorted(found, sort)
        if (!terminal.isTTY) return list(table)
        const title = `1 ${table.base} on ${publicationText(table, date, now)}`
        const isShort = !all && symbols === undefined
        return [...styledLines('title', title, terminal), ...show(table, isShort, terminal)]
      },
    },
    values,
    context,
  )
}

/** Reads `EUR` and `EUR USD,GBP`. */
function readTable(words: readonly string[]): {
  base?: string
  symbols?: string
  notes?: string[]
} {
  const text = words.join(' ')
  const pair = readPair(text)
  if (pair) return { base: pair.from, symbols: pair.to, notes: pair.notes }
  if (text === '') return {}
  if (!/[\s,]/.test(readCode(text))) return { base: text }
  throw new UsageError(`latest takes a base and symbols, as in latest EUR USD,GBP, got ${text}`)
}

/** Returns the table with its rates in order; rates without a change are last. */
function sorted(table: LatestRates, sort: string | undefined): LatestRates {
  const { rates, change } = table
  const rateOf = (code: string): number => rates[code] ?? 0
  const changeOf = (code: string): number => change?.percent[code] ?? -Number.MAX_VALUE
  const codes = Object.keys(rates)
  if (sort !== undefined) codes.sort()
  if (sort === 'rate') codes.sort((one, other) => rateOf(one) - rateOf(other))
  if (sort === 'change') codes.sort((one, other) => changeOf(other) - changeOf(one))
  return { ...table, rates: Object.fromEntries(codes.map((code) => [code, rateOf(code)])) }
}

function list({ rates, change }: LatestRates): string[] {
  return Object.entries(rates).map(([code, rate]) => {
    const percent = change ? [change.percent[code] ?? ''] : []
    return [code, rate, ...percent, nameOf(code)].join('\t')
  })
}

function show(table: LatestRates, isShort: boolean, terminal: Terminal): string[] {
  const { rates, change } = table
  const all = Object.keys(rates)
  const major = isShort ? all.filter((code) => MAJOR_CURRENCIES.includes(code)) : []
  const codes = major.length === 0 ? all : major
  const columns = [
    ['code', ...codes],
    ['rate', ...alignedNumbers(codes.map((code) => rates[code] ?? NaN))],
    ...(change ? [['change', ...codes.map((code) => changeText(change.percent[code]))]] : []),
    ['name', ...codes.map(nameOf)],
  ]
  const more = `${major.length} of ${all.length} currencies; --all shows all`
  return [
    ...toColumnTable(columns, terminal),
    ...(major.length === 0 ? [] : styledLines('aside', more, terminal)),
  ]
}

function changeText(percent: number | undefined): string {
  const text = percent === undefined ? '' : toPercent(percent.toFixed(2))
  return text.padStart('+10.00 %'.length)
}
