// oxlint-disable vitest/no-standalone-expect -- upstream-faults.test.ts calls the expectations
import { expect } from 'vitest'

import { STORE_FAULTS, UPSTREAM_FAULTS } from '../faults/all.ts'
import { entriesOf, rewritten, toLatestTruth } from '../faults/fault.ts'
import type { DataSet, FaultCase } from '../faults/fault.ts'
import { openErApiPayload } from '../fixtures/upstream-payloads.ts'
import { DAY, SECOND } from '../virtual-runtime.ts'
import { expectGood } from './checks.ts'
import { fill, sendAll, truthNow } from './journey.ts'
import type { Variant } from './journey.ts'
import { START } from './world.ts'
import type { World } from './world.ts'

/** How to trigger a fault, and further expectations, by id or full name of a form. */
const MORE: Readonly<Record<string, Partial<Variant>>> = {
  'abort-ignored: a fetch that answers late with another table': { afterwards: expectDiscarded },
  'http-410: 410': { afterwards: expectEndEvent },
  'stale-upstream-same-data': {
    serves: { latest: (_body, before) => before ?? publishedAt(START) },
  },
  // A process that never had a rate for EUR returns a client error.
  'bad-major: missing': { needsPrevious: true },
  'upstream-http-cache': { serves: { latest: () => publishedAt(START - DAY) } },
  'store-readonly: READONLY, with what another process wrote before': {
    begin: (world) => fill(world),
    attempts: { cold: 0, warm: 0, expired: 0 },
  },
}

const clock = entriesOf<Variant>('clock', {
  'leap-day-dst': [
    onDay('a leap day', '2028-02-29'),
    onDay('a month after a leap day', '2028-03-31'),
    onDay('the Friday before summer time, and before Easter', '2027-03-26'),
    onDay('the Friday before winter time', '2026-10-23'),
    onDay('the end of a year', '2026-12-30'),
  ],
})

/** Every entry of the catalogue, with the steps to try it. */
export const cases: readonly FaultCase<Variant>[] = [
  ...[...UPSTREAM_FAULTS, ...STORE_FAULTS].map((fault) => ({
    ...fault,
    forms: fault.forms.map((form) => ({
      ...form,
      ...MORE[fault.id],
      ...MORE[`${fault.id}: ${form.name}`],
    })),
  })),
  ...clock,
]

export function unusedNames(): string[] {
  const names = cases.flatMap(({ id, forms }) => [id, ...forms.map(({ name }) => `${id}: ${name}`)])
  return Object.keys(MORE).filter((name) => !names.includes(name))
}

function publishedAt(now: number) {
  return toLatestTruth(JSON.parse(openErApiPayload({ now })))
}

async function expectDiscarded(world: World): Promise<void> {
  await world.machine.advance(30 * SECOND)
  const responses = await sendAll(world)
  for (const response of responses) expectGood(response, truthNow(world, undefined), ['fresh'])
}

/** Expects an event for the announced end of the feed while it still works. */
async function expectEndEvent(world: World, dataSet: DataSet): Promise<void> {
  if (dataSet !== 'latest') return
  const endsAt = world.machine.now() + 60 * DAY
  const inject = rewritten((good) =>
    good.replace('"time_eol_unix":0', `"time_eol_unix":${endsAt / SECOND}`),
  )
  world.upstream.fault = { dataSet, inject }
  await world.machine.advance(4 * DAY)
  await sendAll(world)
  await world.settle()
  const events = world.events.map(({ event }) => event)
  expect(events).toContainEqual(expect.objectContaining({ type: 'upstream_ending', endsAt }))
}

function onDay(name: string, date: string): Variant {
  return { name, verdict: 'accepted', world: { start: Date.parse(`${date}T18:00:00Z`) } }
}
