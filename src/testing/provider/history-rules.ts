import type {
  HistoryDay,
  HistoryDays,
  HistoryProvider,
  ProviderContext,
} from '../../providers/provider.ts'
import { validateHistory } from '../../rates/validate.ts'
import type { Validated } from '../../rates/validate.ts'
import { addDays, toDay } from '../../rates/day.ts'
import type { Day } from '../../rates/day.ts'
import { RejectedError } from '../../rates/rejected-error.ts'
import { expectSame, expectSameJson } from '../expect-same.ts'
import { acceptedOf } from './call-rules.ts'
import type { Rule } from './call-rules.ts'
import { requireError } from './trial.ts'
import type { Subject, Trial } from './trial.ts'

/** Days to ask for; both ends belong to them. */
interface Range {
  start: Day
  end: Day
}

/** `fetchHistory()` of `provider`, asked for the last 30 days, to be put on trial. */
export function historyOf(provider: HistoryProvider): Subject<HistoryDays> {
  return {
    name: 'fetchHistory()',
    attribution: provider.attribution,
    ask: (context) => provider.fetchHistory(daysBefore(context.now(), 30, 0), context),
    accept: acceptDays,
  }
}

/** What a provider of reference rates must do beside what both must. */
export const HISTORY: Record<string, Rule<HistoryDays, HistoryProvider>> = {
  async 'has its days in ascending order, none of them twice'(trial) {
    const dates = (await monthOf(trial)).map(({ date }) => date)
    expectSameJson('the order', dates, [...new Set(dates)].toSorted())
  },
  async 'has the days that were asked for, and no others'(trial, provider) {
    const range = daysBefore(trial.now, 21, 7)
    const expected = (await monthOf(trial)).filter((day) => isWithin(day, range))
    expectDays(range, await daysOf(trial, provider, range), expected)
  },
  async 'has the one day that was asked for'(trial, provider) {
    for (const day of (await monthOf(trial)).slice(-3)) {
      const range = { start: day.date, end: day.date }
      expectDays(range, await daysOf(trial, provider, range), [day])
    }
  },
  async 'has no other days where a weekend was asked for'(trial, provider) {
    const range = lastWeekend(trial.now)
    const call = trial.call({ ask: (context) => provider.fetchHistory({ ...range }, context) })
    const outcome = await call.outcome()
    // Whose market rests on weekends may say so by rejecting.
    if ('thrown' in outcome) return requireError(called(range), outcome.thrown)
    const days = acceptedDays(trial, range, outcome.answer)
    const others = days.filter((day) => !isWithin(day, range))
    expectDays(range, others, [])
  },
  async 'leaves the range as it is'(trial, provider) {
    const range = daysBefore(trial.now, 21, 7)
    const given = { ...range }
    await trial.answer({ ask: (context) => provider.fetchHistory(given, context) })
    expectSame('the range', called(given), called(range))
  },
}

/** What the handler accepts; a month without a single day is not. */
function acceptDays(answer: unknown, now: number): Validated<unknown> {
  const accepted = validateHistory(answer, now)
  if (accepted.data.dates.length > 0) return accepted
  throw new RejectedError('there is no day in a month')
}

/** The days of the last month, which the handler would accept. */
async function monthOf(trial: Trial<HistoryDays>): Promise<HistoryDay[]> {
  const answer = await trial.answer()
  acceptedOf(trial, answer)
  return answer.days
}

async function daysOf(
  trial: Trial<HistoryDays>,
  provider: HistoryProvider,
  range: Range,
): Promise<HistoryDay[]> {
  const ask = (context: ProviderContext): Promise<HistoryDays> =>
    provider.fetchHistory({ ...range }, context)
  return acceptedDays(trial, range, await trial.answer({ ask }))
}

/** The days of `answer`, which may be none, but only what the handler would accept. */
function acceptedDays(trial: Trial<HistoryDays>, range: Range, answer: HistoryDays): HistoryDay[] {
  const subject = { ...trial.subject, name: called(range), accept: validateHistory }
  acceptedOf({ ...trial, subject }, answer)
  return answer.days
}

/** The days from `first` to `last` days before `now` (ms since the Unix epoch). */
function daysBefore(now: number, first: number, last: number): Range {
  const today = toDay(now)
  return { start: addDays(today, -first), end: addDays(today, -last) }
}

/** The last Saturday and Sunday that are over. */
function lastWeekend(now: number): Range {
  const weekday = new Date(now).getUTCDay()
  const sunday = addDays(toDay(now), weekday === 0 ? -7 : -weekday)
  return { start: addDays(sunday, -1), end: sunday }
}

function isWithin({ date }: HistoryDay, { start, end }: Range): boolean {
  return date >= start && date <= end
}

function expectDays(range: Range, days: HistoryDay[], expected: HistoryDay[]): void {
  const datesOf = (listed: HistoryDay[]): Day[] => listed.map(({ date }) => date)
  expectSameJson(`the days of ${called(range)}`, datesOf(days), datesOf(expected))
  expectSameJson(`the rates of ${called(range)}`, days, expected)
}

function called({ start, end }: Range): string {
  return `fetchHistory({ start: '${start}', end: '${end}' })`
}
