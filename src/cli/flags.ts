import type { Interval, IntervalValue, Period } from '../index.ts'
import { text, toggle } from './usage.ts'

export const RATES_OPTIONS = {
  json: toggle('print one line of JSON', { short: 'j' }),
  quiet: toggle('print no notes on stderr, only errors', { short: 'q' }),
  latest: text('<names>', 'providers of latest rates, in order, comma-separated'),
  history: text('<names>', 'providers of reference rates, in order, comma-separated'),
  pegs: toggle('add currencies with an official peg'),
  demo: toggle('use synthetic rates, without network'),
  'no-cache': toggle('do not read or write the cache folder'),
}

/** The periods of `history`; `satisfies` makes the compiler report a missing one. */
export const PERIODS: readonly string[] = Object.keys({
  '1W': true,
  '1M': true,
  '3M': true,
  '6M': true,
  '1Y': true,
  '5Y': true,
} satisfies Record<Period, true>)

export const INTERVALS: readonly string[] = Object.keys({
  day: true,
  week: true,
  month: true,
  quarter: true,
  year: true,
} satisfies Record<Interval, true>)

export const VALUES: Readonly<Record<IntervalValue, string>> = {
  last: 'the last day',
  average: 'the average',
  open: 'the first day',
  high: 'the highest rate',
  low: 'the lowest rate',
}

const FROM_SOURCE = {
  source: text('<id>', 'use only the reference rates of this source, such as ecb or nbp'),
}

const DATED = {
  date: text('<day>', 'use the reference rates of this day, or the last before it (YYYY-MM-DD)', {
    short: 'd',
  }),
  rule: text(
    '<rule>',
    'day with the rates for --date: on-or-before (default), exact, next, previous-business-day or period-end',
  ),
  'max-age': text('<days>', 'fail if the rates are more days older than --date'),
  ...FROM_SOURCE,
}

const PRINTED = { csv: toggle('print CSV with a header, as the API does') }

export const MOVED = {
  watch: 'is gone: run the command with watch, as in watch -n 60 ratesmith latest',
}

export const CONVERT_OPTIONS = {
  ...DATED,
  reverse: toggle('show how much <from> gives the amount of <to>'),
  round: text('<digits>', 'minor or cash: round to the digits or coins of the currency'),
  file: text(
    '<file>',
    'convert each row of this CSV file, - for stdin; --date, --rule, --max-age and --reverse apply to rows without their own',
  ),
  ...PRINTED,
  ...RATES_OPTIONS,
}

export const LATEST_OPTIONS = {
  base: text('<code>', 'base currency (default USD)', { short: 'b' }),
  symbols: text('<codes>', 'show only these currencies, comma-separated (default all)', {
    short: 's',
  }),
  ...DATED,
  all: toggle('show all currencies on a terminal, not only the major ones'),
  sort: text(
    '<order>',
    'code, rate, or change: adds the change since the previous day, largest first',
  ),
  ...PRINTED,
  ...RATES_OPTIONS,
}

export const HISTORY_OPTIONS = {
  period: text('<period>', '1W, 1M, 3M, 6M, 1Y or 5Y back from the newest day (default 1M)', {
    short: 'p',
  }),
  start: text('<day>', 'first day, instead of a period (1999-01-04 or later)'),
  end: text('<day>', 'last day (default: the newest)'),
  interval: text('<length>', 'day, week, month, quarter or year: a point for each (default day)'),
  value: text('<value>', 'last, average, open, high or low of each interval (default last)'),
  fill: text('previous', 'also show days without a publication, with the last rate before them'),
  layout: text('<layout>', 'long, or wide: a line per day with a column per code (default long)'),
  ...FROM_SOURCE,
  ...PRINTED,
  ...RATES_OPTIONS,
}

export const DOCTOR_OPTIONS = {
  all: toggle('check every built-in provider at its own address, instead of the chosen ones'),
  store: text('<place>', 'also check this store of serve (default: RATESMITH_STORE)'),
  ...RATES_OPTIONS,
}
