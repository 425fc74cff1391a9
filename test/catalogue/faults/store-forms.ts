import { expect } from 'vitest'

import { codes } from '../../fixtures/codes.ts'
import type { Meeting } from './case.ts'
import { TARGETS, ask } from './journey.ts'
import { createWorld } from './world.ts'
import type { Reply, World } from './world.ts'

const SECOND = 1_000

/** So many failures in a row make a store rest, for so long. */
const FAILURES = 5
const REST = 5 * SECOND

/** Demands that a store that never answers in time is left alone in between, upstream being down as well. */
export async function expectRest({ state, variant }: Meeting): Promise<void> {
  if (state !== 'cold') return
  const world = createWorld()
  const { machine, service } = world
  service.store.fault = variant.store
  world.upstream.fault = { dataSet: 'latest', inject: () => new Response(null, { status: 503 }) }
  for (let halves = 0; halves < 80; halves += 1) {
    const [reply] = await ask(world, ['/api/rates'])
    expect(reply?.status).toBe(502)
    await machine.advance(SECOND / 2)
  }
  const times = service.store.operations.map(({ at }) => at)
  expect(times.length).toBeGreaterThan(FAILURES)
  const gaps = times.slice(FAILURES).map((at, index) => at - (times[FAILURES - 1 + index] ?? NaN))
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(REST)
  service.handler.close()
  machine.close()
}

/** Asks three thousand questions that differ, beside the usual ones. */
export async function flood(world: World): Promise<Reply[]> {
  const known = ['USD', 'EUR', 'JPY', 'GBP', 'CHF', 'AUD', 'INR', 'SEK']
  const questions = codes(3_000).map((code, index) => {
    const pick = (step: number): string => known[(index + step) % known.length] ?? ''
    return [
      `/api/v1/latest?base=${pick(0)}&symbols=${pick(1)},${pick(2)}&junk=${index}`,
      `/api/v1/convert?from=${pick(0)}&to=${pick(3)}&amount=${index}`,
      `/api/v1/history?from=${pick(0)}&to=${pick(1)}&period=1W&x=${code}`,
      `/api/v1/latest?base=${code}`,
      `/api/convert?from=${code}&to=USD`,
    ][index % 5]
  })
  const targets = questions.filter((question) => question !== undefined)
  const replies = await ask(world, [...TARGETS, ...targets])
  const flooded = replies.slice(TARGETS.length)
  const valid = flooded.filter((_, index) => index % 5 < 3)
  expect(new Set(valid.map(({ status }) => status))).toEqual(new Set([200]))
  expect(new Set(flooded.map(({ status }) => status))).toEqual(new Set([200, 400]))
  return replies.slice(0, TARGETS.length)
}
