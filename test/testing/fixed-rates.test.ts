import { describe, expect, it } from 'vitest'

import { createRatesHandler } from '../../src/index.ts'
import type { RatesEvent, RatesHandler } from '../../src/index.ts'
import { fakeClock, fixedProviders } from '../../src/testing/index.ts'
import type { FixedRates } from '../../src/testing/index.ts'

const DAY = 86_400_000

describe('fakeClock()', () => {
  const EVENING = Date.UTC(2026, 10, 20, 18)

  it('starts at the given time, stands still, advances and can be set back', () => {
    expect(fakeClock()()).toBe(Date.UTC(2026, 0, 14, 18))
    const clock = fakeClock(1_000)
    expect([clock(), clock()]).toEqual([1_000, 1_000])
    clock.advance(DAY)
    clock.advance(0)
    expect(clock()).toBe(1_000 + DAY)
    clock.set(5)
    expect(clock()).toBe(5)
  })

  it.each([
    EVENING,
    new Date(EVENING),
    '2026-11-20T18:00:00.000Z',
    '2026-11-20T18:00Z',
    '2026-11-20T19:00:00+01:00',
  ])('accepts the instant %j', (instant) => {
    expect(fakeClock(instant)()).toBe(EVENING)
    const clock = fakeClock('2026-11-20')
    expect(clock()).toBe(Date.UTC(2026, 10, 20))
    clock.set(instant)
    expect(clock()).toBe(EVENING)
  })

  const NO_STRINGS = ['', 'tomorrow', '2026-11-20T18:00:00', '2026-13-20', '20 Nov 2026 18:00 UTC']

  it.each([NaN, Infinity, 0.5, 9e15, new Date(NaN), ...NO_STRINGS])('rejects %j', (instant) => {
    expect(() => fakeClock(instant)).toThrow(TypeError)
    const clock = fakeClock(7)
    expect(() => clock.set(instant)).toThrow('ms since the Unix epoch')
    expect(clock()).toBe(7)
  })

  it.each([-1, 0.5, NaN, Infinity, Number.MAX_SAFE_INTEGER])('rejects a duration of %d', (ms) => {
    const clock = fakeClock(7)
    expect(() => clock.advance(ms)).toThrow(TypeError)
    expect(clock()).toBe(7)
  })
})

const TABLE = { base: 'EUR', rates: { USD: 2, JPY: 150 } }

function fixed(
  table: FixedRates = TABLE,
  now = fakeClock('2026-11-20T10:00:00Z'),
): RatesHandler & { events: RatesEvent[] } {
  const events: RatesEvent[] = []
  const onEvent = (event: RatesEvent): void => void events.push(event)
  const handler = createRatesHandler({ now, providers: fixedProviders(table), onEvent })
  return Object.assign(handler, { events })
}

describe('fixedProviders()', () => {
  it('takes rates as small and as large as those of any provider', async () => {
    const { latest } = fixedProviders({ base: 'EUR', rates: { JPY: 1e-90, USD: 1e90 } })
    const { rates } = createRatesHandler({ providers: { latest, history: false } })
    expect((await rates.latest({ base: 'EUR' })).rates).toEqual({ EUR: 1, JPY: 1e-90, USD: 1e90 })
  })

  it('converts exactly the listed currencies, of a copy of the table', async () => {
    const rates = { ...TABLE.rates }
    const handler = createRatesHandler({ providers: fixedProviders({ base: 'EUR', rates }) })
    rates.USD = 3
    const convert = async (from: string, to: string) =>
      handler.rates.convert({ from, to, amount: 10 })
    const source = { name: 'Fixed rates (ratesmith)' }
    expect(await convert('EUR', 'USD')).toMatchObject({ result: 20, source })
    const results = [await convert('USD', 'EUR'), await convert('USD', 'JPY')]
    expect(results.map(({ result }) => result)).toEqual([5, 750])
    await expect(convert('EUR', 'GBP')).rejects.toMatchObject({ code: 'invalid_currency' })
  })

  it('publishes every day at midnight UTC of the clock', async () => {
    const now = fakeClock('2026-11-20T10:00:00Z')
    const handler = fixed(TABLE, now)
    expect((await handler.rates.latest()).updatedAt).toBe(Date.UTC(2026, 10, 20))
    now.advance(40 * DAY)
    await handler.refresh()
    expect(await handler.rates.latest({ base: 'EUR' })).toMatchObject({
      updatedAt: Date.UTC(2026, 11, 30),
      nextUpdateAt: Date.UTC(2026, 11, 31),
      rates: { EUR: 1, ...TABLE.rates },
    })
  })

  const EIGHT = '2026-11-20T08:00:00Z'

  it.each([[EIGHT], [new Date(EIGHT)], [Date.parse(EIGHT)]])(
    'publishes at updatedAt %s, and next at nextUpdateAt',
    async (updatedAt) => {
      const times = { updatedAt: Date.parse(EIGHT), nextUpdateAt: Date.parse(EIGHT) + 60_000 }
      const { rates } = fixed({ ...TABLE, updatedAt, nextUpdateAt: times.nextUpdateAt })
      expect(await rates.latest()).toMatchObject(times)
    },
  )

  it('has the same rates on every working day since 1999', async () => {
    const { rates } = fixed()
    const { points } = await rates.history({ from: 'EUR', to: 'USD', period: '1W' })
    const days = ['13', '16', '17', '18', '19', '20']
    expect(points).toEqual(days.map((day) => ({ d: `2026-11-${day}`, r: 2 })))
    const first = await rates.convert({ from: 'USD', to: 'JPY', amount: 2, date: '1999-01-04' })
    expect(first).toMatchObject({ date: '1999-01-04', rate: 75, result: 150 })
  })

  it('has only the listed days of history, and causes no unusual events', async () => {
    const history = { '2026-11-18': { USD: 1.8 }, '2026-11-16': { USD: 1.6, GBP: 0.8 } }
    const { rates, events } = fixed({ ...TABLE, history })
    const { points } = await rates.history({ from: 'EUR', to: 'USD', period: '1M' })
    expect(points).toEqual([
      { d: '2026-11-16', r: 1.6 },
      { d: '2026-11-18', r: 1.8 },
    ])
    const on = (date: string) => rates.convert({ from: 'EUR', to: 'USD', amount: 10, date })
    expect(await on('2026-11-17')).toMatchObject({ date: '2026-11-16', result: 16 })
    await expect(on('2026-11-10')).rejects.toMatchObject({ code: 'no_data' })
    expect(await rates.convert({ from: 'EUR', to: 'USD' })).toMatchObject({ rate: 2 })
    const usual = ['upstream_request', 'upstream_response', 'refresh_scheduled', 'rates_updated']
    expect(events.filter(({ type }) => !usual.includes(type))).toEqual([])
  })

  const { base } = TABLE

  it.each<[object, RegExp]>([
    [{ ...TABLE, rate: {} }, /^unknown option "rate"; did you mean "rates"\?$/],
    [{}, /^base must be/],
    [{ ...TABLE, base: 'eur' }, /^base must be .* "eur"$/],
    [{ base }, /^rates must be an object, got undefined$/],
    [{ base, rates: {} }, /^rates must have .* EUR$/],
    [{ base, rates: { EUR: 1 } }, /^rates must have .* EUR$/],
    [{ base, rates: { USD: '2' } }, /^rates\.USD must be .* "2"$/],
    [{ base, rates: { USD: 0 } }, /^rates\.USD must be .* 0$/],
    [{ base, rates: { USD: NaN } }, /^rates\.USD must be .* NaN$/],
    [{ base, rates: { usd: 2 } }, /^rates must have .* "usd"$/],
    [{ base, rates: { USD: 2, EUR: 2 } }, /^rates\.EUR must be 1 .* 2$/],
    [{ ...TABLE, now: 7 }, /^now must be a function, got 7$/],
    [{ ...TABLE, updatedAt: '2026-11-20T08:00' }, /^updatedAt must be .* 2026-11-20T08:00$/],
    [{ ...TABLE, nextUpdateAt: NaN }, /^nextUpdateAt must be .* NaN$/],
    [{ ...TABLE, history: [] }, /^history must be an object/],
    [{ ...TABLE, history: {} }, /^history must have at least one day$/],
    [{ ...TABLE, history: { '2026-02-30': { USD: 1 } } }, /^history must have .*02-30"$/],
    [{ ...TABLE, history: { '1998-12-31': { USD: 1 } } }, /1999-01-04/],
    [{ ...TABLE, history: { '2026-01-02': { USD: -1 } } }, /^history\['2026-01-02'\]/],
  ])('throws a TypeError for %j', (table, message) => {
    const create = (): unknown => fixedProviders(Object(table))
    expect(create).toThrow(TypeError)
    expect(create).toThrow(message)
  })
})
