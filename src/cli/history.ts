import type { HistoryRange, Interval, Period, RateHistory } from '../index.ts'
import { nearest } from '../known-options.ts'
import { drawChart } from './chart.ts'
import type { CommandContext } from './context.ts'
import { printRates } from './output.ts'
import { RATES_OPTIONS, toRatesFlags } from './session.ts'
import { styled, styledLines, toAge } from './terminal.ts'
import type { Terminal } from './terminal.ts'
import { TEXT, UsageError, parseArguments } from './usage.ts'

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
  quarter: ', the last day of each quarter',
  year: ', the last day of each year',
}

type HistoryBody = RateHistory | HistoryRange

const options = { ...RATES_OPTIONS, period: TEXT, start: TEXT, end: TEXT, interval: TEXT } as const

/** Runs `ratesmith history`: shows the daily reference rates of a pair. */
export async function history(args: string[], context: CommandContext): Promise<number> {
  const { values, positionals } = parseArguments({ args, options, allowPositionals: true })
  const [from, to, ...others] = positionals
  if (from === undefined || to === undefined || others.length > 0) {
    throw new UsageError(
      'history needs <from> <to>, for example: ratesmith history USD EUR --period 1Y',
    )
  }
  const { period, start, end, interval } = values
  return printRates<HistoryBody>(
    {
      path: '/v1/history',
      params: { from, to, period, start, end, interval },
      dataSet: 'history',
      codes: [from, to],
      days: { first: start, last: end },
      suggest: ({ code, message }) => {
        if (code === 'invalid_period') return suggestPeriods(period ?? '')
        return message.includes('interval') ? suggestIntervals(interval ?? '') : []
      },
      publication({ points }, now) {
        const day = points.at(-1)?.d
        return { day, when: toAge(now - Date.parse(day ?? '')) }
      },
      show,
      list: ({ points }) => points.map(({ d, r }) => `${d}\t${r}`),
    },
    toRatesFlags(values),
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
    ...styledLines('title', title, terminal),
    ...chart.map((line) => styled('line', line, terminal)),
    `open     ${open}`,
    `close    ${close}`,
    `high     ${high} on ${highDate}`,
    `low      ${low} on ${lowDate}`,
    `average  ${average}`,
    `change   ${changePct === 0 ? change : styled(changePct > 0 ? 'good' : 'bad', change, terminal)}`,
  ]
}
