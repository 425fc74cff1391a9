import { describe, expect, it } from 'vitest'

import { createFrankfurterProvider } from '../../src/index.ts'
import type { HistoryDay } from '../../src/index.ts'
import { BANK_DAYS, bankRate } from '../fixtures/bank.ts'
import type { BankCall, BankOptions } from '../fixtures/bank.ts'
import { codes } from '../fixtures/codes.ts'
import { respondAsFeeds } from '../fixtures/feeds.ts'
import { market } from '../fixtures/service.ts'
import * as oracle from '../oracle.ts'
import { DAY, HOUR, MINUTE, SECOND, virtualRuntime } from '../virtual-runtime.ts'
import { CODES, EVENING, ONE, PUBLICATION, openBank, openWorld, points, truth } from './world.ts'
import type { Json } from './world.ts'

/** Changes the days of some years, by which a bank is wrong. */
type Change = (day: HistoryDay) => HistoryDay | undefined

type Options = Parameters<typeof openBank>[0] & {
  /** Years of the responses that are changed, as long as `isOn()`. */
  years?: string
  slip?: Change
  isOn?: () => boolean
}

/** Opens a handler over a bank that returns years of all currencies; returns also the years of its calls. */
function openYears({
  years = '2015',
  slip = (day) => day,
  isOn = () => true,
  ...options
}: Options) {
  const isChanged = (year: string): boolean => (years === '*' || years.includes(year)) && isOn()
  const world = openBank({
    maxDays: 366,
    hasSeries: false,
    sanityChecks: true,
    change: ({ base, days }, { start }) => ({
      base,
      days: isChanged(start.slice(0, 4)) ? days.flatMap((day) => slip(day) ?? []) : days,
    }),
    ...options,
  })
  const timesOf = (year: string): number =>
    world.bank.calls.filter(({ start }) => start.startsWith(year)).length
  return { ...world, timesOf }
}

const mapRates =
  (change: (rate: number, code: string) => number): Change =>
  ({ date, rates }) => {
    const changed = Object.entries(rates).map(([code, rate]) => [code, change(rate, code)])
    return { date, rates: Object.fromEntries(changed) }
  }

/** One currency in hundreds. */
const hundredfold = mapRates((rate, code) => (code === ONE ? rate * 100 : rate))

const SLIPS = [
  ['of one currency', hundredfold],
  [
    'of one currency until April',
    (day: HistoryDay) => (day.date < '2015-04' ? hundredfold(day) : day),
  ],
  [
    'inverted, for half of the currencies',
    mapRates((rate, code) => (code < 'AAG' ? 1 / rate : rate)),
  ],
] as const

const rateOf = (date: string, to = ONE): string => `/v1/convert?from=EUR&to=${to}&date=${date}`

const right = (date: string, to = ONE): object => ({ status: 200, date, rate: bankRate(to, date) })

const inDays = (start: string, end: string, to = ONE): string =>
  `/v1/history?from=EUR&to=${to}&start=${start}&end=${end}`

/** Expects that each response has the right rate, or none. */
function expectNoneWrong(answers: readonly Json[], date: string): void {
  const served = answers.filter(({ status }) => status === 200)
  expect(served).toMatchObject(served.map(() => right(date)))
  const others = answers.filter((answer) => !served.includes(answer))
  for (const { status } of others) expect([404, 502]).toContain(status)
}

const INCOMPLETE = { type: 'history_incomplete', publication: 'bank', piece: '2015' }

describe('a year of a bank in other units', () => {
  it.each(SLIPS)('%s is fetched again before it is believed', async (_slip, slip) => {
    let isWrong = true
    const world = openYears({ slip, isOn: () => isWrong && !(isWrong = false) })
    isWrong = false
    await world.read(rateOf('2026-11-20'))
    isWrong = true
    const answers = await world.ask(rateOf('2015-02-16'), HOUR, 5 * MINUTE)
    expectNoneWrong(answers, '2015-02-16')
    expect(answers.at(-1)).toMatchObject(right('2015-02-16'))
    expect(world.timesOf('2015')).toBe(2)
  })

  const NEIGHBOURS = ['2014-12-31', '2016-02-01']

  it.each([
    ...SLIPS.map((slip) => [...slip, []] as const),
    ['of one currency, with both neighbours in memory', hundredfold, NEIGHBOURS] as const,
  ])('%s is reported and not served while the bank stays wrong, nor restored', async (...row) => {
    const [, slip, loaded] = row
    const store = new Map<string, string>()
    const world = openYears({ slip, store })
    for (const day of loaded) await world.read(rateOf(day))
    const answers = await world.ask(rateOf('2015-02-16'), 2 * HOUR, 10 * MINUTE)
    for (const { status } of answers) expect([404, 502]).toContain(status)
    expect(world.eventsOf('history_incomplete')).toContainEqual(expect.objectContaining(INCOMPLETE))
    // What agrees is served: other currencies of the year, and other years.
    expect(await world.read(rateOf('2015-02-16', CODES[11]))).toMatchObject({ status: 200 })
    for (const day of NEIGHBOURS) expect(await world.read(rateOf(day))).toMatchObject(right(day))
    const { points: served = [] } = await world.read(inDays('2014-12-01', '2016-02-29'))
    const all = points(ONE, truth(EVENING, '2014-12-01', '2016-02-29'))
    expect(all).toEqual(expect.arrayContaining(served))
    world.handler.close()
    const restarted = openYears({ store, start: world.runtime.now() })
    const after = await restarted.ask(rateOf('2015-02-16'), 30 * MINUTE, 5 * MINUTE)
    expectNoneWrong(after, '2015-02-16')
    expect(after.at(-1)).toMatchObject(right('2015-02-16'))
  })

  it('is not believed because the year before has the same', async () => {
    const world = openYears({ years: '2014, 2015', slip: hundredfold })
    for (const day of ['2014-06-16', '2015-06-15', '2014-06-16']) {
      for (const { status } of await world.ask(rateOf(day), 30 * MINUTE, 5 * MINUTE))
        expect([404, 502]).toContain(status)
    }
  })

  it('is not restored from a store into which another process put it', async () => {
    const store = new Map<string, string>()
    // For this process all years are in these units, so that none contradicts another.
    const forger = openYears({ years: '*', slip: hundredfold, store })
    expect((await forger.ask(rateOf('2015-06-15'), MINUTE)).at(-1)).toMatchObject({ status: 200 })
    forger.handler.close()
    for (const key of store.keys()) if (!key.includes('2015')) store.delete(key)
    expect(store.size).toBe(1)
    let isDown = true
    const onCall = ({ start }: BankCall): void => {
      if (isDown && start.startsWith('2015')) throw new Error('down')
    }
    const world = openYears({ store, onCall })
    for (const { status } of await world.ask(rateOf('2015-06-15'), HOUR, 10 * MINUTE))
      expect([404, 502]).toContain(status)
    isDown = false
    const answers = await world.ask(rateOf('2015-06-15'), HOUR, 10 * MINUTE)
    expectNoneWrong(answers, '2015-06-15')
    expect(answers.at(-1)).toMatchObject(right('2015-06-15'))
  })

  it('is fetched again after hours where the store grants no lease', async () => {
    let isWrong = true
    const store = Object.assign(new Map<string, string>(), { claim: () => false })
    const world = openYears({ slip: hundredfold, isOn: () => isWrong, store })
    await world.ask(rateOf('2015-06-15'), HOUR, 10 * MINUTE)
    isWrong = false
    const last = (await world.ask(rateOf('2015-06-15'), 8 * HOUR, 30 * MINUTE)).at(-1)
    expect(last).toMatchObject(right('2015-06-15'))
  })

  it('is not suspected where a currency moved as far in ten years', async () => {
    const slip: Change = ({ date, rates }) => {
      const factor = 1.3 ** ((EVENING - Date.parse(date)) / (365 * DAY))
      return mapRates((rate, code) => rate * (code === ONE ? factor : 1))({ date, rates })
    }
    const world = openYears({ years: '*', slip })
    const { rate: today } = await world.read(rateOf('2026-11-20'))
    const answer = (await world.ask(rateOf('2015-06-15'), 5 * MINUTE, MINUTE)).at(-1)
    expect(answer.rate / today).toBeGreaterThan(10)
    expect(world.eventsOf('history_incomplete')).toEqual([])
  })
})

describe('a year of a bank that lacks days', () => {
  const GAPS = [
    ['after 12 June', '2015-06-12', '2016-01-01'],
    ['in the middle', '2015-08-07', '2015-10-12'],
  ] as const

  const lacking =
    (after: string, before: string): Change =>
    (day) =>
      day.date > after && day.date < before ? undefined : day

  const YEAR = inDays('2015-01-01', '2015-12-31')
  const WHOLE = points(ONE, truth(EVENING, '2015-01-01', '2015-12-31'))

  it.each(GAPS)(
    '%s is reported and fetched again, and whole once the bank has the days, also after a restart',
    async (_where, after, before) => {
      const store = new Map<string, string>()
      let isWhole = false
      const world = openYears({ slip: lacking(after, before), isOn: () => !isWhole, store })
      for (const { status, points = [] } of await world.ask(YEAR, HOUR, 10 * MINUTE)) {
        expect([200, 502]).toContain(status)
        expect(WHOLE).toEqual(expect.arrayContaining(points))
      }
      const event = expect.objectContaining(INCOMPLETE)
      expect(world.eventsOf('history_incomplete')).toContainEqual(event)
      expect(world.timesOf('2015')).toBeGreaterThan(1)
      const stored = new Map(store)
      isWhole = true
      expect((await world.ask(YEAR, HOUR, 10 * MINUTE)).at(-1).points).toEqual(WHOLE)
      world.handler.close()
      const start = world.runtime.now()
      const later = openYears({ store: stored, start })
      expect((await later.ask(YEAR, HOUR, 10 * MINUTE)).at(-1).points).toEqual(WHOLE)
      const restarted = openYears({ store, start })
      expect((await restarted.read(YEAR)).points).toEqual(WHOLE)
      expect(restarted.bank.calls).toEqual([])
    },
  )

  it.each(GAPS)('%s is never a 4xx, and replaced by another publication', async (...row) => {
    const [, after, before] = row
    const slip = lacking(after, before)
    const { ask, finish, handler } = openYears({ slip })
    const error = { code: 'provider_unavailable' }
    for (const each of await ask(rateOf('2015-09-15'), 30 * MINUTE, 5 * MINUTE))
      expect(each).toMatchObject({ status: 502, error })
    const many = handler.rates.convertMany([{ from: 'EUR', to: ONE, date: '2015-09-15' }])
    expect(await finish(many)).toMatchObject([{ error }])
    const whole = { publication: { ...PUBLICATION, id: 'other' }, name: 'Other', maxDays: 366 }
    const two = openYears({ slip, others: [{ ...whole, hasSeries: false }] })
    for (const target of [rateOf('2015-09-15'), YEAR]) {
      const answer = (await two.ask(target, 5 * MINUTE, MINUTE)).at(-1)
      const expected = target === YEAR ? { points: WHOLE } : right('2015-09-15')
      expect(answer).toMatchObject({ ...expected, source: { name: 'Other' } })
    }
  })

  it('is reported and fetched again where it is in the series of a currency', async () => {
    let isWhole = false
    const isLost = (date: string): boolean => date > '2015-03-02' && date < '2016-04-01'
    const { ask, eventsOf, bank } = openBank({
      sanityChecks: true,
      change: ({ base, days }, { code }) => ({
        base,
        days: days.filter(({ date }) => isWhole || code === undefined || !isLost(date)),
      }),
    })
    for (const { status } of await ask(rateOf('2015-09-15'), 30 * MINUTE, MINUTE))
      expect(status).toBe(502)
    expect(eventsOf('history_incomplete')).toMatchObject([{ piece: ONE }])
    isWhole = true
    const last = (await ask(rateOf('2015-09-15'), HOUR, 10 * MINUTE)).at(-1)
    expect(last).toMatchObject(right('2015-09-15'))
    expect(bank.calls.filter(({ code }) => code === ONE).length).toBeLessThanOrEqual(8)
  })

  it('is whole where its calendar, its first day or a strike of a week explains the gap', async () => {
    const august = Array.from({ length: 24 }, (_, day) => `08-${String(day + 1).padStart(2, '0')}`)
    const isOpen = (day: string): boolean =>
      !(day >= '2016-03-07' && day < '2016-03-14') &&
      !august.includes(day.slice(5)) &&
      !oracle.isWeekend(day)
    const publication = { ...BANK_DAYS, holidays: august, since: '2015-06-15' }
    const { ask, eventsOf, bank } = openYears({ isOpen, publication })
    const answers = await ask(`/v1/history?from=EUR&to=${ONE}&start=2015-01-01`, DAY, 3 * HOUR)
    for (const { status } of answers.slice(1)) expect(status).toBe(200)
    expect(eventsOf('history_incomplete')).toEqual([])
    const old = bank.calls.filter(({ end }) => end < '2017-01-01').map(({ start }) => start)
    expect(old).toHaveLength(new Set(old).size)
  })
})

it('a whole past year is fetched again in the background every month; a correction is served', async () => {
  let isCorrected = false
  const slip: Change = ({ date, rates }) =>
    date === '2015-06-15' ? { date, rates: { ...rates, [ONE]: 140 } } : { date, rates }
  const { read, ask, pass, runtime, eventsOf, timesOf } = openYears({
    slip,
    isOn: () => isCorrected,
  })
  const [before] = await ask(rateOf('2015-06-15'), MINUTE)
  expect(before).toMatchObject(right('2015-06-15'))
  isCorrected = true
  let rate = NaN
  for (let day = 0; day < 65; day += 1) {
    await pass(DAY)
    const askedAt = runtime.monotonic()
    ;({ rate } = await read(rateOf('2015-06-15')))
    expect(runtime.monotonic()).toBe(askedAt)
  }
  expect(rate).toBe(140)
  const revised = eventsOf('rates_revised').flatMap((event) => event.revised)
  expect(revised).toEqual([`2015-06-15 ${ONE}`])
  expect([2, 3, 4]).toContain(timesOf('2015'))
})

describe('requests of one client', () => {
  it.each([480, 1])('for 480 old tables, %d at once, do not lock others out', async (atOnce) => {
    const { get, ask, finish, bank } = openBank()
    const on = (date: string): string => `/v1/latest?base=EUR&date=${date}`
    const days = oracle.daysOf('2010-01-01', '2011-04-25')
    for (let first = 0; first < days.length; first += atOnce) {
      await finish(Promise.all(days.slice(first, first + atOnce).map((day) => get(on(day)))))
    }
    for (const day of ['2013-05-14', '2010-01-05']) {
      const answers = await ask(on(day), MINUTE, 10 * SECOND)
      expect(answers.map(({ status }) => status)).toContain(200)
    }
    // Besides the newest table, 60 in a minute.
    const starts = bank.calls.map(({ at }) => at)
    const inMinute = starts.map((from) => starts.filter((at) => at >= from && at < from + MINUTE))
    expect(Math.max(...inMinute.map(({ length }) => length))).toBeLessThanOrEqual(61)
  })
})

describe('a piece that fails', () => {
  const failing =
    (status: number, years = /^2015/): NonNullable<BankOptions['onCall']> =>
    ({ start }) => {
      const retryAfterMs = status === 503 ? HOUR : undefined
      if (years.test(start))
        throw Object.assign(new Error(`HTTP ${status}`), { status, retryAfterMs })
    }
  const inYear = (year: number): string => rateOf(`${year}-06-15`)

  it.each([404, 400])('with %d backs off alone: another year is loaded at once', async (status) => {
    const { read, runtime, timesOf } = openYears({ onCall: failing(status, /^(2015|200[0-4])/) })
    for (let year = 2000; year < 2005; year += 1)
      expect((await read(inYear(year))).status).not.toBe(200)
    for (let year = 2005; year < 2012; year += 1) {
      expect((await read(inYear(2015))).status).not.toBe(200)
      expect((await read(inYear(year))).status, `${year}`).toBe(200)
      await runtime.advance(MINUTE)
    }
    expect(timesOf('2015')).toBeLessThan(8)
  })

  it.each([429, 503])('with %d delays others by at most 30 s', async (status) => {
    const { read, ask, runtime } = openYears({ onCall: failing(status) })
    for (let year = 2003; year < 2006; year += 1) {
      expect((await read(inYear(2015))).status).not.toBe(200)
      const answers = await ask(inYear(year), 30 * SECOND, 5 * SECOND)
      expect(answers.at(-1).status, `${year}`).toBe(200)
      await runtime.advance(10 * MINUTE)
    }
  })

  it.each([404, 503])('with %d does not delay the newest days', async (status) => {
    const { read, pass } = openYears({ onCall: failing(status), start: EVENING - DAY })
    // Until ten minutes after the bank has published.
    for (let passed = 0; passed < 21 * HOUR + 20 * MINUTE; passed += 10 * MINUTE) {
      await read(inYear(2015))
      await pass(10 * MINUTE)
    }
    expect(await read(rateOf('2026-11-20'))).toMatchObject(right('2026-11-20'))
  })
})

describe('a request of many rows', () => {
  type World = ReturnType<typeof openBank>

  interface Row {
    from: string
    to: string
    date: string
    rule?: 'exact' | 'next'
  }

  /** Returns pseudo-random integers below `limit` (a linear congruential generator). */
  function randomNumbers(seed: number): (limit: number) => number {
    let state = seed
    return (limit) => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
      return Math.floor((state / 4_294_967_296) * limit)
    }
  }

  const dayAfter = (start: string, pick: (limit: number) => number): string => {
    const days = Math.floor((EVENING - Date.parse(start)) / DAY)
    return new Date(Date.parse(start) + pick(days) * DAY).toISOString().slice(0, 10)
  }

  const isDown = (text: string): boolean => text.includes('"provider_unavailable"')

  /** Posts the rows until none is unavailable; returns the texts of the results of each time. */
  async function postUntilLoaded(world: World, rows: readonly Row[]): Promise<string[][]> {
    const rounds: string[][] = []
    const headers = { 'content-type': 'application/json' }
    const init = { method: 'POST', headers, body: JSON.stringify(rows) }
    while (rounds.length < 30 && rounds.at(-1)?.some(isDown) !== false) {
      const request = new Request('http://localhost/api/v1/convert', init)
      const results: Json[] = await (await world.finish(world.handler(request))).json()
      rounds.push(results.map((each) => JSON.stringify(each)))
      await world.runtime.advance(10 * SECOND)
    }
    return rounds
  }

  /** Returns the texts of the single requests, each as soon as its days are loaded. */
  async function singles(world: World, rows: readonly Row[]): Promise<string[]> {
    const texts: string[] = []
    for (const row of rows) {
      let text = ''
      for (let round = 0; round < 30 && (text === '' || isDown(text)); round += 1) {
        if (text !== '') await world.runtime.advance(10 * SECOND)
        const response = world.get(`/v1/convert?${new URLSearchParams({ ...row })}`)
        text = await (await world.finish(response)).text()
      }
      texts.push(text)
    }
    return texts
  }

  it('loads only the years from its first to its last day', async () => {
    const world = openYears({})
    const rows = ['2012-06-15', '2014-02-18'].map((date) => ({ from: 'EUR', to: ONE, date }))
    const results = (await postUntilLoaded(world, rows)).at(-1)
    expect(results?.map((text) => JSON.parse(text))).toMatchObject(rows)
    const years = new Set(world.bank.calls.map(({ start }) => start.slice(0, 4)))
    for (const year of years)
      expect(['2011', '2012', '2013', '2014', '2015', '2026']).toContain(year)
  })

  /** Returns the result of `work`, and how many numbers it allocates in typed arrays. */
  async function numbersAllocatedBy<Result>(work: () => Promise<Result>) {
    const original = globalThis.Float64Array
    let count = 0
    globalThis.Float64Array = new Proxy(original, {
      construct(target, args: [unknown]) {
        const made: Float64Array = Reflect.construct(target, args)
        count += made.length
        return made
      },
    })
    const result = await work().finally(() => (globalThis.Float64Array = original))
    return { result, count }
  }

  it('of 2,000 rows and 800 pairs needs one call a year, and equals the single requests', async () => {
    const many = codes(30)
    const world = openYears({ codes: many })
    const pairs = many.flatMap((from) => many.flatMap((to) => (to === from ? [] : { from, to })))
    const pick = randomNumbers(44)
    const rows = Array.from({ length: 2_000 }, (_, at) => ({
      ...(pairs[(at * 7) % pairs.length] ?? { from: '', to: '' }),
      date: dayAfter('1999-02-01', pick),
    }))
    const rounds = await postUntilLoaded(world, rows)
    // The newest days may be loaded beside the current year.
    expect(world.bank.calls.length).toBeLessThanOrEqual(29)
    const { length } = world.bank.calls
    const { result, count } = await numbersAllocatedBy(() => postUntilLoaded(world, rows))
    expect(count).toBeLessThan(5_000_000)
    expect(result).toEqual([rounds.at(-1)])
    const isCompared = (_: unknown, at: number): boolean => at % 10 === 0
    const compared = result[0]?.filter(isCompared)
    expect(compared).toEqual(await singles(world, rows.filter(isCompared)))
    expect(world.bank.calls).toHaveLength(length)
  })

  it('delays the request of another client by no more than the pace of a piece', async () => {
    const all = codes(50)
    const runtime = virtualRuntime(EVENING)
    const onCall = () => new Promise<void>((end) => void runtime.startTimer(end, 100))
    const { read, handler, finish, bank } = openBank({ codes: all, runtime, onCall })
    await read('/v1/currencies')
    const rows = all.slice(0, 45).map((to) => ({ from: 'EUR', to, date: '2015-03-10' }))
    const startedAt = runtime.now()
    const running = handler.rates.convertMany(rows)
    // While the rows wait, and after their limit of 5 s.
    for (const [after, code] of [
      [1, all[47]],
      [6, all[48]],
      [7, all[49]],
    ] as const) {
      await runtime.advance(startedAt + after * SECOND - runtime.now())
      const askedAt = runtime.now()
      const { points } = await read(inDays('2015-03-09', '2015-03-10', code))
      expect(points, `after ${after} s`).toHaveLength(2)
      expect(runtime.now() - askedAt).toBeLessThanOrEqual(SECOND)
    }
    await finish(running)
    await runtime.advance(5 * SECOND)
    const results = await finish(handler.rates.convertMany(rows))
    const rates = rows.map(({ to, date }) => ({ to, date, rate: bankRate(to, date) }))
    expect(results).toMatchObject(rates)
    // One for the newest table, and one for each currency.
    expect(bank.calls).toHaveLength(1 + 45 + 3)
  })

  it('equals its single requests over three banks with gaps, cold and warm', async () => {
    /** A bank that lacks currencies in some decades, such as `AAB200`; its rates are its own. */
    const bankOf = (name: string, gaps: string, form: Partial<BankOptions>) => ({
      name,
      publication: { ...PUBLICATION, id: name.toLowerCase() },
      ...form,
      change: ({ base, days }: Parameters<NonNullable<BankOptions['change']>>[0]) => ({
        base,
        days: days.map(({ date, rates }) => {
          const left = Object.entries(rates).filter(
            ([code]) => !gaps.includes(code + date.slice(0, 3)),
          )
          return { date, rates: Object.fromEntries(left) }
        }),
      }),
    })
    const years = { maxDays: 366, hasSeries: false }
    const open = () =>
      openBank({
        ...bankOf('A', 'AAB200 AAB201 AAC199 AAC200', { ...years, codes: CODES.slice(0, 6) }),
        others: [
          bankOf('B', 'AAB201 AAD200', { codes: CODES.slice(0, 9) }),
          bankOf('C', 'AAB199 AAB200 AAE201', { ...years, codes: CODES.slice(1) }),
        ],
      })
    const pick = randomNumbers(1999)
    const known = [...CODES, 'EUR', 'QQQ']
    const rows = Array.from({ length: 200 }, (): Row => {
      const rule = (['exact', 'next', undefined, undefined] as const)[pick(4)]
      const [from = '', to = ''] = [known[pick(known.length)], known[pick(known.length)]]
      return { from, to, date: dayAfter('1999-01-10', pick), ...(rule && { rule }) }
    })
    const warm = open()
    const expected = await singles(warm, rows)
    const cold = await postUntilLoaded(open(), rows)
    for (const texts of cold) {
      const different = texts.filter((text, at) => !isDown(text) && text !== expected[at])
      expect(different).toEqual([])
    }
    expect(cold.at(-1)).toEqual(expected)
    expect(await postUntilLoaded(warm, rows)).toEqual([expected])
    for (const name of ['"A"', '"B"', '"C"']) expect(expected.join()).toContain(name)
  })
})

it('the default history is that of the second version of Frankfurter where the first is gone', async () => {
  const runtime = virtualRuntime(EVENING)
  const open = (isGone: boolean) =>
    openWorld(runtime, {
      providers: { latest: market.latest, history: createFrankfurterProvider() },
      async fetch(input, init) {
        const { url } = new Request(input, init)
        if (isGone && new URL(url).pathname.startsWith('/v1/'))
          return new Response('', { status: 410 })
        return respondAsFeeds(url, runtime.now(), '')
      },
    })
  const target = '/v1/history?from=USD&to=EUR&start=2026-11-02'
  const { points } = await open(false).read(target)
  expect(points.length).toBeGreaterThan(10)
  const world = open(true)
  expect(await world.read(target)).toMatchObject({ status: 200, points })
  for (const { status } of await world.ask(target, 3 * DAY, 6 * HOUR)) expect(status).toBe(200)
  expect(world.eventsOf('source_gone')).toHaveLength(1)
  expect(world.eventsOf('refresh_failed')).toEqual([])
})
