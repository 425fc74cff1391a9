import { findCurrency } from '../currencies.ts'
import type { LatestRates } from '../index.ts'
import { parseRatesArguments, splitCodes } from './args.ts'
import type { CommandContext } from './context.ts'
import { daySentence, isSettledOn, printRates } from './output.ts'
import {
  alignedNumbers,
  shortened,
  styled,
  toAge,
  toColumns,
  toMinute,
  wrapped,
} from './terminal.ts'
import type { Terminal } from './terminal.ts'

// Longer names are cut; without room for the minimum, no names are shown.
const MAX_NAME_LENGTH = 28
const MIN_NAME_LENGTH = 6

type LatestBody = LatestRates & { date?: string }

/** Runs `ratesmith latest`: shows latest rates against a base, or the reference rates of a day. */
export async function latest(args: string[], context: CommandContext): Promise<number> {
  const { flags, own } = parseRatesArguments(args, {
    own: ['base', 'symbols', 'date'],
    allowPositionals: false,
  })
  const query = new URLSearchParams(Object.entries(own))
  const { base = 'USD', symbols = '', date: requestedDay } = own
  const { now } = context
  return printRates<LatestBody>(
    {
      target: `/v1/latest?${query}`,
      dataSet: 'latest',
      codes: splitCodes(`${base},${symbols}`),
      day: requestedDay,
      isSettled: ({ date }) => isSettledOn(requestedDay, date, now()),
      publishedWhen: ({ updatedAt, date }) => date ?? toAge(now() - updatedAt),
      show: (table, terminal) => show(table, requestedDay, { terminal, now: now() }),
      list: ({ rates }) =>
        Object.entries(rates).map(([code, rate]) => `${code}\t${rate}\t${nameOf(code)}`),
    },
    flags,
    context,
  )
}

function show(
  table: LatestBody,
  requestedDay: string | undefined,
  { terminal, now }: { terminal: Terminal; now: number },
): string[] {
  const { base, rates, updatedAt, date } = table
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
      : daySentence(date, requestedDay)
  return [
    ...wrapped(`1 ${base} on ${published}`, width).map((line) => styled('title', line, terminal)),
    ...toColumns(cells, width),
  ]
}

function nameOf(code: string): string {
  return findCurrency(code)?.name ?? ''
}
