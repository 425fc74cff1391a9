import { describe, expect, test } from 'vitest'

import { turnOfLoop, watchEscapes } from '../advisories/escapes.ts'
import type { FaultCase, State } from '../faults/fault.ts'
import { cases, unusedNames } from './cases.ts'
import { CHECKS, expectGood, expectNothingLeft } from './checks.ts'
import { STATES, fill, sendAll, travel, truthNow } from './journey.ts'
import type { Variant } from './journey.ts'
import { createWorld } from './world.ts'

const escaped = watchEscapes()

describe.each(cases)('$layer: $id', (fault) => {
  test.each(STATES)('%s', { timeout: 30_000 }, async (state) => {
    const failures = await tryAll(fault, state)
    expect(failures.join('\n')).toBe('')
  })
})

test('no fault causes an unhandled error', async () => {
  await turnOfLoop()
  expect(escaped).toEqual([])
})

test('serves the values of the poisoned stores without the poison', async () => {
  const world = createWorld()
  fill(world)
  const truth = truthNow(world, undefined)
  for (const response of await sendAll(world)) expectGood(response, truth, ['fresh'])
  expect(world.upstream.calls).toEqual([])
})

test('the catalogue has unique ids, and uses only existing forms', () => {
  expect(new Set(cases.map(({ id }) => id)).size).toBe(cases.length)
  expect(cases).toHaveLength(98)
  expect(unusedNames()).toEqual([])
})

/** Returns the forms to try; one is enough in a state without provider calls. */
function formsIn({ layer, forms }: FaultCase<Variant>, state: State): readonly Variant[] {
  const tried = forms.filter(({ needsPrevious }) => !needsPrevious || state === 'warm')
  const isOfCalls = !['clock', 'store'].includes(layer)
  return state === 'fresh' && isOfCalls ? tried.slice(0, 1) : tried
}

/** Tries every form of `fault`; returns failures with the names of the checks. */
async function tryAll(fault: FaultCase<Variant>, state: State): Promise<string[]> {
  const failures: string[] = []
  for (const variant of formsIn(fault, state)) {
    for (const dataSet of variant.dataSets ?? (['latest'] as const)) {
      const world = createWorld(variant.world)
      const note = (check: string, error: unknown): void => {
        failures.push(`${variant.name}, ${dataSet}: ${check}: ${String(error)}`)
      }
      try {
        const journey = await travel(world, variant, dataSet, state)
        for (const [name, check] of Object.entries(CHECKS)) {
          try {
            check(journey)
          } catch (error) {
            note(name, error)
          }
        }
        await expectNothingLeft(journey)
      } catch (error) {
        note('during the journey', error)
      }
    }
  }
  return failures
}
