import { describe, expect, it } from 'vitest'

import type { RatesDay } from '../../src/index.ts'
import { FEEDS, respondAsFeeds } from '../fixtures/feeds.ts'
import { recordedHandler } from '../fixtures/recorded-handler.ts'
import { NOW } from '../fixtures/service.ts'
import { finish, virtualRuntime } from '../virtual-runtime.ts'

/** All but one whose archive is read by another thread, for which virtual time does not wait. */
const BANKS = Object.entries(FEEDS).flatMap(([name, { create }]) => {
  const { fetchHistory, attribution, ...provider } = create()
  if (!fetchHistory || !attribution || name === 'createEcbProvider()') return []
  return [{ name, history: { ...provider, attribution, fetchHistory } }]
})

/** Of some banks, the synthetic upstreams make series of all days since 1999. */
const timeout = 300_000

describe.each(BANKS)('the days of $name', ({ history }) => {
  it('are the points of the single histories, over the end of a year', { timeout }, async () => {
    const runtime = virtualRuntime(NOW)
    const fetch: typeof globalThis.fetch = async (...given) => {
      const request = new Request(...given)
      return respondAsFeeds(request.url, runtime.now(), await request.text())
    }
    const { handler } = recordedHandler(runtime, { providers: { latest: false, history }, fetch })
    const { rates } = handler
    const start = '2025-11-20'
    const days: RatesDay[] = []
    const read = async (): Promise<void> => {
      for await (const day of rates.days({ start })) days.push(day)
    }
    await finish(runtime, read())
    expect(days.length).toBeGreaterThan(3)
    const [{ base } = { base: '' }] = days
    const codes = new Set(days.flatMap((day) => Object.keys({ ...day.rates, ...day.prices })))
    for (const code of codes) {
      const isPrice = days.some(({ prices = {} }) => code in prices)
      const [from, to] = isPrice ? [code, base] : [base, code]
      const single = await finish(runtime, rates.history({ from, to, start }))
      const found = days.flatMap(({ date, rates, prices = {} }) => {
        const r = prices[code] ?? rates[code]
        return r === undefined ? [] : [{ d: date, r }]
      })
      expect(found, code).toEqual(single.points)
    }
  })
})
