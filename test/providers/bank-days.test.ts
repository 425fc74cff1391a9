import { describe, expect, it } from 'vitest'

import type { RatesDay } from '../../src/index.ts'
import { FEEDS, respondAsFeeds } from '../fixtures/feeds.ts'
import { recordedHandler } from '../fixtures/recorded-handler.ts'
import { NOW } from '../fixtures/service.ts'
import { finish, virtualRuntime } from '../virtual-runtime.ts'

const BANKS = Object.entries(FEEDS).flatMap(([name, { create, needsRealTime }]) => {
  const { fetchHistory, attribution, ...provider } = create()
  if (!fetchHistory || !attribution) return []
  // Its archive is unpacked by another thread.
  const usesThreads = needsRealTime || name === 'createEcbProvider()'
  return [{ name, usesThreads, history: { ...provider, attribution, fetchHistory } }]
})

/** Of some banks, the synthetic upstreams make series of all days since 1999. */
const timeout = 300_000

describe.each(BANKS)('the days of $name', ({ history, usesThreads }) => {
  it('are the points of the single histories, over the end of a year', { timeout }, async () => {
    const runtime = virtualRuntime(NOW)
    const fetch: typeof globalThis.fetch = async (...given) => {
      const request = new Request(...given)
      return respondAsFeeds(request.url, runtime.now(), await request.text())
    }
    const { handler } = recordedHandler(runtime, { providers: { latest: false, history }, fetch })
    const { rates } = handler
    // Time stands still while other threads work: no request of theirs times out.
    const ended = <Result>(work: Promise<Result>): Promise<Result> =>
      usesThreads ? work : finish(runtime, work)
    const start = '2025-11-20'
    const days: RatesDay[] = []
    const read = async (): Promise<void> => {
      for await (const day of rates.days({ start })) days.push(day)
    }
    await ended(read())
    expect(days.length).toBeGreaterThan(3)
    const [{ base } = { base: '' }] = days
    const codes = new Set(days.flatMap((day) => Object.keys({ ...day.rates, ...day.prices })))
    for (const code of codes) {
      const isPrice = days.some(({ prices = {} }) => code in prices)
      const [from, to] = isPrice ? [code, base] : [base, code]
      const single = await ended(rates.history({ from, to, start }))
      const found = days.flatMap(({ date, rates, prices = {} }) => {
        const r = prices[code] ?? rates[code]
        return r === undefined ? [] : [{ d: date, r }]
      })
      expect(found, code).toEqual(single.points)
    }
  })
})
