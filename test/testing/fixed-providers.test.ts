import { describe, expect, it } from 'vitest'

import { createRatesHandler } from '../../src/index.ts'
import type { RatesEvent, RatesHandler } from '../../src/index.ts'
import { fakeClock, fixedProviders } from '../../src/testing/index.ts'
import type { FixedRates } from '../../src/testing/index.ts'

const DAY = 86_400_000
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
  it.each([
    ['EUR', 'USD', 20],
    ['USD', 'EUR', 5],
    ['USD', 'JPY', 750],
    ['EUR', 'EUR', 10],
  ])('converts 10 %s to %s exactly', async (from, to, result) => {
    const { rates } = createRatesHandler({ providers: fixedProviders(TABLE) })
    expect(await rates.convert({ from, to, amount: 10 })).toMatchObject({
      result,
      source: { name: 'Fixed rates (ratesmith)' },
    })
  })

  it('has no currency that is not listed', async () => {
    await expect(fixed().rates.convert({ from: 'EUR', to: 'GBP' })).rejects.toMatchObject({
      code: 'invalid_currency',
    })
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

  it.each([
    ['2026-11-20T08:00:00Z'],
    [new Date('2026-11-20T08:00:00Z')],
    [Date.UTC(2026, 10, 20, 8)],
  ])('publishes at updatedAt %s, and next at nextUpdateAt', async (updatedAt) => {
    const instant = Date.UTC(2026, 10, 20, 8)
    const times = { updatedAt, nextUpdateAt: instant + 60_000 }
    expect(await fixed({ ...TABLE, ...times }).rates.latest()).toMatchObject({
      updatedAt: instant,
      nextUpdateAt: instant + 60_000,
    })
  })

  it('has the same rates on every working day since 1999', async () => {
    const { rates } = fixed()
    const { points } = await rates.history({ from: 'EUR', to: 'USD', period: '1W' })
    expect(points).toEqual(
      ['13', '16', '17', '18', '19', '20'].map((day) => ({ d: `2026-11-${day}`, r: 2 })),
    )
    expect(
      await rates.convert({ from: 'USD', to: 'JPY', amount: 2, date: '1999-01-04' }),
    ).toMatchObject({ date: '1999-01-04', rate: 75, result: 150 })
  })

  it('has only the listed days of history', async () => {
    const history = { '2026-11-18': { USD: 1.8 }, '2026-11-16': { USD: 1.6, GBP: 0.8 } }
    const handler = fixed({ ...TABLE, history })
    const { points } = await handler.rates.history({ from: 'EUR', to: 'USD', period: '1M' })
    expect(points).toEqual([
      { d: '2026-11-16', r: 1.6 },
      { d: '2026-11-18', r: 1.8 },
    ])
    const on = (date: string) => handler.rates.convert({ from: 'EUR', to: 'USD', amount: 10, date })
    expect(await on('2026-11-17')).toMatchObject({ date: '2026-11-16', result: 16 })
    await expect(on('2026-11-10')).rejects.toMatchObject({ code: 'no_data' })
    expect(await handler.rates.convert({ from: 'EUR', to: 'USD', amount: 10 })).toMatchObject({
      result: 20,
    })
  })

  it('causes no unusual events', async () => {
    const handler = fixed({ ...TABLE, history: { '2026-11-18': { USD: 1.8 } } })
    await handler.refresh()
    const usual = ['upstream_request', 'upstream_response', 'refresh_scheduled', 'rates_updated']
    expect(handler.events.filter(({ type }) => !usual.includes(type))).toEqual([])
  })

  it.each<[string, object, RegExp]>([
    ['an unknown key', { ...TABLE, rate: {} }, /^unknown option "rate"; did you mean "rates"\?$/],
    ['an empty object', {}, /^base must be/],
    ['a base in lower case', { ...TABLE, base: 'eur' }, /^base must be .* "eur"$/],
    ['no rates', { base: 'EUR' }, /^rates must be an object, got undefined$/],
    ['an empty table', { base: 'EUR', rates: {} }, /^rates must have .* EUR$/],
    ['the base alone', { base: 'EUR', rates: { EUR: 1 } }, /^rates must have .* EUR$/],
    ['a string', { base: 'EUR', rates: { USD: '2' } }, /^rates\.USD must be .* "2"$/],
    ['zero', { base: 'EUR', rates: { USD: 0 } }, /^rates\.USD must be .* 0$/],
    ['NaN', { base: 'EUR', rates: { USD: NaN } }, /^rates\.USD must be .* NaN$/],
    ['a code in lower case', { base: 'EUR', rates: { usd: 2 } }, /^rates must have .* "usd"$/],
    ['a base of 2', { base: 'EUR', rates: { USD: 2, EUR: 2 } }, /^rates\.EUR must be 1 .* 2$/],
    ['a number as clock', { ...TABLE, now: 7 }, /^now must be a function, got 7$/],
    [
      'a time without a zone',
      { ...TABLE, updatedAt: '2026-11-20T08:00' },
      /^updatedAt must be .* 2026-11-20T08:00$/,
    ],
    ['NaN as time', { ...TABLE, nextUpdateAt: NaN }, /^nextUpdateAt must be .* NaN$/],
    ['a list of days', { ...TABLE, history: [] }, /^history must be an object/],
    ['no days', { ...TABLE, history: {} }, /^history must have at least one day$/],
    [
      'an impossible day',
      { ...TABLE, history: { '2026-02-30': { USD: 1 } } },
      /^history must have .*02-30"$/,
    ],
    ['an early day', { ...TABLE, history: { '1998-12-31': { USD: 1 } } }, /1999-01-04/],
    ['a bad day', { ...TABLE, history: { '2026-01-02': { USD: -1 } } }, /^history\['2026-01-02'\]/],
  ])('throws a TypeError for %s', (_, table, message) => {
    const create = (): unknown => fixedProviders(Object(table))
    expect(create).toThrow(TypeError)
    expect(create).toThrow(message)
  })

  it('copies its table', async () => {
    const rates = { USD: 2 }
    const { latest } = fixedProviders({ base: 'EUR', rates })
    rates.USD = 3
    const handler = createRatesHandler({ providers: { latest } })
    expect((await handler.rates.convert({ from: 'EUR', to: 'USD' })).rate).toBe(2)
  })
})
