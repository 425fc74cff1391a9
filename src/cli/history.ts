import type { HistoryRecord, Period } from '../index.ts'
import { parseRatesArguments } from './rates-flags.ts'
import { tell } from './tell.ts'
import { drawChart } from './terminal/chart.ts'
import { styled } from './terminal/style.ts'
import type { Terminal } from './terminal/terminal.ts'
import { UsageError } from './usage-error.ts'

/** Lines of the chart. */
const HEIGHT = 10

/** Every period; the compiler sees to it that none is missing. */
const PERIODS = Object.keys({
  '1W': true,
  '1M': true,
  '3M': true,
  '6M': true,
  '1Y': true,
  '5Y': true,
} satisfies Record<Period, true>)

/** `ratesmith history`: the daily reference rates of a pair. */
export async function history(args: string[]): Promise<number> {
  const { flags, own, positionals } = parseRatesArguments(args, { own: ['period'] })
  const [from, to, ...others] = positionals
  if (from === undefined || to === undefined || others.length > 0) {
    throw new UsageError('history takes two codes, as in ratesmith history USD EUR --period 1Y')
  }
  const query = new URLSearchParams({ from, to, ...own })
  return tell<HistoryRecord>(
    {
      target: `/v1/history?${query}`,
      dataSet: 'history',
      codes: [from, to],
      suggest: (code) => (code === 'invalid_period' ? meantPeriods(own.period ?? '') : []),
      publishedAt: ({ points }) => Date.parse(points.at(-1)?.d ?? ''),
      show,
      list: ({ points }) => points.map(({ d, r }) => `${d}\t${r}`),
    },
    flags,
  )
}

/** `1y`, `1yr` and `1 year` mean 1Y. */
function meantPeriods(sent: string): string[] {
  return PERIODS.filter((period) => sent.replace(/\s/g, '').toUpperCase().startsWith(period))
}

function show(record: HistoryRecord, terminal: Terminal): string[] {
  const { from, to, points, stats } = record
  const { width, hasUnicode } = terminal
  const { open, close, high, low, average, changePct, highDate, lowDate } = stats
  const chart = drawChart(points, { width, height: HEIGHT, hasUnicode })
  const change = `${changePct > 0 ? '+' : ''}${changePct} %`
  return [
    styled('title', `1 ${from} in ${to}, ${points[0]?.d} to ${points.at(-1)?.d}`, terminal),
    ...chart.map((line) => styled('line', line, terminal)),
    `open     ${open}`,
    `close    ${close}`,
    `high     ${high} on ${highDate}`,
    `low      ${low} on ${lowDate}`,
    `average  ${average}`,
    `change   ${changePct === 0 ? change : styled(changePct > 0 ? 'good' : 'bad', change, terminal)}`,
  ]
}
