import { expect, it } from 'vitest'

import { START, startChain } from '../sources/providers.ts'
import type { Chain } from '../sources/providers.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../virtual-runtime.ts'

/** How long overdue a value is served here, in ms. */
const MAX_STALE = 12 * HOUR

/** The longest time until a recovery is noticed, in ms: a call that hangs, and the longest backoff after it. */
const MAX_NOTICE_DELAY = 20 * SECOND + 5 * MINUTE

/** The number of requests at once when the upstream may be called again. */
const BURST = 20

/** The reference rates of a Friday are followed by those of Monday. */
const MONDAY = Date.UTC(2026, 10, 23, 15)

const LATEST = { dataSet: 'latest', target: '/v1/convert?from=USD&to=EUR', dueAt: START + DAY }
const HISTORY = { dataSet: 'history', target: '/v1/history?from=USD&to=EUR', dueAt: MONDAY }

/** Sends requests to a chain, and records the responses by the time of the request. */
function watch({ get, runtime, eventsOf }: Chain, { dataSet, target }: typeof LATEST) {
  const responses = {
    /** When each status was first and last returned, in ms since the Unix epoch. */
    statuses: new Map<number, { first: number; last: number }>(),
    /** Every `Retry-After`. */
    retryAfter: new Set<string>(),
    pending: 0,
    passUntil,
  }

  async function send(): Promise<void> {
    const sentAt = runtime.now()
    responses.pending += 1
    const { status, headers } = await get(target)
    responses.pending -= 1
    const { first } = responses.statuses.get(status) ?? { first: sentAt }
    responses.statuses.set(status, { first, last: sentAt })
    const seconds = headers.get('retry-after')
    if (seconds !== null) responses.retryAfter.add(seconds)
  }

  /** Lets time pass until `end`, with a request a minute and a burst whenever the upstream may be called again. */
  async function passUntil(end: number): Promise<void> {
    while (runtime.now() < end) {
      const scheduled = eventsOf('refresh_scheduled').filter((event) => event.dataSet === dataSet)
      // Rounded up: the ms before may be too soon.
      const burstAt = Math.ceil(scheduled.at(-1)?.at ?? 0)
      const minute = runtime.now() - (runtime.now() % MINUTE) + MINUTE
      const next = Math.min(end, minute, burstAt > runtime.now() ? burstAt : Infinity)
      await runtime.advance(next - runtime.now())
      const count = next === burstAt ? BURST : 1
      for (let sent = 0; sent < count; sent += 1) void send()
    }
    await runtime.advance(0)
  }

  return responses
}

it.each([
  { ...LATEST, condition: 'dead' },
  { ...LATEST, condition: 'stuck' },
  { ...HISTORY, condition: 'dead' },
  { ...HISTORY, condition: 'stuck' },
] as const)(
  'an upstream gets at most 300 calls a day for $dataSet while $condition',
  async (row) => {
    const maxStale = { latest: MAX_STALE, history: MAX_STALE }
    const chain = startChain(['healthy'], { maxStale })
    const { handler, runtime, conditions, calls } = chain
    await handler.refresh()
    await runtime.advance(row.dueAt - MINUTE - START)
    conditions[0] = row.condition
    calls.length = 0
    const responses = watch(chain, row)
    const { statuses, retryAfter, passUntil } = responses
    const expiredAt = row.dueAt + MAX_STALE + 1
    // No response is 5xx as long as the cached value may be served, to the ms.
    await passUntil(expiredAt - 1)
    expect([...statuses.keys()]).toEqual([200])
    await passUntil(expiredAt)
    await passUntil(row.dueAt + DAY)
    expect([...statuses.keys()]).toEqual([200, 502])
    expect([statuses.get(200)?.last, statuses.get(502)?.first]).toEqual([expiredAt - 1, expiredAt])
    // With fewer, a recovery would be noticed late.
    expect(calls.length).toBeGreaterThan(200)
    expect(calls.length).toBeLessThanOrEqual(300)
    expect(retryAfter.size).toBeGreaterThan(0)
    for (const seconds of retryAfter) expect(seconds).toMatch(/^([1-9]|[1-9]\d|[12]\d\d|300)$/)
    conditions[0] = 'healthy'
    const recoveredAt = runtime.now() + MAX_NOTICE_DELAY
    await passUntil(recoveredAt)
    expect(statuses.get(200)?.last).toBe(recoveredAt)
    await runtime.advance(20 * SECOND)
    expect([responses.pending, runtime.timers()]).toEqual([0, 0])
  },
)

it('an upstream that has failed a thousand times is called again when it recovers', async () => {
  const { handler, runtime, conditions, calls } = startChain(['dead'])
  for (let attempt = 0; attempt < 1_100; attempt += 1) {
    await handler.refresh()
    await runtime.advance(5 * MINUTE)
  }
  // Once for each of two data sets.
  expect(calls).toHaveLength(2_200)
  conditions[0] = 'healthy'
  expect(await handler.rates.latest()).toMatchObject({ base: 'USD' })
})
