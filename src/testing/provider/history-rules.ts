import { addDays, toDay } from '../../rates/dates.ts'
import type { Day } from '../../rates/dates.ts'
import { RejectedError, validateHistory } from '../../rates/validate.ts'
import type { Validated } from '../../rates/validate.ts'
import type {
  HistoryDay,
  HistoryDays,
  HistoryProvider,
  ProviderContext,
} from '../../upstream/provider.ts'
import { expectSame, expectSameJson } from '../expect-same.ts'
import { validatedResultOf } from './call-rules.ts'
import type { Rule } from './call-rules.ts'
import { requireError } from './trial.ts'
import type { Subject, Trial } from './trial.ts'

/** Both ends are included. */
interface Range {
  start: Day
  end: Day
}

/** Returns `fetchHistory()` of `provider`, called for the last 30 days, as the subject of a trial. */
export function historyOf(provider: HistoryProvider): Subject<HistoryDays> {
  return {
    name: 'fetchHistory()',
    attribution: provider.attribution,
    call: (context) => provider.fetchHistory(daysBefore(context.now(), 30, 0), context),
    validate: validateDays,
  }
}

/** Rules for `fetchHistory()` only. */
export const HISTORY: Record<string, Rule<HistoryDays, HistoryProvider>> = {
  async 'returns days in ascending order, without duplicates'(trial) {
    const dates = (await monthOf(trial)).map(({ date }) => date)
    expectSameJson('the dates', dates, [...new Set(dates)].toSorted())
  },
  async 'returns exactly the days of the requested range'(trial, provider) {
    const range = daysBefore(trial.now, 21, 7)
    const expected = (await monthOf(trial)).filter((day) => isWithin(day, range))
    expectDays(range, await daysOf(trial, provider, range), expected)
  },
  async 'returns a single requested day'(trial, provider) {
    for (const day of (await monthOf(trial)).slice(-3)) {
      const range = { start: day.date, end: day.date }
      expectDays(range, await daysOf(trial, provider, range), [day])
    }
  },
  async 'returns no other days for a weekend'(trial, provider) {
    const range = lastWeekend(trial.now)
    const method = (context: ProviderContext): Promise<HistoryDays> =>
      provider.fetchHistory({ ...range }, context)
    const outcome = await trial.call({ method }).outcome()
    // A provider without rates for weekends may reject.
    if ('thrown' in outcome) return requireError(called(range), outcome.thrown)
    const days = validDays(trial, range, outcome.data)
    const others = days.filter((day) => !isWithin(day, range))
    expectDays(range, others, [])
  },
  async 'does not modify its range'(trial, provider) {
    const range = daysBefore(trial.now, 21, 7)
    const given = { ...range }
    await trial.data({ method: (context) => provider.fetchHistory(given, context) })
    expectSame('the range', called(given), called(range))
  },
}

function validateDays(days: unknown, now: number): Validated<unknown> {
  const validated = validateHistory(days, now)
  if (validated.data.dates.length > 0) return validated
  throw new RejectedError('no days in a month')
}

async function monthOf(trial: Trial<HistoryDays>): Promise<HistoryDay[]> {
  const month = await trial.data()
  validatedResultOf(trial, month)
  return month.days
}

async function daysOf(
  trial: Trial<HistoryDays>,
  provider: HistoryProvider,
  range: Range,
): Promise<HistoryDay[]> {
  const method = (context: ProviderContext): Promise<HistoryDays> =>
    provider.fetchHistory({ ...range }, context)
  return validDays(trial, range, await trial.data({ method }))
}

/** Unlike a month, a short range may have no days. */
function validDays(trial: Trial<HistoryDays>, range: Range, history: HistoryDays): HistoryDay[] {
  const subject = { ...trial.subject, name: called(range), validate: validateHistory }
  validatedResultOf({ ...trial, subject }, history)
  return history.days
}

function daysBefore(now: number, first: number, last: number): Range {
  const today = toDay(now)
  return { start: addDays(today, -first), end: addDays(today, -last) }
}

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
