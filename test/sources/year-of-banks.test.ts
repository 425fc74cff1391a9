import { expect, it } from 'vitest'

import type { HistoryProvider } from '../../src/index.ts'
import { createCalendar, daysFrom } from '../../src/rates/calendar.ts'
import { FEEDS } from '../fixtures/feeds.ts'
import { DAY, HOUR, virtualRuntime } from '../virtual-runtime.ts'
import { openWorld } from './world.ts'

/** Every provider that declares its publication, with the requests of a call. */
const BANKS = Object.values(FEEDS).flatMap((feed) => {
  const { fetchHistory, publication, attribution, ...others } = feed.create()
  if (!fetchHistory || !publication || !attribution) return []
  const provider: HistoryProvider = { ...others, attribution, publication, fetchHistory }
  return [{ feed, provider, publication, requests: feed.requests ?? 1 }]
})

/**
 * Requests of a year besides those for new rates, by bank. The seven days that are read again may be in the file of the month or
 * the year before; the market behind `nbp-a` is closed on days on which the bank is not.
 */
const OTHER_REQUESTS: Record<string, number> = { bnr: 8, cnb: 8, hmrc: 52, imf: 12 * 8, 'nbp-a': 8 }

const START = Date.UTC(2025, 10, 20, 23)
const DAYS = 366

// Takes minutes: the limit is that of the weekly tests.
it('asks no bank more often than it publishes, in a year of all banks at once', async () => {
  const runtime = virtualRuntime(START)
  const calls = new Map<string, number>()
  async function fetch(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
    const request = new Request(input, init)
    const { host } = new URL(request.url)
    calls.set(host, (calls.get(host) ?? 0) + 1)
    const feed = BANKS.find((bank) => new URL(bank.feed.root).host === host)?.feed
    if (!feed) throw new Error(`an unexpected host: ${host}`)
    // The market of these two publishes later than they do.
    const isEarly = host === 'api.nbp.pl' || host === 'api.cnb.cz'
    const now = runtime.now() + (isEarly ? 4 * HOUR : 0)
    return feed.respond?.(request.url, now, await request.text()) ?? Response.error()
  }
  const providers = { latest: false, history: BANKS.map(({ provider }) => provider) } as const
  const { read, pass } = openWorld(runtime, { providers, fetch })
  await read('/v1/status')
  await pass(DAYS * DAY, 3 * HOUR)
  const end = START + DAYS * DAY
  for (const { feed, provider, publication, requests } of BANKS) {
    const { isPublished, publishedAt } = createCalendar(publication)
    const published = daysFrom('2025-10-01', '2026-12-31').filter(
      (day) => isPublished(day) && publishedAt(day) > START && publishedAt(day) <= end,
    )
    const made = (calls.get(new URL(feed.root).host) ?? 0) / requests
    const others = OTHER_REQUESTS[publication.id] ?? 0
    const isAmended = ['monthly', 'quarterly'].includes(publication.frequency)
    const allowed = Math.ceil(published.length + 1 + others + (isAmended ? DAYS / 7 : 0))
    expect(made, `calls of ${provider.attribution.name}`).toBeLessThanOrEqual(allowed)
    expect(made, `calls of ${provider.attribution.name}`).toBeGreaterThan(allowed * 0.9 - 2)
  }
})
