import type { DataSetStatus } from '../index.ts'
import type { CommandContext } from './context.ts'
import { RATES_OPTIONS } from './flags.ts'
import { printListing, withRates } from './listing.ts'
import { DISCLAIMER } from './output.ts'
import { styledLines, toMinute } from './terminal.ts'
import { parseArguments } from './usage.ts'

/** Lists the sources of reference rates, which `--source` selects by their ids. */
export async function sources(args: string[], context: CommandContext): Promise<number> {
  const { values } = parseArguments({ args, options: RATES_OPTIONS })
  return withRates(values, context, async (rates, output) => {
    const record = await rates.sources()
    const isTable = output.terminal.isTTY && !values.json
    const rows = record.sources.map(
      ({ id, base, frequency, from, lastDay, late, source, terms }) => {
        const cells = [id, base ?? '', frequency, from, lastDay ?? '', late ? 'late' : '']
        return isTable ? cells : [...cells, source.name, source.url, terms ?? '']
      },
    )
    const head = ['source', 'base', 'published', 'since', 'newest', 'state']
    printListing(record, [head, ...rows], output, values.json)
    const notes = record.sources.map(
      ({ id, source: { name, url }, terms }) =>
        `${id}: ${name}, ${url}, terms: ${terms ?? 'not known'}`,
    )
    const shown = isTable ? [...notes, DISCLAIMER] : []
    output.print(shown.flatMap((line) => styledLines('aside', line, output.terminal)))
    return 0
  })
}

/** Shows how fresh the rates of the command are; exits with 1 while some are missing. */
export async function status(args: string[], context: CommandContext): Promise<number> {
  const { values } = parseArguments({ args, options: RATES_OPTIONS })
  return withRates(values, context, async (rates, output) => {
    const { sources: named } = await rates.sources()
    const record = await rates.status()
    const { latest, history } = record
    const updated = latest?.updatedAt ? toMinute(latest.updatedAt) : ''
    const days = history ? (history.sources ?? [history]) : []
    const rows = [
      ['rates', 'state', 'newest', 'source', 'last attempt', 'next attempt'],
      ...(latest ? [['latest', ...cellsOf(latest, updated)]] : []),
      ...days.map((each, index) => [
        'history',
        ...cellsOf(each, each.lastDay ?? '', named[index]?.source.name),
      ]),
    ]
    printListing(record, rows, output, values.json)
    return record.ready ? 0 : 1
  })
}

function cellsOf(
  { ready, stale, late, source, lastAttempt, nextAttemptAt }: DataSetStatus & { late?: boolean },
  newest: string,
  name = '',
): string[] {
  const state = !ready ? 'missing' : late ? 'late' : stale ? 'overdue' : 'current'
  const attempts = [lastAttempt?.outcome ?? '', toMinute(nextAttemptAt)]
  return [state, newest, source?.name ?? name, ...attempts]
}
