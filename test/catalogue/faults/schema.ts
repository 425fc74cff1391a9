import { expect } from 'vitest'

import { expectRefusal } from './answers.ts'
import { DROPPED, badRates, without } from './bad-rates.ts'
import type { FaultCase, Meeting, Variant } from './case.ts'
import { REJECTED, changedLatest, failing, says, spoiltLatest } from './forms.ts'
import { ask } from './journey.ts'
import { toLatestTruth } from './truth.ts'
import { NONCE } from './upstream.ts'
import type { LatestBody } from './upstream.ts'

const MINUTE = 60_000

/** A code that no list of today has. */
const NEWCOMER = 'QQN'

/** Faults of the form of an answer. */
export const schema: readonly FaultCase[] = [
  {
    id: 'result-error',
    layer: 'schema',
    fault: 'a status of 200, and a body that says it is an error',
    variants: [
      told('quota-reached', 20 * MINUTE),
      ...[
        'unsupported-code',
        'malformed-request',
        'invalid-key',
        'inactive-account',
        'plan-upgrade-required',
      ].map((type) => told(type, 15 * MINUTE)),
      told(NONCE, 1_000),
    ],
  },
  {
    id: 'wrong-base-code',
    layer: 'schema',
    fault: 'the table of another base than the one asked for',
    variants: [
      spoiltLatest('a table of EUR', (body) => ({ ...againstEuro(body), base_code: 'EUR' })),
      spoiltLatest('the right table by the wrong name', (body) => ({ ...body, base_code: 'EUR' })),
      spoiltLatest('another table by the right name', againstEuro, { told: REJECTED }),
    ],
  },
  {
    id: 'missing-base-key',
    layer: 'schema',
    fault: 'the base is not in its own table',
    variants: [
      {
        ...changedLatest('no USD', (body) => without(body, ['USD'])),
        serves: { latest: (body) => toLatestTruth(body) },
      },
    ],
  },
  {
    id: 'missing-rates',
    layer: 'schema',
    fault: 'there is no field of rates',
    variants: [
      spoiltLatest('all but the rates', (body) => ({ ...body, rates: undefined })),
      failing('nothing but success', says('{"result":"success"}')),
    ],
  },
  {
    id: 'empty-rates',
    layer: 'schema',
    fault: 'the table is empty',
    variants: [
      spoiltLatest('no rates', (body) => ({ ...body, rates: {} })),
      spoiltLatest('only the base', (body) => ({ ...body, rates: { USD: 1 } })),
      failing('no fields', says('{}')),
      spoiltLatest('19 codes', (body) => ofLength(body, 19), { told: REJECTED }),
    ],
  },
  {
    id: 'half-table',
    layer: 'schema',
    fault: 'a quarter of the currencies is left',
    variants: [
      changedLatest('40 codes', (body) => ofLength(body, 40), {
        inState: { warm: 'refused' },
      }),
      changedLatest('79 % of the codes', (body) => ofLength(body, 132), {
        inState: { warm: 'refused' },
      }),
      changedLatest('81 % of the codes', (body) => ofLength(body, 134)),
    ],
  },
  {
    id: 'currency-left-feed',
    layer: 'schema',
    fault: 'a currency is not in the feed any more',
    variants: [
      changedLatest('BGN is gone', (body) => without(body, ['BGN']), { meanwhile: expectGone }),
    ],
  },
  {
    id: 'currency-joins-feed',
    layer: 'schema',
    fault: 'a code appears that nobody knows',
    variants: [
      changedLatest(NEWCOMER, (body) => ({ ...body, rates: { ...body.rates, [NEWCOMER]: 12.5 } }), {
        meanwhile: expectServed,
      }),
    ],
  },
  {
    id: 'rate-nan-string',
    layer: 'schema',
    fault: 'a rate is written as text',
    contract: DROPPED,
    variants: badRates('"0.86"'),
  },
  {
    id: 'rate-null',
    layer: 'schema',
    fault: 'a rate is null, true, an object or a list',
    contract: DROPPED,
    variants: ['null', 'true', '{}', '[]', '[0.86]'].flatMap(badRates),
  },
]

/** A form in which the feed says why it does not answer. */
function told(type: string, pause: number): Variant {
  const text = JSON.stringify({ result: 'error', 'error-type': type, documentation: NONCE })
  return failing(type, says(text), { pause })
}

/** `body` with the rates of EUR. */
function againstEuro(body: LatestBody): LatestBody {
  const { EUR = NaN } = body.rates
  const rebased = Object.entries(body.rates).map(([code, rate]) => [code, rate / EUR])
  return { ...body, rates: Object.fromEntries(rebased) }
}

/** `body` with its first `count` codes, and those that are asked for among them. */
function ofLength(body: LatestBody, count: number): LatestBody {
  const asked = ['USD', 'EUR', 'GBP', 'JPY']
  const others = Object.keys(body.rates).filter((code) => !asked.includes(code))
  return without(body, others.slice(count - asked.length))
}

/** Demands that the new code can be converted to. */
async function expectServed({ world, state }: Meeting): Promise<void> {
  if (state === 'fresh') return
  const [reply] = await ask(world, [`/api/v1/convert?from=USD&to=${NEWCOMER}&amount=2`])
  expect(JSON.parse(reply?.body ?? '')).toMatchObject({ rate: 12.5, result: 25 })
}

/** Demands that a currency that has left is refused by its name, and harms nobody who only lists it. */
async function expectGone({ world, state, now }: Meeting): Promise<void> {
  if (state === 'fresh') return
  const replies = await ask(world, [
    '/api/v1/latest?base=BGN',
    '/api/v1/convert?from=BGN&to=EUR',
    '/api/rates?base=BGN',
    '/api/convert?from=EUR&to=BGN',
  ])
  for (const reply of replies) expectRefusal(reply, 400, 'BGN')
  const [listed] = await ask(world, ['/api/v1/latest?symbols=EUR,BGN'])
  expect(listed?.status).toBe(200)
  expect(JSON.parse(listed?.body ?? '').rates).toEqual({ EUR: now?.latest.rates['EUR'] })
}
