import { expect, it } from 'vitest'

import type { HistoryDay, LatestTable } from '../../src/index.ts'
import { DAY, HOUR, virtualRuntime } from '../virtual-runtime.ts'
import { EVENING, openBank, openWorld } from './world.ts'

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
  const { handler, eventsOf, read } = openWorld(runtime, { providers: { latest, history: false } })
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
  expect(await read('/v1/latest')).toMatchObject({ rates: published?.rates })
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

const OWN = { XTS: 'overlay' }
const QUOTED = { CZK: 24, HUF: 385, MXN: 21, THB: 37, TRY: 49 }

const isLate = ({ date }: HistoryDay): boolean => date > '2026-11-18'

it.each<[string, (day: HistoryDay) => Record<string, unknown>, string[]]>([
  ['after the third day, once in a month', () => ({}), ['2026-11-20']],
  ['not before another', ({ date }) => (date === '2026-11-20' ? { TRY: 50 } : {}), ['2026-11-25']],
  ['not with a code that is new', (day) => (isLate(day) ? { NOK: 11 } : {}), ['2026-11-23']],
  ['also where a code has gone', (day) => (isLate(day) ? {} : { NOK: 11 }), ['2026-11-20']],
  [
    'apart from rates of the app',
    ({ date }) => ({ derived: OWN, XTS: +date.slice(8) }),
    ['2026-11-20'],
  ],
])('equal reference rates are reported %s', async (_name, change, days) => {
  const { ask, eventsOf } = openBank({
    sanityChecks: true,
    maxDays: 366,
    hasSeries: false,
    start: EVENING - 3 * DAY,
    change: ({ days }) => ({
      base: 'EUR',
      days: days.map((day) => {
        const { derived, ...own } = change(day)
        // Moves by 0.1 % a day until Wednesday.
        const moved = Math.min(0, Date.parse(day.date) - Date.parse('2026-11-18')) / DAY / 1_000
        const quoted = Object.entries(QUOTED).map(([code, rate]) => [code, rate * (1 + moved)])
        const rates = { ...Object.fromEntries(quoted), ...own }
        return { date: day.date, rates, ...Object(derived && { derived }) }
      }),
    }),
  })
  const target = '/v1/history?from=EUR&to=HUF&start=2026-11-18'
  const served = (await ask(target, 21 * DAY, DAY)).at(-1).points
  expect(served.length).toBeGreaterThan(12)
  const about = { type: 'rates_repeated', dataSet: 'history', provider: 'Bank', count: 3 }
  expect(eventsOf('rates_repeated')).toEqual(days.map((day) => ({ ...about, day })))
})
