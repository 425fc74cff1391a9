import { describe, expect, it } from 'vitest'

import { createExchangeRateApiProvider, createFrankfurterProvider } from '../../src/index.ts'
import type { LatestProvider, Publication, RatesHandlerOptions } from '../../src/index.ts'
import { createFawazahmed0Provider } from '../../src/providers/fawazahmed0.ts'
import { createCalendar, daysFrom } from '../../src/rates/calendar.ts'
import { BANK_DAYS, createBank } from '../fixtures/bank.ts'
import { codes } from '../fixtures/codes.ts'
import { fawazahmed0Body } from '../fixtures/feeds/fawazahmed0.ts'
import { marketOf } from '../fixtures/market.ts'
import { recordedHandler } from '../fixtures/recorded-handler.ts'
import { frankfurterPayload, openErApiPayload } from '../fixtures/upstream-payloads.ts'
import { DAY, HOUR, finish, virtualRuntime } from '../virtual-runtime.ts'

const market = marketOf()

/** On this day, the night's publications have the wrong or new rate. */
const TUESDAY = Date.UTC(2026, 10, 17)

/** By which factor a feed misquotes a currency from Tuesday on; undefined for a feed that is down. */
type Factor = number | undefined

interface Options {
  code: string
  first: Factor
  /** The feed configured after the first (default none). */
  second?: Factor
  /** The European Central Bank's rates (default none). */
  history?: Factor
  isCold?: boolean
}

/** Opens a handler on Monday, or cold on Tuesday, at noon. */
function open({ code, isCold = false, ...factors }: Options) {
  const runtime = virtualRuntime(TUESDAY + DAY / 2 - (isCold ? 0 : DAY))
  const factorOf = (name: 'first' | 'second' | 'history'): Factor =>
    runtime.now() < TUESDAY ? 1 : factors[name]
  const calls: string[] = []
  const latest: LatestProvider[] = [createFawazahmed0Provider()]
  if ('second' in factors) latest.push(createExchangeRateApiProvider())
  const history = 'history' in factors ? createFrankfurterProvider() : false
  const providers: RatesHandlerOptions['providers'] = { latest, history }

  async function fetch(input: RequestInfo | URL): Promise<Response> {
    const { host, pathname } = new URL(input instanceof Request ? input.url : input)
    const now = runtime.now()
    if (host === 'open.er-api.com') {
      calls.push('second')
      const { rates, ...body } = JSON.parse(openErApiPayload({ now, market }))
      return respond('second', { ...body, rates: times(rates, code, factorOf('second')) })
    }
    if (host === 'api.frankfurter.dev') {
      calls.push('history')
      const [start = '', end = ''] = pathname.split('/').at(-1)?.split('..') ?? []
      const { rates, ...body } = JSON.parse(frankfurterPayload({ start, end, now, market }))
      const days = Object.entries<Record<string, number>>(rates).map(([day, each]) => {
        const factor = Date.parse(day) < TUESDAY ? 1 : factorOf('history')
        return [day, times(each, code, factor)]
      })
      return respond('history', { ...body, rates: Object.fromEntries(days) })
    }
    const { usd, ...body } = fawazahmed0Body(now)
    return respond('first', { ...body, usd: times(usd, code.toLowerCase(), factorOf('first')) })
  }

  function respond(name: 'first' | 'second' | 'history', body: object): Response {
    return factorOf(name) === undefined ? new Response('', { status: 500 }) : Response.json(body)
  }

  const { handler, eventsOf } = recordedHandler(runtime, { providers, fetch })
  const expected = (): number => market.latest(runtime.now()).rates[code] ?? NaN

  return {
    calls,
    eventsOf,
    /** Returns by which factor the rate is wrong, to the nearest fifth above 1; null without one. */
    async factor(): Promise<number | null> {
      const converted = handler.rates.convert({ from: 'USD', to: code })
      const { rate } = await finish(runtime, converted).catch(() => ({ rate: null }))
      return rate && Number((rate / expected()).toPrecision(1))
    },
    async pass(days = 1) {
      for (let hours = 0; hours < days * 24; hours += 6) {
        await runtime.advance(DAY / 4)
        await finish(runtime, handler.refresh())
      }
    },
  }
}

/** Returns the rates with that of `code` × `factor`. */
function times(
  rates: Record<string, number>,
  code: string,
  factor: Factor = 1,
): Record<string, number> {
  return { ...rates, [code]: (rates[code] ?? NaN) * factor }
}

/** Returns the factors on the days from Monday on, where `days` have passed. */
async function watch(world: ReturnType<typeof open>, days: number): Promise<(number | null)[]> {
  const found = [await world.factor()]
  for (let day = 0; day < days; day += 1) {
    await world.pass()
    found.push(await world.factor())
  }
  return found
}

/** `null` while the last good rate has expired. */
function waits(good: number, expired: number, then: number): (number | null)[] {
  return [
    ...Array.from({ length: good }, () => 1),
    ...Array.from({ length: expired }, () => null),
    then,
  ]
}

describe('a rate of one source that moved', () => {
  it.each([
    ['LBP', 10, waits(8, 6, 10)],
    ['LBP', 20, waits(7, 0, 20)],
    ['VES', 2_500, waits(7, 0, 2_500)],
    ['MNT', 1 / 4_000, waits(7, 0, 1 / 4_000)],
    ['NGN', 2.5, [1, 2.5]],
    ['TRY', 2.5, [1, 1, 3]],
    ['HUF', 100, waits(8, 6, 100)],
  ])(
    '%s × %d is served when enough publications in a row have it',
    async (code, first, expected) => {
      const world = open({ code, first })
      expect(await watch(world, expected.length - 1)).toEqual(
        expected.map((each) => each && Number(each.toPrecision(1))),
      )
      const days = world.eventsOf('rates_quarantined').map(({ codes }) => codes)
      expect(days).toEqual(Array.from({ length: expected.length - 2 }, () => [code]))
    },
  )

  it.each([
    ['at once if the next feed has it', { second: 10 }, [1, 10, 10]],
    [
      'on the next day if the reference rates of the afternoon have it',
      { history: 10 },
      [1, 1, 10],
    ],
  ])('is served %s', async (_when, others, expected) => {
    expect(await watch(open({ code: 'HUF', first: 10, ...others }), 2)).toEqual(expected)
  })

  it.each([
    ['the next feed objects', { second: 1 }],
    ['the reference rates object', { history: 1 }],
  ])('is not served as long as %s', async (_which, others) => {
    const world = open({ code: 'HUF', first: 0.01, ...others })
    const served = await watch(world, 20)
    expect(new Set(served)).toEqual(new Set([1, null]))
    expect(world.eventsOf('rates_quarantined')).toHaveLength(20)
  })

  it('asks the next feed once for each publication, and never for good rates', async () => {
    const world = open({ code: 'HUF', first: 0.01, second: 1 })
    await world.factor()
    expect(world.calls).toEqual([])
    await world.pass(5)
    expect(world.calls).toEqual(Array.from({ length: 5 }, () => 'second'))
  })

  it('waits as without another source if the next feed is down', async () => {
    const world = open({ code: 'LBP', first: 20, second: undefined })
    expect(await watch(world, 7)).toEqual(waits(7, 0, 20))
  })
})

describe('the first rate of a cold start', () => {
  it.each([
    ['the next feed', { second: 1 }],
    ['the reference rates', { history: 1 }],
  ])('far off the usual one is compared with %s', async (_which, others) => {
    const world = open({ code: 'HUF', first: 0.01, isCold: true, ...others })
    expect(await watch(world, 15)).toEqual(Array.from({ length: 16 }, () => null))
  })

  it('is served with a right unit, without asking others', async () => {
    const world = open({ code: 'HUF', first: 1, second: 1, history: 1, isCold: true })
    expect(await world.factor()).toBe(1)
    expect(world.calls).toEqual([])
  })
})

it("a reference rate of a cold start that is a thousandfold off the usual one is not the client's error", async () => {
  const runtime = virtualRuntime(TUESDAY + 18 * HOUR)
  const history = createBank({
    codes: codes(30),
    now: runtime.now,
    sanityChecks: true,
    change: ({ base, days: [...days] }) => ({
      base,
      days: days.map(({ date, rates }) => ({ date, rates: { ...rates, IDR: 18 } })),
    }),
  })
  const { get } = recordedHandler(runtime, { providers: { latest: false, history } })
  for (const question of ['convert?from=EUR&to=IDR&date=2026-11-17', 'history?from=EUR&to=IDR']) {
    expect((await finish(runtime, get(`/v1/${question}`))).status, question).toBe(502)
  }
})

describe('a reference rate of one bank that moved', () => {
  const CODES = codes(30)
  const [CODE = ''] = CODES

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
  ])(
    'in %s rates, %d days a call, × %d is served from publication no. %d on',
    async (frequency, maxDays, factor, publication) => {
      const weekend = frequency === 'monthly' || frequency === 'quarterly' ? [] : undefined
      const rules = { ...BANK_DAYS, frequency, weekend, holidays: [] }
      const { isPublished } = createCalendar(rules)
      const runtime = virtualRuntime(Date.UTC(2026, 0, 2, 18))
      const bank = createBank({
        codes: CODES,
        now: runtime.now,
        publication: rules,
        isOpen: isPublished,
        maxDays,
        hasSeries: false,
        sanityChecks: true,
        change: ({ base, days }) => ({
          base,
          days: days.map(({ date, rates }) => {
            const moved = { [CODE]: (rates[CODE] ?? NaN) * (date < '2026-02-01' ? 1 : factor) }
            return { date, rates: { ...rates, ...moved } }
          }),
        }),
      })
      const { handler } = recordedHandler(runtime, { providers: { latest: false, history: bank } })
      const days = daysFrom('2026-01-02', '2027-05-01').filter(isPublished)
      const moved = days.filter((day) => day >= '2026-02-01')
      const read = async (date = ''): Promise<string | undefined> => {
        const question = handler.rates.convert({ from: 'EUR', to: CODE, date, rule: 'exact' })
        return finish(runtime, question).then(
          (found) => found.date,
          () => undefined,
        )
      }
      const count = moved.indexOf(moved[publication] ?? '')
      for (const day of days.slice(0, days.indexOf(moved[0] ?? '') + count)) {
        await runtime.advance(Date.parse(`${day}T18:00Z`) - runtime.now())
        await finish(runtime, handler.refresh())
        const seen = moved.filter((each) => each <= day)
        const isServed = seen.length >= publication
        for (const each of seen) expect(await read(each), each).toBe(isServed ? each : undefined)
      }
      expect(await read(moved[0])).toBe(moved[0])
    },
  )
})

describe('a reference rate that moved for good on Tuesday', () => {
  const CODES = codes(30)
  const [CODE = ''] = CODES

  /** Opens handlers over banks, by id, that all have the moved rate; returns whether they serve it. */
  function openBanks({ ids, maxDays }: { ids: string[]; maxDays: number }) {
    const runtime = virtualRuntime(TUESDAY - DAY / 4)
    const stored = new Map<string, string>()
    const store = {
      get: async (key: string) => stored.get(key),
      set: async (key: string, value: string) => void stored.set(key, value),
    }
    const history = ids.map((id) =>
      createBank({
        codes: CODES,
        now: runtime.now,
        name: id,
        publication: { ...BANK_DAYS, id },
        maxDays,
        sanityChecks: true,
        change: ({ base, days }) => ({
          base,
          days: days.map(({ date, rates: { [CODE]: rate = NaN, ...rates } }) => {
            return {
              date,
              rates: { ...rates, [CODE]: Date.parse(date) < TUESDAY ? rate : rate * 20 },
            }
          }),
        }),
      }),
    )
    const start = () =>
      recordedHandler(runtime, { store, providers: { latest: false, history } }).handler
    return async (days: number, isRestarted: boolean): Promise<string[]> => {
      let handler = start()
      await finish(runtime, handler.refresh())
      await finish(runtime, handler.rates.convert({ from: 'EUR', to: CODE, date: '2026-11-16' }))
      for (let day = 0; day < days; day += 1) {
        if (isRestarted) handler = start()
        await runtime.advance(DAY)
        await finish(runtime, handler.refresh())
      }
      const request = handler.rates.history({ from: 'EUR', to: CODE, start: '2026-11-16' })
      return (await finish(runtime, request)).points.map(({ d }) => d.slice(8))
    }
  }

  it.each([1, 366])(
    'is served on the next day where a second bank has it: %d days a call',
    async (maxDays) => {
      const watchBanks = openBanks({ ids: ['one', 'other'], maxDays })
      expect(await watchBanks(2, false)).toEqual(['16', '17', '18'])
    },
  )

  it.each([1, 366])('loses no day by restarts with a store: %d days a call', async (maxDays) => {
    const expected = ['16', '17', '18', '19', '20', '23', '24', '25']
    expect(await openBanks({ ids: ['one'], maxDays })(9, true)).toEqual(expected)
  })
})

it.each([
  ['IDR', 1 / 1_000],
  ['HUF', 1 / 100],
])(
  'at a cold start, reference rates of %s that are all × %d do not contradict the right latest rates',
  async (code, factor) => {
    const runtime = virtualRuntime(TUESDAY + DAY * 0.75)
    const history = createFrankfurterProvider()
    const { handler, get } = recordedHandler(runtime, {
      providers: {
        latest: createExchangeRateApiProvider(),
        history: {
          ...history,
          async fetchHistory({ start, end }) {
            const first = start > '2026-09-01' ? start : '2026-09-01'
            const { base, days } = market.history(first, end, runtime.now())
            return {
              base,
              days: days.map(({ date, rates }) => ({ date, rates: times(rates, code, factor) })),
            }
          },
        },
      },
      fetch: async () => new Response(openErApiPayload({ now: runtime.now(), market })),
    })
    const dated = `/v1/convert?from=EUR&to=${code}&date=2026-11-17`
    expect((await finish(runtime, get(dated))).status).not.toBe(200)
    const latest = await finish(runtime, handler.rates.convert({ from: 'USD', to: code }))
    expect(latest.rate).toBe(market.latest(runtime.now()).rates[code])
    expect((await finish(runtime, get(dated))).status).not.toBe(200)
  },
)
