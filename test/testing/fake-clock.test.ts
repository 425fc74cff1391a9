import { describe, expect, it } from 'vitest'

import { createRatesHandler } from '../../src/index.ts'
import { fakeClock, fakeProviders } from '../../src/testing/index.ts'
import type { FakeClock } from '../../src/testing/index.ts'

const MINUTE = 60_000
const DAY = 86_400_000

/** A publication lasts until the next, which comes up to 33 minutes late, and its refresh waits five minutes more. */
const PAST_PUBLICATION = DAY + 40 * MINUTE

/** A handler by `clock`, with the number of upstream calls for latest rates so far. */
function handlerBy(clock: FakeClock) {
  let calls = 0
  const handler = createRatesHandler({
    now: clock,
    providers: fakeProviders(),
    onEvent(event) {
      if (event.type === 'upstream_asked' && event.dataSet === 'latest') calls += 1
    },
  })
  async function latest() {
    const response = await handler(new Request('http://localhost/api/v1/latest'))
    const { updatedAt }: { updatedAt: number } = await response.json()
    return { updatedAt, cacheStatus: response.headers.get('cache-status'), status: response.status }
  }
  return { handler, latest, calls: () => calls }
}

describe('fakeClock()', () => {
  it('shows where it starts, and stands still', () => {
    expect(fakeClock()()).toBe(Date.UTC(2026, 0, 14, 18))
    const clock = fakeClock(7)
    expect([clock(), clock()]).toEqual([7, 7])
  })

  it.each([
    [Date.UTC(2026, 10, 20, 18)],
    [new Date(Date.UTC(2026, 10, 20, 18))],
    ['2026-11-20T18:00:00.000Z'],
    ['2026-11-20T18:00Z'],
    ['2026-11-20T19:00:00+01:00'],
  ])('starts at, and is set to, %j', (instant) => {
    expect(fakeClock(instant)()).toBe(Date.UTC(2026, 10, 20, 18))
    const clock = fakeClock(0)
    clock.set(instant)
    expect(clock()).toBe(Date.UTC(2026, 10, 20, 18))
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

  it.each([
    [NaN],
    [Infinity],
    [0.5],
    [9e15],
    [new Date(NaN)],
    [''],
    ['tomorrow'],
    ['2026-11-20T18:00:00'],
    ['2026-13-20'],
    ['20 Nov 2026 18:00 UTC'],
  ])('refuses %j as an instant', (instant) => {
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

describe('a handler by a fake clock', () => {
  it('has nothing to refresh while the clock stands still', async () => {
    const clock = fakeClock()
    const { handler, latest, calls } = handlerBy(clock)
    const first = await latest()
    expect(first.cacheStatus).toBe('rates; fwd=miss')
    clock.advance(10 * 60 * MINUTE)
    await handler.refresh()
    expect(await latest()).toMatchObject({
      updatedAt: first.updatedAt,
      cacheStatus: expect.stringMatching(/^rates; hit; ttl=\d+$/),
    })
    expect(calls()).toBe(1)
  })

  it('refreshes behind the next request once a day has passed', async () => {
    const clock = fakeClock()
    const { handler, latest, calls } = handlerBy(clock)
    const first = await latest()
    clock.advance(PAST_PUBLICATION)
    expect(calls()).toBe(1)
    const stale = await latest()
    expect(stale).toMatchObject({ updatedAt: first.updatedAt, status: 200 })
    expect(stale.cacheStatus).toMatch(/^rates; hit; ttl=-\d+; detail=stale$/)
    await handler.refresh()
    expect(calls()).toBe(2)
    const fresh = await latest()
    expect(fresh.updatedAt).toBe(first.updatedAt + DAY)
    expect(fresh.cacheStatus).toMatch(/^rates; hit; ttl=\d+$/)
  })
})
