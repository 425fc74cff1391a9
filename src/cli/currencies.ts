import { createCurrencySearch, foldText } from '../currency-search.ts'
import type { CurrencyCoverage } from '../index.ts'
import { didYouMean } from '../known-options.ts'
import type { CommandContext } from './context.ts'
import { RATES_OPTIONS } from './flags.ts'
import { openOutput, suggestCodes } from './output.ts'
import { openSession, toRatesFlags } from './session.ts'
import { toTable, withSpinner } from './terminal.ts'
import type { Terminal } from './terminal.ts'
import { UsageError, parseArguments } from './usage.ts'
import { adviceOnPart } from './words.ts'

export async function currencies(args: string[], context: CommandContext): Promise<number> {
  const config = { args, options: RATES_OPTIONS, allowPositionals: true as const }
  const { values, positionals } = parseArguments(config)
  const flags = toRatesFlags(values)
  const search = positionals.join(' ')
  const advice = adviceOnPart(search)
  if (advice !== undefined) throw new UsageError(advice)
  const { print, note, terminal } = openOutput(context)
  const session = await openSession(flags, context)
  try {
    const listing = session.rates.currencies()
    const { currencies: all } = await withSpinner(context, 'fetching currencies', listing)
    const found = findCurrencies(all, search)
    if (flags.json) print([JSON.stringify({ currencies: found })])
    else if (found.length > 0)
      print(terminal.isTTY ? show(found, terminal) : found.map((each) => cellsOf(each).join('\t')))
    if (found.length > 0) return 0
    const codes = all.map(({ code }) => code)
    note(`ratesmith: no currency matches ${search}${didYouMean(suggestCodes([search], codes))}`)
    return 1
  } finally {
    session.close()
  }
}

function findCurrencies(all: readonly CurrencyCoverage[], search: string): CurrencyCoverage[] {
  const text = foldText(search)
  const byCode = new Map(all.map((currency) => [currency.code, currency]))
  const named = createCurrencySearch(all).find(search)
  const others = all.filter(({ code, name, numeric }) => {
    return [code, name ?? ''].some((each) => foldText(each).includes(text)) || numeric === search
  })
  const best = named.flatMap((code) => byCode.get(code) ?? [])
  return text === '' ? [...all] : [...new Set([...best, ...others])]
}

function show(found: readonly CurrencyCoverage[], terminal: Terminal): string[] {
  const rows = found.map((currency) => {
    const [code = '', name = '', ...others] = cellsOf(currency)
    const [number = '', digits = '', latest = '', history = '', end, ...days] = others
    return [code, number, digits, latest, history, end ? `${name} (${end})` : name, ...days]
  })
  const head = 'code no. digits latest history name days'.split(' ')
  return toTable([head.slice(0, rows[0]?.length), ...rows], 'title', terminal)
}

/** Returns the cells for a pipe; those of a currency with several sources of history end with the days of each. */
function cellsOf(currency: CurrencyCoverage): string[] {
  const { code, name, numeric, minorUnits, latest, history, withdrawn, histories } = currency
  const { at, successor, ratio } = withdrawn ?? { ratio: null }
  const exchanged = ratio === null ? '' : `, 1 ${successor} = ${ratio} ${code}`
  const end = withdrawn ? `withdrawn ${at}, use ${successor}${exchanged}` : ''
  const covered = [latest, history].map((each) => (each === null ? '?' : each ? 'yes' : 'no'))
  const cells = [code, name ?? '-', numeric ?? '-', String(minorUnits ?? '-'), ...covered, end]
  const spans = histories?.map(({ from, to, source }) => {
    return `${source.name} ${from ?? '?'} to ${to ?? '?'}`
  })
  return spans ? [...cells, spans.join('; ')] : cells
}
