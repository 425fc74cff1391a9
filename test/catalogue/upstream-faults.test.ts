import { existsSync, readFileSync } from 'node:fs'

import { describe, expect, test } from 'vitest'

import { turnOfLoop, watchEscapes } from '../advisories/escapes.ts'
import { expectGood } from './faults/answers.ts'
import { body } from './faults/body.ts'
import { STATES } from './faults/case.ts'
import type { FaultCase, State, Variant } from './faults/case.ts'
import { CHECKS, expectNothingLeft } from './faults/checks.ts'
import { clock } from './faults/clock.ts'
import { history } from './faults/history.ts'
import { http } from './faults/http.ts'
import { askAll, travel, verdictIn } from './faults/journey.ts'
import { lifecycle } from './faults/lifecycle.ts'
import { fabricated } from './faults/poisons.ts'
import { schema } from './faults/schema.ts'
import { store } from './faults/store.ts'
import { fill } from './faults/stored.ts'
import { time } from './faults/time.ts'
import { transport } from './faults/transport.ts'
import { truthNow } from './faults/truth.ts'
import { values } from './faults/values.ts'
import { createWorld } from './faults/world.ts'

const CATALOGUE = new URL('../../../shared/catalogue/upstream-faults.json', import.meta.url)

const cases: readonly FaultCase[] = [
  ...transport,
  ...http,
  ...body,
  ...schema,
  ...values,
  ...time,
  ...clock,
  ...history,
  ...store,
  ...lifecycle,
]

const escaped = watchEscapes()

describe.each(
  cases.map((fault) => [`${fault.layer}: ${fault.id}, ${fault.fault}`, fault] as const),
)('%s', (_, fault) => {
  test.each(STATES)('%s', { timeout: 30_000 }, async (state) => {
    const failures = await tryAll(fault, state)
    expect(failures.join('\n')).toBe('')
  })
})

test('no fault lets anything escape', async () => {
  await turnOfLoop()
  expect(escaped).toEqual([])
})

test('what the poisoned stores hold would be served, were it not for the poison', async () => {
  const world = createWorld()
  fill(world, (key) => JSON.stringify(fabricated(key, world)))
  const truth = truthNow(world, undefined)
  for (const reply of await askAll(world)) expectGood(reply, truth, ['fresh'])
  expect(world.upstream.calls).toEqual([])
  world.machine.close()
})

describe('the catalogue of upstream faults', () => {
  test('names no case twice', () => {
    expect(new Set(cases.map(({ id }) => id)).size).toBe(cases.length)
  })

  describe.skipIf(!existsSync(CATALOGUE))('as it is shared', () => {
    test('has exactly these cases', () => {
      const named = (list: readonly { id: string; layer: string }[]): string[] =>
        list.map(({ id, layer }) => `${layer} ${id}`).toSorted()
      expect(named(cases)).toEqual(named(readEntries()))
    })

    test('has no answer for some states, of which the cases say what is tried instead', () => {
      const silent = readEntries().flatMap((entry) =>
        (['cold', 'warm'] as const)
          .filter((state) => entry[state].status === 'n/a')
          .map((state) => `${entry.id} ${state}`),
      )
      const told = cases.flatMap(({ id, instead = {} }) =>
        Object.keys(instead).map((state) => `${id} ${state}`),
      )
      expect(told.toSorted()).toEqual(silent.toSorted())
    })

    test('wants other answers only where a case says what the contract has against them', () => {
      const wanted = new Map(readEntries().map((entry) => [entry.id, entry.cold.status]))
      const differing = cases.filter(({ id, variants }) =>
        variants.some((variant) => {
          const isRefused = verdictIn(variant, 'cold') === 'refused'
          return wanted.get(id) === (isRefused ? 200 : 502)
        }),
      )
      expect(differing.filter(({ contract }) => !contract).map(({ id }) => id)).toEqual([])
    })
  })
})

interface Entry {
  id: string
  layer: string
  cold: { status: number | string }
  warm: { status: number | string }
}

function readEntries(): Entry[] {
  return JSON.parse(readFileSync(CATALOGUE, 'utf8'))
}

/** Where no call is made, one form of what can happen to it is enough. */
function formsIn({ layer, variants }: FaultCase, state: State): readonly Variant[] {
  const isOfCalls = !['clock', 'store', 'lifecycle'].includes(layer)
  return state === 'fresh' && isOfCalls ? variants.slice(0, 1) : variants
}

/** Tries every form of `fault`; what was wrong, by the names of the checks. */
async function tryAll(fault: FaultCase, state: State): Promise<string[]> {
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
        note('on the way', error)
      } finally {
        world.machine.close()
      }
    }
  }
  return failures
}
