import { findCurrency } from '../currencies.ts'
import type { LatestRates } from '../index.ts'
import { splitCodes } from './codes.ts'
import type { CommandContext } from './context.ts'
import { daySentence, isSettledOn } from './dated.ts'
import { parseRatesArguments } from './rates-flags.ts'
import { printRates } from './print-rates.ts'
import { toAge, toMinute } from './terminal/age.ts'
import { alignedNumbers, shortened, toColumns, wrapped } from './terminal/layout.ts'
import { styled } from './terminal/style.ts'
import type { Terminal } from './terminal/terminal.ts'

/** A name takes no more characters than this, and where there is no room for so many, there is none. */
const MAX_NAME_LENGTH = 28
const MIN_NAME_LENGTH = 6

/** Latest rates, or the reference rates of a day. */
type LatestBody = LatestRates & { date?: string }

/** `ratesmith latest`: latest rates against a base, or those of a day. */
export async function latest(args: string[], context: CommandContext): Promise<number> {
  const { flags, own } = parseRatesArguments(args, {
    own: ['base', 'symbols', 'date'],
    allowPositionals: false,
  })
  const query = new URLSearchParams(Object.entries(own))
  const { base = 'USD', symbols = '', date: asked } = own
  const { now } = context
  return printRates<LatestBody>(
    {
      target: `/v1/latest?${query}`,
      dataSet: 'latest',
      codes: splitCodes(`${base},${symbols}`),
      day: asked,
      isSettled: ({ date }) => isSettledOn(asked, date, now()),
      publishedWhen: ({ updatedAt, date }) => date ?? toAge(now() - updatedAt),
      show: (record, terminal) => show(record, asked, { terminal, now: now() }),
      list: ({ rates }) =>
        Object.entries(rates).map(([code, rate]) => `${code}\t${rate}\t${nameOf(code)}`),
    },
    flags,
    context,
  )
}

function show(
  record: LatestBody,
  asked: string | undefined,
  { terminal, now }: { terminal: Terminal; now: number },
): string[] {
  const { base, rates, updatedAt, date } = record
  const { width, hasUnicode } = terminal
  const numbers = alignedNumbers(Object.values(rates))
  const room = width - 'USD'.length - (numbers[0]?.length ?? 0) - 2 - 2
  const names = Object.keys(rates).map((code) =>
    room < MIN_NAME_LENGTH
      ? ''
      : shortened(nameOf(code), Math.min(room, MAX_NAME_LENGTH), hasUnicode ? '…' : '.'),
  )
  const cells = Object.keys(rates).map((code, index) =>
    `${code}  ${numbers[index]}  ${names[index]}`.trimEnd(),
  )
  const published =
    date === undefined
      ? `${toMinute(updatedAt)}, ${toAge(now - updatedAt)}`
      : daySentence(date, asked)
  return [
    ...wrapped(`1 ${base} on ${published}`, width).map((line) => styled('title', line, terminal)),
    ...toColumns(cells, width),
  ]
}

function nameOf(code: string): string {
  return findCurrency(code)?.name ?? ''
}
