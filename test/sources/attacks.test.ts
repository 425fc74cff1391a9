import { beforeAll, describe, expect, it } from 'vitest'

import type { HistoryProvider } from '../../src/index.ts'
import {
  createBancaDItaliaProvider,
  createCbrProvider,
  createCnbProvider,
  createFrankfurterProvider,
  createFredProvider,
  createNbpProvider,
} from '../../src/providers/index.ts'
import { BANK_DAYS, bankRate, createBank } from '../fixtures/bank.ts'
import { codes } from '../fixtures/codes.ts'
import { toDay } from '../fixtures/dates.ts'
import { market as feeds } from '../fixtures/feed.ts'
import { FEEDS } from '../fixtures/feeds.ts'
import { market } from '../fixtures/service.ts'
import { recordedHandler } from '../fixtures/recorded-handler.ts'
import { DAY, HOUR, MINUTE, SECOND, finish, virtualRuntime } from '../virtual-runtime.ts'

/** The value of any JSON text. */
type Json = ReturnType<typeof JSON.parse>

/** A Friday, after all publications of the day. */
const EVENING = Date.UTC(2026, 10, 20, 18)

/** The time that the upstreams need for a response, in ms. */
const LATENCY = 60

/** Returns the response to a request instead of `honest`, the one of the bank. */
type Attack = (url: URL, honest: Response) => Response | Promise<Response>

interface WorldOptions {
  history?: HistoryProvider | HistoryProvider[]
  attack?: Attack
  store?: Map<string, string>
  start?: number
}

/** Opens a handler whose upstreams are those of the feeds; default history: Česká národní banka, in whole years. */
function openWorld({ start = EVENING, store, ...options }: WorldOptions = {}) {
  const { history = createCnbProvider(), attack = (_, honest) => honest } = options
  const runtime = virtualRuntime(start)
  const calls: string[] = []
  async function fetch(input: RequestInfo | URL): Promise<Response> {
    const url = new URL(new Request(input).url)
    calls.push(url.href)
    await new Promise<void>((end) => void runtime.startTimer(end, LATENCY))
    const feeds = Object.values(FEEDS).filter(({ root }) => new URL(root).host === url.host)
    // The market of these two publishes later than they do.
    const isEarly = url.host === 'api.nbp.pl' || url.host === 'api.cnb.cz'
    const now = runtime.now() + (isEarly ? 4 * HOUR : 0)
    const all = feeds.map(({ respond }) => respond?.(url.href, now))
    const [honest = new Response('', { status: 404 })] = all.filter((each) => each?.ok)
    return attack(url, honest)
  }
  const opened = recordedHandler(runtime, { providers: { ...market, history }, fetch, store })
  const read = async (target: string): Promise<Json> => {
    const response = await finish(runtime, opened.get(target))
    return { status: response.status, ...(await response.json()) }
  }
  const world = {
    ...opened,
    runtime,
    calls,
    read,
    refresh: () => finish(runtime, opened.handler.refresh()),
    /** Requests `target` every `step` ms for `total` ms; returns the responses. */
    async ask(target: string, total: number, step = total): Promise<Json[]> {
      const responses = [await read(target)]
      for (let passed = 0; passed < total; passed += step) {
        await runtime.advance(step)
        await world.refresh()
        responses.push(await read(target))
      }
      return responses
    },
    async post(rows: readonly object[]): Promise<Json[]> {
      const init = { method: 'POST', headers: { 'content-type': 'application/json' } }
      const url = 'http://localhost/api/v1/convert'
      const request = new Request(url, { ...init, body: JSON.stringify(rows) })
      return (await finish(runtime, opened.handler(request))).json()
    },
    /** Returns the years that were requested of the bank in whole years, in order. */
    years: () => calls.flatMap((url) => new URL(url).searchParams.get('year') ?? []),
  }
  return world
}

interface CnbRow {
  validFor: string
  currencyCode: string
  amount?: number | undefined
  rate: number
}

/** Changes the rows of some years of Česká národní banka (`*`: of all), as long as `isOn()`. */
function changing(
  years: string,
  change: (row: CnbRow) => CnbRow | undefined,
  isOn = (): boolean => true,
): Attack {
  return async (url, honest) => {
    const year = url.searchParams.get('year')
    const isChanged = year !== null && (years === '*' || years.includes(year))
    if (!isChanged || !isOn()) return honest
    const { rates }: { rates: CnbRow[] } = await honest.json()
    return Response.json({ rates: rates.flatMap((row) => change(row) ?? []) })
  }
}

/** Returns the response of an honest world. */
async function truthOf(target: string, options: WorldOptions = {}): Promise<Json> {
  const truth = (await openWorld(options).ask(target, MINUTE)).at(-1)
  expect(truth.status).toBe(200)
  return truth
}

const INCOMPLETE = expect.objectContaining({
  type: 'history_incomplete',
  publication: 'cnb',
  piece: expect.stringContaining('2015'),
})

// Modules that are imported when they are first needed take real time, during which virtual time passes.
beforeAll(async () => {
  const world = openWorld()
  for (const target of ['history?from=USD&to=CZK', 'latest?date=2026-11-20', 'currencies'])
    await world.read(`/v1/${target}`)
  await world.post([{ from: 'USD', to: 'CZK', date: '2026-11-20' }])
})

const byTheUnit = (row: CnbRow): CnbRow =>
  row.currencyCode === 'HUF' ? { ...row, amount: 1 } : row

/** Those without a plausible range. */
const MINOR = new Set('BRL HUF IDR ILS ISK KRW MXN MYR PHP PLN RON THB TRY ZAR'.split(' '))

const inverted = (row: CnbRow): CnbRow => {
  const { amount = 1, rate, currencyCode: code } = row
  return MINOR.has(code) ? { ...row, amount: 1, rate: Number((amount / rate).toFixed(6)) } : row
}

describe('a year of a bank in other units', () => {
  const untilApril = (row: CnbRow): CnbRow => (row.validFor < '2015-04' ? byTheUnit(row) : row)
  const SLIPS = [
    ['of one currency', byTheUnit, 'HUF'],
    ['of one currency until April', untilApril, 'HUF'],
    ['with minor currencies inverted', inverted, 'PLN'],
  ] as const

  it.each(SLIPS)('%s is fetched again before it is believed', async (_slip, change, code) => {
    let isWrong = true
    const isOn = (): boolean => isWrong && !(isWrong = false)
    const world = openWorld({ attack: changing('2015', change, isOn) })
    const target = `/v1/convert?from=${code}&to=CZK&date=2015-02-16`
    const truth = await truthOf(target)
    const answers = await world.ask(target, HOUR, 5 * MINUTE)
    const served = answers.filter(({ status }) => status === 200)
    expect(served).toEqual(served.map(() => truth))
    expect(answers.at(-1)).toEqual(truth)
    expect(world.years().filter((year) => year === '2015')).toHaveLength(2)
  })

  const NEIGHBOURS = ['2014-12-31', '2016-02-01']
  const STATES = SLIPS.flatMap(([slip, ...change]) => [
    [slip, 'cold', ...change, []] as const,
    [slip, 'with both neighbours in memory', ...change, NEIGHBOURS] as const,
  ])

  it.each(STATES)(
    '%s is reported and not served while the bank stays wrong, nor restored then: %s',
    async (_slip, _state, change, code, loaded) => {
      const store = new Map<string, string>()
      const world = openWorld({ attack: changing('2015', change), store })
      const on = (day: string): string => `/v1/convert?from=${code}&to=CZK&date=${day}`
      for (const day of loaded) await world.read(on(day))
      const answers = await world.ask(on('2015-02-16'), 2 * HOUR, 10 * MINUTE)
      for (const { status } of answers) expect([404, 502]).toContain(status)
      expect(world.eventsOf('history_incomplete')).toContainEqual(INCOMPLETE)
      // What agrees is served: other currencies of the year, and other years.
      const dollar = '/v1/convert?from=USD&to=CZK&date=2015-02-16'
      for (const target of [dollar, ...NEIGHBOURS.map(on)])
        expect(await world.read(target)).toEqual(await truthOf(target))
      const span = `/v1/history?from=${code}&to=CZK&start=2014-12-01&end=2016-02-29`
      const { points } = await truthOf(span)
      const served = (await world.read(span)).points ?? []
      expect(points).toEqual(expect.arrayContaining(served))
      world.handler.close()
      const restarted = openWorld({ store, start: world.runtime.now() })
      const right = await truthOf(on('2015-02-16'))
      const after = await restarted.ask(on('2015-02-16'), 30 * MINUTE, MINUTE)
      const found = after.filter(({ status }) => status === 200)
      expect(found).toEqual(found.map(() => right))
      expect(after.at(-1)).toEqual(right)
    },
  )

  it('is not believed because the year before has the same', async () => {
    const world = openWorld({ attack: changing('2014, 2015', byTheUnit) })
    for (const day of ['2014-06-16', '2015-06-15', '2014-06-16']) {
      const target = `/v1/convert?from=HUF&to=CZK&date=${day}`
      for (const { status } of await world.ask(target, 30 * MINUTE, 5 * MINUTE))
        expect([404, 502]).toContain(status)
    }
  })

  it('is not restored from a store into which another process put it', async () => {
    const store = new Map<string, string>()
    // For this process all years are in these units, so that none contradicts another.
    const forger = openWorld({ attack: changing('*', byTheUnit), store })
    const target = '/v1/convert?from=HUF&to=CZK&date=2015-06-15'
    expect((await forger.ask(target, MINUTE)).at(-1)).toMatchObject({ status: 200 })
    forger.handler.close()
    for (const key of store.keys()) if (!key.includes('2015')) store.delete(key)
    expect(store.size).toBe(1)
    let isDown = true
    const attack: Attack = ({ searchParams }, honest) =>
      isDown && searchParams.get('year') === '2015' ? new Response('', { status: 500 }) : honest
    const world = openWorld({ attack, store })
    for (const { status } of await world.ask(target, HOUR, 10 * MINUTE))
      expect([404, 502]).toContain(status)
    isDown = false
    expect((await world.ask(target, 30 * MINUTE)).at(-1)).toEqual(await truthOf(target))
  })

  it('is fetched again after hours where the store grants no lease', async () => {
    let isWrong = true
    const store = Object.assign(new Map<string, string>(), { claim: () => false })
    const world = openWorld({ attack: changing('2015', byTheUnit, () => isWrong), store })
    const target = '/v1/convert?from=HUF&to=CZK&date=2015-06-15'
    await world.ask(target, HOUR, 10 * MINUTE)
    isWrong = false
    const answers = await world.ask(target, 8 * HOUR, 30 * MINUTE)
    expect(answers.at(-1)).toEqual(await truthOf(target))
  })

  it('is not suspected where a currency moved as far in ten years', async () => {
    const rateOn = ({ rate, validFor }: CnbRow): number =>
      Number((rate * 1.3 ** ((EVENING - Date.parse(validFor)) / (365 * DAY))).toFixed(3))
    const attack = changing('*', (row) =>
      row.currencyCode === 'TRY' ? { ...row, rate: rateOn(row) } : row,
    )
    const world = openWorld({ attack })
    const target = '/v1/convert?from=TRY&to=CZK&date='
    const { rate: today } = await world.read(`${target}2026-11-20`)
    const answer = (await world.ask(`${target}2015-06-15`, 5 * MINUTE, MINUTE)).at(-1)
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
    (after: string, before: string) =>
    (row: CnbRow): CnbRow | undefined =>
      row.validFor > after && row.validFor < before ? undefined : row

  const YEAR = '/v1/history?from=USD&to=CZK&start=2015-01-01&end=2015-12-31'
  const DATE = '/v1/convert?from=USD&to=PLN&date=2015-09-15'

  it.each(GAPS)(
    '%s is reported and fetched again, and whole once the bank has the days, also after a restart',
    async (_where, after, before) => {
      const store = new Map<string, string>()
      let isWhole = false
      const attack = changing('2015', lacking(after, before), () => !isWhole)
      const world = openWorld({ attack, store })
      const truth = await truthOf(YEAR)
      for (const { status, points = [] } of await world.ask(YEAR, 2 * HOUR, 10 * MINUTE)) {
        expect([200, 502]).toContain(status)
        expect(truth.points).toEqual(expect.arrayContaining(points))
      }
      expect(world.eventsOf('history_incomplete')).toContainEqual(INCOMPLETE)
      expect(world.years().filter((year) => year === '2015').length).toBeGreaterThan(1)
      const stored = new Map(store)
      isWhole = true
      expect((await world.ask(YEAR, HOUR, 10 * MINUTE)).at(-1)).toEqual(truth)
      world.handler.close()
      const start = world.runtime.now()
      const later = openWorld({ store: stored, start })
      expect((await later.ask(YEAR, HOUR, 10 * MINUTE)).at(-1)).toEqual(truth)
      const restarted = openWorld({ store, start })
      expect(await restarted.read(YEAR)).toEqual(truth)
      expect(restarted.calls).toEqual([])
    },
  )

  it.each(GAPS)('%s is never a 4xx', async (_where, after, before) => {
    const attack = changing('2015', lacking(after, before))
    const world = openWorld({ attack })
    const error = { code: 'provider_unavailable' }
    for (const each of await world.ask(DATE, 30 * MINUTE, MINUTE))
      expect(each).toMatchObject({ status: 502, error })
    const rows = [{ from: 'USD', to: 'PLN', date: '2015-09-15' }]
    expect(await world.post(rows)).toMatchObject([{ error }])
  })

  it.each(GAPS)('%s is replaced by another publication with them', async (_where, ...gap) => {
    const nbp = createNbpProvider()
    const history = [createCnbProvider(), nbp]
    const world = openWorld({ attack: changing('2015', lacking(...gap)), history })
    for (const target of [DATE, '/v1/history?from=USD&to=PLN&start=2015-01-01&end=2015-12-31']) {
      const answer = (await world.ask(target, 5 * MINUTE, MINUTE)).at(-1)
      expect(answer).toEqual(await truthOf(target, { history: nbp }))
    }
  })

  it('is reported and fetched again where it is in the series of a currency', async () => {
    let isWhole = false
    const isLost = (date: string): boolean => date > '2015-03-02' && date < '2016-04-01'
    const bank = createBank({
      codes: codes(5),
      sanityChecks: true,
      now: () => EVENING + DAY,
      change: ({ base, days }, { code }) => ({
        base,
        days: days.filter(({ date }) => isWhole || code === undefined || !isLost(date)),
      }),
    })
    const world = openWorld({ history: bank })
    const target = '/v1/convert?from=EUR&to=AAA&date=2015-09-15'
    for (const { status } of await world.ask(target, 30 * MINUTE, MINUTE)) expect(status).toBe(502)
    const piece = expect.objectContaining({ piece: 'AAA' })
    expect(world.eventsOf('history_incomplete')).toEqual([piece])
    isWhole = true
    expect((await world.ask(target, HOUR, 10 * MINUTE)).at(-1)).toMatchObject({
      date: '2015-09-15',
      rate: bankRate('AAA', '2015-09-15'),
    })
    expect(bank.calls.filter(({ code }) => code === 'AAA').length).toBeLessThanOrEqual(8)
  })

  it('is whole where its calendar, its first day or a strike of a week explains the gap', async () => {
    const august = Array.from({ length: 24 }, (_, day) => `08-${String(day + 1).padStart(2, '0')}`)
    const isOpen = (day: string): boolean => {
      const isStrike = day >= '2016-03-07' && day < '2016-03-14'
      return !isStrike && !august.includes(day.slice(5)) && new Date(day).getUTCDay() % 6 > 0
    }
    const publication = { ...BANK_DAYS, holidays: august, since: '2015-06-15' }
    const form = { codes: codes(5), maxDays: 366, hasSeries: false, isOpen, publication }
    const bank = createBank({ ...form, now: () => EVENING + DAY })
    const world = openWorld({ history: bank })
    const answers = await world.ask('/v1/history?from=EUR&to=AAA&start=2015-01-01', DAY, HOUR)
    for (const { status } of answers.slice(1)) expect(status).toBe(200)
    expect(world.eventsOf('history_incomplete')).toEqual([])
    const old = bank.calls.filter(({ end }) => end < '2017-01-01').map(({ start }) => start)
    expect(old).toHaveLength(new Set(old).size)
  })
})

describe('a whole past year', () => {
  it('is fetched again in the background about once a month; a correction is served and reported', async () => {
    let isCorrected = false
    const correct = (row: CnbRow): CnbRow =>
      row.validFor === '2015-06-15' && row.currencyCode === 'USD' ? { ...row, rate: 22.5 } : row
    const attack = changing('2015', correct, () => isCorrected)
    const world = openWorld({ attack })
    const target = '/v1/convert?from=USD&to=CZK&date=2015-06-15'
    const before = await world.ask(target, MINUTE)
    isCorrected = true
    let rate = before.at(-1).rate
    expect(rate).not.toBe(22.5)
    for (let day = 0; day < 65; day += 1) {
      await world.runtime.advance(DAY)
      const askedAt = world.runtime.monotonic()
      ;({ rate } = await world.read(target))
      expect(world.runtime.monotonic() - askedAt).toBeLessThan(LATENCY)
      await world.refresh()
    }
    expect(rate).toBe(22.5)
    const revised = world.eventsOf('rates_revised').flatMap((event) => event.revised)
    expect(revised).toEqual(['2015-06-15 USD'])
    const times = world.years().filter((year) => year === '2015').length
    expect(times).toBeGreaterThanOrEqual(2)
    expect(times).toBeLessThanOrEqual(4)
  })
})

describe('questions of one client', () => {
  it.each(['one after another', 'at once'])(
    'about 330 old tables do not lock others out: %s',
    async (how) => {
      const world = openWorld({ history: createBancaDItaliaProvider() })
      const on = (date: string): string => `/v1/latest?base=EUR&date=${date}`
      const days = Array.from({ length: 480 }, (_, day) => toDay(Date.UTC(2010, 0, 1) + day * DAY))
      if (how === 'at once')
        await finish(world.runtime, Promise.all(days.map((day) => world.get(on(day)))))
      else for (const day of days) await world.read(on(day))
      for (const day of ['2013-05-14', '2014-05-14', '2010-01-05']) {
        const answers = await world.ask(on(day), MINUTE, 10 * SECOND)
        expect(answers.map(({ status }) => status)).toContain(200)
      }
    },
  )

  it('about currencies without an identifier end without rates, and delay no other client', async () => {
    const attack: Attack = async (url, honest) => {
      const id = url.searchParams.get('VAL_NM_RQ')
      const known = ['R01239', 'R01235', 'R01810']
      if (id !== null && !known.includes(id)) {
        return new Response(`<?xml version="1.0"?><ValCurs ID="${id}"></ValCurs>`)
      }
      // A currency that the bank added, with a table only.
      return new Response((await honest.text()).replace('>MXN<', '>QQA<'))
    }
    const world = openWorld({ history: createCbrProvider(), attack })
    await world.read('/v1/history?from=USD&to=RUB&period=1W')
    const status = async (target: string): Promise<number> => (await world.read(target)).status
    for (let round = 0; round < 3; round += 1) {
      for (const code of ['ROL', 'SIT', 'SKK', 'MTL', 'CYP', 'QQA']) {
        const target = `/v1/history?from=${code}&to=RUB&start=1999-01-01`
        expect([200, 400, 404], code).toContain(await status(target))
        await world.runtime.advance(5 * SECOND)
      }
    }
    expect(await status('/v1/history?from=ZAR&to=RUB&period=5Y')).toBe(200)
    const date = 'date=2025-03-05'
    const dated = await status(`/v1/convert?from=QQA&to=RUB&${date}`)
    expect(dated).toBe(await status(`/v1/latest?base=RUB&symbols=QQA&${date}`))
    expect(dated).not.toBe(502)
  })
})

describe('a piece that fails', () => {
  const failing =
    (status: number, isFailing: (url: URL) => boolean): Attack =>
    (url, honest) =>
      isFailing(url)
        ? new Response('', { status, headers: status === 503 ? { 'retry-after': '3600' } : {} })
        : honest
  const is2015 = ({ searchParams }: URL): boolean => searchParams.get('year') === '2015'
  const inYear = (year: number): string => `/v1/convert?from=USD&to=CZK&date=${year}-06-15`

  it.each([404, 400])('with %d backs off alone: another year is loaded at once', async (status) => {
    const world = openWorld({ attack: failing(status, is2015) })
    for (let year = 2003; year < 2014; year += 1) {
      expect((await world.read(inYear(2015))).status).not.toBe(200)
      expect((await world.read(inYear(year))).status, `${year}`).toBe(200)
      await world.runtime.advance(MINUTE)
    }
    expect(world.years().filter((year) => year === '2015').length).toBeLessThan(11)
  })

  it.each([429, 503])('with %d delays others by at most 30 s', async (status) => {
    const world = openWorld({ attack: failing(status, is2015) })
    for (let year = 2003; year < 2008; year += 1) {
      expect((await world.read(inYear(2015))).status).not.toBe(200)
      const answers = await world.ask(inYear(year), 30 * SECOND, 5 * SECOND)
      expect(answers.at(-1).status, `${year}`).toBe(200)
      await world.runtime.advance(10 * MINUTE)
    }
  })

  it('is of one currency alone where the bank has a series of each', async () => {
    const attack = failing(404, ({ searchParams }) => {
      const isSeries = (searchParams.get('observation_start') ?? '') < '2026'
      return isSeries && searchParams.get('series_id') === 'DEXBZUS'
    })
    const world = openWorld({ history: createFredProvider({ key: 'k-1' }), attack })
    const series = (code: string): string => `/v1/history?from=USD&to=${code}&period=5Y`
    for (const code of ['CAD', 'CNY', 'DKK', 'HKD', 'INR', 'JPY']) {
      expect((await world.read(series('BRL'))).status).not.toBe(200)
      expect((await world.read(series(code))).status, code).toBe(200)
    }
  })

  it.each([404, 429, 503])('with %d does not delay the newest days', async (status) => {
    const world = openWorld({ attack: failing(status, is2015), start: EVENING - DAY })
    // Until ten minutes after the bank has published.
    for (let passed = 0; passed < 19 * HOUR + 40 * MINUTE; passed += 5 * MINUTE) {
      await world.read(inYear(2015))
      await world.refresh()
      await world.runtime.advance(5 * MINUTE)
    }
    const newest = await world.read('/v1/convert?from=USD&to=CZK&date=2026-11-20')
    expect(newest).toMatchObject({ status: 200, date: '2026-11-20' })
  })
})

/** Returns pseudo-random integers below `limit` (a linear congruential generator). */
function randomNumbers(seed: number): (limit: number) => number {
  let state = seed
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 4_294_967_296) * limit)
  }
}

/** Every currency of the feeds. */
const CODES = [
  'EUR',
  ...Object.keys(feeds.history('2026-11-19', '2026-11-19', EVENING).days[0]?.rates ?? {}),
]

describe('a request of many rows', () => {
  type World = ReturnType<typeof openWorld>

  const dayAfter = (start: number, pick: (limit: number) => number): string =>
    toDay(start + pick(Math.floor((EVENING - start) / DAY)) * DAY)

  const isDown = (text: string): boolean => text.includes('"provider_unavailable"')

  /** Posts the rows until none is unavailable; returns the texts of the results of each time. */
  async function postUntilLoaded(world: World, rows: readonly object[]): Promise<string[][]> {
    const rounds: string[][] = []
    while (rounds.length < 30 && rounds.at(-1)?.some(isDown) !== false) {
      rounds.push((await world.post(rows)).map((each) => JSON.stringify(each)))
      await world.runtime.advance(10 * SECOND)
    }
    return rounds
  }

  /** Returns the texts of the single requests, each as soon as its days are loaded. */
  async function singles(world: World, rows: readonly Json[]): Promise<string[]> {
    const texts: string[] = []
    for (const row of rows) {
      let text = ''
      for (let round = 0; round < 30 && (text === '' || isDown(text)); round += 1) {
        if (text !== '') await world.runtime.advance(10 * SECOND)
        const response = world.get(`/v1/convert?${new URLSearchParams(row)}`)
        text = await (await finish(world.runtime, response)).text()
      }
      texts.push(text)
    }
    return texts
  }

  it('loads only the years from its first to its last day', async () => {
    const world = openWorld()
    const rows = ['2012-06-15', '2014-02-18'].map((date) => ({ from: 'USD', to: 'CZK', date }))
    const results = (await postUntilLoaded(world, rows)).at(-1)
    expect(results?.map((text) => JSON.parse(text))).toMatchObject(rows)
    const isNear = (year: string): boolean => year >= '2011' && year <= '2015'
    expect(world.years().filter((year) => !isNear(year) && year !== '2026')).toEqual([])
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
    const world = openWorld()
    const pairs = CODES.flatMap((from) => CODES.flatMap((to) => (to === from ? [] : { from, to })))
    const pick = randomNumbers(44)
    const rows = Array.from({ length: 2_000 }, (_, at) => ({
      ...pairs[(at * 7) % pairs.length],
      date: dayAfter(Date.UTC(1999, 1, 1), pick),
    }))
    const rounds = await postUntilLoaded(world, rows)
    // The newest days may be loaded beside the current year.
    expect(world.calls.length).toBeLessThanOrEqual(29)
    const { length } = world.calls
    const { result, count } = await numbersAllocatedBy(() => world.post(rows))
    expect(count).toBeLessThan(5_000_000)
    const results = result.map((each) => JSON.stringify(each))
    expect(results).toEqual(rounds.at(-1))
    const isCompared = (_: unknown, at: number): boolean => at % 4 === 0
    expect(results.filter(isCompared)).toEqual(await singles(world, rows.filter(isCompared)))
    expect(world.calls).toHaveLength(length)
  })

  it('delays the question of another client by no more than the pace of a piece', async () => {
    const runtime = virtualRuntime(EVENING)
    const all = codes(90)
    const bankOf = (id: string, own: string[]) => {
      const onCall = (): Promise<void> => new Promise((end) => void runtime.startTimer(end, 100))
      const publication = { ...BANK_DAYS, id }
      const bank = createBank({ codes: own, now: runtime.now, publication, onCall })
      return { ...bank, attribution: { name: id, url: `https://${id}.example` } }
    }
    const banks = [bankOf('one', all.slice(0, 45)), bankOf('two', all.slice(45))]
    const providers = { latest: market.latest, history: banks }
    const { handler, get } = recordedHandler(runtime, { providers })
    const read = async (target: string): Promise<Json> =>
      (await finish(runtime, get(target))).json()
    await read('/v1/currencies')
    const asked = [...all.slice(0, 40), ...all.slice(45, 85)]
    const rows = asked.map((to) => ({ from: 'EUR', to, date: '2015-03-10' }))
    const startedAt = runtime.now()
    const running = handler.rates.convertMany(rows)
    // While the rows wait, and after their limit of 5 s.
    for (const [after, code] of [
      [1, all[42]],
      [6, all[87]],
      [7, all[43]],
    ] as const) {
      await runtime.advance(startedAt + after * SECOND - runtime.now())
      const target = `/v1/history?from=EUR&to=${code}&start=2015-03-09&end=2015-03-10`
      const askedAt = runtime.now()
      expect(await read(target), `after ${after} s`).toMatchObject({ points: [{}, {}] })
      expect(runtime.now() - askedAt).toBeLessThanOrEqual(SECOND)
    }
    await finish(runtime, running)
    for (let round = 0; round < 20; round += 1) {
      await runtime.advance(5 * SECOND)
      await finish(runtime, handler.rates.convertMany(rows))
    }
    const results = await finish(runtime, handler.rates.convertMany(rows))
    expect(results).toMatchObject(
      rows.map(({ to, date }) => ({ to, date, rate: bankRate(to, date) })),
    )
    // One for the newest table of each bank, and one for each currency.
    expect(banks.flatMap(({ calls }) => calls).length).toBeLessThanOrEqual(2 + 80 + 3)
  })

  /** Leaves out currencies in decades, such as `ISK200`, and has the won under another code. */
  function withGaps(provider: HistoryProvider, gaps: string, won = 'KRW'): HistoryProvider {
    const changed = (date: string, quotes: Record<string, number>): Record<string, number> => {
      const decade = date.slice(0, 3)
      const left = Object.entries(quotes).filter(([code]) => !gaps.includes(code + decade))
      return Object.fromEntries(left.map(([code, quote]) => [code === 'KRW' ? won : code, quote]))
    }
    return {
      ...provider,
      async fetchHistory(range, context) {
        const { base, days } = await provider.fetchHistory(range, context)
        const left = days.map(({ date, rates, prices, ...day }) => {
          const others = prices && { prices: changed(date, prices) }
          return { ...day, date, rates: changed(date, rates), ...others }
        })
        return { base, days: left }
      },
    }
  }

  it('equals its single requests over three banks with gaps, cold and warm', async () => {
    const history = [
      withGaps(createFrankfurterProvider(), 'ISK200 ISK201 BRL199 BRL200'),
      withGaps(createNbpProvider(), 'ZAR201 HKD200'),
      withGaps(createCnbProvider(), 'ISK199 ISK200 SGD201', 'UAH'),
    ]
    const pick = randomNumbers(1999)
    const known = [...CODES, 'UAH', 'QQQ']
    const rows = Array.from({ length: 500 }, () => ({
      from: known[pick(known.length)] ?? '',
      to: known[pick(known.length)] ?? '',
      amount: pick(1_000) + 1,
      date: dayAfter(Date.UTC(1999, 0, 10), pick),
      ...(pick(4) === 0 && { rule: ['exact', 'next'][pick(2)] }),
    }))
    const warm = openWorld({ history })
    const expected = await singles(warm, rows)
    const cold = await postUntilLoaded(openWorld({ history }), rows)
    for (const texts of cold) {
      const different = texts.filter((text, at) => !isDown(text) && text !== expected[at])
      expect(different).toEqual([])
    }
    expect(cold.at(-1)).toEqual(expected)
    expect(await postUntilLoaded(warm, rows)).toEqual([expected])
  })
})

describe('a number without its unit', () => {
  it('is refused where the bank always has one', async () => {
    const attack = changing('*', (row) =>
      row.currencyCode === 'HUF' ? { ...row, amount: undefined } : row,
    )
    const world = openWorld({ attack })
    for (const day of ['2026-11-20', '2015-06-15']) {
      const target = `/v1/convert?from=USD&to=HUF&date=${day}`
      expect((await world.ask(target, MINUTE)).map(({ status }) => status)).not.toContain(200)
    }
  })
})

describe('a bank that repeats its rates under new dates', () => {
  it('is reported once in a month, after the third equal day, and goes on being served', async () => {
    const quotes = new Map<string, CnbRow>()
    const attack = changing('2026', (row) => {
      if (row.validFor === '2026-11-18') quotes.set(row.currencyCode, row)
      const isLater = row.validFor > '2026-11-18'
      return isLater ? { ...row, rate: quotes.get(row.currencyCode)?.rate ?? NaN } : row
    })
    const world = openWorld({ attack, start: EVENING - 2 * DAY })
    const target = '/v1/history?from=USD&to=CZK&start=2026-11-18'
    await world.ask(target, DAY, HOUR)
    expect(world.eventsOf('rates_repeated')).toEqual([])
    const { points } = (await world.ask(target, DAY, HOUR)).at(-1)
    expect(world.eventsOf('rates_repeated')).toHaveLength(1)
    expect(points.map(({ d }: Json) => d)).toEqual(['2026-11-18', '2026-11-19', '2026-11-20'])
    const later = (await world.ask(target, 28 * DAY, 12 * HOUR)).at(-1)
    expect(later.points.length).toBeGreaterThan(20)
    expect(world.eventsOf('rates_repeated')).toHaveLength(1)
  })
})

describe('the default history', () => {
  it('is that of the second version of Frankfurter where the first is gone', async () => {
    const attack: Attack = ({ pathname }, honest) =>
      pathname.startsWith('/v1/') ? new Response('', { status: 410 }) : honest
    const target = '/v1/history?from=USD&to=EUR&start=2026-11-02'
    const history = createFrankfurterProvider()
    const { points } = await truthOf(target, { history })
    const world = openWorld({ history, attack })
    expect(await world.read(target)).toMatchObject({ status: 200, points })
    for (const { status } of await world.ask(target, 3 * DAY, HOUR)) expect(status).toBe(200)
    expect(world.eventsOf('source_gone')).toHaveLength(1)
    expect(world.eventsOf('refresh_failed')).toEqual([])
  })
})
