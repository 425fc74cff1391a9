import { expect } from 'vitest'

import { expectRefusal } from './answers.ts'
import type { Meeting, Variant } from './case.ts'
import { REJECTED, failing, rewritten } from './forms.ts'
import { ask } from './journey.ts'
import { toLatestTruth } from './truth.ts'
import type { LatestBody } from './upstream.ts'

/** The first codes of the feed after its base: eight are less than 5 % of 166, nine are more. */
const FIRST = ['AED', 'AFN', 'ALL', 'AMD', 'ANG', 'AOA', 'ARS', 'AUD', 'AWG']
const TOLERATED = FIRST.slice(0, 8)

/** Why single bad rates are no 502. */
export const DROPPED =
  'Up to 5 % of bad rates are dropped and told of; only more, or a bad base, is a failure.'

/** The forms of a rate that is written as `literal`: in a few places, in too many, and as the base. */
export function badRates(literal: string): Variant[] {
  return [
    {
      name: `${literal} for eight codes`,
      verdict: 'accepted',
      inject: rewritten((good) => withRates(good, TOLERATED, literal)),
      serves: { latest: (body) => toLatestTruth(without(body, TOLERATED)) },
      told: ['rates_dropped'],
      meanwhile: expectLeftOut,
    },
    failing(
      `${literal} for nine codes`,
      rewritten((good) => withRates(good, FIRST, literal)),
      { told: REJECTED },
    ),
    failing(
      `${literal} for the base`,
      rewritten((good) => withRates(good, ['USD'], literal)),
      { told: REJECTED },
    ),
  ]
}

/** `body` with fewer codes. */
export function without(body: LatestBody, left: readonly string[]): LatestBody {
  const rates = Object.entries(body.rates).filter(([code]) => !left.includes(code))
  return { ...body, rates: Object.fromEntries(rates) }
}

function withRates(good: string, replaced: readonly string[], literal: string): string {
  return replaced.reduce(
    (text, code) => text.replace(new RegExp(`"${code}":[\\d.e-]+`), `"${code}":${literal}`),
    good,
  )
}

/** Demands that what was dropped is not there at all, and says so. */
async function expectLeftOut({ world, state }: Meeting): Promise<void> {
  if (state === 'fresh') return
  const [missing, alsoMissing, table] = await ask(world, [
    '/api/v1/convert?from=AED&to=EUR',
    '/api/convert?from=EUR&to=AED',
    '/api/rates',
  ])
  if (!missing || !alsoMissing || !table) throw new Error('nobody answered')
  expectRefusal(missing, 400, 'AED')
  expectRefusal(alsoMissing, 400, 'AED')
  expect(JSON.parse(table.body).rates).not.toHaveProperty('AED')
}
