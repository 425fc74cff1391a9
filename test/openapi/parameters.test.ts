import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { parameterSchemas } from '../../src/openapi/parameter-schemas.ts'
import { faultsOf, lookUp, textFaultsOf } from './document.ts'
import type { Parameter } from './document.ts'
import { nearTexts } from './texts.ts'

const RUNS = { seed: 20_261_122, numRuns: 1_500 }

/** What no pattern can say of an amount: whether a double can hold it. */
function isBeyondDoubles(text: string): boolean {
  const value = Number(text)
  return value === Infinity || (value === 0 && /^[^eE]*[1-9]/.test(text))
}

function documented(name: string): Parameter {
  return Object(lookUp(`#/components/parameters/${name}`))
}

describe.each(Object.entries(parameterSchemas))('the parameter %s', (name, schema) => {
  const { schema: told, required } = documented(name)
  const isTold = (text: string): boolean => textFaultsOf(told, text) === ''
  const isTaken = (text: string): boolean => schema.safeParse(text).success

  it('is refused and accepted by the document as by the handler', () => {
    const met = { accepted: 0, refused: 0 }
    fc.assert(
      fc.property(nearTexts(told), (text) => {
        const isExcepted = name === 'amount' && isTold(text) && isBeyondDoubles(text)
        expect(isTold(text)).toBe(isTaken(text) || isExcepted)
        met[isTaken(text) ? 'accepted' : 'refused'] += 1
      }),
      RUNS,
    )
    expect(Math.min(met.accepted, met.refused)).toBeGreaterThan(RUNS.numRuns / 20)
  })

  it('may be left out if the document says so', () => {
    expect(schema.safeParse(undefined).success).toBe(!required)
  })
})

describe('an amount', () => {
  const { schema } = documented('amount')

  it.each(['1e309', '1e-400', `${'9'.repeat(60)}e999`])(
    'of %s has the form, but no double is so large or so small',
    (text) => {
      expect(faultsOf(schema, text)).toBe('')
      expect(parameterSchemas.amount.safeParse(text).success).toBe(false)
    },
  )

  it.each(['0e999', '1e308', '5e-324', '0'])('of %s is one', (text) => {
    expect(faultsOf(schema, text)).toBe('')
    expect(parameterSchemas.amount.safeParse(text).success).toBe(true)
  })
})
