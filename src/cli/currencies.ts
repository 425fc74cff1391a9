import type { CurrencyCoverage, CurrencyHistory } from '../index.ts'
import { createCurrencySearch, foldText } from '../currency-search.ts'
import { didYouMean } from '../known-options.ts'
import type { CommandContext } from './context.ts'
import { RATES_OPTIONS } from './flags.ts'
import { openOutput, suggestCodes } from './output.ts'
import { openSession, toRatesFlags } from './session.ts'
import { styledLines, toTable, withSpinner } from './terminal.ts'
import type { Terminal } from './terminal.ts'
import { UsageError, parseArguments } from './usage.ts'
import { adviceOnPart } from './words.ts'

export async function currencies(args: string[], context: CommandContext): Promise<number> {
  const { values, positionals } = parseArguments({
    args,
    options: RATES_OPTIONS,
    allowPositionals: true,
  })
  const flags = toRatesFlags(values)
  const search = positionals.join(' ')
  const advice = adviceOnPart(search)
  if (advice !== undefined) throw new UsageError(advice)
  const output = openOutput(context)
  const session = await openSession(flags, context)
  try {
    const listing = session.rates.currencies()
    const { currencies: all } = await withSpinner(context, 'fetching currencies', listing)
    const found = findCurrencies(all, search)
    if (flags.json) output.print([JSON.stringify({ currencies: found })])
    else if (found.length > 0) output.print(linesOf(found, all, output.terminal))
    if (found.length > 0) return 0
    const codes = all.map(({ code }) => code)
    const suggestion = didYouMean(suggestCodes([search], codes))
    output.note(`ratesmith: no currency matches ${search}${suggestion}`)
    return 1
  } finally {
    session.close()
  }
}

function findCurrencies(all: readonly CurrencyCoverage[], search: string): CurrencyCoverage[] {
  if (search.trim() === '') return [...all]
  const byCode = new Map(all.map((currency) => [currency.code, currency]))
  const named = createCurrencySearch(all).find(search)
  const best = named.flatMap((code) => byCode.get(code) ?? [])
  return [...new Set([...best, ...all.filter((currency) => matches(currency, search))])]
}

function matches({ code, name, numeric }: CurrencyCoverage, search: string): boolean {
  const text = foldText(search)
  return foldText(code).includes(text) || foldText(name ?? '').includes(text) || numeric === search
}

function linesOf(
  found: readonly CurrencyCoverage[],
  all: readonly CurrencyCoverage[],
  terminal: Terminal,
): string[] {
  if (!terminal.isTTY) {
    return found.map((currency) =>
      [...cellsOf(currency), endOf(currency), ...spansOf(currency)].join('\t'),
    )
  }
  const sources = sourcesOf(all)
  const rows = found.map((currency) => {
    const [code = '', name = '', ...rest] = cellsOf(currency)
    const end = endOf(currency)
    const numbers = currency.histories ? [numbersOf(currency.histories, sources)] : []
    return [code, ...rest, ...numbers, end === '' ? name : `${name} (${end})`]
  })
  const heads = ['code', 'no.', 'digits', 'latest', 'history']
  const others = sources.size > 0 ? ['source', 'name'] : ['name']
  const legend = Array.from(sources, ([source], index) => `${index + 1}: ${source}`)
  return [
    ...toTable([[...heads, ...others], ...rows], 'title', terminal),
    ...legend.flatMap((line) => styledLines('aside', line, terminal)),
  ]
}

/** Sources that a currency prefers come first. */
function sourcesOf(all: readonly CurrencyCoverage[]): Map<string, string> {
  const sources = new Map<string, string>()
  const lists = all.map(({ histories = [] }) => histories)
  for (const { source, to } of lists.toSorted((one, other) => other.length - one.length).flat()) {
    const newest = sources.get(textOf(source)) ?? ''
    sources.set(textOf(source), to !== null && to > newest ? to : newest)
  }
  return sources
}

function textOf({ name, url }: CurrencyHistory['source']): string {
  return `${name}, ${url}`
}

/** Without rates for longer, the history of a currency has ended. */
const MAX_PAUSE_MS = 62 * 86_400_000

/** Returns the numbers of the sources of a history, and the last day where it has ended: `1 until 2025-12-31, 2`. */
function numbersOf(
  histories: readonly CurrencyHistory[],
  sources: ReadonlyMap<string, string>,
): string {
  const names = [...sources.keys()]
  const numbers = histories.map(({ source, to }) => {
    const number = names.indexOf(textOf(source)) + 1
    const newest = sources.get(textOf(source)) ?? ''
    const hasEnded = to !== null && Date.parse(newest) - Date.parse(to) > MAX_PAUSE_MS
    return hasEnded ? `${number} until ${to}` : String(number)
  })
  return numbers.join(', ') || '-'
}

function spansOf({ histories }: CurrencyCoverage): string[] {
  if (!histories) return []
  const spans = histories.map(
    ({ from, to, source }) => `${source.name} ${from ?? '?'} to ${to ?? '?'}`,
  )
  return [spans.join('; ')]
}

function cellsOf({ code, name, numeric, minorUnits, latest, history }: CurrencyCoverage): string[] {
  const digits = minorUnits === null ? '-' : String(minorUnits)
  return [code, name ?? '-', numeric ?? '-', digits, toWord(latest), toWord(history)]
}

function endOf({ code, withdrawn }: CurrencyCoverage): string {
  if (!withdrawn) return ''
  const { at, successor, ratio } = withdrawn
  const exchanged = ratio === null ? '' : `, 1 ${successor} = ${ratio} ${code}`
  return `withdrawn ${at}, use ${successor}${exchanged}`
}

function toWord(covered: boolean | null): string {
  if (covered === null) return '?'
  return covered ? 'yes' : 'no'
}
