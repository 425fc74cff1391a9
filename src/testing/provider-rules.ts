import { createCalendar } from '../rates/calendar.ts'
import { addDays, piecesOf, toDay } from '../rates/dates.ts'
import type { Day, DaySpan } from '../rates/dates.ts'
import { findFixedRate, moveBetween } from '../rates/rate-table.ts'
import { RejectedError, validateHistory, validateTable } from '../rates/validate.ts'
import type { Validated } from '../rates/validate.ts'
import { isKnownCode } from '../upstream/known-code.ts'
import { requireProvider } from '../upstream/provider.ts'
import type {
  HistoryDay,
  HistoryDays,
  HistoryProvider,
  LatestProvider,
  LatestTable,
  ProviderContext,
} from '../upstream/provider.ts'
import { expectSame, expectSameJson, expectThat } from './contract.ts'
import { messageOf, requireError } from './provider-trial.ts'
import type { Subject, Trial } from './provider-trial.ts'

export type Rule<Data = unknown, Provider = unknown> = (
  trial: Trial<Data>,
  provider: Provider,
) => Promise<void>

/** Time limit for a call to settle after its signal aborts. */
export const ABORT_DEADLINE_MS = 1_000

export const CALLS: Record<string, Rule> = {
  async 'has an attribution with a name and a URL'({ subject }) {
    const { name, url } = Object(subject.attribution)
    const isNamed = typeof name === 'string' && name.trim() !== ''
    expectThat('attribution.name to be a non-empty string', isNamed, name)
    const isLink = typeof url === 'string' && /^https?:/.test(url) && URL.canParse(url)
    expectThat('attribution.url to be an http or https URL', isLink, url)
  },
  async 'resolves to data that the handler accepts'(trial) {
    validatedResultOf(trial, await trial.data())
  },
  async 'resolves to no rates or days that the handler would drop'(trial) {
    const { dropped } = validatedResultOf(trial, await trial.data())
    expectThat('no dropped rates or days', dropped.length === 0, dropped.slice(0, 5).join(', '))
  },
  async 'resolves to the same data on a second call'(trial) {
    const first = await trial.data()
    expectSameJson('the data of the second call', await trial.data(), first)
  },
  async 'does not modify its context'(trial) {
    const call = trial.call()
    const before = Object.entries(call.context)
    await call.outcome()
    const after = new Map(Object.entries(call.context))
    expectSame('the number of properties of the context', after.size, before.length)
    for (const [name, value] of before) expectSame(`context.${name}`, after.get(name), value)
  },
}

export const OFFLINE: Record<string, Rule> = {
  async 'sends no requests, because the contract has no fetch'(trial) {
    const call = trial.call()
    await call.outcome()
    expectSame('the number of requests', call.requests(), 0)
  },
  async 'settles within 1 s after its signal aborts'(trial) {
    const controller = new AbortController()
    const call = trial.call({ signal: controller.signal })
    controller.abort()
    await call.outcome(ABORT_DEADLINE_MS)
    await trial.call({ signal: controller.signal }).outcome(ABORT_DEADLINE_MS)
  },
}

function validatedResultOf({ subject, now }: Trial, data: unknown): { dropped: string[] } {
  try {
    return subject.validate(data, now)
  } catch (error) {
    const message = `expected the handler to accept the data of ${subject.name}`
    throw new Error(`${message}, got error: ${messageOf(error)}`, { cause: error })
  }
}

export function latestOf(provider: LatestProvider): Subject<LatestTable> {
  return {
    name: 'fetchLatest()',
    attribution: provider.attribution,
    call: (context) => provider.fetchLatest(context),
    validate: validateTable,
  }
}

export const LATEST: Record<string, Rule<LatestTable, LatestProvider>> = {
  async 'returns an updatedAt not in the future and a later nextUpdateAt'(trial) {
    const { updatedAt, nextUpdateAt } = await tableOf(trial)
    expectThat(`updatedAt to be at most ${trial.now}`, updatedAt <= trial.now, updatedAt)
    const isLater = nextUpdateAt > updatedAt
    expectThat(`nextUpdateAt to be greater than ${updatedAt}`, isLater, nextUpdateAt)
  },
  async 'returns the same table after its own previous table'(trial) {
    const previous = await tableOf(trial)
    const before = structuredClone(previous)
    expectSameJson('the table', await trial.data({ previous }), before)
    expectSameJson('context.previous', previous, before)
  },
  async 'returns codes of ISO 4217, and withdrawn currencies at their legal ratio'(trial) {
    const { base, updatedAt, rates } = await tableOf(trial)
    expectCurrencies(base, { date: toDay(updatedAt), rates })
  },
  async 'accepts its own stored table'(trial, provider) {
    const table = await tableOf(trial)
    for (const previous of [undefined, table]) {
      try {
        validateTable((await provider.validateStored?.(table, previous)) ?? table, trial.now)
      } catch (error) {
        const message = 'expected validateStored() to accept its own table'
        throw new Error(`${message}, got error: ${messageOf(error)}`, { cause: error })
      }
    }
  },
}

/** Rates that differ by more are of another currency under the code, not rounded. */
const MAX_RATIO = 1.05

function expectCurrencies(base: string, { date, rates, prices = {} }: HistoryDay): void {
  const unitsOf = (code: string): number =>
    code === base ? 1 : (rates[code] ?? 1 / (prices[code] ?? NaN))
  for (const code of [base, ...Object.keys(rates), ...Object.keys(prices)]) {
    expectThat('only codes of ISO 4217', isKnownCode(code), code)
    const { rate = unitsOf(code) } = findFixedRate(code, date, unitsOf) ?? {}
    const isLegal = !(moveBetween(rate, unitsOf(code)) > MAX_RATIO)
    const expected = `${rate} ${code} for one ${base} on ${date}, by the legal ratio to its successor`
    expectThat(expected, isLegal, unitsOf(code))
  }
}

async function tableOf(trial: Trial<LatestTable>): Promise<LatestTable> {
  const table = await trial.data()
  validatedResultOf(trial, table)
  return table
}

/** Days before now in which rates were published. */
const DAYS_WITH_RATES = { daily: 30, weekly: 30, monthly: 62, quarterly: 186 }

export function historyOf(provider: HistoryProvider): Subject<HistoryDays> {
  return {
    name: 'fetchHistory()',
    attribution: provider.attribution,
    call(context) {
      const days = DAYS_WITH_RATES[provider.publication?.frequency ?? 'daily']
      return fetchDays(provider, daysBefore(context.now(), days, 0), context)
    },
    validate: validateDays,
  }
}

/** Fetches the days of `range` in calls of at most `maxDays`; single days only where the provider publishes. */
async function fetchDays(
  provider: HistoryProvider,
  range: DaySpan,
  context: ProviderContext,
): Promise<HistoryDays> {
  const { publication } = provider
  const pieces = piecesFor(provider, range)
  const isDue = publication ? createCalendar(publication).isPublished : () => true
  const due = pieces.filter(({ start, end }) => start !== end || pieces.length === 1 || isDue(end))
  const days: HistoryDay[] = []
  let base = ''
  for (const piece of due.length > 0 ? due : pieces.slice(-1)) {
    const part = await provider.fetchHistory(piece, context)
    if (pieces.length === 1) return part
    base = part.base
    days.push(...part.days)
  }
  return { base, days }
}

function piecesFor({ maxDays = Infinity }: HistoryProvider, range: DaySpan): DaySpan[] {
  return piecesOf(range, maxDays >= 1 ? maxDays : Infinity)
}

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
    for (const range of piecesFor(provider, lastWeekend(trial.now))) {
      const method = (context: ProviderContext): Promise<HistoryDays> =>
        provider.fetchHistory({ ...range }, context)
      const outcome = await trial.call({ method }).outcome()
      // A provider without rates for weekends may reject.
      if ('thrown' in outcome) requireError(called(range), outcome.thrown)
      else {
        const days = validDays(trial, range, outcome.data)
        const others = days.filter((day) => !isWithin(day, range))
        expectDays(range, others, [])
      }
    }
  },
  async 'returns codes of ISO 4217, and withdrawn currencies at their legal ratio'(trial) {
    const days = await monthOf(trial)
    const { base } = await trial.data()
    for (const day of days) expectCurrencies(base, day)
  },
  async 'does not modify its range'(trial, provider) {
    const [range] = piecesFor(provider, daysBefore(trial.now, 21, 7))
    const given = { ...(range ?? { start: '', end: '' }) }
    const before = called(given)
    await trial.call({ method: (context) => provider.fetchHistory(given, context) }).outcome()
    expectSame('the range', called(given), before)
  },
  async 'quotes every code in one direction, on all days'(trial) {
    const days = await monthOf(trial)
    const priced = new Set(days.flatMap(({ prices = {} }) => Object.keys(prices)))
    const both = days.flatMap(({ rates }) => Object.keys(rates).filter((code) => priced.has(code)))
    expectThat('no code with both rates and prices', both.length === 0, both[0])
  },
  async 'declares a publication that the handler accepts'(_trial, provider) {
    try {
      requireProvider('the provider', 'fetchHistory', provider)
    } catch (error) {
      const message = 'expected a valid publication'
      throw new Error(`${message}, got error: ${messageOf(error)}`, { cause: error })
    }
  },
  async 'returns the same days of one currency from fetchSeries()'(trial, provider) {
    if (!provider.fetchSeries) return
    const range = daysBefore(trial.now, 21, 7)
    const whole = (await monthOf(trial)).filter((day) => isWithin(day, range))
    const code = codesOf(whole.at(-1)).at(-1) ?? ''
    const method = async (context: ProviderContext): Promise<HistoryDays> =>
      (await provider.fetchSeries?.({ code, ...range }, context)) ?? { base: '', days: [] }
    const { days } = await trial.data({ method })
    const expected = whole.filter((day) => codesOf(day).includes(code))
    const quotesOf = (listed: HistoryDay[]): unknown[] =>
      listed.map(({ date, rates, prices }) => [date, rates[code] ?? null, prices?.[code] ?? null])
    expectSameJson(`the days of ${code}`, quotesOf(days), quotesOf(expected))
    const others = days.flatMap(codesOf).filter((each) => each !== code)
    expectThat(`no other code than ${code}`, others.length === 0, others[0])
  },
}

function codesOf(day: HistoryDay | undefined): string[] {
  return Object.keys({ ...day?.rates, ...day?.prices })
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
  range: DaySpan,
): Promise<HistoryDay[]> {
  const method = (context: ProviderContext): Promise<HistoryDays> =>
    fetchDays(provider, range, context)
  return validDays(trial, range, await trial.data({ method }))
}

/** Unlike a month, a short range may have no days. */
function validDays(trial: Trial<HistoryDays>, range: DaySpan, history: HistoryDays): HistoryDay[] {
  const subject = { ...trial.subject, name: called(range), validate: validateHistory }
  validatedResultOf({ ...trial, subject }, history)
  return history.days
}

function daysBefore(now: number, first: number, last: number): DaySpan {
  const today = toDay(now)
  return { start: addDays(today, -first), end: addDays(today, -last) }
}

function lastWeekend(now: number): DaySpan {
  const weekday = new Date(now).getUTCDay()
  const sunday = addDays(toDay(now), weekday === 0 ? -7 : -weekday)
  return { start: addDays(sunday, -1), end: sunday }
}

function isWithin({ date }: HistoryDay, { start, end }: DaySpan): boolean {
  return date >= start && date <= end
}

function expectDays(range: DaySpan, days: HistoryDay[], expected: HistoryDay[]): void {
  const datesOf = (listed: HistoryDay[]): Day[] => listed.map(({ date }) => date)
  expectSameJson(`the days of ${called(range)}`, datesOf(days), datesOf(expected))
  expectSameJson(`the rates of ${called(range)}`, days, expected)
}

function called({ start, end }: DaySpan): string {
  return `fetchHistory({ start: '${start}', end: '${end}' })`
}
