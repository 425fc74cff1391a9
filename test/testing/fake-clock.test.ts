import { describe, expect, it } from 'vitest'

import { fakeClock } from '../../src/testing/index.ts'

const DAY = 86_400_000

const EVENING = Date.UTC(2026, 10, 20, 18)
const SAME = ['2026-11-20T18:00:00.000Z', '2026-11-20T18:00Z', '2026-11-20T19:00:00+01:00']

const NO_NUMBERS = [NaN, Infinity, 0.5, 9e15]
const NO_TEXTS = ['', 'tomorrow', '2026-11-20T18:00:00', '2026-13-20', '20 Nov 2026 18:00 UTC']

describe('fakeClock()', () => {
  it('shows where it starts, and stands still', () => {
    expect(fakeClock()()).toBe(Date.UTC(2026, 0, 14, 18))
    const clock = fakeClock(7)
    expect([clock(), clock()]).toEqual([7, 7])
  })

  it.each([EVENING, new Date(EVENING), ...SAME])('starts at, and is set to, %j', (instant) => {
    expect(fakeClock(instant)()).toBe(EVENING)
    const clock = fakeClock(0)
    clock.set(instant)
    expect(clock()).toBe(EVENING)
  })

  it('takes a day for its start in UTC', () => {
    expect(fakeClock('2026-11-20')()).toBe(Date.UTC(2026, 10, 20))
  })

  it('goes on by so many ms, and back where it is set', () => {
    const clock = fakeClock(1_000)
    clock.advance(DAY)
    clock.advance(0)
    expect(clock()).toBe(1_000 + DAY)
    clock.set(5)
    expect(clock()).toBe(5)
  })

  it.each([...NO_NUMBERS, new Date(NaN), ...NO_TEXTS])('refuses %j as an instant', (instant) => {
    expect(() => fakeClock(instant)).toThrow(TypeError)
    const clock = fakeClock(7)
    expect(() => clock.set(instant)).toThrow('an instant is whole ms')
    expect(clock()).toBe(7)
  })

  it.each([-1, 0.5, NaN, Infinity, Number.MAX_SAFE_INTEGER])('does not advance by %d', (length) => {
    const clock = fakeClock(7)
    expect(() => clock.advance(length)).toThrow(TypeError)
    expect(clock()).toBe(7)
  })
})
