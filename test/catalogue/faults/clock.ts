import { expect } from 'vitest'

import type { FaultCase, Meeting, Variant } from './case.ts'
import { ask } from './journey.ts'
import { START } from './world.ts'
import type { World } from './world.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** A Thursday evening: both data sets are due again within a day. */
const THURSDAY = START - DAY

/** Faults of the clock. */
export const clock: readonly FaultCase[] = [
  {
    id: 'clock-jump-forward',
    layer: 'clock',
    fault: 'the clock jumps ahead',
    variants: [
      jumping('by a day', async (world, state) => {
        await world.machine.advance(5 * MINUTE)
        // A jump of a day makes data overdue; what is fresh must stay so over a shorter one, and a longer one expires.
        setClocks(world, { cold: DAY, warm: DAY, expired: 19 * DAY, fresh: HOUR }[state])
      }),
    ],
  },
  {
    id: 'clock-jump-back',
    layer: 'clock',
    fault: 'the clock is set back by a day',
    variants: [
      jumping('just after the first load', async (world, state) => {
        setClocks(world, -DAY)
        // A day later the clock shows the time of the first load; the data must not have stayed young.
        const later = { cold: 0, warm: 23 * HOUR, expired: 20 * DAY, fresh: 5 * MINUTE }
        await world.machine.advance(later[state])
      }),
    ],
  },
  {
    id: 'clock-skew-fleet',
    layer: 'clock',
    fault: 'the clocks of two processes differ by ten minutes',
    variants: [
      {
        name: 'the second one is ahead',
        verdict: 'accepted',
        world: { processes: [{}, { clockError: 10 * MINUTE }] },
        afterwards: expectNoPingPong,
      },
      {
        name: 'the second one is behind',
        verdict: 'accepted',
        world: { processes: [{}, { clockError: -10 * MINUTE }] },
        afterwards: expectNoPingPong,
      },
    ],
  },
  {
    id: 'leap-day-dst',
    layer: 'clock',
    fault: 'a leap day, a change to or from summer time, the end of a year',
    variants: [
      onDay('a leap day', '2028-02-29'),
      onDay('a month after a leap day', '2028-03-31'),
      onDay('the Friday before summer time, and before Easter', '2027-03-26'),
      onDay('the Friday before winter time', '2026-10-23'),
      onDay('the end of a year', '2026-12-30'),
    ],
  },
]

function jumping(name: string, arrive: Variant['arrive']): Variant {
  return {
    name,
    verdict: 'accepted',
    world: { start: THURSDAY },
    ...(arrive && { arrive }),
    end: (world) => setClocks(world, 0),
  }
}

function setClocks({ services }: World, error: number): void {
  for (const { process } of services) process.setClockError(error)
}

/** A world in which nothing is wrong but the date. */
function onDay(name: string, date: string): Variant {
  return { name, verdict: 'accepted', world: { start: Date.parse(`${date}T18:00:00Z`) } }
}

/** Demands that two processes agree without taking data from each other for ever. */
async function expectNoPingPong({ world }: Meeting): Promise<void> {
  const before = { latest: world.attempts('latest'), history: world.attempts('history') }
  const publications = new Map<string, number>()
  for (let hour = 0; hour < 3 * 24; hour += 1) {
    await world.machine.advance(HOUR)
    const replies = await ask(world, ['/api/rates', '/api/v1/history?from=EUR&to=USD&period=1W'])
    for (const [index, { body }] of replies.entries()) {
      const { updatedAt, points } = JSON.parse(body)
      const published: number = updatedAt ?? Date.parse(points.at(-1).d)
      expect(published).toBeGreaterThanOrEqual(publications.get(String(index)) ?? 0)
      publications.set(String(index), published)
    }
  }
  // Three days have at most three publications, which two processes load once each.
  expect(world.attempts('latest') - before.latest).toBeLessThanOrEqual(6)
  expect(world.attempts('history') - before.history).toBeLessThanOrEqual(6)
}
