import { describe, expect, it } from 'vitest'

import {
  createExchangeRateApiProvider,
  createFawazahmed0Provider,
  createFrankfurterProvider,
  overlay,
} from '../../src/providers/index.ts'
import type { HistoryDay, HistoryProvider, LatestProvider, Publication } from '../../src/index.ts'
import { BANK_DAYS, createBank } from '../fixtures/bank.ts'
import { codes } from '../fixtures/codes.ts'
import { fawazahmed0Body } from '../fixtures/feeds/fawazahmed0.ts'
import { marketOf } from '../fixtures/market.ts'
import { openErApiPayload } from '../fixtures/upstream-payloads.ts'
import * as oracle from '../oracle.ts'
import { DAY, virtualRuntime } from '../virtual-runtime.ts'
import { openWorld } from './world.ts'

const market = marketOf()

const [MONDAY, TUESDAY, WEDNESDAY] = ['2026-11-16', '2026-11-17', '2026-11-18']

/** Sources of reference rates: one fetched as a whole, and banks that declare their publication. */
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

/** By which factor a source misquotes a currency on a day; undefined for a source that is down. */
type Factor = (day: string) => number | undefined

const right: Factor = () => 1

/** Moves by `factor` from Tuesday on; no factor for a source that is down from then on. */
const moved =
  (factor: number | undefined, until = '9999'): Factor =>
  (day) =>
    day >= TUESDAY && day < until ? factor : 1

interface Options {
  code?: string
  /** A feed of latest rates, published at night (default right); false for none. */
  latest?: Factor | false
  /** A feed that is preferred to it. */
  first?: Factor
  /** Reference rates (default right); false for none. */
  history?: Factor | false
  provider?: HistoryProvider
  store?: Map<string, string> | undefined
  /** Default Monday evening. */
  start?: number
  /** Whether latest rates are published in the afternoon, as reference rates. */
  isAfternoon?: boolean
  maxStale?: { latest?: number; history?: number }
  /** Rates of the app against the euro that replace latest rates, or reference rates from Tuesday on. */
  ownLatest?: Record<string, number>
  ownHistory?: Record<string, number>
  /** How long the preferred feed takes, in ms (default 0). */
  delay?: number
  /** Rates of a provider of latest rates without sanity checks. */
  handWritten?: Record<string, number>
}

const EVENING = Date.parse(`${MONDAY}T18:00Z`)
const NOON = Date.parse(`${MONDAY}T12:00Z`)

/** Rounds to fifths, or to one digit, because rates of different days differ by some percent. */
const rounded = (factor: number): number =>
  factor > 3 || factor < 0.2 ? Number(factor.toPrecision(1)) : Math.round(factor * 5) / 5

/** Opens a handler over several sources of which one currency is of interest. */
function open(options: Options = {}) {
  const { code = 'HUF', provider = relay, store, start = EVENING, maxStale, handWritten } = options
  const { latest = right, history = right } = options
  const app = { name: 'App', url: 'https://app.example' }
  const runtime = virtualRuntime(start)
  const calls: string[] = []
  const today = (): string => new Date(runtime.now()).toISOString().slice(0, 10)
  const misquote = (rates: Record<string, number>, key: string, by: Factor | false) => {
    const factor = by && by(today())
    if (!factor) throw new Error('down')
    return { ...rates, [key]: (rates[key] ?? NaN) * factor }
  }

  async function fetch(input: RequestInfo | URL): Promise<Response> {
    const { host } = new URL(input instanceof Request ? input.url : input)
    const now = runtime.now()
    if (host !== 'open.er-api.com') {
      const { delay = 0 } = options
      if (delay > 0) await new Promise<void>((end) => void runtime.startTimer(end, delay))
      const { usd, ...body } = fawazahmed0Body(now)
      return Response.json({
        ...body,
        usd: misquote(usd, code.toLowerCase(), options.first ?? right),
      })
    }
    calls.push(host)
    const { rates, ...body } = JSON.parse(openErApiPayload({ now, market }))
    const published = !options.isAfternoon &&
      !options.first && {
        time_last_update_unix: Date.parse(today()) / 1_000,
        time_next_update_unix: (Date.parse(today()) + DAY) / 1_000,
      }
    return Response.json({ ...body, ...published, rates: misquote(rates, code, latest) })
  }

  const own: LatestProvider = {
    attribution: app,
    async fetchLatest({ now }) {
      const [updatedAt, nextUpdateAt] = [now(), now() + DAY]
      return { base: 'EUR', updatedAt, nextUpdateAt, rates: handWritten ?? {} }
    },
  }
  const misquoted = ({ date, rates: { [code]: rate = NaN, ...rates } }: HistoryDay): HistoryDay => {
    const quote = rate * ((history && history(date)) || NaN)
    if (provider !== pricingBank) return { date, rates: { ...rates, [code]: quote } }
    return { date, rates, prices: { [code]: 1 / quote } }
  }
  const reference: HistoryProvider = {
    ...provider,
    async fetchHistory({ start, end }) {
      if (!history || !history(today())) throw new Error('down')
      // A few weeks are faster than years.
      const first = start > '2026-10-01' ? start : '2026-10-01'
      const { base, days } = market.history(first, end, runtime.now())
      return { base, days: days.map(misquoted) }
    },
  }
  const withOwn = (rates: Record<string, number> = {}) => ({
    ...app,
    rates: { base: 'EUR', rates },
  })
  const feed = overlay(createExchangeRateApiProvider(), withOwn(options.ownLatest))
  const feeds = [
    ...(options.first ? [createFawazahmed0Provider()] : []),
    ...(latest ? [handWritten ? own : feed] : []),
  ]
  const ofApp = withOwn(options.ownHistory)
  const world = openWorld(runtime, {
    store,
    ...(maxStale && { maxStale }),
    fetch,
    providers: {
      latest: feeds.length > 0 && feeds,
      history:
        history && overlay(reference, { ...ofApp, rates: { ...ofApp.rates, since: TUESDAY } }),
    },
  })
  const { handler, finish, eventsOf } = world

  /** Returns by which factor the latest rate is wrong; null where there is none. */
  async function latestFactor(): Promise<number | null> {
    const converted = handler.rates.convert({ from: 'USD', to: code })
    const { rate } = await finish(converted).catch(() => ({ rate: null }))
    return rate && rounded(rate / (market.latest(runtime.now()).rates[code] ?? NaN))
  }

  /** Returns the same for each point since Monday; none where a bank has had no rate for months. */
  async function historyFactors(): Promise<Record<string, number>> {
    const request = handler.rates.history({ from: 'EUR', to: code, start: MONDAY })
    const { points } = await finish(request).catch((error: unknown) => {
      expect(error).toMatchObject({ code: 'provider_unavailable' })
      return { points: [] }
    })
    const truth = new Map(
      market.history(MONDAY, today(), runtime.now()).days.map(({ date, rates }) => [date, rates]),
    )
    return Object.fromEntries(
      points.map(({ d, r }) => [d, rounded(r / (truth.get(d)?.[code] ?? NaN))]),
    )
  }

  return {
    ...world,
    calls,
    today,
    latestFactor,
    historyFactors,
    load: async () => [await latestFactor(), await historyFactors()],
    /** Lets `days` pass; returns the factors of the latest rate, and all of history, seen on one of them. */
    async watch(days: number) {
      const latest: (number | null)[] = []
      const seen = new Set<number>()
      for (let day = 0; day < days; day += 1) {
        await world.pass(DAY, DAY / 2)
        latest.push(await latestFactor())
        if (history) for (const each of Object.values(await historyFactors())) seen.add(each)
      }
      return { latest, history: [...seen] }
    },
    /** Returns the quarantined rates of a data set. */
    quarantined: (dataSet: string): string[] =>
      eventsOf('rates_quarantined').flatMap((each) => (each.dataSet === dataSet ? each.codes : [])),
  }
}

const times = <Value>(count: number, value: Value): Value[] =>
  Array.from({ length: count }, () => value)

function publishedDays(from: string, until: string): string[] {
  const { days } = market.history(from, until, Date.parse(`${until}T18:00Z`))
  return days.map(({ date }) => date)
}

/** Returns the factors of a history whose rates are twice as high from Tuesday on. */
const doubledUntil = (today: string): Record<string, number> =>
  Object.fromEntries([[MONDAY, 1], ...publishedDays(TUESDAY, today).map((day) => [day, 2])])

describe.each(HISTORIES)(
  'latest rates that reference rates of %s contradict',
  (_name, provider) => {
    it.each([100, 1.3])('are never served × %d, however long that lasts', async (factor) => {
      const world = open({ provider, latest: moved(factor, '2026-12-14') })
      await world.load()
      const { latest, history } = await world.watch(27)
      // The last good rate expires seven days after its next publication was due.
      expect(latest).toEqual([...times(7, 1), ...times(20, null)])
      expect(history).toEqual([1])
      expect(world.quarantined('latest')).toEqual(times(27, 'HUF'))
      expect((await world.watch(1)).latest).toEqual([1])
    })

    it('are not served after a restart, with a store or without', async () => {
      const store = new Map<string, string>()
      const latest = moved(0.01)
      const world = open({ provider, latest, store })
      await world.load()
      await world.watch(2)
      const start = world.runtime.now()
      const restarted = open({ provider, latest, store, start })
      await restarted.load()
      expect(new Set((await restarted.watch(14)).latest)).toEqual(new Set([1, null]))
      const cold = open({ provider, latest, start })
      await cold.historyFactors()
      expect([await cold.latestFactor(), ...(await cold.watch(7)).latest]).toEqual(times(8, null))
    })
  },
)

describe.each(HISTORIES)(
  'reference rates of %s that latest rates contradict',
  (_name, provider) => {
    it.each([0.01, 1.3])('are never served × %d, nor once they are right', async (factor) => {
      const until = '2026-12-14'
      const world = open({ provider, history: moved(factor, until) })
      await world.load()
      expect(await world.watch(27)).toEqual({ latest: times(27, 1), history: [1] })
      const slipped = publishedDays(TUESDAY, world.today()).map((day) => `${day} HUF`)
      expect(world.quarantined('history')).toEqual(slipped)
      // The days of the slip stay wrong upstream.
      await world.watch(30)
      const after = [MONDAY, ...publishedDays(until, world.today())].map((day) => [day, 1])
      expect(await world.historyFactors()).toEqual(Object.fromEntries(after))
    })

    it('are served if they have always differed', async () => {
      const world = open({ provider, history: () => 2 })
      await world.load()
      await world.watch(2)
      expect(await world.load()).toEqual([1, { [MONDAY]: 2, [TUESDAY]: 2, [WEDNESDAY]: 2 }])
    })

    it('are not served when no rate before the move is kept, nor after a restart', async () => {
      const store = new Map<string, string>()
      const history = moved(100)
      const world = open({ provider, history, store })
      await world.load()
      await world.watch(9)
      const start = world.runtime.now()
      for (const kept of [new Map(store), undefined]) {
        const restarted = open({ provider, history, store: kept, start })
        await restarted.load()
        expect(await restarted.historyFactors()).toEqual({ [MONDAY]: 1 })
        expect((await restarted.watch(14)).history).toEqual([1])
      }
      expect((await world.watch(67)).history).toEqual([1])
    })
  },
)

describe.each(HISTORIES)('a devaluation with reference rates of %s', (_name, provider) => {
  it.each([1.6, 2.5])('by %d is served on the next day if both have it', async (factor) => {
    const world = open({ provider, latest: moved(factor), history: moved(factor) })
    await world.load()
    // The latest rates of the night are alone; the reference rates of the afternoon confirm them.
    expect((await world.watch(1)).latest).toEqual([1])
    expect(await world.historyFactors()).toEqual({ [MONDAY]: 1, [TUESDAY]: rounded(factor) })
    expect((await world.watch(1)).latest).toEqual([rounded(factor)])
  })

  it.each<[string, number, Options]>([
    ['at once if both arrive at the same time', 2, { isAfternoon: true }],
    ['if both have about it', 2.2, {}],
  ])('is served %s', async (_when, factor, options) => {
    const world = open({ provider, latest: moved(factor), history: moved(2), ...options })
    await world.load()
    const first = options.isAfternoon ? factor : 1
    expect((await world.watch(3)).latest).toEqual([first, factor, factor])
    expect(await world.historyFactors()).toEqual(doubledUntil(world.today()))
  })

  it('is served once the other source follows', async () => {
    const late: Factor = (day) => (day >= '2026-11-20' ? 2 : 1)
    const followed = open({ provider, latest: moved(2), history: late })
    await followed.load()
    // Friday's reference rates confirm the latest rates of Saturday.
    expect((await followed.watch(5)).latest).toEqual([1, 1, 1, 1, 2])
    const following = open({ provider, latest: late, history: moved(2) })
    await following.load()
    await following.watch(5)
    expect(await following.historyFactors()).toEqual(doubledUntil(following.today()))
  })

  it('is served once the rates of the other source are eleven days old', async () => {
    const maxStale = { latest: 30 * DAY, history: 30 * DAY }
    const latest = open({ provider, latest: moved(2), history: moved(undefined), maxStale })
    await latest.load()
    expect((await latest.watch(12)).latest).toEqual([...times(10, 1), 2, 2])
    const history = open({ provider, latest: moved(undefined), history: moved(2), maxStale })
    await history.load()
    expect((await history.watch(10)).history).toEqual([1])
    expect(oracle.daysBefore(history.today(), 10)).toBe(MONDAY)
    await history.watch(1)
    expect(await history.historyFactors()).toHaveProperty('2026-11-27', 2)
  })
})

describe('a move of reference rates is confirmed by the next day although latest rates differ', () => {
  const tenfold = { HUF: 3_850 }

  it('that are quarantined themselves, without a good rate left', async () => {
    const history: Factor = (day) => (day >= '2026-12-01' ? 2 : 1)
    const world = open({ latest: moved(0.01), history })
    await world.load()
    expect((await world.watch(16)).latest.at(-1)).toBe(null)
    const expected = { '2026-11-30': 1, '2026-12-01': 2, '2026-12-02': 2 }
    expect(await world.historyFactors()).toMatchObject(expected)
  })

  it.each<[string, Options]>([
    ['that the app puts on those of the feed', { ownLatest: tenfold }],
    ['from a hand-written provider', { handWritten: tenfold }],
    ['where the reference rates are those of the app', { ownHistory: tenfold }],
  ])('%s', async (_which, options) => {
    const world = open({ ...options, history: moved(2) })
    await world.load()
    await world.watch(2)
    const factor = options.ownHistory ? 10 : 2
    const expected = { [MONDAY]: 1, [TUESDAY]: factor, [WEDNESDAY]: factor }
    expect(await world.historyFactors()).toEqual(expected)
  })
})

describe('a rate of one feed that moved', () => {
  /** Factors while the last good rate is served, and has expired. */
  const waits = (good: number, expired: number, then: number) => [
    ...times(good, 1),
    ...times(expired, null),
    then,
  ]

  /** Opens feeds at noon; returns the factors on the days from Monday on. */
  async function watched(days: number, options: Options) {
    const world = open({ start: NOON, latest: false, history: false, ...options })
    return { world, factors: [await world.latestFactor(), ...(await world.watch(days)).latest] }
  }

  it.each([
    ['LBP', 10, waits(8, 6, 10)],
    ['LBP', 20, waits(7, 0, 20)],
    ['VES', 2_500, waits(7, 0, 2_500)],
    ['MNT', 1 / 4_000, waits(7, 0, 1 / 4_000)],
    ['NGN', 2.5, [1, 2.5]],
    ['TRY', 2.5, [1, 1, 2.5]],
    ['HUF', 100, waits(8, 6, 100)],
  ])('%s × %d is served when enough publications in a row have it', async (...row) => {
    const [code, factor, expected] = row
    const { world, factors } = await watched(expected.length - 1, { code, first: moved(factor) })
    expect(factors).toEqual(expected.map((each) => each && rounded(each)))
    expect(world.quarantined('latest')).toEqual(times(expected.length - 2, code))
  })

  it.each<[string, Options, (number | null)[]]>([
    ['at once if the next feed has it', { latest: moved(10) }, [1, 10, 10]],
    ['on the next day if the reference rates have it', { history: moved(10) }, [1, 1, 10]],
    ['not as long as the next feed objects', { latest: right }, waits(8, 7, NaN).slice(0, -1)],
    [
      'not as long as the reference rates object',
      { history: right },
      waits(8, 7, NaN).slice(0, -1),
    ],
  ])('is served %s', async (_when, others, expected) => {
    const first = moved(expected.includes(10) ? 10 : 0.01)
    const { world, factors } = await watched(expected.length - 1, { first, ...others })
    expect(factors).toEqual(expected)
    // The next feed is called once for each publication that is doubtful, and never for good rates.
    expect(world.calls).toHaveLength(others.latest ? (expected.includes(10) ? 1 : 14) : 0)
  })

  it('waits as without another source if the next feed is down', async () => {
    const others = { code: 'LBP', first: moved(20), latest: moved(undefined) }
    expect((await watched(7, others)).factors).toEqual(waits(7, 0, 20))
  })

  it.each<[string, Options]>([
    ['the next feed', { latest: right }],
    ['the reference rates', { history: right }],
  ])('at a cold start, far off the usual one, is compared with %s', async (_which, others) => {
    const start = NOON + DAY
    const { factors } = await watched(15, { first: moved(0.01), start, ...others })
    expect(factors).toEqual(times(16, null))
  })

  it('of a feed that took 3 s is not compared: a request has no time left', async () => {
    for (const [delay, calls] of Object.entries({ 2_000: 1, 3_000: 0 })) {
      const options = { first: moved(0.01), history: right, delay: Number(delay) }
      const { world } = await watched(0, { start: NOON + DAY, ...options })
      const loaded = world.eventsOf('upstream_request').filter((each) => each.dataSet === 'history')
      expect(loaded).toHaveLength(calls)
    }
  })

  it('at a cold start, with a right unit, is served without asking others', async () => {
    const { world, factors } = await watched(0, { first: right, latest: right, history: right })
    expect([factors, world.calls]).toEqual([[1], []])
  })
})

describe('a reference rate at a cold start', () => {
  it("that is a thousandfold off the usual one is not the client's error", async () => {
    const provider = { ...bank, maxDays: 1 }
    const world = open({ code: 'IDR', history: () => 0.001, latest: false, provider })
    for (const target of [`convert?from=EUR&to=IDR&date=${MONDAY}`, 'history?from=EUR&to=IDR'])
      expect((await world.read(`/v1/${target}`)).status, target).toBe(502)
  })

  it.each([
    ['IDR', 1 / 1_000],
    ['HUF', 1 / 100],
  ])('of %s that is × %d does not contradict the right latest rates', async (code, factor) => {
    const world = open({ code, history: () => factor, isAfternoon: true })
    const dated = `/v1/convert?from=EUR&to=${code}&date=${MONDAY}`
    expect((await world.read(dated)).status).not.toBe(200)
    expect(await world.latestFactor()).toBe(1)
    expect((await world.read(dated)).status).not.toBe(200)
  })
})

describe('a reference rate of one bank that moved', () => {
  const CODES = codes(30)
  const [CODE = ''] = CODES

  /** A bank whose rate of one currency is × `factor` from a day on. */
  const bankOf = (now: () => number, [factor, since]: [number, string], options: object) =>
    createBank({
      codes: CODES,
      now,
      sanityChecks: true,
      change: ({ base, days }) => ({
        base,
        days: days.map(({ date, rates: { [CODE]: rate = NaN, ...rates } }) => {
          return { date, rates: { ...rates, [CODE]: date < since ? rate : rate * factor } }
        }),
      }),
      ...options,
    })

  it.each<[frequency: Publication['frequency'], maxDays: number, factor: number, day: number]>([
    ['daily', 366, 20, 7],
    ['daily', 366, 100, 14],
    ['daily', 1, 20, 7],
    ['daily', 1, 100, 14],
    ['weekly', 366, 20, 2],
    ['weekly', 366, 100, 4],
    ['monthly', 366, 2.5, 1],
    ['monthly', 366, 20, 2],
    ['monthly', 366, 100, 4],
    ['quarterly', 366, 20, 2],
    ['quarterly', 366, 100, 4],
  ])('in %s rates, %d days a call, × %d is served from publication no. %d on', async (...row) => {
    const [frequency, maxDays, factor, publication] = row
    const months = { daily: 0, weekly: 0, monthly: 1, quarterly: 3 }[frequency]
    const isPublished = (day: string): boolean => {
      if (months > 0) return day.endsWith('-01') && (Number(day.slice(5, 7)) - 1) % months === 0
      const weekday = new Date(day).getUTCDay()
      return frequency === 'weekly' ? weekday === 1 : weekday % 6 > 0
    }
    const rules = { ...BANK_DAYS, frequency, holidays: [], ...(months > 0 && { weekend: [] }) }
    const runtime = virtualRuntime(Date.UTC(2026, 0, 2, 18))
    const options = { publication: rules, isOpen: isPublished, maxDays, hasSeries: false }
    const history = bankOf(runtime.now, [factor, '2026-02-01'], options)
    const { handler, finish, refresh } = openWorld(runtime, {
      providers: { latest: false, history },
    })
    const days = oracle.daysOf('2026-01-02', '2027-05-01').filter(isPublished)
    const first = days.findIndex((day) => day >= '2026-02-01')
    const read = async (date = ''): Promise<string | undefined> => {
      const request = handler.rates.convert({ from: 'EUR', to: CODE, date, rule: 'exact' })
      return finish(request).then(
        (found) => found.date,
        () => undefined,
      )
    }
    for (const [index, day] of days.slice(0, first + publication).entries()) {
      await runtime.advance(Date.parse(`${day}T18:00Z`) - runtime.now())
      await refresh()
      const isServed = index + 1 - first >= publication
      for (const each of days.slice(first, index + 1))
        expect(await read(each), each).toBe(isServed ? each : undefined)
    }
  })

  it.each([
    ['on the next day where a second bank has it', 1, 2, ['one', 'other']],
    ['on the next day where a second bank has it', 366, 2, ['one', 'other']],
    ['without a lost day after restarts with a store', 1, 9, ['one']],
    ['without a lost day after restarts with a store', 366, 9, ['one']],
  ])('is served %s: %d days a call', async (_how, maxDays, days, ids) => {
    const runtime = virtualRuntime(Date.parse(TUESDAY) - DAY / 4)
    const store = new Map<string, string>()
    const history = ids.map((id) =>
      bankOf(runtime.now, [20, TUESDAY], { name: id, publication: { ...BANK_DAYS, id }, maxDays }),
    )
    const start = () => openWorld(runtime, { store, providers: { latest: false, history } })
    let world = start()
    await world.refresh()
    await world.read(`/v1/convert?from=EUR&to=${CODE}&date=${MONDAY}`)
    for (let day = 0; day < days; day += 1) {
      if (ids.length === 1) world = start()
      await world.pass(DAY)
    }
    const { points } = await world.read(`/v1/history?from=EUR&to=${CODE}&start=${MONDAY}`)
    const all = ['16', '17', '18', '19', '20', '23', '24', '25'].slice(0, ids.length === 2 ? 3 : 8)
    expect(points.map(({ d }: { d: string }) => d.slice(8))).toEqual(all)
  })
})
