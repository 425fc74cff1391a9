import { describe, expect, it } from 'vitest'

import { createRatesHandler } from '../../src/index.ts'
import type { DateRule, HistoryProvider, Publication } from '../../src/index.ts'
import { createCalendar } from '../../src/rates/calendar.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { wholeNumbersFrom } from '../access/fleet.ts'
import { BANK_DAYS, createBank } from '../fixtures/bank.ts'
import { BANK_SOURCE, openMarket } from '../fixtures/hand-written-market.ts'
import { longService } from '../fixtures/long-market.ts'
import { handlerOfDays } from '../rates/markets.ts'
import { recordedHandler } from '../fixtures/recorded-handler.ts'
import { daysOf, isTargetDay } from '../oracle.ts'
import { DAY, HOUR, finish, virtualRuntime } from '../virtual-runtime.ts'

const NOW = Date.UTC(2026, 10, 20, 18)
const TODAY = '2026-11-20'

/** Two days ahead, the most that a provider may publish. */
const DAY_AHEAD = '2026-11-22'
const CALENDAR = daysOf('1999-01-04', DAY_AHEAD)

/** A publication of banks that are closed for longer than the European Central Bank, whose missing days would be an error. */
const PUBLICATION = {
  id: 'bank',
  frequency: 'daily',
  weekend: [],
  time: '16:00',
  timeZone: 'UTC',
  since: '1999-01-04',
} as const

const DAYS_OF_YEAR = daysOf('2000-01-01', '2000-12-31').map((day) => day.slice(5))

/** Returns the days of every year, and single ones, without a publication. */
function holidaysOf(isPublished: IsPublished): string[] {
  const open = CALENDAR.filter(isPublished)
  const never = DAYS_OF_YEAR.filter((day) => !open.some((date) => date.endsWith(day)))
  const isOther = (day: string): boolean => !isPublished(day) && !never.includes(day.slice(5))
  return [...never, ...CALENDAR.filter(isOther)]
}

const RULES: DateRule[] = ['on-or-before', 'exact', 'next', 'previous-business-day', 'period-end']

type IsPublished = (day: string) => boolean

/** Creates a handler with a bank that publishes on some days; the rate of a day is its number. */
function serviceOf(isPublished: IsPublished, holidays?: string[]) {
  const published = new Map<string, number>()
  const newest = holidays ? TODAY : DAY_AHEAD
  for (const [at, day] of CALENDAR.entries()) {
    if (isPublished(day) && day <= newest) published.set(day, at + 1)
  }
  const history: HistoryProvider = {
    attribution: BANK_SOURCE,
    ...(holidays && { publication: { ...PUBLICATION, holidays } }),
    // Without a publication also returns the days ahead.
    async fetchHistory({ start, end }) {
      const last = holidays ? end : newest
      const days = [...published].filter(([date]) => date >= start && date <= last)
      return { base: 'EUR', days: days.map(([date, USD]) => ({ date, rates: { USD } })) }
    },
  }
  const handler = createRatesHandler({ providers: { latest: false, history }, now: () => NOW })
  async function get(target: string) {
    const response = await handler(new Request(`http://localhost/api/v1/${target}`))
    return { status: response.status, text: await response.text() }
  }
  return { rates: handler.rates, get, published }
}

/** Whether a day is a number of days from a Thursday, modulo a week. */
const isOn = (day: string, remainder: number, every = 7): boolean =>
  (Date.parse(day) / 86_400_000) % every === remainder

const CALENDARS: Record<string, IsPublished> = {
  'the European Central Bank': (day) => day <= TODAY && isTargetDay(day),
  'a bank that is always open': () => true,
  'a bank closed on Fridays and Saturdays': (day) => !isOn(day, 1) && !isOn(day, 2),
  'a weekly publication': (day) => isOn(day, 1),
}

const SPARSE: Record<string, IsPublished> = {
  'a monthly publication': (day) => day.endsWith('-01'),
  'a bank with gaps of up to a month': (day) => !/-0[38]-/.test(day) && !isOn(day, 0, 20),
}

interface Question {
  date: string
  rule?: DateRule
  maxAge?: number
}

function walk(day: string, steps: number): string {
  return new Date(Date.parse(day) + steps * 86_400_000).toISOString().slice(0, 10)
}

/** Returns the day whose rates a question asks for, found day by day; undefined without one. */
function expectedDay(has: (day: string) => boolean, question: Question): string | undefined {
  const { date, rule = 'on-or-before', maxAge = Infinity } = question
  const found = candidates(date, rule).find((day) => has(day) && (day <= TODAY || day <= date))
  if (found === undefined) return undefined
  let target = date
  if (rule === 'period-end') target = [candidates(date, rule)[0] ?? '', TODAY].toSorted()[0] ?? ''
  let age = 0
  for (let day = found; day < target; day = walk(day, 1)) age += 1
  return age <= maxAge ? found : undefined
}

/** Returns the days that a rule allows, up to `back` days away or in a period of `months`, the best first. */
function candidates(date: string, rule: DateRule, back = 14, months = 1): string[] {
  const steps = Array.from({ length: back + 1 }, (_, step) => step)
  if (rule === 'exact') return [date]
  if (rule === 'next') return steps.map((step) => walk(date, step))
  if (rule === 'on-or-before') return steps.map((step) => walk(date, -step))
  if (rule === 'previous-business-day') return steps.slice(1).map((step) => walk(date, -step))
  const days = Array.from({ length: 31 * months * 2 }, (_, step) => walk(date, 31 * months - step))
  return days.filter((day) => periodOf(day, months) === periodOf(date, months))
}

function periodOf(day: string, months: number): string {
  return `${day.slice(0, 4)} ${Math.ceil(Number(day.slice(5, 7)) / months) + 10}`
}

/** Days at which the data change: the first rates, the start of the last five years, the current day. */
const EDGES = ['1999-01-04', '2021-11-06', TODAY]

function randomQuestion(random: (limit: number) => number): Question {
  const isNearEdge = random(10) === 0
  const near = walk(EDGES[random(EDGES.length)] ?? '', random(41) - 20)
  const day = isNearEdge ? near : walk('1998-12-20', random(10_190))
  const rule = RULES[random(RULES.length + 1)]
  const date = day > '2026-11-21' ? TODAY : day
  return {
    date,
    ...(rule && { rule }),
    ...(random(3) === 0 && { maxAge: random(4) === 0 ? random(36_601) : random(20) }),
  }
}

function bodyOf(operation: Promise<object>): Promise<string> {
  return operation.then(
    (record) => JSON.stringify(record),
    (error: unknown) => {
      const { code, message } = Object(error)
      return JSON.stringify({ error: { code, message } })
    },
  )
}

it.each(Object.entries({ ...CALENDARS, ...SPARSE }))(
  'the day of a rate is the day that a walk over all days finds, for %s',
  async (name, isPublished) => {
    const holidays = name in SPARSE ? holidaysOf(isPublished) : undefined
    const { rates, published } = serviceOf(isPublished, holidays)
    const random = wholeNumbersFrom(name.length)
    const counts = { found: 0, missing: 0 }
    for (let number = 0; number < 1_500; number += 1) {
      const question = randomQuestion(random)
      const expected = expectedDay((day) => published.has(day), question)
      counts[expected === undefined ? 'missing' : 'found'] += 1
      const body = await bodyOf(rates.convert({ from: 'EUR', to: 'USD', ...question }))
      const { date, rate, asked, rule, error } = JSON.parse(body)
      const isRuled = question.rule !== undefined && expected !== undefined
      const code = expected === undefined ? 'no_data' : undefined
      expect([question, date, rate, error?.code]).toEqual([
        question,
        expected,
        published.get(expected ?? ''),
        code,
      ])
      const ruled = isRuled ? [question.date, question.rule] : [undefined, undefined]
      expect([question, asked, rule]).toEqual([question, ...ruled])
      if (number % 10 > 0) continue
      const table = await bodyOf(rates.latest({ ...question, base: 'EUR', symbols: ['USD'] }))
      expect([question, JSON.parse(table).date]).toEqual([question, expected])
    }
    expect(Math.min(counts.found, counts.missing)).toBeGreaterThan(20)
  },
)

describe('a rule', () => {
  const { get } = serviceOf((day) => day <= TODAY && isTargetDay(day))
  const PAIR = 'from=EUR&to=USD'

  it('adds the requested day and the rule, after the day of the rates', async () => {
    const fields = async (target: string) =>
      Object.keys(JSON.parse((await get(target)).text)).join()
    expect(await fields(`convert?${PAIR}&reverse=true&date=2024-06-30&rule=next`)).toBe(
      'from,to,amount,rate,result,reverse,date,asked,rule,updatedAt,source',
    )
    expect(await fields('convert?from=EUR&to=USD,&date=2024-06-30&rule=next')).toBe(
      'from,amount,results,date,asked,rule,updatedAt,source',
    )
    expect(await fields('latest?base=EUR&date=2024-06-30&rule=next')).toBe(
      'base,date,asked,rule,updatedAt,nextUpdateAt,rates,source,disclaimer',
    )
  })

  it('on-or-before is the default, and an age alone adds nothing', async () => {
    for (const target of [`convert?${PAIR}&date=2024-06-30`, 'latest?base=EUR&date=2024-06-30']) {
      const plain = await get(target)
      const { asked, rule, ...rest } = JSON.parse((await get(`${target}&rule=on-or-before`)).text)
      expect([asked, rule]).toEqual(['2024-06-30', 'on-or-before'])
      expect(JSON.stringify(rest)).toBe(plain.text)
      expect(await get(`${target}&maxAge=2`)).toEqual(plain)
    }
  })
})

describe('a day that is not published yet', () => {
  it.each([
    [
      9,
      /No reference rates for 2026-11-21 \(those of 2026-11-20, due 2026-11-20T15:00:00.000Z, are not/,
    ],
    [18, /"date":"2026-11-20"/],
  ])(
    'at %d:00 UTC waits for the day before, in tables, conversions and rows',
    async (hour, expected) => {
      const now = (): number => Date.UTC(2026, 10, 20, hour)
      const { rates } = createRatesHandler({ providers: fakeProviders({ now }), now })
      const row = {
        from: 'EUR',
        to: 'USD',
        date: '2026-11-21',
        rule: 'previous-business-day',
      } as const
      const { from: base, to: _, ...day } = row
      for (const work of [
        rates.convert(row),
        rates.latest({ base, ...day }),
        rates.convertMany([row]),
      ]) {
        expect(await bodyOf(work)).toMatch(expected)
      }
    },
  )

  it.each<Partial<Publication> & { seed?: number; maxDays?: number }>([
    {},
    { dated: 'effect' },
    { dated: 'effect', maxDays: 1, seed: 5 },
    { delayDays: 3, weekend: [5, 6], time: '00:30', timeZone: 'Asia/Tokyo' },
    { frequency: 'weekly', weekday: 3 },
    { frequency: 'monthly' },
    { frequency: 'monthly', dated: 'period-end', delayDays: 10 },
    { frequency: 'quarterly', delayDays: 20, maxDays: 31 },
    { frequency: 'quarterly', dated: 'period-end', time: '23:00', timeZone: 'America/New_York' },
  ])('never comes after a rule has found another, however late the bank is: %j', async (form) => {
    const { frequency = 'daily', seed = 1, maxDays = 366, ...rest } = form
    const random = wholeNumbersFrom(seed)
    const back = { daily: 14, weekly: 28, monthly: 62, quarterly: 186 }[frequency]
    const months = frequency === 'quarterly' ? 3 : 1
    const days = daysOf('2024-01-02', '2030-12-31')
    const holidays = days.filter(() => random(15) === 0)
    const publication = { ...BANK_DAYS, ...rest, frequency, holidays, since: '2024-01-02' }
    const { isPublished, publishedAt } = createCalendar(publication)
    /** Most days are on time, some late, with all after them, and others never published. */
    function lateTimes(times: Iterable<[string, number]>): Map<string, number> {
      const late = new Map<string, number>()
      let last = 0
      for (const [day, at] of times) {
        if (random(15) === 0) continue
        last = Math.max(last, at + (random(4) === 0 ? random(5 * 24) * HOUR : 0))
        late.set(day, last)
      }
      return late
    }
    const dollar = lateTimes(days.filter(isPublished).map((day) => [day, publishedAt(day)]))
    const dirham = maxDays === 366 ? lateTimes(dollar) : dollar
    const runtime = virtualRuntime(Date.UTC(2024, 11, 1))
    const { now } = runtime
    const history = createBank({
      codes: ['AED', 'USD'],
      now,
      publication,
      maxDays,
      hasSeries: maxDays === 1,
      isOpen: (day) => dollar.has(day),
      publishedAt: (day) => dollar.get(day) ?? 0,
      change: ({ base, days: published }) => ({
        base,
        days: published.map(({ date, rates: { AED, ...others } }) => {
          const isLate = AED === undefined || (dirham.get(date) ?? Infinity) > now()
          return { date, rates: isLate ? others : { ...others, AED } }
        }),
      }),
    })
    const { handler } = recordedHandler(runtime, { providers: { latest: false, history } })

    const lastDay = ({ date, rule, to }: { date: string; rule: DateRule; to: string }) =>
      candidates(date, rule, back, months).find((day) => (to === 'AED' ? dirham : dollar).has(day))
    const ask = async (question: Parameters<typeof lastDay>[0]): Promise<string | undefined> => {
      const conversion = handler.rates.convert({ from: 'EUR', ...question })
      return JSON.parse(await finish(runtime, bodyOf(conversion))).date
    }
    const asked: Parameters<typeof lastDay>[0][] = []
    let awaited = 0
    for (let step = 0; step < 40; step += 1) {
      await runtime.advance((random(40) * back * HOUR) / 14)
      await finish(runtime, handler.refresh())
      const today = new Date(now()).toISOString().slice(0, 10)
      for (let count = 0; count < 12; count += 1) {
        const [date, to] = [walk(today, 1 - random(back)), random(2) === 0 ? 'AED' : 'USD']
        const question = { date, to, rule: RULES[2 + random(3)] ?? 'next' }
        const isOver = periodOf(date, months) < periodOf(today, months)
        if (question.rule === 'period-end' && !isOver) continue
        asked.push(question)
        const found = await ask(question)
        awaited += found === undefined ? 1 : 0
        const last = lastDay(question)
        expect(found ?? last, `${today} ${JSON.stringify(question)}`).toBe(last)
      }
    }
    expect(Math.min(awaited, asked.length - awaited)).toBeGreaterThan(20)
    await runtime.advance(5 * back * DAY)
    await finish(runtime, handler.refresh())
    for (const question of asked) {
      expect(await ask(question), JSON.stringify(question)).toBe(lastDay(question))
    }
  })
})

describe('latest rates with a date', () => {
  it('have only the codes of that day, until the next working day', async () => {
    const { rates, ...day } = await openMarket().json('/v1/latest?base=EUR&date=2023-01-01')
    expect(rates).toEqual({ EUR: 1, HRK: 7.5365, JPY: 140.66, USD: 1.0666 })
    expect(day).toMatchObject({
      date: '2022-12-30',
      updatedAt: Date.parse('2022-12-30T15:00:00Z'),
      nextUpdateAt: Date.parse('2023-01-02T15:00:00Z'),
    })
  })

  it('omit only symbols that were withdrawn by then, also those that the source still has', async () => {
    const { get } = longService()
    const codesOf = async (date: string) =>
      Object.keys((await get(`latest?date=${date}&symbols=USD,HRK,DEM`)).body.rates)
    expect(await codesOf('2023-01-02')).toEqual(['USD'])
    expect(await codesOf('2022-12-30')).toEqual(['HRK', 'USD'])
    const { rates } = handlerOfDays({
      '2005-06-30': { USD: 1.2092, ROL: 36_030 },
      '2005-07-01': { USD: 1.2087, RON: 3.599 },
    })
    const ratesOf = async (date: string) =>
      (await rates.latest({ base: 'EUR', symbols: ['USD', 'ROL'], date })).rates
    expect(await ratesOf('2005-06-30')).toEqual({ USD: 1.2092, ROL: 36_030 })
    expect(await ratesOf('2005-07-01')).toEqual({ USD: 1.2087 })
  })
})
