import { adviceOnPart, findCurrencies } from '../currency-search.ts'
import type { CurrencyCoverage } from '../index.ts'
import { didYouMean } from '../known-options.ts'
import type { CommandContext } from './context.ts'
import { RATES_OPTIONS } from './flags.ts'
import { printListing, withRates } from './listing.ts'
import { suggestCodes } from './output.ts'
import { UsageError, parseArguments } from './usage.ts'

export async function currencies(args: string[], context: CommandContext): Promise<number> {
  const config = { args, options: RATES_OPTIONS, allowPositionals: true as const }
  const { values, positionals } = parseArguments(config)
  const search = positionals.join(' ')
  const advice = adviceOnPart(search)
  if (advice !== undefined) throw new UsageError(advice)
  return withRates(values, context, async (rates, output) => {
    const { currencies: all } = await rates.currencies()
    const found = findCurrencies(all, search)
    const rows = found.map((each) => cellsOf(each, output.terminal.isTTY))
    const head = 'code no. digits latest history name days'.split(' ').slice(0, rows[0]?.length)
    if (values.json || found.length > 0)
      printListing({ currencies: found }, [head, ...rows], output, values.json)
    if (found.length > 0) return 0
    const codes = all.map(({ code }) => code)
    const suggestion = didYouMean(suggestCodes([search], codes))
    output.note(`ratesmith: no currency matches ${search}${suggestion}`)
    return 1
  })
}

/** Those of a currency with several sources of history end with the days of each. */
function cellsOf(currency: CurrencyCoverage, isTable: boolean): string[] {
  const { code, name, numeric, minorUnits, latest, history, withdrawn, histories } = currency
  const { at, successor, ratio } = withdrawn ?? { ratio: null }
  const exchanged = ratio === null ? '' : `, 1 ${successor} = ${ratio} ${code}`
  const end = withdrawn ? `withdrawn ${at}, use ${successor}${exchanged}` : ''
  const covered = [latest, history].map((each) => (each === null ? '?' : each ? 'yes' : 'no'))
  const numbers = [numeric ?? '-', String(minorUnits ?? '-'), ...covered]
  const shown = name ?? '-'
  const days = histories?.map(({ from, to, source }) => {
    return `${source.name} ${from ?? '?'} to ${to ?? '?'}`
  })
  return [
    code,
    ...(isTable ? [...numbers, end ? `${shown} (${end})` : shown] : [shown, ...numbers, end]),
    ...(days ? [days.join('; ')] : []),
  ]
}
