import { describe, expect, it } from 'vitest'

import type { LatestProvider, LatestTable } from '../../src/index.ts'
import { seal } from '../fixtures/envelopes.ts'
import { DAY, HOUR, MINUTE, virtualRuntime } from '../virtual-runtime.ts'
import { EVENING as START, openWorld } from './world.ts'

/** How long overdue a table may be served: the default of the option. */
const MAX_STALE = 7 * DAY

const WIDE = { name: 'Wide', url: 'https://wide.example' }
const NARROW = { name: 'Narrow', url: 'https://narrow.example' }

const WIDE_RATES = { USD: 1, EUR: 0.8, JPY: 150, AED: 3.6725, BGN: 1.564664 }
const NARROW_RATES = { EUR: 1, USD: 1.3, JPY: 190 }

/** Starts a wide and a narrow provider that publish every day, the narrow one twelve hours after the wide one. */
function startMarket() {
  const runtime = virtualRuntime(START)
  const published = (offset: number): Pick<LatestTable, 'updatedAt' | 'nextUpdateAt'> => {
    const updatedAt = START + offset + Math.floor((runtime.now() - START - offset) / DAY) * DAY
    return { updatedAt, nextUpdateAt: updatedAt + DAY }
  }
  const store = new Map<string, string>()
  /** The state of the wide provider, and the tables passed to it for comparison. */
  const upstream = { isDown: false, previous: [] as (LatestTable | undefined)[], isStrict: false }
  const wide: LatestProvider = {
    attribution: WIDE,
    async fetchLatest({ previous }) {
      upstream.previous.push(previous)
      if (upstream.isDown) throw new Error('down')
      return { base: 'USD', rates: WIDE_RATES, ...published(0) }
    },
    async validateStored(table) {
      if (upstream.isStrict) throw new Error('not a market')
      return table
    },
  }
  const narrow: LatestProvider = {
    attribution: NARROW,
    fetchLatest: async () => ({ base: 'EUR', rates: NARROW_RATES, ...published(12 * HOUR) }),
  }
  const start = () => openWorld(runtime, { providers: { latest: [wide, narrow] }, store })
  return { runtime, store, upstream, start }
}

/** Starts a market whose wide provider goes down when its table is due, and a process with both tables. */
async function withFallback() {
  const market = startMarket()
  const process = market.start()
  await process.refresh()
  market.upstream.isDown = true
  // Twelve hours after the narrow one has published.
  await process.pass(DAY + 6 * MINUTE)
  expect(await process.read('/v1/latest')).toMatchObject({ source: NARROW })
  return { ...market, ...process }
}

/** The newest table lacks AED. */
const CONVERT = '/v1/convert?from=AED&to=USD'

const AED = { source: WIDE, updatedAt: START }
const NEWEST = { source: NARROW, updatedAt: START + 12 * HOUR }

type Process = ReturnType<typeof openWorld>

/** Expects that only the newest table is served: codes that it lacks are unavailable. */
async function expectNewestAlone({ get }: Pick<Process, 'get'>): Promise<void> {
  expect((await get('/v1/latest')).status).toBe(200)
  const { status, headers } = await get(CONVERT)
  expect([status, headers.get('retry-after')]).toEqual([502, '300'])
}

const invalid = (name: string) => ({
  error: { message: `Invalid ${name} currency: XYZ (see /v1/currencies)` },
})

describe('a wider table that was replaced', () => {
  const provider = 'Wide (https://wide.example)'

  it.each<[target: string, expected: object]>([
    [`${CONVERT}&amount=2`, { from: 'AED', rate: 0.2722940776, ...AED }],
    ['/v1/convert?from=usd&to=aed', { rate: 3.6725, ...AED }],
    [
      '/v1/convert?from=USD&to=AED,EUR',
      { results: { AED: { rate: 3.6725 }, EUR: { rate: 0.8 } }, ...AED },
    ],
    [`${CONVERT}&reverse=true`, AED],
    ['/convert?from=USD&to=AED', { rate: 3.6725, provider }],
    ['/v1/latest?base=AED', { ...AED, rates: { JPY: 40.84411164 } }],
    ['/v1/latest?symbols=usd,aed', { ...AED, rates: { USD: 1, AED: 3.6725 } }],
    ['/v1/latest?symbols=AED,BGN', { ...AED, rates: { AED: 3.6725 } }],
    ['/v1/latest?symbols=AED,EUR,JPY', { ...AED, rates: { EUR: 0.8, JPY: 150, AED: 3.6725 } }],
    ['/rates?base=AED', { updatedAt: START, provider }],
    // The newest table has all codes of these.
    ['/v1/latest', NEWEST],
    ['/v1/latest?base=JPY', NEWEST],
    ['/v1/latest?symbols=USD,EUR', NEWEST],
    ['/v1/convert?from=EUR&to=USD', { rate: 1.3, ...NEWEST }],
    // A withdrawn currency is left out as usual, without older rates.
    ['/v1/latest?symbols=EUR,BGN', { ...NEWEST, rates: { EUR: 0.7692307692 } }],
    // No table has these.
    ['/v1/convert?from=AED&to=XYZ', invalid('to')],
    ['/v1/latest?base=AED&symbols=XYZ', invalid('symbols')],
    ['/v1/latest?base=XYZ', invalid('base')],
  ])('is served only for codes that the newest table lacks: %s', async (target, expected) => {
    const { read } = await withFallback()
    expect(await read(target)).toMatchObject(expected)
  })

  it('is stale, with its own times', async () => {
    const { read, get, events, runtime } = await withFallback()
    events.length = 0
    await read(CONVERT)
    expect(events).toMatchObject([{ type: 'stale_served', dataSet: 'latest' }])
    for (const ttl of [-330, -331]) {
      const { headers } = await get(CONVERT)
      expect(headers.get('cache-status')).toBe(`rates; hit; ttl=${ttl}; detail=stale`)
      expect(headers.get('last-modified')).toBe(new Date(START).toUTCString())
      await runtime.advance(100)
    }
    expect(await (await get('/v1/latest?symbols=AED&format=csv')).text()).toContain('Wide')
    const { headers } = await get('/v1/convert?from=EUR&to=USD')
    expect(headers.get('cache-status')).toMatch(/^rates; hit; ttl=\d+$/)
  })

  it('survives refreshes of the narrow one until it is too old to be served, to the ms', async () => {
    const process = await withFallback()
    const { runtime, handler, read, pass } = process
    const end = START + DAY + MAX_STALE
    await pass(6 * DAY, 12 * HOUR)
    await pass(end - runtime.now())
    expect(await read(CONVERT)).toMatchObject(AED)
    expect(await read('/v1/latest')).toMatchObject({ updatedAt: START + 7 * DAY + 12 * HOUR })
    await runtime.advance(1)
    await expectNewestAlone(process)
    const { error } = await read('/v1/convert?from=BGN&to=USD')
    expect(error.message).toContain('Invalid from currency: BGN (withdrawn on 2026-01-01')
    const { currencies } = await handler.rates.currencies()
    expect(currencies.find(({ code }) => code === 'AED')?.latest).toBe(false)
    expect(runtime.timers()).toBe(0)
  })

  it('is dropped when its provider recovers, after a comparison with it', async () => {
    const { pass, read, store, upstream } = await withFallback()
    expect(store.get('rates:v1:latest')).toContain('"reserve"')
    upstream.isDown = false
    await pass(DAY)
    const before = { base: 'USD', updatedAt: START, rates: WIDE_RATES }
    expect(upstream.previous.at(-1)).toMatchObject(before)
    const updatedAt = START + 2 * DAY
    expect(await read(CONVERT)).toMatchObject({ source: WIDE, updatedAt })
    expect(await read('/v1/latest')).toMatchObject({ updatedAt })
    expect(store.get('rates:v1:latest')).not.toContain('"reserve"')
  })
})

type Change = (reserve: Record<string, unknown>) => unknown

function withStoredFallback(store: Map<string, string>, change: Change): void {
  const envelope = JSON.parse(store.get('rates:v1:latest') ?? '')
  envelope.data.reserve = change(envelope.data.reserve)
  store.set('rates:v1:latest', seal(envelope))
}

describe('a store', () => {
  it('passes the wider table and its age to another process', async () => {
    const { runtime, start } = await withFallback()
    const next = start()
    expect(await next.read('/v1/latest')).toMatchObject(NEWEST)
    expect(await next.read(CONVERT)).toMatchObject(AED)
    await runtime.advance(START + DAY + MAX_STALE - runtime.now())
    expect(await next.read(CONVERT)).toMatchObject(AED)
    await runtime.advance(1)
    await expectNewestAlone(next)
  })

  it('does not remove the wider table from a process that has one', async () => {
    const { store, runtime } = await withFallback()
    withStoredFallback(store, () => undefined)
    // This process cached the wide table before, and reads the narrow one only now.
    const fresh = startMarket()
    const other = fresh.start()
    await other.refresh()
    fresh.upstream.isDown = true
    await fresh.runtime.advance(runtime.now() - START)
    fresh.store.set('rates:v1:latest', store.get('rates:v1:latest') ?? '')
    await other.refresh()
    expect(other.eventsOf('rates_restored')).toHaveLength(1)
    expect(await other.read('/v1/latest')).toMatchObject(NEWEST)
    expect(await other.read(CONVERT)).toMatchObject(AED)
  })

  it.each<[string, Change]>([
    ['is not an object', () => 'text'],
    ['has an unknown source', (each) => ({ ...each, attribution: { name: 'Evil', url: 'e:' } })],
    ['has no rates', (reserve) => ({ ...reserve, table: { base: 'USD' } })],
    ['has no load time', (reserve) => ({ ...reserve, loadedAt: undefined })],
    ['is rejected by its provider', (reserve) => reserve],
  ])('restores the newest table where the fallback %s', async (what, change) => {
    const { store, start, upstream } = await withFallback()
    withStoredFallback(store, change)
    upstream.isStrict = what.startsWith('is rejected')
    const next = start()
    expect(await next.read('/v1/convert?from=EUR&to=USD')).toMatchObject(NEWEST)
    await expectNewestAlone(next)
    expect(next.eventsOf('rates_rejected')).toEqual([])
  })

  it('limits a load time in the future to now', async () => {
    const { store, start, runtime } = await withFallback()
    withStoredFallback(store, (reserve) => ({ ...reserve, loadedAt: START + 365 * DAY }))
    const next = start()
    expect(await next.read(CONVERT)).toMatchObject(AED)
    // It is due at most ten minutes after it was read.
    await runtime.advance(10 * MINUTE + MAX_STALE + 1)
    await expectNewestAlone(next)
  })
})

/** Starts a handler that has loaded each of `tables` from its named provider, a day after the previous one. */
async function startSuccession(...tables: readonly (readonly [name: string, codes: string])[]) {
  const runtime = virtualRuntime(START)
  let day = 0
  const names = [...new Set(tables.map(([name]) => name))]
  const latest = names.map((name): LatestProvider => ({
    attribution: { name, url: `https://${name.toLowerCase()}.example` },
    async fetchLatest() {
      const [up, codes = ''] = tables[day] ?? []
      if (up !== name) throw new Error('down')
      const rates = Object.fromEntries(codes.split(' ').map((code) => [code, 1]))
      return { base: 'USD', rates, updatedAt: runtime.now(), nextUpdateAt: runtime.now() + DAY }
    },
  }))
  const { handler, get, refresh, pass } = openWorld(runtime, { providers: { latest } })
  await refresh()
  for (day = 1; day < tables.length; day += 1) await pass(DAY + 6 * MINUTE)
  /** Returns the name of the provider whose table has a code, or `null`. */
  const sourceOf = (to: string): Promise<string | null> =>
    handler.rates
      .convert({ from: 'USD', to })
      .then(({ source }) => source.name)
      .catch(() => null)
  return { rates: handler.rates, get, sourceOf }
}

describe('the table that is kept as fallback', () => {
  const CODES = ['EUR', 'AED', 'NOK', 'SEK']

  it.each([
    ['USD EUR', 'USD EUR SEK', 'USD AED NOK', ['Third', 'First', 'First', null]],
    ['USD EUR', 'USD SEK NOK', 'USD EUR AED', ['Third', null, 'Second', 'Second']],
    ['USD EUR SEK', 'USD EUR SEK', 'USD AED', ['Third', 'First', null, 'Third']],
    ['USD EUR SEK AED', 'USD EUR SEK', 'USD AED', ['Third', 'Third', null, 'Third']],
  ])('has most of the codes that %j lacks: of %j and %j', async (loaded, now, then, expected) => {
    const tables = await startSuccession(['First', then], ['Second', now], ['Third', loaded])
    expect(await Promise.all(CODES.map(tables.sourceOf))).toEqual(expected)
  })

  it('is never an older one of the same provider; its rates are carried forward', async () => {
    const { rates, get, sourceOf } = await startSuccession(
      ['First', 'USD EUR AED'],
      ['First', 'USD EUR NOK'],
    )
    expect(await Promise.all(CODES.map(sourceOf))).toEqual(['First', 'First', 'First', null])
    // In one table, which is fresh.
    const both = await rates.latest({ symbols: ['AED', 'NOK'] })
    expect(both).toMatchObject({ updatedAt: START, older: { AED: START } })
    const { headers } = await get('/v1/latest?symbols=AED')
    expect(headers.get('cache-status')).toMatch(/^rates; hit; ttl=\d+$/)
  })

  it.each([
    [['SEK'], 'Narrow'],
    [['SEK', 'AED'], 'provider_unavailable'],
    [['AED', 'sek', 'USD'], 'provider_unavailable'],
    [['QQQ', 'AED'], 'invalid_currency'],
  ])('serves no part of %j: the newest has all, or its error counts', async (symbols, expected) => {
    const { rates } = await startSuccession(['Wide', 'USD EUR AED NOK'], ['Narrow', 'USD EUR SEK'])
    const served = rates.latest({ symbols }).then(
      ({ source }) => source.name,
      (error: unknown) => Object(error).code,
    )
    expect(await served).toBe(expected)
  })
})
