import type { Conversion, ConversionList } from '../index.ts'
import { splitCodes } from './codes.ts'
import type { CommandContext } from './context.ts'
import { daySentence, isSettledOn } from './dated.ts'
import { printRates } from './print-rates.ts'
import { parseRatesArguments } from './rates-flags.ts'
import { toAge, toMinute } from './terminal/age.ts'
import { wrapped } from './terminal/layout.ts'
import { toRateRows } from './terminal/rate-rows.ts'
import { styled } from './terminal/style.ts'
import type { Terminal } from './terminal/terminal.ts'
import { UsageError } from './usage-error.ts'

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
