import { describe, expect, it } from 'vitest'

import type { LatestTable } from '../../src/index.ts'
import { countEqualDays } from '../../src/rates/repeated-rates.ts'
import { validateHistory } from '../../src/rates/validate.ts'
import { recordedHandler } from '../fixtures/recorded-handler.ts'
import { DAY, HOUR, virtualRuntime } from '../virtual-runtime.ts'

const MONDAY = Date.UTC(2026, 10, 16)
const FLOATING = { CHF: 0.8, EUR: 0.85, GBP: 0.75, JPY: 150, SEK: 9.5 }
const { SEK: _, ...FOUR } = FLOATING
const PEGGED = { AED: 3.6725, BHD: 0.376, JOD: 0.709, OMR: 0.3845, QAR: 3.64, SAR: 3.75 }

/** Returns the events of a bank that publishes twice a day from a Monday on: a letter is a table of that day, `-` none. */
async function reported(letters: string, rates: Record<string, number>) {
  const runtime = virtualRuntime(MONDAY + HOUR)
  let published: LatestTable | undefined
  const attribution = { name: 'Our bank', url: 'https://bank.example' }
  const latest = { attribution, fetchLatest: async () => published ?? Promise.reject(new Error()) }
  const { handler, eventsOf, get } = recordedHandler(runtime, {
    providers: { latest, history: false },
  })
  for (const letter of letters) {
    const factor = 1 + letter.charCodeAt(0) / 1_000
    const moved = Object.entries(rates).map(([code, rate]) => [code, rate * factor])
    for (let publication = 0; publication < 2; publication += 1) {
      const updatedAt = runtime.now()
      const nextUpdateAt = updatedAt + HOUR
      const table = { base: 'USD', updatedAt, nextUpdateAt, rates: Object.fromEntries(moved) }
      if (letter !== '-') published = table
      await handler.refresh()
      await runtime.advance(DAY / 2)
    }
  }
  expect(await (await get('/v1/latest')).json()).toMatchObject({ rates: published?.rates })
  return eventsOf('rates_repeated')
}

it.each([
  ['on the third day, once', 'a'.repeat(30), FLOATING, ['2026-11-18']],
  ['again after other rates', 'aaabbbbbb', FLOATING, ['2026-11-18', '2026-11-23']],
  ['not on two days', 'aabaab', FLOATING, []],
  ['not at a weekend', '----aaab', FLOATING, []],
  ['not on Monday, since Saturday', '----abbbc', FLOATING, []],
  ['not for a weekly publication', 'a------a------a------a', FLOATING, []],
  ['not for fewer than five currencies', 'aaaaa', FOUR, []],
  ['not for pegged currencies', 'aaaaa', PEGGED, []],
])('equal latest rates are reported %s: %s', async (_name, letters, rates, days) => {
  const about = { type: 'rates_repeated', dataSet: 'latest', provider: 'Our bank', count: 3 }
  expect(await reported(letters, rates)).toEqual(days.map((day) => ({ ...about, day })))
})

describe('countEqualDays()', () => {
  it.each<[string, object[], number]>([
    ['three equal days', [{}, {}, {}], 3],
    ['equal days before another', [{}, {}, { EUR: 0.9 }], 1],
    ['a single day', [{}], 1],
    ['a code that is new', [{}, { NOK: 10 }], 1],
    ['a code that has gone', [{ NOK: 10 }, {}], 2],
    ['no rate of the app', [{ XTS: 1 }, { XTS: 2 }], 2],
  ])('counts %s', (_name, changes, count) => {
    const days = changes.map((change, index) => {
      return { date: `2026-11-${17 + index}`, rates: { ...FLOATING, ...change } }
    })
    const { data } = validateHistory(
      { base: 'USD', days: days.map((day) => ({ ...day, derived: { XTS: 'overlay' } })) },
      MONDAY + 9 * DAY,
    )
    expect(countEqualDays(data)).toBe(count)
  })
})
