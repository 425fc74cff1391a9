import * as fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'

import { lookUp, operations } from './document.ts'
import { ask, coveredCodes, exampleOf, outcomeOf } from './live.ts'
import { allowedQueries, answerableQueries, refusedQueries, toSearch } from './questions.ts'

const RUNS = { seed: 20_261_122, numRuns: 200 }

/** The parameters of all operations. */
const NAMES = Object.keys(Object(lookUp('#/components/parameters')))

/** How it is told that a parameter has not the form that it is to have. */
const REFUSALS: Record<string, RegExp> = {
  base: /^400 invalid_currency$/,
  from: /^400 invalid_currency$/,
  to: /^400 invalid_currency$/,
  symbols: /^400 invalid_(currency|parameter)$/,
  amount: /^400 invalid_amount$/,
  period: /^400 invalid_period$/,
  format: /^400 invalid_parameter$/,
}

describe.each(operations)('$operationId', (operation) => {
  const names = operation.parameters.map(({ name }) => name)
  let codes: string[]

  beforeAll(async () => {
    codes = await coveredCodes(operation)
  })

  it('answers whatever there are rates for', async () => {
    const property = fc.asyncProperty(answerableQueries(operation, codes), async (query) => {
      expect(outcomeOf(await ask(operation, toSearch(query)))).toBe('200')
    })
    await fc.assert(property, RUNS)
  })

  it('refuses nothing that the document allows, but for currencies and amounts that there are not', async () => {
    const property = fc.asyncProperty(allowedQueries(operation, codes), async (query) => {
      const outcome = outcomeOf(await ask(operation, toSearch(query)))
      // Without an exponent, no 64 digits are beyond the doubles.
      const mayBeTooLarge = /e/i.test(query['amount'] ?? '')
      const amount = mayBeTooLarge ? '|400 invalid_amount' : ''
      const expected = `^(200|400 invalid_currency|400 unsupported_currency${amount})$`
      expect(outcome).toMatch(new RegExp(expected))
    })
    await fc.assert(property, RUNS)
  })

  it.each(names)('refuses whatever the document does not allow of %s', async (name) => {
    const property = fc.asyncProperty(refusedQueries(operation, name, codes), async (query) => {
      expect(outcomeOf(await ask(operation, toSearch(query)))).toMatch(REFUSALS[name] ?? /^$/)
    })
    await fc.assert(property, RUNS)
  })

  it.each(NAMES)('knows the parameter %s if the document says so', async (name) => {
    const { example } = Object(lookUp(`#/components/parameters/${name}`))
    const others = exampleOf(operation).replace('?', '&')
    const twice = await ask(operation, `?${name}=${example}&${name}=${example}${others}`)
    const misspelt = await ask(operation, `?${name.toUpperCase()}=${example}${others}`)
    // Where there is a base, it means that.
    const isKnown = names.includes(name) || (name === 'from' && names.includes('base'))
    const expected = isKnown ? '400 invalid_parameter' : '200'
    expect([twice, misspelt].map(outcomeOf)).toEqual([expected, expected])
  })

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
      query.set(name, schema.default)
      expect((await ask(operation, `?${query}`)).body).toBe(whole.body)
    }
  })
})
