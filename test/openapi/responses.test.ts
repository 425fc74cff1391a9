import * as fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'

import { NEIGHBOUR_NAMES } from '../fixtures/neighbour-names.ts'
import { lookUp, operations, textFaultsOf } from './document.ts'
import type { Operation, Parameter } from './document.ts'
import { ask, coldAt, coveredCodes, exampleOf, handler, outcomeOf } from './live.ts'
import { allowedQueries, answerableQueries, expectedOutcome, toSearch } from './requests.ts'
import type { Covered } from './requests.ts'
import { acceptedTexts, nearTexts } from './texts.ts'
import { words } from './words.ts'

const RUNS = { seed: 20_261_122, numRuns: 200 }

/** Answers a question that it would not refuse with 502. The last day that can be written is its tomorrow. */
const cold = coldAt(() => Date.UTC(9_999, 11, 30))

/** The parameters of all operations, one of each name. */
const parameters = new Map(
  Object.values(Object(lookUp('#/components/parameters')))
    .map((parameter): Parameter => Object(parameter))
    .map((parameter) => [parameter.name, parameter]),
)

/** A text that the document allows for a parameter. */
function sampleOf({ schema, example }: Parameter): string {
  const [text = ''] = fc.sample(acceptedTexts(schema), { seed: 1, numRuns: 1 })
  return encodeURIComponent(example ?? text)
}

/** How it is told that a parameter has not the form that it is to have, where not as an invalid parameter. */
const REFUSALS: Record<string, RegExp> = {
  base: /^400 invalid_currency$/,
  from: /^400 invalid_currency$/,
  to: /^400 invalid_currency$/,
  '/v1/convert to': /^400 invalid_(currency|parameter)$/,
  symbols: /^400 invalid_(currency|parameter)$/,
  amount: /^400 invalid_amount$/,
  period: /^400 invalid_period$/,
}

/** The names that mean something for another operation or service. */
const NEIGHBOURS = NEIGHBOUR_NAMES.map(([name]) => bareName(name))

function bareName(name: string): string {
  return name.toLowerCase().replace(/[_-]|\[\]/g, '')
}

function refusalOf({ path }: Operation, name: string): RegExp {
  return REFUSALS[`${path} ${name}`] ?? REFUSALS[name] ?? /^400 invalid_parameter$/
}

/** What comes of a query with `text` for `name` beside what it cannot be without. */
async function outcomeWithoutData(operation: Operation, name: string, text: string) {
  const query = new URLSearchParams(exampleOf(operation))
  if (name === 'end') query.set('start', '0000-01-01')
  query.set(name, text)
  const target = `/api${operation.path}?${query}`
  const { status, headers, body } = await cold.answer({ method: 'GET', target, header: () => null })
  return outcomeOf({ status, headers: new Headers(headers), body: String(body) })
}

/** What no pattern can say of an amount: whether a double can hold it. */
function isBeyondDoubles(name: string, text: string): boolean {
  const value = Number(text)
  return name === 'amount' && (value === Infinity || (value === 0 && /^[^eE]*[1-9]/.test(text)))
}

describe.each(operations)('$operationId', (operation) => {
  const names = operation.parameters.map(({ name }) => name)
  const isWholeTable = operation.operationId === 'getUnversionedRates'
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

  it.each(operation.parameters)(
    'takes what the document allows of $name, and refuses all else',
    async ({ name, schema }) => {
      const met = { accepted: 0, refused: 0 }
      const property = fc.asyncProperty(nearTexts(schema), async (text) => {
        const isAllowed = textFaultsOf(schema, text) === '' && !isBeyondDoubles(name, text)
        const outcome = await outcomeWithoutData(operation, name, text)
        expect(outcome).toMatch(isAllowed ? /^502 / : refusalOf(operation, name))
        met[isAllowed ? 'accepted' : 'refused'] += 1
      })
      await fc.assert(property, { ...RUNS, numRuns: 1_000 })
      expect(Math.min(met.accepted, met.refused)).toBeGreaterThan(50)
    },
  )

  it.each([...parameters])(
    'takes %s once at most, and ignores it only without parameters or where it would filter',
    async (name, parameter) => {
      const example = sampleOf(parameter)
      const others = exampleOf(operation).replace('?', '&')
      const twice = await ask(operation, `?${name}=${example}&${name}=${example}${others}`)
      const misspelt = await ask(operation, `?${name.toUpperCase()}=${example}${others}`)
      const isIgnored = names.length === 0 || (isWholeTable && /^(to|symbols)$/.test(name))
      const expected = isIgnored ? '200' : '400 invalid_parameter'
      expect([twice, misspelt].map(outcomeOf)).toEqual([expected, expected])
    },
  )

  it('knows no other parameter among all words of the source', async () => {
    const known = new Set([...[...parameters.keys()].map(bareName), ...NEIGHBOURS])
    const others = words.filter((word) => !known.has(bareName(word)))
    expect(others.length).toBeGreaterThan(2_000)
    expect(words).toEqual(expect.arrayContaining([...parameters.keys()]))
    const example = exampleOf(operation)
    const plain = (await ask(operation, example)).body
    for (let index = 0; index < others.length; index += 50) {
      // A parameter that is known may be given once.
      const twice = others.slice(index, index + 50).map((word) => `${word}=1&${word}=1`)
      const target = `/api${operation.path}?${[example.slice(1), ...twice].join('&')}`
      const { status, body } = await handler.answer({ method: 'GET', target, header: () => null })
      expect(status, target).toBe(200)
      expect(await new Response(body).text()).toBe(plain)
    }
  })

  // Viewers fill in and send all of both.
  it('answers a query with every example and every default as one with what is required', async () => {
    const filled = operation.parameters.flatMap(({ name, schema, example = schema.default }) => {
      return example === undefined ? [] : [[name, String(example)] as const]
    })
    const { status, body } = await ask(operation, toSearch(Object.fromEntries(filled)))
    const required = await ask(operation, exampleOf(operation))
    expect([status, body]).toEqual([200, required.body])
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
      query.set(name, String(schema.default))
      expect((await ask(operation, `?${query}`)).body).toBe(whole.body)
    }
  })
})

it('is asked of operations with parameters, some of which are required or have defaults', () => {
  const all = operations.flatMap((operation) => operation.parameters)
  expect(all.filter(({ required }) => required)).toHaveLength(6)
  expect(all.filter(({ schema }) => schema.default !== undefined)).toHaveLength(9)
})

describe('an amount', () => {
  const [operation] = operations.filter(({ path }) => path === '/v1/convert')
  const { schema } = parameters.get('amount') ?? { schema: {} }

  it.each([
    ...['1e309', '1e-400', `${'9'.repeat(60)}e999`].map((text) => [text, '400 invalid_amount']),
    ...['0e999', '1e308', '5e-324', '0'].map((text) => [text, '502 provider_unavailable']),
  ])('of %s has the form, whether a double is so large or so small: %s', async (text, outcome) => {
    expect(textFaultsOf(schema, text)).toBe('')
    expect(operation && (await outcomeWithoutData(operation, 'amount', text))).toBe(outcome)
  })
})
