import { readFileSync } from 'node:fs'

import { describe, expect, test } from 'vitest'

import { turnOfLoop, watchEscapes } from '../advisories/escapes.ts'
import type { FaultCase, State } from '../faults/fault.ts'
import { HAS_RECORDINGS, NEEDS_RECORDINGS, recording } from '../recorded.ts'
import { cases, unusedNames } from './cases.ts'
import { CHECKS, expectGood, expectNothingLeft } from './checks.ts'
import { STATES, fill, sendAll, travel, truthNow, verdictIn } from './journey.ts'
import type { Variant } from './journey.ts'
import { createWorld } from './world.ts'

const escaped = watchEscapes()

describe.each(
  cases.map((fault) => [`${fault.layer}: ${fault.id}, ${fault.fault}`, fault] as const),
)('%s', (_, fault) => {
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

describe('the catalogue of upstream faults', () => {
  test('has unique ids, and uses only existing forms', () => {
    expect(new Set(cases.map(({ id }) => id)).size).toBe(cases.length)
    expect(unusedNames()).toEqual([])
  })

  describe.skipIf(!HAS_RECORDINGS)(`compared with the shared catalogue ${NEEDS_RECORDINGS}`, () => {
    test('has exactly its cases, and the ones found later', () => {
      const named = (list: readonly { id: string; layer: string }[]): string[] =>
        list.map(({ id, layer }) => `${layer} ${id}`).toSorted()
      const shared = cases.filter(({ id }) => !FOUND_LATER.includes(id))
      expect(named(shared)).toEqual(named(readEntries()))
      expect(cases.length - shared.length).toBe(FOUND_LATER.length)
    })

    test('names an alternative for every state without an expected response', () => {
      const silent = readEntries().flatMap((entry) =>
        (['cold', 'warm'] as const)
          .filter((state) => entry[state].status === 'n/a')
          .map((state) => `${entry.id} ${state}`),
      )
      const reported = cases.flatMap(({ id, instead = {} }) =>
        Object.keys(instead).map((state) => `${id} ${state}`),
      )
      expect(reported.toSorted()).toEqual(silent.toSorted())
    })

    test('expects another status only if a case cites the contract', () => {
      const wanted = new Map(readEntries().map((entry) => [entry.id, entry.cold.status]))
      const differing = cases.filter(({ id, forms }) =>
        forms.some((variant) => {
          const isRefused = verdictIn(variant, 'cold') === 'refused'
          return wanted.get(id) === (isRefused ? 200 : 502)
        }),
      )
      expect(differing.filter(({ contract }) => !contract).map(({ id }) => id)).toEqual([])
    })
  })
})

/** Found by attacks on 0.1.0. */
const FOUND_LATER = [
  'bad-major',
  'many-moved',
  'dated-ahead',
  'next-update-unit',
  'store-flipped-bit',
  'history-bad-day',
]

interface Entry {
  id: string
  layer: string
  cold: { status: number | string }
  warm: { status: number | string }
}

function readEntries(): Entry[] {
  return JSON.parse(readFileSync(recording('catalogue/upstream-faults.json'), 'utf8'))
}

/** Returns the forms to try; one is enough in a state without provider calls. */
function formsIn({ layer, forms }: FaultCase<Variant>, state: State): readonly Variant[] {
  const tried = forms.filter(({ needsPrevious }) => !needsPrevious || state === 'warm')
  const isOfCalls = !['clock', 'store', 'lifecycle'].includes(layer)
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
      } finally {
      }
    }
  }
  return failures
}
