import { describe, expect, it } from 'vitest'

import { fakeClock } from '../../src/testing/index.ts'

const DAY = 86_400_000

const EVENING = Date.UTC(2026, 10, 20, 18)
const SAME_INSTANT = ['2026-11-20T18:00:00.000Z', '2026-11-20T18:00Z', '2026-11-20T19:00:00+01:00']

const BAD_NUMBERS = [NaN, Infinity, 0.5, 9e15]
const BAD_STRINGS = ['', 'tomorrow', '2026-11-20T18:00:00', '2026-13-20', '20 Nov 2026 18:00 UTC']

describe('fakeClock()', () => {
  it('starts at the given time and stands still', () => {
    expect(fakeClock()()).toBe(Date.UTC(2026, 0, 14, 18))
    const clock = fakeClock(7)
    expect([clock(), clock()]).toEqual([7, 7])
  })

  it.each([EVENING, new Date(EVENING), ...SAME_INSTANT])('accepts the instant %j', (instant) => {
    expect(fakeClock(instant)()).toBe(EVENING)
    const clock = fakeClock(0)
    clock.set(instant)
    expect(clock()).toBe(EVENING)
  })

  it('reads a day as midnight UTC', () => {
    expect(fakeClock('2026-11-20')()).toBe(Date.UTC(2026, 10, 20))
  })

  it('advances by ms, and can be set back', () => {
    const clock = fakeClock(1_000)
    clock.advance(DAY)
    clock.advance(0)
    expect(clock()).toBe(1_000 + DAY)
    clock.set(5)
    expect(clock()).toBe(5)
  })

  it.each([...BAD_NUMBERS, new Date(NaN), ...BAD_STRINGS])('rejects the instant %j', (instant) => {
    expect(() => fakeClock(instant)).toThrow(TypeError)
    const clock = fakeClock(7)
    expect(() => clock.set(instant)).toThrow(TypeError)
    expect(() => clock.set(instant)).toThrow('ms since the Unix epoch')
    expect(clock()).toBe(7)
  })

  it.each([-1, 0.5, NaN, Infinity, Number.MAX_SAFE_INTEGER])('rejects a duration of %d', (ms) => {
    const clock = fakeClock(7)
    expect(() => clock.advance(ms)).toThrow(TypeError)
    expect(clock()).toBe(7)
  })
})
