import type { DateRule, LatestRates } from '../index.ts'
import type { CommandContext } from './context.ts'
import { nameOf, printRates, publicationOf, publicationText } from './output.ts'
import { RATES_OPTIONS, toRatesFlags } from './session.ts'
import { alignedNumbers, shortened, styledLines, toColumns } from './terminal.ts'
import type { Terminal } from './terminal.ts'
import { TEXT, UsageError, parseArguments, splitCodes } from './usage.ts'
import { readCode, readCodes, readPair, spellOut } from './words.ts'

// Longer names are cut; without room for the minimum, no names are shown.
const MAX_NAME_LENGTH = 28
const MIN_NAME_LENGTH = 6

type LatestBody = LatestRates & { date?: string; asked?: string; rule?: DateRule }

const options = {
  ...RATES_OPTIONS,
  base: TEXT,
  symbols: TEXT,
  date: TEXT,
  rule: TEXT,
  'max-age': TEXT,
} as const

/** Runs `ratesmith latest`: shows latest rates against a base, or the reference rates of a day. */
export async function latest(typed: string[], context: CommandContext): Promise<number> {
  const args = spellOut(typed, context.now())
  const { values, positionals } = parseArguments({ args, options, allowPositionals: true })
  const { date, rule, 'max-age': maxAge } = values
  const { base, symbols } = readTable(values, positionals)
  return printRates<LatestBody>(
    {
      path: '/v1/latest',
      params: { base, symbols, date, rule, maxAge },
      dataSet: 'latest',
      codes: splitCodes(`${base ?? 'USD'},${symbols ?? ''}`),
      days: { first: date, last: date },
      publication: publicationOf,
      show: (table, terminal, now) => [
        ...styledLines(
          'title',
          `1 ${table.base} on ${publicationText(table, date, now)}`,
          terminal,
        ),
        ...toColumns(cellsOf(table, terminal), terminal.width),
      ],
      list: ({ rates }) =>
        Object.entries(rates).map(([code, rate]) => `${code}\t${rate}\t${nameOf(code)}`),
    },
    toRatesFlags(values),
    context,
  )
}

/** Returns the codes of the flags, or of words such as `EUR` and `EUR USD,GBP`. */
function readTable(
  { base, symbols }: { base?: string | undefined; symbols?: string | undefined },
  positionals: readonly string[],
): { base: string | undefined; symbols: string | undefined } {
  const text = positionals.join(' ')
  const pair = readPair(positionals)
  const [from, to] = pair ? [pair.from, pair.to] : [text === '' ? undefined : readCode(text)]
  const isTwice = (from !== undefined && base !== undefined) || (to !== undefined && symbols)
  if (isTwice || /[\s,]/.test(from ?? '')) {
    throw new UsageError(
      `latest takes a base and symbols once, for example: ratesmith latest EUR USD,GBP, got ${text}`,
    )
  }
  return {
    base: from ?? (base && readCode(base)),
    symbols: to ?? (symbols && readCodes(symbols)),
  }
}

/** Returns a cell with code, rate and name for each rate, with as much of the name as fits the terminal. */
function cellsOf({ rates }: LatestBody, { width, hasUnicode }: Terminal): string[] {
  const numbers = alignedNumbers(Object.values(rates))
  const room = width - 'USD'.length - (numbers[0]?.length ?? 0) - 2 - 2
  const nameWidth = room < MIN_NAME_LENGTH ? 0 : Math.min(room, MAX_NAME_LENGTH)
  return Object.keys(rates).map((code, index) => {
    const name = shortened(nameOf(code), { width: nameWidth, hasUnicode })
    return `${code}  ${numbers[index]}  ${name}`.trimEnd()
  })
}
