import { describe, expect, it } from 'vitest'

import type { Attribution, HistoryDay, HistoryProvider, LatestTable } from '../../src/index.ts'
import {
  createEcbDataApiProvider,
  createEcbProvider,
  createFrankfurterProvider,
} from '../../src/providers/index.ts'
import { marketOf } from '../fixtures/market.ts'
import { recordedHandler } from '../fixtures/recorded-handler.ts'
import { DAY, HOUR, virtualRuntime } from '../virtual-runtime.ts'

type Rates = Record<string, number>

type Change = (rates: Rates, date: string) => Rates

const WEDNESDAY = '2026-11-18'
const THURSDAY = '2026-11-19'
const FRIDAY = '2026-11-20'
const MONDAY = '2026-11-23'
const TUESDAY = '2026-11-24'

const OLD = '2024-03-05'

const market = marketOf()
const relay = createFrankfurterProvider()

/** A custom provider of the same days, without sanity checks. */
const unchecked: HistoryProvider = { ...relay, sanityChecks: false }

const unchanged: Change = (rates) => rates

function mapRates(rates: Rates, change: (rate: number, code: string) => number): Rates {
  return Object.fromEntries(Object.entries(rates).map(([code, rate]) => [code, change(rate, code)]))
}

function times(factor: number, only?: string): Change {
  return (rates) => mapRates(rates, (rate, code) => rate * (code === (only ?? code) ? factor : 1))
}

/** The Danish krone is pegged to the euro. */
const exceptKrone =
  (change: Change): Change =>
  (rates, date) => ({ ...change(rates, date), DKK: rates['DKK'] ?? NaN })

function without(rates: Rates, ...left: string[]): Rates {
  return Object.fromEntries(Object.entries(rates).filter(([code]) => !left.includes(code)))
}

const inverted: Change = (rates) => mapRates(rates, (rate) => 1 / rate)

/** Limits `slip` to the days from `first` to `last`. */
function during(slip: Change, first: string, last = first): Change {
  return (rates, date) => (date >= first && date <= last ? slip(rates, date) : rates)
}

/** Mistakes of a day, the rates that they make doubtful, and a built-in provider that could return them. */
const SLIPS: readonly [name: string, slip: Change, doubtful: string, from: HistoryProvider][] = [
  ['inverted', inverted, '', relay],
  ['× 1000', times(1_000), '', relay],
  ['half as much again', times(1.5), '', createEcbProvider()],
  ['USD × 9', times(9, 'USD'), ' USD', createEcbDataApiProvider()],
  ['USD inverted', (rates) => ({ ...rates, USD: 1 / (rates['USD'] ?? NaN) }), ' USD', relay],
  ['USD alone', (rates) => ({ USD: rates['USD'] ?? NaN }), '', relay],
]

interface Options {
  change?: Change
  /** Only its attribution and `sanityChecks` are used (default a built-in provider). */
  provider?: HistoryProvider
  store?: Map<string, string>
  latest?: Latest
}

/** Latest rates against the euro, published `hours` after Thursday evening (default 12, on Friday). */
interface Latest extends Pick<LatestTable, 'rates' | 'unconfirmed'> {
  hours?: number
  attribution?: Attribution
}

function start({ change = unchanged, provider = relay, store, latest }: Options = {}) {
  const startsAt = Date.parse(`${THURSDAY}T18:00Z`)
  const runtime = virtualRuntime(startsAt)
  const ranges: string[] = []
  /** Returns the days published `late` ms ago. */
  const upstream = { change, late: 0, isDown: false }
  const { handler, eventsOf } = recordedHandler(runtime, {
    store,
    providers: {
      latest: {
        attribution: latest?.attribution ?? { name: 'Latest', url: 'https://latest.example' },
        async fetchLatest() {
          if (!latest) throw new Error('down')
          const updatedAt = startsAt + (latest.hours ?? 12) * HOUR
          return { ...latest, base: 'EUR', updatedAt, nextUpdateAt: updatedAt + 2 * DAY }
        },
        validateStored: (table) => table,
      },
      history: {
        ...provider,
        async fetchHistory(range) {
          ranges.push(range.start)
          if (upstream.isDown) throw new Error('down')
          const instant = runtime.now() - upstream.late
          const { base, days } = market.history(range.start, range.end, instant)
          const change = ({ date, rates }: HistoryDay): HistoryDay => {
            return { date, rates: upstream.change(rates, date) }
          }
          return { base, days: days.map(change) }
        },
      },
    },
  })

  return {
    handler,
    runtime,
    ranges,
    upstream,
    async refresh(day = THURSDAY) {
      await runtime.advance(Date.parse(`${day}T18:00Z`) - runtime.now())
      await handler.refresh()
    },
    eventsOf,
    /** Returns the rates of `code` since the day `since`, by day. */
    async rates(code: string, since = WEDNESDAY) {
      const { points } = await handler.rates.history({ from: 'EUR', to: code, start: since })
      return Object.fromEntries(points.map(({ d, r }) => [d, r]))
    },
    async response() {
      const target = '/api/v1/history?from=EUR&to=USD&period=5Y'
      const { body, headers } = await handler.answer({ method: 'GET', target, header: () => null })
      return { body, tag: new Map(headers).get('etag') }
    },
  }
}

/** Returns the published rates of `code`, by default since Wednesday. */
function published(code: string, until: string, since = WEDNESDAY): Rates {
  const { days } = market.history(since, until, Date.parse(`${until}T18:00Z`))
  return Object.fromEntries(days.map(({ date, rates }) => [date, rates[code] ?? NaN]))
}

describe('a doubtful day', () => {
  it.each(SLIPS)('is quarantined, and served once it is corrected: %s', async (...row) => {
    const [, slip, doubtful, provider] = row
    const store = new Map<string, string>()
    const world = start({ provider, store, change: during(slip, OLD) })
    await world.refresh()
    expect(await world.rates('USD', '2024-03-04')).not.toHaveProperty(OLD)
    world.upstream.change = during(slip, FRIDAY)
    await world.refresh(FRIDAY)
    expect(await world.rates('USD', '2024-03-04')).toHaveProperty(OLD)
    expect(await world.rates('USD')).toEqual(published('USD', THURSDAY))
    expect(await world.rates('JPY')).toEqual(published('JPY', doubtful ? FRIDAY : THURSDAY))
    // Another process loads it from the store.
    expect(await start({ provider, store }).rates('USD')).toEqual(published('USD', THURSDAY))
    // The next day is correct, the doubtful one still wrong.
    await world.refresh(MONDAY)
    expect(await world.rates('USD')).toEqual(without(published('USD', MONDAY), FRIDAY))
    world.upstream.change = unchanged
    await world.refresh(TUESDAY)
    expect(await world.rates('USD')).toEqual(published('USD', TUESDAY))
    // One call per refresh, the second one including the old day, and one event per day.
    expect(world.ranges).toEqual(['2021-11-05', OLD, expect.anything(), expect.anything()])
    const reported = [OLD, FRIDAY].map((day) => ({ codes: [`${day}${doubtful}`] }))
    expect(world.eventsOf('rates_quarantined')).toMatchObject(reported)
  })

  it.each([
    ['a currency is devalued', times(1.4, 'TRY'), ' TRY', 1.4],
    ['the euro falls against all but its peg', exceptKrone(times(0.7)), '', 0.7],
  ])('is served when the next one confirms it: %s', async (_, move, doubtful, factor) => {
    const world = start()
    await world.refresh()
    world.upstream.change = during(move, FRIDAY, TUESDAY)
    await world.refresh(FRIDAY)
    expect(await world.rates('TRY')).toEqual(published('TRY', THURSDAY))
    await world.refresh(MONDAY)
    const moved = (rate: number, day: string) => (day < FRIDAY ? rate : rate * factor)
    expect(await world.rates('TRY')).toEqual(mapRates(published('TRY', MONDAY), moved))
    // It is requested again and no longer doubtful.
    await world.refresh(TUESDAY)
    expect(world.eventsOf('rates_quarantined')).toMatchObject([{ codes: [`${FRIDAY}${doubtful}`] }])
  })

  it.each<[name: string, day: string, isServed: boolean, latest: (lira: number) => Latest]>([
    ['agree', FRIDAY, true, (lira) => ({ rates: { TRY: lira } })],
    [
      'are quarantined too',
      FRIDAY,
      true,
      (rate) => ({ rates: { TRY: 1 }, unconfirmed: { TRY: { rate, publications: 1 } } }),
    ],
    ['disagree', FRIDAY, false, (lira) => ({ rates: { TRY: lira * 1.1 } })],
    ['are a day older', FRIDAY, true, (lira) => ({ rates: { TRY: lira }, hours: 0 })],
    ['are eleven days older', FRIDAY, false, (lira) => ({ rates: { TRY: lira }, hours: -240 })],
    ['are far newer', OLD, false, (lira) => ({ rates: { TRY: lira } })],
    ['are from the same source', FRIDAY, false, (lira) => ({ rates: { TRY: lira }, ...relay })],
  ])('is or is not confirmed at once by latest rates that %s', async (...row) => {
    const [, day, isServed, latest] = row
    const devalued = during(times(1.4, 'TRY'), day)
    const { [day]: lira = NaN } = published('TRY', FRIDAY, day)
    const world = start({ change: devalued, latest: latest(lira * 1.4) })
    await world.refresh()
    await world.refresh(FRIDAY)
    expect(Object.hasOwn(await world.rates('TRY', '2024-03-04'), day)).toBe(isServed)
  })
})

describe('a day that lacks many currencies', () => {
  it.each<[sanityChecks: true | 'rates', isKept: boolean]>([
    [true, false],
    ['rates', true],
  ])('is kept or not with sanityChecks %j, and its doubtful rates never', async (...row) => {
    const [sanityChecks, isKept] = row
    const closed = 'AUD BRL CAD CHF CNY CZK DKK HKD HUF IDR ILS INR'.split(' ')
    const slip = during((rates) => times(1.4, 'GBP')(without(rates, ...closed), ''), OLD)
    const world = start({ provider: { ...relay, sanityChecks }, change: slip })
    await world.refresh()
    expect(Object.hasOwn(await world.rates('USD', '2024-03-04'), OLD)).toBe(isKept)
    expect(await world.rates('GBP', '2024-03-04')).not.toHaveProperty(OLD)
    const codes = [isKept ? `${OLD} GBP` : OLD]
    expect(world.eventsOf('rates_quarantined')).toMatchObject([{ codes }])
  })
})

describe('a refresh', () => {
  it.each(SLIPS)('keeps the current days if a day, or most of them, differ: %s', async (...row) => {
    const [, slip, doubtful] = row
    const world = start()
    await world.refresh()
    world.upstream.change = during(slip, WEDNESDAY)
    await world.refresh(FRIDAY)
    expect(await world.rates('USD')).toEqual(published('USD', FRIDAY))
    world.upstream.change = slip
    await world.refresh(MONDAY)
    expect(await world.rates('USD')).toEqual(published('USD', FRIDAY))
    const [rejected] = world.eventsOf('rates_rejected')
    const reason = doubtful ? /^none$/ : /^7 of 7 days contradict .*half$/
    expect(rejected?.reason ?? 'none').toMatch(reason)
    world.upstream.change = unchanged
    await world.refresh(TUESDAY)
    expect(await world.rates('USD')).toEqual(published('USD', TUESDAY))
  })

  it('does not confirm two new days with each other if the days before contradict', async () => {
    const world = start()
    await world.refresh()
    world.upstream.change = times(1.4, 'TRY')
    await world.refresh(MONDAY)
    expect(await world.rates('TRY')).toEqual(published('TRY', THURSDAY))
    expect(await world.rates('JPY')).toEqual(published('JPY', MONDAY))
  })

  it.each([relay, unchecked])('applies corrections and keeps absent rates', async (provider) => {
    const world = start({ provider })
    await world.refresh()
    const { tag } = await world.response()
    const corrected = times(1.001, 'USD')
    world.upstream.change = during((rates) => without(corrected(rates, ''), 'JPY'), WEDNESDAY)
    await world.refresh(FRIDAY)
    expect(world.eventsOf('rates_revised')).toMatchObject([{ revised: [`${WEDNESDAY} USD`] }])
    const { [WEDNESDAY]: wrong = NaN, ...others } = published('USD', FRIDAY)
    expect(await world.rates('USD')).toEqual({ ...others, [WEDNESDAY]: wrong * 1.001 })
    expect(await world.rates('JPY')).toEqual(published('JPY', FRIDAY))
    expect((await world.response()).tag).not.toBe(tag)
    expect(world.eventsOf('rates_lost')).toEqual([])
  })

  it('keeps cached responses if nothing is new', async () => {
    const world = start({ change: during(inverted, OLD) })
    world.upstream.late = 9 * HOUR
    await world.refresh()
    await world.runtime.advance(HOUR)
    await world.handler.refresh()
    const before = await world.response()
    await world.runtime.advance(2 * HOUR)
    await world.handler.refresh()
    // An old doubtful day is fetched again once.
    expect(world.ranges).toEqual(['2021-11-05', OLD, '2026-11-10'])
    const { body, tag } = await world.response()
    // On Node, a long body is bytes, and the same object only while the response is cached.
    expect(body).toBe(before.body)
    expect(tag).toBe(before.tag)
  })

  it('reports currencies that end, except for withdrawn ones', async () => {
    const left = ['THB', 'TRY', 'USD', 'ZAR']
    const withLev: Change = (rates) => ({ ...rates, BGN: 1.95583 })
    const world = start({ change: withLev })
    await world.refresh()
    world.upstream.change = (rates, date) =>
      date < FRIDAY ? withLev(rates, date) : without(rates, ...left)
    await world.refresh(FRIDAY)
    expect(await world.rates('JPY')).toEqual(published('JPY', FRIDAY))
    await world.refresh(MONDAY)
    const codes = left.map((code) => `${FRIDAY} ${code}`)
    expect(world.eventsOf('rates_lost')).toMatchObject([{ codes }])
    expect(await world.rates('TRY')).toEqual(published('TRY', THURSDAY))
  })
})

describe('a whole download', () => {
  it.each(SLIPS.slice(0, 2))('is rejected if all of it is wrong: %s', async (_, slip) => {
    const world = start({ change: slip })
    await expect(world.rates('USD')).rejects.toMatchObject({ code: 'provider_unavailable' })
    const [rejected] = world.eventsOf('rates_rejected')
    expect(rejected?.reason).toMatch(/^(\d+) of \1 days are implausible.*half$/)
  })

  it('is followed by the last seven days if only the newest one is doubtful', async () => {
    const world = start({ change: during(inverted, THURSDAY) })
    await world.refresh()
    await world.refresh(FRIDAY)
    expect(world.ranges).toEqual(['2021-11-05', '2026-11-10'])
  })

  it('lacks implausible rates of any duration, but has a currency that returns at another rate', async () => {
    const [until, again] = ['2024-06-28', '2024-07-01']
    const slips = [
      during(times(2), '2021-11-05'),
      during(times(9, 'USD'), OLD, until),
      during((rates) => without(rates, 'TRY'), OLD, WEDNESDAY),
      during(times(5, 'TRY'), THURSDAY),
    ]
    const change: Change = (rates, day) => slips.reduce((all, slip) => slip(all, day), rates)
    const world = start({ change })
    const daysOf = async (code: string, since: string): Promise<string[]> =>
      Object.keys(await world.rates(code, since)).slice(0, 2)
    expect(await daysOf('JPY', '2021-11-05')).toEqual(['2021-11-08', '2021-11-09'])
    expect(await daysOf('USD', '2024-03-04')).toEqual(['2024-03-04', again])
    expect(await daysOf('JPY', '2024-03-04')).toEqual(['2024-03-04', OLD])
    expect(await daysOf('TRY', OLD)).toEqual([THURSDAY])
    expect(world.eventsOf('rates_lost')).toEqual([])
  })

  it('confirms a move by a rate at most 31 days later', async () => {
    const served = async (first: string): Promise<string[]> => {
      // A single rate of the old level, and two of the new one, far apart.
      const quoted = ['2026-09-18', first, THURSDAY]
      const change: Change = (rates, day) =>
        quoted.includes(day) || day < '2026-09-18'
          ? times(day < first ? 1 : 1.4, 'TRY')(rates, day)
          : without(rates, 'TRY')
      return Object.keys(await start({ change }).rates('TRY', first))
    }
    expect(await served('2026-10-19')).toEqual(['2026-10-19', THURSDAY])
    expect(await served('2026-10-16')).toEqual([THURSDAY])
  })

  it.each([
    [31, '2026-10-19', []],
    [34, '2026-10-16', [THURSDAY]],
  ])(
    'after %d days compares a currency with its last rate if they are at most 31',
    async (_, last, again) => {
      const slips = [
        during((rates, day) => (day > last ? without(rates, 'TRY') : rates), last, WEDNESDAY),
        during(times(5, 'TRY'), THURSDAY),
      ]
      const world = start({
        change: (rates, day) => slips.reduce((all, slip) => slip(all, day), rates),
      })
      expect(Object.keys(await world.rates('TRY', last))).toEqual([last, ...again])
    },
  )

  it('of another process is checked when loaded from the store', async () => {
    const store = new Map<string, string>()
    const slips = SLIPS.map(([, slip], index) => during(slip, `2026-10-1${2 + index}`))
    const poison: Change = (rates, date) => slips.reduce((all, slip) => slip(all, date), rates)
    await start({ store, provider: unchecked, change: poison }).refresh()
    const world = start({ store })
    world.upstream.isDown = true
    const dates = Object.keys(await world.rates('USD', '2026-10-09'))
    expect(dates.slice(0, 2)).toEqual(['2026-10-09', '2026-10-19'])
    world.upstream.isDown = false
    await world.refresh(FRIDAY)
    expect(world.ranges).toEqual(['2026-10-12'])
    expect(await world.rates('USD', '2026-10-09')).toHaveProperty('2026-10-12')

    // The accepted days must not be older than the current ones.
    const wrong = during(inverted, FRIDAY, MONDAY)
    await start({ store, provider: unchecked, change: wrong }).refresh(MONDAY)
    world.upstream.isDown = true
    await world.refresh(MONDAY)
    expect(await world.rates('USD')).toEqual(published('USD', FRIDAY))

    await start({ store, provider: unchecked, change: inverted }).refresh(MONDAY)
    const cold = start({ store })
    cold.upstream.isDown = true
    await expect(cold.rates('USD')).rejects.toMatchObject({ code: 'provider_unavailable' })
    expect(cold.eventsOf('rates_rejected')).toMatchObject([{ origin: 'store' }])
  })
})
