import { expect } from 'vitest'

import { openErApiPayload } from '../../fixtures/upstream-payloads.ts'
import { product } from '../../oracle.ts'
import { expectGood, expectRefusal } from './answers.ts'
import { DROPPED, badRates } from './bad-rates.ts'
import type { FaultCase, Meeting } from './case.ts'
import { changedJson, changedLatest } from './forms.ts'
import { ask, askAll } from './journey.ts'
import { toLatestTruth, truthNow } from './truth.ts'
import type { LatestTruth, Truth } from './truth.ts'
import { answer } from './upstream.ts'
import type { LatestBody } from './upstream.ts'
import { START } from './world.ts'

const DAY = 86_400_000

const firstTable = toLatestTruth(JSON.parse(openErApiPayload({ now: START })))

/** 65.82 for one euro, as a feed really had it, against the dollar. */
const DRIFTED_LEV = 57

/** Faults of the numbers. */
export const values: readonly FaultCase[] = [
  {
    id: 'rate-zero',
    layer: 'values',
    fault: 'a rate is 0',
    contract: DROPPED,
    variants: ['0', '-0', '0.000000'].flatMap(badRates),
  },
  {
    id: 'rate-negative',
    layer: 'values',
    fault: 'a rate is negative',
    contract: DROPPED,
    variants: badRates('-0.86'),
  },
  {
    id: 'rate-tiny',
    layer: 'values',
    fault: 'a rate is too small to divide by',
    contract: DROPPED,
    variants: ['5e-324', '9.9e-10'].flatMap(badRates),
  },
  {
    id: 'rate-huge',
    layer: 'values',
    fault: 'a rate is larger than any',
    contract: DROPPED,
    variants: ['1e300', '1e999', '1.1e9'].flatMap(badRates),
  },
  {
    id: 'one-rate-1000x',
    layer: 'values',
    fault: 'one currency moves a thousandfold overnight',
    contract: 'With nothing usable to compare with, a table is believed as it is.',
    variants: [
      changedLatest('JPY', (body) => withRate(body, 'JPY', 1_000), {
        serves: { latest: heldBack('JPY', (body) => withRate(body, 'JPY', 1_000)) },
        // What was believed when there was nothing to compare with is what the right rate is then held back for.
        servesAfterwards: { latest: heldBack('JPY', (body) => body) },
        meanwhile: expectHeldBack,
        afterwards: expectConfirmed,
      }),
    ],
  },
  {
    id: 'stale-upstream-same-data',
    layer: 'values',
    fault: 'the same table is published for days',
    variants: [
      {
        name: 'the table of the first day',
        verdict: 'accepted',
        inject: ({ goodAt }) => answer(goodAt(START)),
        serves: { latest: (_body, before) => before?.latest ?? firstTable },
      },
    ],
  },
  {
    id: 'retired-currency-garbage',
    layer: 'values',
    fault: 'a withdrawn currency goes on drifting in the feed',
    contract: 'What law has fixed is served in its place, and told. All others stay right.',
    variants: [
      changedLatest('BGN', (body) => withLev(body), {
        serves: { latest: (body) => toLatestTruth(withLawfulLev(body)) },
        told: ['rates_corrected'],
        meanwhile: expectNoHistoryOfLev,
      }),
    ],
  },
]

function withRate(body: LatestBody, code: string, factor: number): LatestBody {
  return { ...body, rates: { ...body.rates, [code]: (body.rates[code] ?? NaN) * factor } }
}

function withLev(body: LatestBody): LatestBody {
  return { ...body, rates: { ...body.rates, BGN: DRIFTED_LEV } }
}

function withLawfulLev(body: LatestBody): LatestBody {
  const { EUR = NaN } = body.rates
  return { ...body, rates: { ...body.rates, BGN: product(EUR, 1.95583) } }
}

/** The changed table, but for a rate that is held back because it is too far from the one before. */
function heldBack(code: string, change: (body: LatestBody) => LatestBody) {
  return (body: LatestBody, before: Truth | undefined): LatestTruth => {
    const published = toLatestTruth(change(body))
    const known = before?.latest.rates[code]
    const ratio = (published.rates[code] ?? NaN) / (known ?? NaN)
    if (known === undefined || (ratio < 10 && ratio > 0.1)) return published
    return { ...published, rates: { ...published.rates, [code]: known } }
  }
}

function expectHeldBack({ world, state }: Meeting): void {
  const events = world.service.events.map(({ event }) => event)
  const told = events.filter(({ type }) => type === 'rates_held_back')
  expect(told).toHaveLength(state === 'warm' ? 1 : 0)
  if (state === 'warm') expect(told[0]).toMatchObject({ dataSet: 'latest', codes: ['JPY'] })
}

/** Demands that a move that the next publication confirms is served from then on. */
async function expectConfirmed({ world, state }: Meeting): Promise<void> {
  if (state !== 'warm') return
  const moved = (body: LatestBody): LatestBody => withRate(body, 'JPY', 1_000)
  const inject = changedJson(moved)
  const published = truthNow(world, undefined).latest.rates['JPY']
  for (const isConfirmed of [false, true]) {
    world.upstream.fault = { dataSet: 'latest', inject }
    await world.machine.advance(DAY)
    await askAll(world)
    await world.settle()
    const wanted = toLatestTruth(moved(world.upstream.latest(world.machine.now())))
    const [table] = await ask(world, ['/api/rates'])
    if (!table || published === undefined) throw new Error('nobody answered')
    const rates = isConfirmed ? wanted.rates : { ...wanted.rates, JPY: published }
    expectGood(table, { latest: { ...wanted, rates }, days: {}, today: '' }, ['fresh'])
  }
}

async function expectNoHistoryOfLev({ world }: Meeting): Promise<void> {
  const [reply] = await ask(world, ['/api/v1/history?from=BGN&to=EUR'])
  if (!reply) throw new Error('nobody answered')
  expectRefusal(reply, 400, 'BGN')
}
