import type { Conversion, ConversionList, ConvertedAmount, DateRule } from '../index.ts'
import { OPERATIONS } from '../api/parameters.ts'
import type { CommandContext } from './context.ts'
import { CONVERT_OPTIONS, LEDGER, parseFlags, withWords } from './flags.ts'
import { ageOf, nameOf, printRates, publicationText } from './output.ts'
import { toRatesFlags } from './session.ts'
import { alignedNumbers, styled, toTable, wrapped } from './terminal.ts'
import type { Terminal } from './terminal.ts'
import { UsageError } from './usage.ts'
import { readConversion, spellOut, takeDay } from './words.ts'

type Converted = (Conversion | ConversionList) & {
  reverse?: true
  date?: string
  asked?: string
  rule?: DateRule
}

export async function convert(typed: string[], context: CommandContext): Promise<number> {
  const args = spellOut(typed, context.now())
  const negative = args.find(
    (argument, index) => /^-[\d.]/.test(argument) && args[index - 1] !== '--date',
  )
  if (negative !== undefined) throw new UsageError(`amount must not be negative, got ${negative}`)
  const { values, positionals, params } = parseFlags(args, CONVERT_OPTIONS, OPERATIONS.convert)
  if (values.file !== undefined) {
    const { convertLedger } = await import('./convert-ledger.ts')
    return convertLedger({ ...values, file: values.file }, positionals, context)
  }
  const alone = Object.keys(LEDGER).find((flag) => Object.hasOwn(values, flag))
  if (alone !== undefined) throw new UsageError(`--${alone} needs --file`)
  if (positionals.length === 1 && positionals[0] === '-') {
    const { convertList } = await import('./convert-list.ts')
    return convertList(values, context)
  }
  const { words, day } = takeDay(positionals, context.now())
  const conversion = readConversion(words, params['reverse'] === 'true')
  if (!conversion) {
    throw new UsageError(
      'convert needs [amount] <from> <to>, for example: ratesmith convert 100 USD EUR',
    )
  }
  const { amount = '1', from, to } = conversion
  const others = withWords(params, { date: day })
  const { date } = others
  const sent = { from, to, amount, ...others }
  return printRates<Converted>(
    {
      operation: 'convert',
      params: sent,
      async substitute() {
        const { substituteWithdrawn } = await import('./withdrawn.ts')
        return substituteWithdrawn(sent, context.now())
      },
      age: ageOf,
      show: (conversion, terminal, now) =>
        show(conversion, publicationText(conversion, date, now), terminal),
      list,
    },
    toRatesFlags(values),
    context,
  )
}

function list(conversion: Converted): string[] {
  if ('result' in conversion) {
    const { rounded, result, reverse, from, to } = conversion
    return [`${rounded ?? result} ${reverse ? from : to}`]
  }
  return Object.entries(conversion.results).map(
    ([code, { rate, result, rounded = result }]) => `${code}\t${rounded}\t${rate}`,
  )
}

function show(conversion: Converted, publication: string, terminal: Terminal): string[] {
  const { from, amount, reverse, date } = conversion
  const published = `${date === undefined ? 'published' : 'reference rates of'} ${publication}`
  const inLines = (text: string): string[] => wrapped(text, terminal.width)
  if ('result' in conversion) {
    const { to, rate, result, rounded } = conversion
    const shown = rounded ?? result
    const [paid, got] = reverse ? [shown, amount] : [amount, shown]
    const exact = rounded === undefined ? '' : `exactly ${result} ${reverse ? from : to}, `
    return [
      styled('title', `${paid} ${from} = ${got} ${to}`, terminal),
      // The title of one unit is its rate.
      ...inLines(
        paid === 1 && exact === '' ? published : `${exact}1 ${from} = ${rate} ${to}, ${published}`,
      ),
    ]
  }
  const title = reverse ? `${from} for ${amount} of each` : `${amount} ${from}`
  return [
    styled('title', title, terminal),
    ...toRateRows(conversion.results, reverse ? from : 'amount', terminal),
    ...inLines(published),
  ]
}

/** A name shortened below this length is useless. */
const MIN_NAME_LENGTH = 6

/** Without room, rate and name are left out; only names and, as the last resort, results are cut. */
function toRateRows(
  results: Readonly<Record<string, ConvertedAmount>>,
  head: string,
  terminal: Terminal,
): string[] {
  const converted = Object.values(results)
  const columns = [
    ['code', ...Object.keys(results)],
    [head, ...alignedNumbers(converted.map(({ result, rounded = result }) => rounded))],
    ['rate', ...alignedNumbers(converted.map(({ rate }) => rate))],
    ['name', ...Object.keys(results).map(nameOf)],
  ]
  const [count = 2] = [4, 3].filter((each) => widthOf(columns.slice(0, each)) <= terminal.width)
  const rows = ['code', ...converted].map((_, row) =>
    columns.slice(0, count).map((column) => column[row] ?? ''),
  )
  return toTable(rows, 'aside', terminal)
}

function widthOf(columns: readonly (readonly string[])[]): number {
  const widths = columns.map((cells, column) =>
    column === 3 ? MIN_NAME_LENGTH : Math.max(...cells.map((cell) => cell.trimEnd().length)),
  )
  return widths.reduce((sum, each) => sum + each + 2, -2)
}
