import type { ConversionRecord } from '../index.ts'
import { parseRatesArguments } from './rates-flags.ts'
import { tell } from './tell.ts'
import { toAge, toMinute } from './terminal/age.ts'
import { wrapped } from './terminal/layout.ts'
import { styled } from './terminal/style.ts'
import type { Terminal } from './terminal/terminal.ts'
import { UsageError } from './usage-error.ts'

/** `ratesmith convert`: an amount of one currency in another. */
export async function convert(args: string[]): Promise<number> {
  const negative = args.find((argument) => /^-[\d.]/.test(argument))
  if (negative !== undefined) throw new UsageError(`an amount is not negative, got ${negative}`)
  const { flags, positionals } = parseRatesArguments(args)
  const [amount, from, to, ...others] =
    positionals.length === 2 ? ['1', ...positionals] : positionals
  if (amount === undefined || from === undefined || to === undefined || others.length > 0) {
    throw new UsageError(
      'convert takes an amount and two codes, as in ratesmith convert 100 USD EUR',
    )
  }
  const query = new URLSearchParams({ from, to, amount })
  return tell<ConversionRecord>(
    {
      target: `/v1/convert?${query}`,
      dataSet: 'latest',
      codes: [from, to],
      publishedAt: ({ updatedAt }) => updatedAt,
      show,
      list: ({ result, to: code }) => [`${result} ${code}`],
    },
    flags,
  )
}

function show(record: ConversionRecord, terminal: Terminal): string[] {
  const { from, to, amount, rate, result, updatedAt } = record
  const published = `published ${toMinute(updatedAt)}, ${toAge(Date.now() - updatedAt)}`
  return [
    styled('title', `${amount} ${from} = ${result} ${to}`, terminal),
    ...wrapped(`1 ${from} = ${rate} ${to}, ${published}`, terminal.width),
  ]
}
