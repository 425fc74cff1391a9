import * as fc from 'fast-check'
import { describe, expect, it, onTestFinished, vi } from 'vitest'

import { createRates } from '../../src/index.ts'
import type { LatestProvider } from '../../src/index.ts'
import { fixed, overlay, pegged } from '../../src/providers/index.ts'
import { convertAt } from '../../src/quotes/index.ts'
import type { RatesSnapshot, SnapshotConversionParams } from '../../src/quotes/index.ts'
import { FEEDS, fetchFromFeeds } from '../fixtures/feeds.ts'
import { openService } from '../fixtures/service.ts'
import { NOW } from '../providers/upstream.ts'

const POINTS = [{ currency: 'PTS', anchor: 'USD', ratio: 100 }]
const OWN = {
  rates: { base: 'USD', rates: { KZT: 520 } },
  name: 'Treasury of Example Ltd',
  url: 'https://example.com/rates',
}

const date = '2026-11-18'
const DAY = { date, rule: 'on-or-before' } as const

/** Every provider with pegs, a ratio and a rate of the app, as a source of latest rates and of reference rates. */
const SOURCES = Object.entries(FEEDS).flatMap(([name, { create }]) => {
  const { attribution, fetchLatest, fetchHistory, ...provider } = create()
  // The upstreams of the tests have no series of derived currencies, for which conversions wait.
  if (!attribution || 'fetchSeries' in provider) return []
  const latest = fetchLatest && { ...provider, attribution, fetchLatest }
  const history = fetchHistory && { ...provider, attribution, fetchHistory }
  const derived = {
    latest: latest && overlay(fixed(pegged(latest), POINTS), OWN),
    history: history && overlay(fixed(pegged(history), POINTS), OWN),
  }
  const [ofLatest, ofDay] = [{ history: false as const }, { latest: false as const }]
  return [
    { name: `latest rates of ${name}`, providers: { ...derived, ...ofLatest }, day: {} },
    { name: `rates of a day of ${name}`, providers: { ...derived, ...ofDay }, day: DAY },
  ].filter(({ providers }) => providers.latest || providers.history)
})

/** Returns what a column of the type `jsonb` returns: other white space, and names in another order. */
function fromColumn<Value>(value: Value): Value {
  return JSON.parse(
    JSON.stringify(
      value,
      (_name, part: unknown) =>
        typeof part === 'object' && part && !Array.isArray(part)
          ? Object.fromEntries(Object.entries(part).toReversed())
          : part,
      2,
    ),
  )
}

async function outcomeOf(convert: () => unknown): Promise<string> {
  try {
    return JSON.stringify(await convert())
  } catch (error) {
    return String(error)
  }
}

describe.each(SOURCES)('a snapshot of $name', ({ providers, day }) => {
  const options = { providers, fetch: fetchFromFeeds, now: () => NOW }

  it('converts to the byte as the rates did, and has at most 400 bytes for a published pair', async () => {
    const rates = createRates(options)
    onTestFinished(rates.close)
    const codes = Object.keys((await rates.latest({ base: 'USD', ...day })).rates)
    const snapshot = fromColumn(await rates.snapshot(day))
    const code = fc.constantFrom(...codes)
    const params = fc.record(
      {
        from: code,
        to: fc.oneof(code, fc.array(code, { minLength: 1, maxLength: 3 })),
        amount: fc.oneof(fc.constantFrom('99.90', '0.00', '1e3'), fc.nat({ max: 1e6 })),
        reverse: fc.boolean(),
        round: fc.constantFrom('minor', 'cash'),
      },
      { requiredKeys: ['from', 'to'] },
    )
    const property = fc.asyncProperty(params, async (each) => {
      const before = await outcomeOf(() => rates.convert({ ...each, ...day }))
      // A bank may have series of fewer currencies than its tables.
      fc.pre(!before.includes('unavailable'))
      expect(await outcomeOf(() => convertAt(snapshot, each))).toBe(before)
    })
    await fc.assert(property, { numRuns: 25 })
    const published = codes.filter((each) => !snapshot.derived?.[each])
    for (const base of published) {
      const pair = { base, symbols: published.slice(0, 1) }
      const kept = JSON.stringify(await rates.snapshot('date' in day ? { ...pair, date } : pair))
      expect(new TextEncoder().encode(kept).length, kept).toBeLessThanOrEqual(400)
    }
  })
})

function shrinkingMarket(): LatestProvider {
  let publications = 0
  return {
    attribution: { name: 'Market', url: 'https://market.example' },
    async fetchLatest({ now }) {
      publications += 1
      const yen = publications === 1 ? { JPY: 150.25 } : {}
      const rates = { USD: 1, EUR: 0.8, ...yen, VND: 26_000.000_000_1, XAU: 1e-7 }
      return { base: 'USD', updatedAt: now(), nextUpdateAt: now() + 86_400_000, rates }
    },
  }
}

async function snapshotOfTwoDays() {
  const { runtime, handler } = openService({ providers: { latest: shrinkingMarket() } })
  const { rates } = handler
  await rates.latest()
  await runtime.advance(2 * 86_400_000)
  await rates.refresh()
  return { rates, snapshot: await rates.snapshot() }
}

describe('a snapshot', () => {
  it('has plain decimals in the base of the publication, also for another requested base', async () => {
    const { rates, snapshot } = await snapshotOfTwoDays()
    const all = { EUR: '0.8', VND: '26000.0000001', XAU: '0.0000001', JPY: '150.25' }
    expect(snapshot).toMatchObject({ version: 1, base: 'USD', rates: all })
    const chosen = await rates.snapshot({ base: 'eur', symbols: ['vnd', 'DEM'] })
    expect(chosen).toMatchObject({ base: 'USD', rates: { EUR: '0.8', VND: '26000.0000001' } })
    expect(Object.keys(chosen.rates)).toEqual(['EUR', 'VND'])
    const own = JSON.parse(JSON.stringify(await rates.snapshot({ symbols: ['USD'] })))
    const [updatedAt, check] = [expect.any(Number), expect.any(String)]
    const source = { name: 'Market', url: 'https://market.example' }
    expect(own).toEqual({ version: 1, base: 'USD', rates: {}, updatedAt, source, check })
  })

  it('dates what was carried over from an earlier publication', async () => {
    const { rates, snapshot } = await snapshotOfTwoDays()
    const conversions: SnapshotConversionParams[] = [
      { from: 'EUR', to: 'JPY' },
      { from: 'EUR', to: 'USD' },
      { from: 'USD', to: ['VND', 'JPY'] },
    ]
    for (const params of conversions) {
      expect(convertAt(snapshot, params)).toEqual(await rates.convert(params))
    }
    const [one, other] = conversions.map((params) => convertAt(snapshot, params).updatedAt)
    expect(one).toBe((other ?? 0) - 2 * 86_400_000)
  })

  it('cannot be changed, and converts without a clock and without a network', async () => {
    const { snapshot } = await snapshotOfTwoDays()
    const parts = [snapshot, ...Object.values(snapshot)]
    expect(parts.filter((each) => !Object.isFrozen(each))).toEqual([])
    const used = () => expect.unreachable()
    const spies = [
      vi.spyOn(Date, 'now').mockImplementation(used),
      vi.spyOn(globalThis, 'fetch').mockImplementation(used),
      vi.spyOn(globalThis, 'setTimeout').mockImplementation(used),
    ]
    const { result } = convertAt(snapshot, { from: 'USD', to: 'EUR', amount: 3 })
    for (const spy of spies) spy.mockRestore()
    expect(result).toBe(2.4)
  })

  it('is an error if a character of it was changed', async () => {
    const { snapshot } = await snapshotOfTwoDays()
    const text = JSON.stringify(snapshot)
    let tried = 0
    for (const [at, before] of text.split('').entries()) {
      for (const after of ['0', '9', 'z'].filter((each) => each !== before)) {
        const damaged = parse(text.slice(0, at) + after + text.slice(at + 1))
        if (damaged === undefined) continue
        tried += 1
        expect(
          () => convertAt(damaged, { from: 'USD', to: 'EUR' }),
          JSON.stringify(damaged),
        ).toThrow(/^Invalid parameter: snapshot \((damaged|must be a snapshot of version 1)\)$/)
      }
    }
    expect(tried).toBeGreaterThan(250)
  })

  it.each<[change: unknown, hint: string]>([
    [{ version: 2 }, 'must be a snapshot of version 1'],
    [{ rates: { EUR: 0.8 } }, 'damaged'],
    [{ rates: undefined }, 'damaged'],
    [{ note: 'x' }, 'damaged'],
    [{ check: undefined }, 'damaged'],
    ...[undefined, null, 'x', 1, [], '{}'].map((value): [unknown, string] => [
      value,
      'must be a snapshot of version 1',
    ]),
  ])('is an error with %j', async (change, hint) => {
    const { snapshot } = await snapshotOfTwoDays()
    const isPart = typeof change === 'object' && change !== null && !Array.isArray(change)
    const changed = Object(isPart ? { ...snapshot, ...change } : change)
    const error = `Invalid parameter: snapshot (${hint})`
    expect(() => convertAt(changed, { from: 'USD', to: 'EUR' })).toThrow(error)
  })

  it.each([
    [{ from: 'USD', to: 'CHF' }, 'Invalid to currency: CHF (not in the snapshot)'],
    [{ from: 'chf', to: 'USD' }, 'Invalid from currency: chf (not in the snapshot)'],
    [{ from: 'USD', to: ['EUR', 'CHF'] }, 'Invalid to currency: CHF (not in the snapshot)'],
    [{ from: 'USD', to: 'GBp' }, 'Invalid to currency: GBp'],
    [{ from: 'USD', to: 'EUR', amount: -1 }, 'Invalid amount: -1 (must not be negative)'],
    [
      { from: 'USD', to: 'EUR', date: '2026-01-02' },
      'Invalid parameter: date (unknown; convertAt() takes from, to, amount, reverse, round)',
    ],
    [{ from: 'USD', to: 'EUR', amuont: 5 }, 'Invalid parameter: amuont (did you mean amount?)'],
    [{ to: 'EUR' }, 'Missing required parameter: from'],
  ])('refuses to convert %j', async (params, message) => {
    const { snapshot } = await snapshotOfTwoDays()
    expect(() => convertAt(snapshot, Object(params))).toThrow(message)
  })

  it.each([
    [{ symbols: 'USD' }, 'Invalid parameter: symbols (must be an array of codes)'],
    [{ change: '1D' }, 'Invalid parameter: change (use /v1/latest)'],
    [{ base: 'XXY' }, 'Invalid base currency: XXY'],
    [{ rule: 'next' }, 'Invalid parameter: rule (requires date)'],
  ])('is not taken with %j', async (params, message) => {
    const { rates } = openService().handler
    await expect(rates.snapshot(Object(params))).rejects.toThrow(message)
  })
})

function parse(text: string): RatesSnapshot | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
