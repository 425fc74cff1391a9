import * as fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'

import { lookUp, operations } from './document.ts'
import type { Parameter } from './document.ts'
import { ask, coveredCodes, exampleOf, outcomeOf } from './live.ts'
import { expectedOutcome } from './outcomes.ts'
import { allowedQueries, answerableQueries, refusedQueries, toSearch } from './questions.ts'
import type { Covered } from './questions.ts'

const RUNS = { seed: 20_261_122, numRuns: 200 }

/** The parameters of all operations, one of each name. */
const parameters = new Map(
  Object.values(Object(lookUp('#/components/parameters')))
    .map((parameter): Parameter => Object(parameter))
    .map((parameter) => [parameter.name, parameter]),
)

/** How it is told that a parameter has not the form that it is to have. */
const REFUSALS: Record<string, RegExp> = {
  base: /^400 invalid_currency$/,
  from: /^400 invalid_currency$/,
  to: /^400 invalid_currency$/,
  '/v1/convert to': /^400 invalid_(currency|parameter)$/,
  symbols: /^400 invalid_(currency|parameter)$/,
  amount: /^400 invalid_amount$/,
  reverse: /^400 invalid_parameter$/,
  date: /^400 invalid_parameter$/,
  period: /^400 invalid_period$/,
  start: /^400 invalid_parameter$/,
  end: /^400 invalid_parameter$/,
  interval: /^400 invalid_parameter$/,
  format: /^400 invalid_parameter$/,
}

/** The names that another operation means something by, which are refused where there is the second name. */
const MISTAKEN: Record<string, string> = { from: 'base', date: 'start' }

describe.each(operations)('$operationId', (operation) => {
  const names = operation.parameters.map(({ name }) => name)
  let codes: Covered

  beforeAll(async () => {
    codes = await coveredCodes(operation)
  })

  it('answers whatever there are rates for', async () => {
    const property = fc.asyncProperty(answerableQueries(operation, codes), async (query) => {
      expect(outcomeOf(await ask(operation, toSearch(query)))).toBe('200')
    })
    await fc.assert(property, RUNS)
  })

  it('refuses nothing that the document allows, but for what there is not and what does not go together', async () => {
    const property = fc.asyncProperty(allowedQueries(operation, codes), async (query) => {
      const outcome = outcomeOf(await ask(operation, toSearch(query)))
      expect(outcome).toMatch(expectedOutcome(operation, query))
    })
    await fc.assert(property, RUNS)
  })

  it.each(names)('refuses whatever the document does not allow of %s', async (name) => {
    const property = fc.asyncProperty(refusedQueries(operation, name, codes), async (query) => {
      expect(outcomeOf(await ask(operation, toSearch(query)))).toMatch(
        REFUSALS[`${operation.path} ${name}`] ?? REFUSALS[name] ?? /^$/,
      )
    })
    await fc.assert(property, RUNS)
  })

  it.each([...parameters])(
    'knows the parameter %s if the document says so',
    async (name, { example }) => {
      const others = exampleOf(operation).replace('?', '&')
      const twice = await ask(operation, `?${name}=${example}&${name}=${example}${others}`)
      const misspelt = await ask(operation, `?${name.toUpperCase()}=${example}${others}`)
      const isKnown = names.includes(name) || names.includes(MISTAKEN[name] ?? name)
      const expected = isKnown ? '400 invalid_parameter' : '200'
      expect([twice, misspelt].map(outcomeOf)).toEqual([expected, expected])
    },
  )

  it('wants what is required', async () => {
    for (const { name } of operation.parameters.filter(({ required }) => required)) {
      const query = new URLSearchParams(exampleOf(operation))
      query.delete(name)
      expect(outcomeOf(await ask(operation, `?${query}`))).toBe('400 missing_parameter')
    }
  })

  it('has the defaults that the document tells', async () => {
    const whole = await ask(operation, exampleOf(operation))
    for (const { name, schema } of operation.parameters) {
      if (schema.default === undefined) continue
      const query = new URLSearchParams(exampleOf(operation))
      query.set(name, String(schema.default))
      expect((await ask(operation, `?${query}`)).body).toBe(whole.body)
    }
  })
})
