import type { HistoryRange, Interval, Period, RateHistory } from '../index.ts'
import { nearest } from '../known-options.ts'
import { parseRatesArguments } from './args.ts'
import { drawChart } from './chart.ts'
import type { CommandContext } from './context.ts'
import { isSettledOn, printRates } from './output.ts'
import { styled, toAge, wrapped } from './terminal.ts'
import type { Terminal } from './terminal.ts'
import { UsageError } from './usage.ts'

const CHART_HEIGHT = 10

// `satisfies` makes the compiler report a missing period.
const PERIODS = Object.keys({
  '1W': true,
  '1M': true,
  '3M': true,
  '6M': true,
  '1Y': true,
  '5Y': true,
} satisfies Record<Period, true>)

const POINTS: Record<Interval, string> = {
  day: '',
  week: ', the last day of each week',
  month: ', the last day of each month',
}

type HistoryBody = RateHistory | HistoryRange

/** Runs `ratesmith history`: shows the daily reference rates of a pair. */
export async function history(args: string[], context: CommandContext): Promise<number> {
  const { flags, own, positionals } = parseRatesArguments(args, {
    own: ['period', 'start', 'end', 'interval'],
  })
  const [from, to, ...others] = positionals
  if (from === undefined || to === undefined || others.length > 0) {
    throw new UsageError(
      'history needs <from> <to>, for example: ratesmith history USD EUR --period 1Y',
    )
  }
  const { now } = context
  const query = new URLSearchParams({ from, to, ...own })
  return printRates<HistoryBody>(
    {
      target: `/v1/history?${query}`,
      dataSet: 'history',
      codes: [from, to],
      day: own.start,
      suggest: ({ code, message }) => {
        if (code === 'invalid_period') return suggestPeriods(own.period ?? '')
        return message.includes('interval') ? suggestIntervals(own.interval ?? '') : []
      },
      isSettled: ({ points }) => isSettledOn(own.end, points.at(-1)?.d, now()),
      publishedWhen: ({ points }) => toAge(now() - Date.parse(points.at(-1)?.d ?? '')),
      show,
      list: ({ points }) => points.map(({ d, r }) => `${d}\t${r}`),
    },
    flags,
    context,
  )
}

/** Suggests 1Y for `1y`, `1yr` and `1 year`. */
function suggestPeriods(sent: string): string[] {
  return PERIODS.filter((period) => sent.replace(/\s/g, '').toUpperCase().startsWith(period))
}

/** Suggests week for `weekly`, `weeks` and `Week`. */
function suggestIntervals(sent: string): string[] {
  return nearest(sent, Object.keys(POINTS), 2)
}

function show(record: HistoryBody, terminal: Terminal): string[] {
  const { from, to, points, stats, interval = 'day' } = record
  const { width, hasUnicode } = terminal
  const { open, close, high, low, average, changePct, highDate, lowDate } = stats
  const chart = drawChart(points, { width, height: CHART_HEIGHT, hasUnicode })
  const title = `1 ${from} in ${to}, ${points[0]?.d} to ${points.at(-1)?.d}${POINTS[interval]}`
  const change = `${changePct > 0 ? '+' : ''}${changePct} %`
  return [
    ...wrapped(title, width).map((line) => styled('title', line, terminal)),
    ...chart.map((line) => styled('line', line, terminal)),
    `open     ${open}`,
    `close    ${close}`,
    `high     ${high} on ${highDate}`,
    `low      ${low} on ${lowDate}`,
    `average  ${average}`,
    `change   ${changePct === 0 ? change : styled(changePct > 0 ? 'good' : 'bad', change, terminal)}`,
  ]
}
