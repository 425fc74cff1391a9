import { findCurrency } from '../currencies.ts'
import type { Conversion, ConversionList, ConvertedAmount } from '../index.ts'
import { parseRatesArguments, splitCodes } from './args.ts'
import type { CommandContext } from './context.ts'
import { daySentence, isSettledOn, printRates } from './output.ts'
import { alignedNumbers, shortened, styled, toAge, toMinute, toTable, wrapped } from './terminal.ts'
import type { Terminal } from './terminal.ts'
import { UsageError } from './usage.ts'

type Converted = (Conversion | ConversionList) & { reverse?: true; date?: string }

/** Runs `ratesmith convert`: converts an amount into one or several currencies. */
export async function convert(args: string[], context: CommandContext): Promise<number> {
  const negative = args.find((argument) => /^-[\d.]/.test(argument))
  if (negative !== undefined) throw new UsageError(`amount must not be negative, got ${negative}`)
  const taken = { own: ['date'], switches: ['reverse'] } as const
  const { flags, own, positionals } = parseRatesArguments(args, taken)
  const [amount, from, to, ...others] =
    positionals.length === 2 ? ['1', ...positionals] : positionals
  if (amount === undefined || from === undefined || to === undefined || others.length > 0) {
    throw new UsageError(
      'convert needs [amount] <from> <to>, for example: ratesmith convert 100 USD EUR',
    )
  }
  const query = new URLSearchParams({ from, to, amount, ...own })
  const requestedDay = own.date
  const { now } = context
  return printRates<Converted>(
    {
      target: `/v1/convert?${query}`,
      dataSet: 'latest',
      codes: [from, ...splitCodes(to)],
      day: requestedDay,
      isSettled: ({ date }) => isSettledOn(requestedDay, date, now()),
      publishedWhen: ({ updatedAt, date }) => date ?? toAge(now() - updatedAt),
      show: (conversion, terminal) => show(conversion, requestedDay, { terminal, now: now() }),
      list,
    },
    flags,
    context,
  )
}

function list(conversion: Converted): string[] {
  if ('result' in conversion) {
    const { result, reverse, from, to } = conversion
    return [`${result} ${reverse ? from : to}`]
  }
  return Object.entries(conversion.results).map(
    ([code, { rate, result }]) => `${code}\t${result}\t${rate}`,
  )
}

function show(
  conversion: Converted,
  requestedDay: string | undefined,
  { terminal, now }: { terminal: Terminal; now: number },
): string[] {
  const { from, amount, reverse, updatedAt, date } = conversion
  const published =
    date === undefined
      ? `published ${toMinute(updatedAt)}, ${toAge(now - updatedAt)}`
      : `reference rates of ${daySentence(date, requestedDay)}`
  const inLines = (text: string): string[] => wrapped(text, terminal.width)
  if ('result' in conversion) {
    const { to, rate, result } = conversion
    const [paid, got] = reverse ? [result, amount] : [amount, result]
    return [
      styled('title', `${paid} ${from} = ${got} ${to}`, terminal),
      ...inLines(`1 ${from} = ${rate} ${to}, ${published}`),
    ]
  }
  const title = reverse ? `${from} for ${amount} of each` : `${amount} ${from}`
  return [
    styled('title', title, terminal),
    ...toRateRows(conversion.results, { head: reverse ? from : 'amount', terminal }),
    ...inLines(published),
  ]
}

/** A name shortened below this length is useless. */
const MIN_NAME_LENGTH = 6

/** Options of `toRateRows()`. */
export interface RateRowsOptions {
  /** Heading of the result column. */
  head: string
  terminal: Terminal
}

/**
 * Formats conversions as a table with the columns code, result, rate and name. Without room, rate and name are left out; only
 * names and, as the last resort, results are cut.
 */
export function toRateRows(
  results: Readonly<Record<string, ConvertedAmount>>,
  { head, terminal }: RateRowsOptions,
): string[] {
  const { width, hasUnicode } = terminal
  const converted = Object.values(results)
  const codes = ['code', ...Object.keys(results)]
  const amounts = [head, ...alignedNumbers(converted.map(({ result }) => result))]
  const rates = ['rate', ...alignedNumbers(converted.map(({ rate }) => rate))]
  const names = ['name', ...Object.keys(results).map((code) => findCurrency(code)?.name ?? '')]
  const tables = [
    [codes, amounts, rates, names],
    [codes, amounts, rates],
    [codes, amounts],
  ]
  const fitting = tables.find((columns) => widthOf(columns) <= width) ?? [codes, amounts]
  const lines = toTable(codes.map((_, row) => fitting.map((column) => column[row] ?? '')))
  const [heads = '', ...rows] = lines.map((line) => shortened(line, width, hasUnicode ? '…' : '.'))
  return [styled('aside', heads, terminal), ...rows]
}

function widthOf(columns: readonly (readonly string[])[]): number {
  const widths = columns.map((cells, column) =>
    column === 3 ? MIN_NAME_LENGTH : Math.max(...cells.map((cell) => cell.trimEnd().length)),
  )
  return widths.reduce((sum, each) => sum + each + 2, -2)
}
