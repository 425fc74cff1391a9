import { openErApiPayload } from '../../fixtures/upstream-payloads.ts'
import type { FaultCase } from './case.ts'
import { REJECTED, changedLatest, spoiltLatest } from './forms.ts'
import { toLatestTruth } from './truth.ts'
import { answer } from './upstream.ts'
import type { LatestBody } from './upstream.ts'
import { START } from './world.ts'

const DAY = 86_400_000
const DAY_SECONDS = 86_400

/** Faults of the times in an answer. */
export const time: readonly FaultCase[] = [
  {
    id: 'missing-next-update',
    layer: 'time',
    fault: 'nothing is said of the next update',
    variants: [
      withNextUpdate('absent', undefined),
      withNextUpdate('null', null),
      withNextUpdate('0', 0),
    ],
  },
  {
    id: 'missing-last-update',
    layer: 'time',
    fault: 'nothing is said of the last update',
    variants: [undefined, null, 0, 'today'].map((value) =>
      spoiltLatest(String(value), (body) => ({ ...body, time_last_update_unix: value })),
    ),
  },
  {
    id: 'next-before-last',
    layer: 'time',
    fault: 'the next update is before the last one',
    variants: [
      changedLatest('by a day', (body) => ({
        ...body,
        time_next_update_unix: body.time_last_update_unix - DAY_SECONDS,
      })),
      changedLatest('in 1970', (body) => ({ ...body, time_next_update_unix: 1 })),
    ],
  },
  {
    id: 'seconds-vs-millis',
    layer: 'time',
    fault: 'times are in ms where they were in seconds',
    variants: [
      spoiltLatest(
        'both',
        (body) => ({
          ...body,
          time_last_update_unix: body.time_last_update_unix * 1_000,
          time_next_update_unix: body.time_next_update_unix * 1_000,
        }),
        { told: REJECTED },
      ),
    ],
  },
  {
    id: 'upstream-http-cache',
    layer: 'time',
    fault: 'a cache on the way answers with an older publication',
    contract:
      'What was published before the data that were held last is not believed, however old those are.',
    variants: [
      {
        name: 'the table of the day before the first',
        verdict: 'accepted',
        inState: { warm: 'refused', expired: 'refused' },
        inject: ({ goodAt }) => answer(goodAt(START - DAY)),
        serves: { latest: () => toLatestTruth(JSON.parse(openErApiPayload({ now: START - DAY }))) },
      },
    ],
  },
]

function withNextUpdate(name: string, value: number | null | undefined) {
  const change = (body: LatestBody): object => ({ ...body, time_next_update_unix: value })
  return {
    ...spoiltLatest(name, change),
    verdict: 'accepted',
    serves: { latest: (body: LatestBody) => toLatestTruth({ ...body, time_next_update_unix: 0 }) },
  } as const
}
