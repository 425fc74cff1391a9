import type { HistoryDays, LatestTable } from '../../src/index.ts'
import * as cases from './provider-cases.ts'
import type { Change } from './trial-providers.ts'

const HOUR = 3_600_000

let count = 0

/** What a method of a provider must not do either. */
export const BAD_METHODS: [what: string, change: Change, found: string[]][] = [
  ['has no name', { attribution: { name: ' ', url: 'https://treasury.example' } }, [cases.NAMED]],
  [
    'has no link',
    { attribution: { name: 'Our treasury', url: 'treasury.example' } },
    [cases.NAMED],
  ],
  [
    'has a link that runs something',
    { attribution: { name: 'Our treasury', url: 'javascript:alert()' } },
    [cases.NAMED],
  ],
  [
    'keeps something in its context',
    { meddle: (given) => Object.assign(given, { seen: 1 }) },
    [cases.CONTEXT],
  ],
  [
    'puts another fetch into its context',
    { meddle: (given) => 'fetch' in given && Object.assign(given, { fetch: () => {} }) },
    [cases.CONTEXT],
  ],
]

/** A good provider whose table has these rates, too. */
export function withRates(change: (rates: LatestTable['rates']) => object): Change {
  return { table: ({ rates, ...table }) => ({ ...table, rates: { ...rates, ...change(rates) } }) }
}

export const BAD_TABLES: [what: string, change: Change, found: string[]][] = [
  [
    'has codes in lower case',
    {
      table: ({ rates, ...table }) => {
        const lower = Object.entries(rates).map(([code, rate]) => [code.toLowerCase(), rate])
        return { ...table, rates: Object.fromEntries(lower) }
      },
    },
    [cases.ACCEPTED],
  ],
  ['quotes its base at 2', withRates(() => ({ USD: 2 })), [cases.ACCEPTED]],
  [
    'has its rates in texts',
    withRates((rates) => Object.fromEntries(Object.keys(rates).map((code) => [code, '1.5']))),
    [cases.ACCEPTED],
  ],
  [
    'has its time in seconds',
    { table: (table) => ({ ...table, updatedAt: Math.floor(table.updatedAt / 1_000) }) },
    [cases.ACCEPTED],
  ],
  ['has no rates', { table: (table) => ({ ...table, rates: {} }) }, [cases.ACCEPTED]],
  ['has a rate below zero', withRates(() => ({ EUR: -1 })), [cases.DROPPED]],
  ['has a rate that is no number', withRates(() => ({ EUR: NaN })), [cases.DROPPED]],
  ['has something else among its codes', withRates(() => ({ 'EUR=X': 1 })), [cases.DROPPED]],
  ['has other rates every time', withRates(() => ({ EUR: (count += 1) })), [cases.SAME]],
  [
    'was published tomorrow',
    {
      table: (table) => ({
        ...table,
        updatedAt: table.updatedAt + 24 * HOUR,
        nextUpdateAt: table.updatedAt + 48 * HOUR,
      }),
    },
    [cases.PUBLISHED],
  ],
  [
    'publishes next when it has published',
    { table: (table) => ({ ...table, nextUpdateAt: table.updatedAt }) },
    [cases.PUBLISHED],
  ],
  [
    'has another table beside the one before',
    {
      table: (table, previous) => (previous ? { ...table, updatedAt: table.updatedAt - 1 } : table),
    },
    [cases.PREVIOUS],
  ],
  [
    'changes the table before',
    {
      table(table, previous) {
        if (previous) previous.rates['EUR'] = 1
        return table
      },
    },
    [cases.PREVIOUS],
  ],
  [
    'judges every table to be bad',
    {
      judge() {
        throw new Error('bad')
      },
    },
    [cases.JUDGES],
  ],
  [
    'makes a bad one of a table that it judges',
    { judge: (table) => ({ ...table, rates: {} }) },
    [cases.JUDGES],
  ],
  [
    'judges its table to be bad beside the same before',
    {
      judge(table, previous) {
        if (previous) throw new Error('not new')
        return table
      },
    },
    [cases.JUDGES],
  ],
]

function withDays(
  change: (days: HistoryDays['days'], range: { start: string; end: string }) => HistoryDays['days'],
): Change {
  return { days: ({ base, days }, range) => ({ base, days: change(days, range) }) }
}

function isWeekend({ start, end }: { start: string; end: string }): boolean {
  return new Date(start).getUTCDay() === 6 && new Date(end).getUTCDay() === 0
}

export const BAD_DAYS: [what: string, change: Change, found: string[]][] = [
  ['has no days', withDays(() => []), [cases.ACCEPTED]],
  [
    'has its rates in texts',
    withDays((days) => JSON.parse(JSON.stringify(days).replaceAll(/:([\d.]+)/g, ':"$1"'))),
    [cases.ACCEPTED],
  ],
  [
    'writes its days otherwise',
    withDays((days) =>
      days.map((day, index) =>
        index === 0 ? { ...day, date: day.date.replaceAll('-', '') } : day,
      ),
    ),
    [cases.DROPPED],
  ],
  [
    'has a rate of zero',
    withDays(([first, ...days]) =>
      first ? [{ ...first, rates: { ...first.rates, JPY: 0 } }, ...days] : [],
    ),
    [cases.DROPPED],
  ],
  [
    'has other rates every time',
    withDays(([first, ...days]) =>
      first ? [{ ...first, rates: { ...first.rates, JPY: (count += 1) } }, ...days] : [],
    ),
    [cases.SAME],
  ],
  ['begins with the newest day', withDays((days) => days.toReversed()), [cases.ORDER]],
  [
    'has a day twice',
    withDays((days) => days.flatMap((day) => [day, day])),
    [cases.ORDER, cases.DROPPED],
  ],
  [
    'leaves out the end',
    withDays((days, { end }) => days.filter(({ date }) => date !== end)),
    [cases.ONE_DAY, cases.ASKED_DAYS],
  ],
  [
    'leaves out the start',
    withDays((days, { start }) => days.filter(({ date }) => date !== start)),
    [cases.ONE_DAY],
  ],
  [
    'has other rates in another range',
    withDays((days, { start }) =>
      days.map(({ date, rates }) => ({ date, rates: { ...rates, JPY: Number(start.slice(8)) } })),
    ),
    [cases.ASKED_DAYS],
  ],
  [
    'goes back to the last day before a weekend',
    withDays((days, range) =>
      isWeekend(range) ? [{ date: '2026-11-13', rates: { USD: 1.1 } }] : days,
    ),
    [cases.WEEKEND],
  ],
  [
    'rejects with a text at weekends',
    {
      days(days, range) {
        if (isWeekend(range)) throw 'closed'
        return days
      },
    },
    [cases.WEEKEND],
  ],
  [
    'hangs at weekends',
    { days: (days, range) => (isWeekend(range) ? new Promise(() => {}) : days) },
    [cases.WEEKEND],
  ],
  [
    'changes its range',
    { meddle: (given) => 'start' in given && Object.assign(given, { start: '1999-01-04' }) },
    [cases.RANGE],
  ],
]
