import { expect, it } from 'vitest'

import type { RatesDay } from '../../src/index.ts'
import { FEEDS, respondAsFeeds } from '../fixtures/feeds.ts'
import { recordedHandler } from '../fixtures/recorded-handler.ts'
import { finish, virtualRuntime } from '../virtual-runtime.ts'

/** A bank with all days in one file, one with prices, one with a table per day and series, one with weekly rates. */
const NAMES = ['Ecb', 'NorgesBank', 'Cbr', 'Fred']
const NOW = Date.UTC(2026, 0, 9, 18)

it.each(NAMES)(
  'the days of %s are the points of the single histories, over a new year',
  async (name) => {
    const { fetchHistory, attribution, ...provider } =
      FEEDS[`create${name}Provider()`]?.create() ?? {}
    if (!fetchHistory || !attribution) throw new Error('no provider of history')
    const runtime = virtualRuntime(NOW)
    const fetch: typeof globalThis.fetch = async (...given) => {
      const request = new Request(...given)
      return respondAsFeeds(request.url, runtime.now(), await request.text())
    }
    const history = { ...provider, attribution, fetchHistory }
    const { handler } = recordedHandler(runtime, { providers: { latest: false, history }, fetch })
    const { rates } = handler
    // Its archive is unpacked by another thread, for which virtual time does not wait.
    const ended = <Result>(work: Promise<Result>): Promise<Result> =>
      name === 'Ecb' ? work : finish(runtime, work)
    const start = '2025-12-10'
    const days: RatesDay[] = []
    const read = async (): Promise<void> => {
      for await (const day of rates.days({ start })) days.push(day)
    }
    await ended(read())
    expect(days.length).toBeGreaterThan(3)
    const [{ base } = { base: '' }] = days
    for (const code of ['USD', 'JPY', 'GBP', 'EUR'].filter((each) => each !== base)) {
      const isPrice = days.some(({ prices = {} }) => code in prices)
      const [from, to] = isPrice ? [code, base] : [base, code]
      const single = await ended(rates.history({ from, to, start }))
      const found = days.flatMap(({ date, rates, prices = {} }) => {
        const r = prices[code] ?? rates[code]
        return r === undefined ? [] : [{ d: date, r }]
      })
      expect(found, code).toEqual(single.points)
      expect(found.length, code).toBeGreaterThan(3)
    }
  },
)
