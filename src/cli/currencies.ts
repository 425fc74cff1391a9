import type { CurrencyCoverage, CurrencyList } from '../index.ts'
import { didYouMean } from '../known-options.ts'
import type { CommandContext } from './context.ts'
import { openOutput, suggestCodes } from './output.ts'
import { RATES_OPTIONS, openSession, toRatesFlags } from './session.ts'
import { toTable, withSpinner } from './terminal.ts'
import type { Terminal } from './terminal.ts'
import { parseArguments } from './usage.ts'

/** Runs `ratesmith currencies`: lists currencies and the data sets that cover them. */
export async function currencies(args: string[], context: CommandContext): Promise<number> {
  const { values, positionals } = parseArguments({
    args,
    options: RATES_OPTIONS,
    allowPositionals: true,
  })
  const flags = toRatesFlags(values)
  const search = positionals.join(' ')
  const output = openOutput(context)
  const session = await openSession(flags, context)
  try {
    const response = session.get('/v1/currencies')
    const { body } = await withSpinner(context, 'fetching currencies', response)
    const all: CurrencyList = JSON.parse(body)
    const found = all.currencies.filter((currency) => matches(currency, search))
    if (flags.json) output.print([JSON.stringify({ currencies: found })])
    else if (found.length > 0) output.print(linesOf(found, output.terminal))
    if (found.length > 0) return 0
    const codes = all.currencies.map(({ code }) => code)
    const suggestion = didYouMean(suggestCodes([search], codes))
    output.note(`ratesmith: no currency matches ${search}${suggestion}`)
    return 1
  } finally {
    session.close()
  }
}

function matches({ code, name, numeric }: CurrencyCoverage, search: string): boolean {
  const text = plain(search)
  return plain(code).includes(text) || plain(name ?? '').includes(text) || numeric === search
}

/** Removes case and accents, so that `zloty` finds the złoty. */
function plain(text: string): string {
  return text.toLowerCase().normalize('NFD').replace(/\p{M}/gu, '').replaceAll('ł', 'l')
}

function linesOf(found: readonly CurrencyCoverage[], terminal: Terminal): string[] {
  if (!terminal.isTTY) {
    return found.map((currency) => [...cellsOf(currency), endOf(currency)].join('\t'))
  }
  const rows = found.map((currency) => {
    const [code = '', name = '', ...rest] = cellsOf(currency)
    const end = endOf(currency)
    return [code, ...rest, end === '' ? name : `${name} (${end})`]
  })
  const heads = ['code', 'no.', 'digits', 'latest', 'history', 'name']
  return toTable([heads, ...rows], 'title', terminal)
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
