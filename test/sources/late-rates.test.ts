import { describe, expect, it } from 'vitest'

import type { LatestProvider } from '../../src/index.ts'
import { createMetrics } from '../../src/monitoring/index.ts'
import { fixedProviders } from '../../src/testing/index.ts'
import { FEEDS, respondAsFeeds } from '../fixtures/feeds.ts'
import { NOW, openService } from '../fixtures/service.ts'
import { DAY, HOUR, settled } from '../virtual-runtime.ts'

const FEED = { name: 'Our bank', url: 'https://bank.example' }

/** A feed that publishes an hour before `NOW` and on the next days: no more than `days` times. */
function feed(days: number): LatestProvider {
  return {
    attribution: FEED,
    async fetchLatest({ now }) {
      const day = Math.min(Math.floor((now() - NOW + HOUR) / DAY), days - 1)
      const updatedAt = NOW - HOUR + day * DAY
      return { base: 'EUR', updatedAt, nextUpdateAt: updatedAt + DAY, rates: { USD: 1 + day } }
    },
  }
}

function open(options: Parameters<typeof openService>[0]) {
  const service = openService(options)
  return {
    ...service,
    /** Returns the `Cache-Status` of a target after a refresh. */
    async after(duration: number, target = '/api/v1/latest') {
      await service.runtime.advance(duration)
      await service.handler.refresh()
      await settled()
      return service.cacheStatus(target)
    },
    status: () => service.handler.rates.status(),
  }
}

const openFrozen = (start = NOW) => open({ start, providers: { latest: feed(1), history: false } })

describe('a feed that goes on returning its last table', () => {
  it('is stale, and served, from a day after its announced update on', async () => {
    const { after, get, handler, status, eventsOf } = openFrozen()
    await handler.refresh()
    expect(await after(2 * DAY - HOUR - 1)).toMatch(/^rates; hit; ttl=\d+$/)
    expect((await status()).latest).toMatchObject({ stale: false })
    expect(await after(1)).toBe(`rates; hit; ttl=${-DAY / 1_000}; detail=stale`)
    expect((await status()).latest).toMatchObject({ stale: true, ready: true })
    expect(createMetrics(handler).text()).toContain('ratesmith_data_stale{data_set="latest"} 1\n')
    expect(await after(400 * DAY)).toBe(`rates; hit; ttl=${(-401 * DAY) / 1_000}; detail=stale`)
    expect((await get('/api/v1/latest')).status).toBe(200)
    expect(eventsOf('stale_served').at(-1)).toMatchObject({ overdue: 401 * DAY })
  })

  it('is an event once a day, from the first request of a process on', async () => {
    const { get, after, eventsOf } = openFrozen(NOW + 3 * DAY)
    await get('/api/v1/latest')
    expect(eventsOf('stale_served')).toHaveLength(1)
    for (let hour = 0; hour < 48; hour += 1) await after(HOUR)
    const about = { type: 'rates_late', dataSet: 'latest', provider: FEED.name }
    const event = { ...about, due: NOW - HOUR + DAY }
    expect(eventsOf('rates_late')).toEqual([event, event, event])
  })

  const feeds = Object.entries(FEEDS).flatMap(([name, { create }]) => {
    const { fetchLatest, attribution, ...others } = create()
    return fetchLatest && attribution
      ? [[name, { ...others, attribution, fetchLatest }] as const]
      : []
  })

  it.each(feeds)('is stale within nine days: %s', async (_, latest) => {
    const { handler, after, eventsOf, status } = open({
      providers: { latest, history: false },
      async fetch(input, init) {
        const request = new Request(input, init)
        return respondAsFeeds(request.url, NOW, await request.text())
      },
    })
    await handler.refresh()
    expect((await status()).latest).toMatchObject({ ready: true, stale: false })
    await after(9 * DAY)
    expect((await status()).latest).toMatchObject({ ready: true, stale: true })
    expect(eventsOf('rates_late')).toHaveLength(1)
    expect(eventsOf('rates_late')[0]?.due).toBeLessThan(NOW + 7 * DAY)
  })
})

it('reference rates are stale once the next are overdue by a day, which a weekend is not', async () => {
  const days = { '2026-11-19': { USD: 1.19 }, '2026-11-20': { USD: 1.2 } }
  const { history } = fixedProviders({ base: 'EUR', rates: { USD: 1.2 }, history: days })
  const { after, handler, eventsOf, status } = open({ providers: { latest: false, history } })
  const on = (day: string): string => `/api/v1/convert?from=EUR&to=USD&date=2026-11-${day}`
  await handler.refresh()
  // On Tuesday at 14:00; the rates of Monday were due at 15:00.
  expect(await after(4 * DAY - 4 * HOUR, on('24'))).toMatch(/^rates; hit; ttl=\d+$/)
  expect((await status()).history).toMatchObject({ stale: false })
  expect(await after(2 * HOUR, on('24'))).toBe('rates; hit; ttl=-90000; detail=stale')
  expect((await status()).history).toMatchObject({ stale: true })
  const about = { dataSet: 'history', provider: history.attribution.name, publication: 'ecb' }
  const event = { type: 'rates_late', ...about, day: '2026-11-23' }
  expect(eventsOf('rates_late')).toEqual([{ ...event, due: Date.UTC(2026, 10, 23, 15) }])
  // Later days change nothing about those published.
  const served = eventsOf('stale_served').length
  const past = '/api/v1/history?from=EUR&to=USD&start=2026-11-19&end=2026-11-20'
  for (const target of [on('20'), `${on('19')}&rule=next`, past]) {
    expect(await after(0, target), target).toBe('rates; hit; ttl=0')
  }
  expect(eventsOf('stale_served')).toHaveLength(served)
})

describe('rates_updated', () => {
  const [first, second, third] = [0, 1, 2].map((day) => NOW - HOUR + day * DAY)
  const about = { type: 'rates_updated', dataSet: 'latest', provider: FEED.name }
  const providers = { latest: feed(3), history: false } as const

  it('is emitted once per publication, when requests get its rates', async () => {
    const { handler, eventsOf, after } = open({ providers })
    const seen: Promise<{ updatedAt: number }>[] = []
    const onEvent = ({ type }: { type: string }): void =>
      void (type === 'rates_updated' && seen.push(handler.rates.latest()))
    handler.subscribe({ onEvent })
    for (let hour = 0; hour < 72; hour += 1) await after(HOUR)
    expect(eventsOf('rates_updated')).toEqual([
      { ...about, updatedAt: first, previousUpdatedAt: null },
      { ...about, updatedAt: second, previousUpdatedAt: first },
      { ...about, updatedAt: third, previousUpdatedAt: second },
    ])
    const served = await Promise.all(seen)
    expect(served.map(({ updatedAt }) => updatedAt)).toEqual([first, second, third])
  })

  it('has the time of publication of the newest reference rates', async () => {
    const { handler, eventsOf, after } = open({ start: NOW - 8 * HOUR })
    await handler.refresh()
    await after(6 * HOUR)
    const [thursday, friday] = [19, 20].map((day) => Date.UTC(2026, 10, day, 15))
    expect(eventsOf('rates_updated').filter(({ dataSet }) => dataSet === 'history')).toMatchObject([
      { updatedAt: thursday, previousUpdatedAt: null },
      { updatedAt: friday, previousUpdatedAt: thursday },
    ])
  })

  it('is emitted after a restore of rates that another process has fetched', async () => {
    const store = new Map<string, string>()
    const [one, other] = [open({ store, providers }), open({ store, providers })]
    for (const duration of [0, DAY + HOUR]) {
      for (const process of [one, other]) await process.after(duration)
    }
    expect(other.eventsOf('upstream_response')).toEqual([])
    expect(other.eventsOf('rates_updated')).toEqual([
      { ...about, updatedAt: first, previousUpdatedAt: null },
      { ...about, updatedAt: second, previousUpdatedAt: first },
    ])
  })
})
