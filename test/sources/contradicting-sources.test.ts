import { describe, expect, it } from 'vitest'

import { createExchangeRateApiProvider, createFrankfurterProvider } from '../../src/index.ts'
import type { HistoryDay, HistoryProvider } from '../../src/index.ts'
import { overlay } from '../../src/providers/derived.ts'
import { marketOf } from '../fixtures/market.ts'
import { BANK_DAYS } from '../fixtures/bank.ts'
import { recordedHandler } from '../fixtures/recorded-handler.ts'
import { openErApiPayload } from '../fixtures/upstream-payloads.ts'
import * as oracle from '../oracle.ts'
import { DAY, finish, virtualRuntime } from '../virtual-runtime.ts'

const market = marketOf()

const MONDAY = '2026-11-16'
const TUESDAY = '2026-11-17'

/** Sources of reference rates: one fetched as a whole, and a bank that declares its publication. */
const relay = createFrankfurterProvider()
const bank: HistoryProvider = {
  ...relay,
  attribution: { name: 'Bank', url: 'https://bank.example' },
  publication: BANK_DAYS,
  maxDays: 366,
}
const pricingBank = { ...bank }

const HISTORIES = [
  ['the relay', relay],
  ['a bank', bank],
  ['a bank that quotes prices', pricingBank],
] as const

/** Returns by which factor a source misquotes the forint on a day; undefined for no response. */
type Factor = (day: string) => number | undefined

const right: Factor = () => 1

/** Moves by `factor` from Tuesday on. */
const moved =
  (factor: number, until = '9999'): Factor =>
  (day) =>
    day >= TUESDAY && day < until ? factor : 1

interface Options {
  latest?: Factor
  history?: Factor
  provider?: HistoryProvider
  store?: Map<string, string> | undefined
  startsOn?: string
  /** Whether latest rates are published at night (default), or in the afternoon, as reference rates. */
  isAtNight?: boolean
  maxStale?: { latest?: number; history?: number }
  /** Rates of the app against the euro that replace latest rates, or reference rates from Tuesday on. */
  ownLatest?: Record<string, number>
  ownHistory?: Record<string, number>
  /** Rates of a provider of latest rates without sanity checks. */
  handWritten?: Record<string, number>
}

/** Opens a handler over both sources in the evening. */
function open({ latest = right, history = right, provider = relay, ...options }: Options = {}) {
  const { startsOn = MONDAY, store, isAtNight = true, maxStale, handWritten } = options
  const { ownLatest = {}, ownHistory = {} } = options
  const app = { name: 'App', url: 'https://app.example' }
  const runtime = virtualRuntime(Date.parse(`${startsOn}T18:00Z`))
  const factors = { latest, history }
  const isPriced = provider === pricingBank
  const { handler, eventsOf } = recordedHandler(runtime, {
    store,
    ...(maxStale && { maxStale }),
    async fetch() {
      const factor = factors.latest(today())
      if (factor === undefined) throw new Error('down')
      const { rates, ...body } = JSON.parse(openErApiPayload({ now: runtime.now(), market }))
      const published = isAtNight && {
        time_last_update_unix: Date.parse(today()) / 1_000,
        time_next_update_unix: (Date.parse(today()) + DAY) / 1_000,
      }
      return Response.json({ ...body, ...published, rates: { ...rates, HUF: rates.HUF * factor } })
    },
    providers: {
      latest: handWritten
        ? {
            attribution: app,
            async fetchLatest({ now }) {
              const [updatedAt, nextUpdateAt] = [now(), now() + DAY]
              return { base: 'EUR', updatedAt, nextUpdateAt, rates: handWritten }
            },
          }
        : overlay(createExchangeRateApiProvider(), {
            ...app,
            rates: { base: 'EUR', rates: ownLatest },
          }),
      history: overlay(
        {
          ...provider,
          async fetchHistory({ start, end }) {
            if (factors.history(today()) === undefined) throw new Error('down')
            // A few weeks are faster than years.
            const first = start > '2026-10-01' ? start : '2026-10-01'
            const { base, days } = market.history(first, end, runtime.now())
            return { base, days: days.map(misquoted) }
          },
        },
        { ...app, rates: { base: 'EUR', rates: ownHistory, since: TUESDAY } },
      ),
    },
  })
  const misquoted = ({ date, rates: { HUF: forint = NaN, ...rates } }: HistoryDay): HistoryDay => {
    const quote = forint * (factors.history(date) ?? NaN)
    if (!isPriced) return { date, rates: { ...rates, HUF: quote } }
    return { date, rates, prices: { HUF: 1 / quote } }
  }
  const today = (): string => new Date(runtime.now()).toISOString().slice(0, 10)

  /** Returns by which factor the rate of the forint is wrong; null where there is none. */
  async function latestFactor(): Promise<number | null> {
    const converted = handler.rates.convert({ from: 'USD', to: 'HUF' })
    const { rate } = await finish(runtime, converted).catch(() => ({ rate: null }))
    return rate && rounded(rate / (market.latest(runtime.now()).rates['HUF'] ?? NaN))
  }

  /** Returns the same for each point since Monday; none where a bank has had no rate for months. */
  async function historyFactors(): Promise<Record<string, number>> {
    const request = handler.rates.history({ from: 'EUR', to: 'HUF', start: MONDAY })
    const { points } = await finish(runtime, request).catch((error: unknown) => {
      expect(error).toMatchObject({ code: 'provider_unavailable' })
      return { points: [] }
    })
    return Object.fromEntries(
      points.map(({ d, r }) => {
        const [day] = market.history(d, d, runtime.now()).days
        return [d, rounded(r / (day?.rates['HUF'] ?? NaN))]
      }),
    )
  }

  return {
    factors,
    eventsOf,
    today,
    latestFactor,
    historyFactors,
    load: async () => {
      await latestFactor()
      await historyFactors()
    },
    /** Lets a day pass. */
    async pass() {
      for (let half = 0; half < 2; half += 1) {
        await runtime.advance(DAY / 2)
        await finish(runtime, handler.refresh())
      }
    },
  }
}

type World = ReturnType<typeof open>

/** Rounds to fifths, because rates of different days differ by some percent. */
function rounded(factor: number): number {
  return Math.round(factor * 5) / 5
}

/** Lets `days` pass, and returns all factors by which the latest rate and points of history were wrong on one of them. */
async function watch(world: World, days: number) {
  const latest: (number | null)[] = []
  const history = new Set<number>()
  for (let day = 0; day < days; day += 1) {
    await world.pass()
    latest.push(await world.latestFactor())
    for (const factor of Object.values(await world.historyFactors())) history.add(factor)
  }
  return { latest, history: [...history] }
}

/** Days of the codes of all quarantined rates of a data set. */
function quarantinedIn(world: World, dataSet: string): string[] {
  return world
    .eventsOf('rates_quarantined')
    .flatMap((event) => (event.dataSet === dataSet ? event.codes : []))
}

function publishedDays(from: string, until: string): string[] {
  const { days } = market.history(from, until, Date.parse(`${until}T18:00Z`))
  return days.map(({ date }) => date)
}

/** Returns the factors of a history whose rates are twice as high from a day on. */
function doubledSince(first: string, { today }: World): Record<string, number> {
  const days = publishedDays(first, today()).map((day) => [day, 2])
  return { [MONDAY]: 1, ...Object.fromEntries(days) }
}

describe.each(HISTORIES)(
  'latest rates that reference rates of %s contradict',
  (_name, provider) => {
    it.each([0.01, 100, 1.3])('are never served × %d, however long that lasts', async (factor) => {
      const world = open({ provider, latest: moved(factor, '2026-12-14') })
      await world.load()
      const { latest, history } = await watch(world, 27)
      // The last good rate expires seven days after its next publication was due.
      const expired = latest.indexOf(null)
      expect(expired).toBe(7)
      expect(new Set(latest)).toEqual(new Set([1, null]))
      expect(latest.slice(expired).every((each) => each === null)).toBe(true)
      expect(history).toEqual([1])
      expect(quarantinedIn(world, 'latest')).toEqual(Array.from({ length: 27 }, () => 'HUF'))
      await world.pass()
      expect(world.today()).toBe('2026-12-14')
      expect(await world.latestFactor()).toBe(1)
    })

    it('are not served after a restart with a store', async () => {
      const store = new Map<string, string>()
      const latest = moved(0.01)
      const world = open({ provider, latest, store })
      await world.load()
      await watch(world, 2)
      const restarted = open({ provider, latest, store, startsOn: world.today() })
      await restarted.load()
      expect(new Set((await watch(restarted, 14)).latest)).toEqual(new Set([1, null]))
      // Without a store a good rate is missing.
      const cold = open({ provider, latest, startsOn: world.today() })
      await cold.historyFactors()
      expect(await cold.latestFactor()).toBe(null)
      expect((await watch(cold, 7)).latest).toEqual(Array.from({ length: 7 }, () => null))
    })
  },
)

describe.each(HISTORIES)(
  'reference rates of %s that latest rates contradict',
  (_name, provider) => {
    it.each([0.01, 1.3])('are never served × %d, nor once they are right', async (factor) => {
      const [until, days] = ['2026-12-14', 27]
      const world = open({ provider, history: moved(factor, until) })
      await world.load()
      const served = await watch(world, days)
      expect(served).toEqual({ latest: Array.from({ length: days }, () => 1), history: [1] })
      const slipped = publishedDays(TUESDAY, world.today()).map((day) => `${day} HUF`)
      expect(quarantinedIn(world, 'history')).toEqual(slipped)
      // The days of the slip stay wrong upstream.
      await watch(world, 30)
      const after = Object.fromEntries(publishedDays(until, world.today()).map((day) => [day, 1]))
      expect(await world.historyFactors()).toEqual({ [MONDAY]: 1, ...after })
    })

    it('are served if they have always differed', async () => {
      const world = open({ provider, history: () => 2 })
      await world.load()
      await watch(world, 2)
      const days = [MONDAY, TUESDAY, '2026-11-18']
      expect(await world.historyFactors()).toEqual(Object.fromEntries(days.map((day) => [day, 2])))
      expect(await world.latestFactor()).toBe(1)
    })

    it('are not served when no rate before the move is kept', async () => {
      const world = open({ provider, history: moved(100) })
      await world.load()
      expect((await watch(world, 76)).history).toEqual([1])
    })

    it('are not served after a restart, with a store or without', async () => {
      const store = new Map<string, string>()
      const history = moved(100)
      const world = open({ provider, history, store })
      await world.load()
      await watch(world, 9)
      for (const kept of [store, undefined]) {
        const restarted = open({ provider, history, store: kept, startsOn: world.today() })
        await restarted.load()
        expect(await restarted.historyFactors()).toEqual({ [MONDAY]: 1 })
        expect((await watch(restarted, 14)).history).toEqual([1])
      }
    })
  },
)

describe.each(HISTORIES)('a devaluation with reference rates of %s', (_name, provider) => {
  it.each([1.6, 2.5])(
    'by the factor %d is served on the next day if both have it',
    async (factor) => {
      const world = open({ provider, latest: moved(factor), history: moved(factor) })
      await world.load()
      await world.pass()
      // The latest rates of the night are alone; the reference rates of the afternoon confirm them.
      expect(world.today()).toBe(TUESDAY)
      expect(await world.latestFactor()).toBe(1)
      expect(await world.historyFactors()).toEqual({ [MONDAY]: 1, [TUESDAY]: rounded(factor) })
      await world.pass()
      expect(await world.latestFactor()).toBe(rounded(factor))
    },
  )

  it.each<[string, number, Options]>([
    ['at once if both arrive at the same time', 2, { isAtNight: false }],
    ['if both have about it', 2.2, {}],
  ])('is served %s', async (_when, factor, options) => {
    const world = open({ provider, latest: moved(factor), history: moved(2), ...options })
    await world.load()
    const first = options.isAtNight === false ? factor : 1
    expect((await watch(world, 3)).latest).toEqual([first, factor, factor])
    expect(await world.historyFactors()).toEqual(doubledSince(TUESDAY, world))
  })

  it('is served once the other source follows', async () => {
    const late: Factor = (day) => (day >= '2026-11-20' ? 2 : 1)
    const followed = open({ provider, latest: moved(2), history: late })
    await followed.load()
    // Friday's reference rates confirm the latest rates of Saturday.
    expect((await watch(followed, 5)).latest).toEqual([1, 1, 1, 1, 2])

    const following = open({ provider, latest: late, history: moved(2) })
    await following.load()
    await watch(following, 5)
    expect(await following.historyFactors()).toEqual(doubledSince(TUESDAY, following))
  })

  it('is served once the rates of the other source are eleven days old', async () => {
    const down: Factor = (day) => (day >= TUESDAY ? undefined : 1)
    const maxStale = { latest: 30 * DAY, history: 30 * DAY }
    const latest = open({ provider, latest: moved(2), history: down, maxStale })
    await latest.load()
    const served = (await watch(latest, 12)).latest
    expect(served).toEqual([...Array.from({ length: 10 }, () => 1), 2, 2])

    const history = open({ provider, latest: down, history: moved(2), maxStale })
    await history.load()
    expect((await watch(history, 10)).history).toEqual([1])
    expect(oracle.daysBefore(history.today(), 10)).toBe(MONDAY)
    await history.pass()
    expect(await history.historyFactors()).toHaveProperty('2026-11-27', 2)
  })
})

describe('a move of reference rates is confirmed by the next day although latest rates differ', () => {
  const tenfold = { HUF: 3_850 }

  it('that are quarantined themselves, without a good rate left', async () => {
    const history: Factor = (day) => (day >= '2026-12-01' ? 2 : 1)
    const world = open({ latest: moved(0.01), history })
    await world.load()
    await watch(world, 16)
    expect(await world.latestFactor()).toBe(null)
    const factors = await world.historyFactors()
    expect([factors['2026-11-30'], factors['2026-12-01'], factors['2026-12-02']]).toEqual([1, 2, 2])
  })

  it.each<[string, Options]>([
    ['that the app puts on those of the feed', { ownLatest: tenfold }],
    ['from a hand-written provider', { handWritten: tenfold }],
    ['where the reference rates are those of the app', { ownHistory: tenfold }],
  ])('%s', async (_which, options) => {
    const world = open({ ...options, history: moved(2) })
    await world.load()
    await watch(world, 2)
    const factor = options.ownHistory ? 10 : 2
    const wednesday = '2026-11-18'
    const expected = { [MONDAY]: 1, [TUESDAY]: factor, [wednesday]: factor }
    expect(await world.historyFactors()).toEqual(expected)
  })
})
