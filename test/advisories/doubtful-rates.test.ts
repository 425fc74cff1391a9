import { describe, expect, it } from 'vitest'

import type { CacheStore, RatesHandlerOptions } from '../../src/index.ts'
import {
  createExchangeRateApiProvider,
  createFawazahmed0Provider,
} from '../../src/providers/index.ts'
import { fawazahmed0Body } from '../fixtures/feeds/fawazahmed0.ts'
import { openFeed } from '../fixtures/open-feed.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../virtual-runtime.ts'

const EUR = 0.85

type World = ReturnType<typeof openFeed>

/** Creates a warm handler of the open feed, with 0.85 EUR per USD. */
async function warm(quotes: object = {}, options?: RatesHandlerOptions): Promise<World> {
  const world = openFeed('2026-11-18', { EUR, ...quotes }, options)
  await world.refresh()
  return world
}

/** Returns status, rate and `updatedAt` of a conversion from USD to `to`. */
async function convert(world: World, to = 'EUR') {
  const { status, body } = await world.get(`/v1/convert?from=USD&to=${to}&amount=100`)
  return { status, rate: body.rate, updatedAt: body.updatedAt }
}

function named(world: World, type: 'rates_lost' | 'rates_quarantined'): string[] {
  return world.events.flatMap((event) => {
    return event.type === type && 'codes' in event ? event.codes : []
  })
}

describe('a currency with a wrong rate in the next publication', () => {
  it.each([
    ['null', { EUR: null }, 'rates_lost'],
    ['negative', { EUR: -EUR }, 'rates_lost'],
    ['text', { EUR: '0.85' }, 'rates_lost'],
    ['too large for a double', { EUR: 1e300 }, 'rates_lost'],
    ['missing', { EUR: undefined }, 'rates_lost'],
    ['inverted', { EUR: 1 / EUR }, 'rates_quarantined'],
    ['× 9.9', { EUR: EUR * 9.9 }, 'rates_quarantined'],
    ['shifted by a digit on a day on which it fell', { EUR: EUR * 9.99 }, 'rates_quarantined'],
    ['× 1.21', { EUR: EUR * 1.21 }, 'rates_quarantined'],
    ['× 1,000', { EUR: EUR * 1_000 }, 'rates_quarantined'],
  ] as const)('keeps its last rate and time if it is %s', async (_how, quotes, type) => {
    const world = await warm()
    const read = async (target: string) => (await world.get(target)).body
    const before = await convert(world)
    expect(before).toMatchObject({ status: 200, rate: EUR })
    await world.publish(quotes)
    expect(await convert(world)).toEqual(before)
    expect(named(world, type)).toContain('EUR')
    const { updatedAt } = await convert(world, 'GBP')
    expect(updatedAt).toBe(before.updatedAt + DAY)
    const all = await read('/v1/latest')
    expect(all).toMatchObject({ updatedAt, older: { EUR: before.updatedAt } })
    expect(all.rates.EUR).toBe(EUR)
    expect((await read('/v1/latest?symbols=EUR,GBP')).updatedAt).toBe(before.updatedAt)
    expect(await read('/v1/latest?symbols=GBP')).not.toHaveProperty('older')
    const crossed = await read('/v1/latest?base=EUR')
    expect(crossed.updatedAt).toBe(before.updatedAt)
    expect(crossed.rates.USD).toBe(Number((1 / EUR).toPrecision(10)))
    expect((await read('/rates?base=EUR')).updatedAt).toBe(before.updatedAt)
    const { text } = await world.csv('/v1/latest?symbols=EUR,GBP&format=csv')
    expect(text).toContain(`USD,EUR,0.85,${before.updatedAt},`)
    // Correct again: `older` is empty.
    await world.publish({ EUR: 0.86 })
    const after = await convert(world)
    expect(after).toEqual({ status: 200, rate: 0.86, updatedAt: before.updatedAt + 2 * DAY })
    expect(await read('/v1/latest')).not.toHaveProperty('older')
  })
})

describe('a currency without a usable rate', () => {
  const TARGETS = [
    '/v1/convert?from=USD&to=EUR',
    '/v1/convert?from=EUR&to=GBP',
    '/v1/convert?from=USD&to=GBP,EUR',
    '/v1/latest?base=EUR',
    '/v1/latest?symbols=GBP,EUR',
    '/convert?from=USD&to=EUR',
    '/rates?base=EUR',
  ]

  it('is a 502 on every endpoint when its last rate is too old, and recovers', async () => {
    const world = await warm()
    await world.publish({ EUR: undefined })
    // The last publication with its rate announced the next one for 00:02 of the next day.
    for (let days = 1; days <= 7; days += 1) {
      expect(await convert(world)).toMatchObject({ status: 200, rate: EUR })
      await world.publish({})
    }
    for (const target of TARGETS) {
      const { status, headers, body } = await world.get(target)
      expect([status, headers.get('retry-after')], target).toEqual([502, '300'])
      expect(JSON.stringify(body)).toContain('The exchange-rate provider is unavailable.')
    }
    const { status, body } = await world.get('/v1/latest')
    expect(status).toBe(200)
    expect(Object.keys(body.rates)).not.toContain('EUR')
    expect(body).not.toHaveProperty('older')
    await expect(world.handler.rates.convert({ from: 'USD', to: 'EUR' })).rejects.toMatchObject({
      code: 'provider_unavailable',
      retryAfter: 300,
    })
    await world.publish({ EUR: 3 })
    expect(await convert(world)).toMatchObject({ status: 200, rate: 3 })
  })

  it('is a 502 on a cold start if the feed lists it without a rate', async () => {
    const world = openFeed('2026-11-18', { EUR: null })
    for (const target of TARGETS) expect((await world.get(target)).status, target).toBe(502)
    expect((await world.get('/v1/convert?from=USD&to=GBP')).status).toBe(200)
    expect((await world.get('/v1/convert?from=USD&to=QQQ')).status).toBe(400)
  })

  it('is restored from a store, with the time of the served rate', async () => {
    const store = new Map<string, string>()
    const world = await warm({}, { store })
    const before = await convert(world)
    await world.publish({ EUR: undefined, GBP: null })
    const reader = openFeed('2026-11-19', {}, { store })
    expect(await convert(reader)).toEqual(before)
    await reader.pass(7 * DAY)
    expect((await convert(reader)).status).toBe(502)
  })

  it('keeps a newer rate than the store has', async () => {
    const store = new Map<string, string>()
    const world = await warm({}, { store })
    const writer = await warm({}, { store: withoutReads(store) })
    await world.publish({ EUR: 0.86 })
    const before = await convert(world)
    await writer.pass(HOUR)
    await writer.publish({ EUR: undefined })
    world.edit = () => 'not JSON'
    await world.pass(DAY)
    await world.refresh()
    expect(world.eventsOf('rates_restored')).toContainEqual(
      expect.objectContaining({ dataSet: 'latest' }),
    )
    expect(await convert(world)).toEqual(before)
    expect(before).toMatchObject({ rate: 0.86 })
  })

  it('is compared with a rate that the store returns during the load', async () => {
    const store = new Map<string, string>()
    await warm({ SEK: 9.5 }, { store })
    const later = (delay: number): Promise<void> =>
      new Promise((resolve) => void world.runtime.startTimer(resolve, delay))
    const world: World = openFeed(
      '2026-11-19',
      { SEK: 9.5 * 1.3 },
      {
        store: { get: (key) => later(60).then(() => store.get(key)), set: () => {} },
        fetch: () => later(100).then(() => world.answer()),
      },
    )
    const converted = convert(world, 'SEK')
    await world.pass(SECOND)
    expect(await converted).toMatchObject({ status: 200, rate: 9.5 })
    expect(named(world, 'rates_quarantined')).toEqual(['SEK'])
  })

  it('keeps its rate if a process that never had it has stored a table', async () => {
    const store = new Map<string, string>()
    const world = await warm({}, { store })
    world.edit = () => 'not JSON'
    await world.pass(9 * DAY)
    const writer = openFeed('2026-11-27', { EUR: undefined }, { store: withoutReads(store) })
    await writer.refresh()
    const statuses = [(await convert(world)).status, (await convert(world, 'GBP')).status]
    expect(statuses).toEqual([502, 200])
  })
})

describe('a table in a store', () => {
  /** Creates a store with the table of the open feed after `change`, without the sanity checks. */
  async function poisoned(change: (rates: Record<string, number>) => object, times: object = {}) {
    const store = new Map<string, string>()
    const { attribution } = createExchangeRateApiProvider()
    const writer = openFeed('2026-11-18', { EUR }, { store })
    const { updatedAt, nextUpdateAt, rates } = (await writer.get('/v1/latest')).body
    const poison = { rates: { USD: 1, ...change(rates) }, ...times }
    const table = { base: 'USD', updatedAt, nextUpdateAt, ...poison }
    const careless = { attribution, fetchLatest: async () => table }
    store.clear()
    await openFeed('2026-11-18', {}, { store, providers: { latest: careless } }).refresh()
    return store
  }

  it('is compared with the one in memory', async () => {
    const store = new Map<string, string>()
    const world = await warm({}, { store })
    const before = await convert(world)
    const newer = await poisoned((rates) => ({ ...rates, EUR: EUR * 1.3 }), {
      updatedAt: before.updatedAt + DAY,
      nextUpdateAt: before.updatedAt + 2 * DAY,
    })
    store.set('rates:v1:latest', newer.get('rates:v1:latest') ?? '')
    world.edit = () => 'not JSON'
    await world.publish({})
    expect(world.eventsOf('rates_restored')).toContainEqual(
      expect.objectContaining({ dataSet: 'latest' }),
    )
    expect(await convert(world)).toEqual(before)
    expect((await convert(world, 'GBP')).updatedAt).toBe(before.updatedAt + DAY)
  })

  it('is due within a day and expires after eight, regardless of its times', async () => {
    const store = await poisoned((rates) => rates, { nextUpdateAt: Date.UTC(2036, 10, 18) })
    const reader = openFeed('2026-11-18', { EUR }, { store })
    reader.edit = () => 'not JSON'
    const { body, headers } = await reader.get('/v1/latest')
    expect(headers.get('cache-status')).toMatch(/^rates; hit; ttl=[89]\d{4}$/)
    await reader.pass(body.updatedAt + 15 * DAY + MINUTE - reader.runtime.now())
    expect((await convert(reader)).status).toBe(502)
  })
})

it('a second provider after a failover keeps the previous value of a doubtful rate', async () => {
  const world: World = openFeed(
    '2026-11-18',
    { EUR },
    {
      providers: { latest: [createExchangeRateApiProvider(), createFawazahmed0Provider()] },
      async fetch(input) {
        if (new Request(input).url.includes('er-api')) return world.answer()
        const { date, usd } = fawazahmed0Body(world.runtime.now())
        const quotes = Object.entries({ ...world.quotes, EUR: EUR * 1.3 })
        const lowerCase = quotes.map(([code, rate]) => [code.toLowerCase(), rate])
        return Response.json({ date, usd: { ...usd, ...Object.fromEntries(lowerCase) } })
      },
    },
  )
  await world.refresh()
  const before = await convert(world)
  world.edit = () => 'not JSON'
  await world.pass(2 * DAY)
  await world.refresh()
  expect(await convert(world)).toEqual(before)
  expect((await convert(world, 'GBP')).updatedAt).toBeGreaterThan(before.updatedAt)
  expect((await world.get('/v1/convert?from=EUR&to=JPY')).body.updatedAt).toBe(before.updatedAt)
  expect(named(world, 'rates_quarantined')).toEqual(['EUR'])
})

it('a hand-written provider can change its rates freely, and keeps lost ones', async () => {
  const rates: Record<string, number>[] = [
    { EUR: 0.85, GBP: 0.75 },
    { EUR: 850, GBP: 7e-4 },
  ]
  let now = Date.UTC(2026, 10, 18)
  const attribution = { name: 'By hand', url: 'https://rates.example' }
  const fetchLatest = async () => {
    return { base: 'USD', updatedAt: now, nextUpdateAt: now, rates: rates.shift() ?? { EUR: 1 } }
  }
  const world = openFeed('2026-11-18', {}, { providers: { latest: { attribution, fetchLatest } } })
  await world.refresh()
  now += DAY
  await world.publish({})
  expect(await convert(world)).toMatchObject({ rate: 850, updatedAt: now })
  now += DAY
  await world.publish({})
  expect(await convert(world)).toMatchObject({ rate: 1, updatedAt: now })
  expect(await convert(world, 'GBP')).toMatchObject({ rate: 7e-4, updatedAt: now - DAY })
  expect(named(world, 'rates_lost')).toEqual(['GBP'])
})

it('a publication that was dated ahead does not block later ones', async () => {
  const world = openFeed('2026-11-18', { EUR })
  world.fields = ({ time_last_update_unix }) => ({
    time_last_update_unix: time_last_update_unix + (47 * HOUR) / 1_000,
    time_next_update_unix: time_last_update_unix + (71 * HOUR) / 1_000,
  })
  await world.refresh()
  const acceptedAt = world.runtime.now()
  expect((await world.get('/v1/latest')).body.updatedAt).toBeGreaterThan(acceptedAt)
  for (const target of ['/v1/latest', '/v1/convert?from=USD&to=EUR', '/rates']) {
    const { headers } = await world.get(target)
    expect(headers.get('last-modified'), target).toBe(new Date(acceptedAt).toUTCString())
  }
  world.fields = () => ({})
  await world.publish({ EUR: 0.86, GBP: undefined })
  await world.pass(2 * HOUR)
  await world.refresh()
  const { rate, updatedAt } = await convert(world)
  expect([rate, updatedAt <= world.runtime.now()]).toEqual([0.86, true])
  expect(await convert(world, 'GBP')).toMatchObject({ status: 200, updatedAt: acceptedAt })
})

/** Returns a view of `store` without the values of other processes. */
function withoutReads(store: Map<string, string>): CacheStore {
  return { get: () => undefined, set: (key, text) => store.set(key, text) }
}
