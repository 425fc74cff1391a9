import { conversionCsv } from '../api/csv.ts'
import { OPERATIONS } from '../api/parameters.ts'
import { isRatesError } from '../errors.ts'
import type {
  Conversion,
  ConversionList,
  ConversionParams,
  ConversionResult,
  RatesOperations,
} from '../index.ts'
import { findDigits } from '../money/minor-units.ts'
import type { CommandContext } from './context.ts'
import { spellOut, takeDay } from './days.ts'
import { CONVERT_OPTIONS, LEDGER, parseFlags, withWords } from './flags.ts'
import { isCodeError, lineOf, nameOf, printRates, publicationText } from './output.ts'
import type { RatesQuery } from './output.ts'
import { alignedNumbers, grouped, styled, styledLines, toColumnTable } from './terminal.ts'
import type { Terminal } from './terminal.ts'
import { UsageError, refuseWith } from './usage.ts'
import { readConversion } from './words.ts'

type Converted = Conversion | ConversionList

export async function convert(typed: string[], context: CommandContext): Promise<number> {
  const now = context.now()
  const args = spellOut(typed, now)
  const negative = args.find((argument) => /^-[\d.]/.test(argument))
  if (negative !== undefined) throw new UsageError(`amount must not be negative, got ${negative}`)
  const { values, positionals, params } = parseFlags(args, CONVERT_OPTIONS, OPERATIONS.convert)
  const { file, csv } = values
  const { quote, context: purpose, reverse, date } = params
  if (quote !== undefined) refuseWith('--quote', { file, csv, reverse, date })
  else if (purpose !== undefined) throw new UsageError('--context requires --quote')
  if (file !== undefined) {
    const { convertLedger } = await import('./convert-ledger.ts')
    return convertLedger({ ...values, file }, positionals, context)
  }
  const alone = Object.keys(LEDGER).find((flag) => Object.hasOwn(values, flag))
  if (alone !== undefined) {
    const advice = alone === 'to' ? '; without it, the target is a word: ratesmith 100 usd eur' : ''
    throw new UsageError(`--${alone} needs --file${advice}`)
  }
  const print = (query: Pick<RatesQuery<Converted>, 'params' | 'notes' | 'request'>) => {
    const lines = (record: Converted, { terminal }: { terminal: Terminal }): string[] => {
      const published = publicationText(record, query.params['date'], now)
      return terminal.isTTY ? show(record, published, terminal) : list(record)
    }
    const csvOf = (record: Converted): string => conversionCsv(Object(record))
    return printRates({ ...query, operation: 'convert', csv: csvOf, lines }, values, context)
  }
  if (quote !== undefined) {
    const { byQuote } = await import('./quotes.ts')
    return print(byQuote({ ...params, quote }, positionals, values.demo === true, context))
  }
  if (positionals.length === 1 && positionals[0] === '-') {
    const { convertList } = await import('./convert-list.ts')
    return convertList(values, context)
  }
  const { words, day } = takeDay(positionals, now)
  const conversion = readConversion(words, reverse === 'true')
  if (!conversion)
    throw new UsageError('convert needs [amount] <from> <to>, such as ratesmith 100 usd eur')
  const { amount = '1', from, to } = conversion
  const notes = new Set(conversion.notes)
  return print({
    params: { from, to, amount, ...withWords(params, { date: day }) },
    notes,
    request: async (rates, sent) => Object(await convertAny(rates, Object(sent), { now, notes })),
  })
}

/** Converts currencies that are gone by their successors; adds a note for each. */
async function convertAny(
  rates: RatesOperations,
  params: ConversionParams,
  { now, notes }: { now: number; notes: Set<string> },
): Promise<ConversionResult> {
  try {
    return await rates.convert(params)
  } catch (error) {
    if (!isRatesError(error) || !isCodeError(error)) throw error
    const { convertWithdrawn } = await import('./withdrawn.ts')
    const found = await convertWithdrawn(params, rates, now).catch(() => undefined)
    if (!found) throw error
    for (const note of found.notes) notes.add(note)
    return found.record
  }
}

function list(conversion: Converted): string[] {
  if ('result' in conversion) return [lineOf(conversion)]
  return Object.entries(conversion.results).map(
    ([code, { rate, quotedRate = rate, result, rounded = result }]) =>
      `${code}\t${rounded}\t${quotedRate}`,
  )
}

function show(conversion: Converted, publication: string, terminal: Terminal): string[] {
  const { from, amount, reverse, date } = conversion
  const published = `${date === undefined ? 'published' : 'reference rates of'} ${publication}`
  if (!('result' in conversion)) {
    const title = reverse ? `${from} for ${grouped(amount)} of each` : `${grouped(amount)} ${from}`
    return [
      styled('title', title, terminal),
      ...toRateRows(conversion, terminal),
      ...styledLines('aside', published, terminal),
    ]
  }
  const { to, rate, quotedRate = rate, result, rounded } = conversion
  const code = reverse ? from : to
  // The title of one unit is its rate.
  const isRate = amount === 1 && !reverse && rounded === undefined
  const shown = rounded ?? (isRate ? String(result) : readable(result, code))
  const [paid, got] = reverse ? [shown, amount] : [amount, shown]
  const about = [
    ...(Number(shown) === result ? [] : [`exactly ${result} ${code}`]),
    ...(isRate ? [] : [`1 ${from} = ${quotedRate} ${to}`]),
    published,
  ]
  return [
    styled('title', `${grouped(paid)} ${from} = ${grouped(got)} ${to}`, terminal),
    ...styledLines('aside', about.join(', '), terminal),
  ]
}

const MIN_DIGITS = 4

/** Returns an amount with the digits of its currency, a small one with at least four; a whole one without any. */
function readable(amount: number, code: string): string {
  const exact = String(amount)
  const digits = findDigits(code) ?? 2
  if (exact.includes('e') || Number.isInteger(amount)) return exact
  const short = amount.toFixed(digits)
  const isSmall = Math.abs(amount) < 10 ** (MIN_DIGITS - 1 - digits)
  return isSmall && Number(short) !== amount
    ? String(Number(amount.toPrecision(MIN_DIGITS)))
    : short
}

function toRateRows({ from, results, reverse }: ConversionList, terminal: Terminal): string[] {
  const codes = Object.keys(results)
  const all = Object.values(results)
  const amounts = all.map(({ result, rounded }, index) => {
    return rounded ?? readable(result, reverse ? from : (codes[index] ?? ''))
  })
  const columns = [
    ['code', ...codes],
    [reverse ? from : 'amount', ...alignedNumbers(amounts)],
    ['rate', ...alignedNumbers(all.map(({ rate, quotedRate = rate }) => quotedRate))],
    ['name', ...codes.map(nameOf)],
  ]
  return toColumnTable(columns, terminal)
}
