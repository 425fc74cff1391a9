import * as fc from 'fast-check'
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'

import { lookUp, operations, textFaultsOf } from './document.ts'
import type { Operation, Parameter } from './document.ts'
import { coldAt, coveredCodes, exampleOf, handler, outcomeOf, request } from './live.ts'
import {
  allowedQueries,
  answerableQueries,
  expectedOutcome,
  isUnrounded,
  toSearch,
} from './requests.ts'
import type { Covered } from './requests.ts'
import { nearTexts } from './texts.ts'
import { words } from './words.ts'
import { wholeBody } from '../whole-body.ts'

const RUNS = { seed: 20_261_122, numRuns: 200 }

/** Returns 502 for every valid request. Its tomorrow is 9999-12-31, the last valid date. */
const cold = coldAt(() => Date.UTC(9_999, 11, 30))
/** A well-formed quote is `invalid_parameter` here, and a malformed one `invalid_quote`; with quotes, both are the latter. */
const withoutQuotes = coldAt(() => Date.UTC(9_999, 11, 30), {})

// The only part of a quote that differs from one response to the next.
beforeEach(() => {
  vi.spyOn(globalThis.crypto, 'randomUUID').mockReturnValue('0-0-0-0-0')
})

/** Parameters of all operations, one per name. */
const parameters = new Map(
  Object.values(Object(lookUp('#/components/parameters')))
    .map((parameter): Parameter => Object(parameter))
    .map((parameter) => [parameter.name, parameter]),
)

/** Outcomes of malformed parameters, except `invalid_parameter`. */
const ERRORS: Record<string, RegExp> = {
  base: /^400 invalid_currency$/,
  from: /^400 invalid_currency$/,
  to: /^400 invalid_currency$/,
  '/v1/convert to': /^400 invalid_(currency|parameter)$/,
  '/v1/quote to': /^400 invalid_(currency|parameter)$/,
  '/v1/history to': /^400 invalid_(currency|parameter)$/,
  symbols: /^400 invalid_(currency|parameter)$/,
  amount: /^400 invalid_amount$/,
  period: /^400 invalid_period$/,
  quote: /^400 invalid_quote$/,
}

/** Names that the endpoints of `/v1` ignore, for example of click trackers, cache busters and keys. */
const IGNORED =
  /^(_.*|x[_-].*|utm_.*|fbclid|gclid|msclkid|callback|cb|v|t|ts|rand|nocache|cachebuster|access_key|api_?key|app_id|key|token)$/

function errorOf({ path }: Operation, name: string, text: string): RegExp {
  // The advice to name the target currency otherwise.
  if (name === 'quote' && /^[a-z]{3}\b/i.test(text)) return /^400 invalid_parameter$/
  return ERRORS[`${path} ${name}`] ?? ERRORS[name] ?? /^400 invalid_parameter$/
}

/** Returns the outcome of a query with `text` for `name` and the required parameters. */
async function outcomeWithoutData(operation: Operation, name: string, text: string) {
  const query = new URLSearchParams(exampleOf(operation))
  if (name === 'end') query.set('start', '0000-01-01')
  if (name === 'rule' || name === 'maxAge' || name === 'source') query.set('date', '2020-02-29')
  if (operation.path === '/v1/history') query.delete('date')
  if (name === 'value') query.set('interval', 'year')
  if (name === 'layout') query.set('format', 'csv')
  if (isOfQuote(operation, name)) query.set('quote', 'a.b.c')
  query.set(name, text)
  const target = `/api${operation.path}?${query}`
  const { answer } = name === 'quote' ? withoutQuotes : cold
  const { status, headers, body } = await answer({ method: 'GET', target, header: () => null })
  return outcomeOf({ status, headers: new Headers(headers), body: await wholeBody(body) })
}

/** Whether a parameter needs a quote. */
function isOfQuote({ path }: Operation, name: string): boolean {
  return path === '/v1/convert' && name === 'context'
}

/** Whether an amount overflows or underflows a double, which no pattern can express. */
function isBeyondDoubles(name: string, text: string): boolean {
  const value = Number(text)
  return name === 'amount' && (value === Infinity || (value === 0 && /^[^eE]*[1-9]/.test(text)))
}

/** Whether a list is longer than any that needs no spaces, which no schema can express. */
function isTooLong(name: string, text: string): boolean {
  return /^(symbols|to)$/.test(name) && text.length > 2_048
}

describe.each(operations)('$operationId', (operation) => {
  const names = operation.parameters.map(({ name }) => name)
  const isVersioned = operation.path.startsWith('/v1')
  /** Of a valid request without data; some currencies are known. */
  const success = operation.operationId === 'listCurrencies' ? /^(200$|502 )/ : /^502 /
  const successOf = (name: string): RegExp => {
    if (name === 'quote') return /^400 invalid_parameter$/
    return isOfQuote(operation, name) ? /^400 invalid_quote$/ : success
  }
  let codes: Covered

  beforeAll(async () => {
    codes = await coveredCodes(operation)
  })

  it('returns 200 for all covered currencies', async () => {
    const property = fc.asyncProperty(answerableQueries(operation, codes), async (query) => {
      const outcome = outcomeOf(await request(operation, toSearch(query)))
      expect(outcome).toMatch(isUnrounded(query) ? /^(200|400 invalid_parameter)$/ : /^200$/)
    })
    // A response has up to 7,000 days.
    await fc.assert(property, operation.path === '/v1/days' ? { ...RUNS, numRuns: 50 } : RUNS)
  })

  it('accepts what the document allows, except unknown currencies and conflicting parameters', async () => {
    const property = fc.asyncProperty(allowedQueries(operation, codes), async (query) => {
      const outcome = outcomeOf(await request(operation, toSearch(query)))
      expect(outcome).toMatch(expectedOutcome(operation, query))
    })
    await fc.assert(property, RUNS)
  })

  it.each(operation.parameters)(
    'accepts exactly what the document allows for $name',
    async ({ name, schema }) => {
      const counts = { accepted: 0, rejected: 0 }
      const property = fc.asyncProperty(nearTexts(schema), async (text) => {
        const isInexpressible = isBeyondDoubles(name, text) || isTooLong(name, text)
        const isAllowed = textFaultsOf(schema, text) === '' && !isInexpressible
        const outcome = await outcomeWithoutData(operation, name, text)
        const isKnown = name !== 'source' || text === 'ecb'
        expect(outcome).toMatch(
          isAllowed && isKnown ? successOf(name) : errorOf(operation, name, text),
        )
        counts[isAllowed ? 'accepted' : 'rejected'] += 1
      })
      await fc.assert(property, { ...RUNS, numRuns: 1_000 })
      expect(Math.min(counts.accepted, counts.rejected)).toBeGreaterThan(50)
    },
  )

  it('rejects all other words of the source as parameters, or ignores them if unversioned', async () => {
    const others = words.filter((word) => !names.includes(word))
    expect(words).toEqual(expect.arrayContaining([...parameters.keys()]))
    const example = exampleOf(operation)
    const plain = (await request(operation, example)).body
    const isIgnored = async (word: string): Promise<boolean> => {
      const target = `/api${operation.path}?${word}=1&${example.slice(1)}`
      const { body } = await handler.answer({ method: 'GET', target, header: () => null })
      const text = await wholeBody(body)
      expect(text.includes(`Invalid parameter: ${word.slice(0, 20)}`) || text === plain).toBe(true)
      return text === plain
    }
    const ignored: string[] = []
    for (const word of others) if (await isIgnored(word)) ignored.push(word)
    expect(Math.min(ignored.length, others.length - ignored.length)).toBeGreaterThan(5)
    expect(ignored.length > 4_000).toBe(!isVersioned)
    const named = others.filter((word) => IGNORED.test(word))
    expect(ignored.filter((word) => isVersioned || named.includes(word))).toEqual(named)
  })

  // Viewers fill in and send all examples and defaults.
  it('returns the same for all examples and defaults as for required parameters only', async () => {
    const filled = operation.parameters.flatMap(({ name, schema, example = schema.default }) => {
      return example === undefined ? [] : [[name, String(example)] as const]
    })
    const { status, body } = await request(operation, toSearch(Object.fromEntries(filled)))
    const required = await request(operation, exampleOf(operation))
    // Only in a quote, an amount of 1 differs from none.
    const [filledBody, requiredBody] = [body, required.body].map((text) =>
      text.replace(/"quote":"[^"]*"/, ''),
    )
    expect([status, filledBody]).toEqual([200, requiredBody])
  })

  it('rejects a request without a required parameter', async () => {
    for (const { name } of operation.parameters.filter(({ required }) => required)) {
      const query = new URLSearchParams(exampleOf(operation))
      query.delete(name)
      expect(outcomeOf(await request(operation, `?${query}`))).toBe('400 missing_parameter')
    }
  })
})

it('covers 9 required parameters and 13 with defaults', () => {
  const all = operations.flatMap((operation) => operation.parameters)
  expect(all.filter(({ required }) => required)).toHaveLength(9)
  expect(all.filter(({ schema }) => schema.default !== undefined)).toHaveLength(13)
})

describe('an amount', () => {
  const [operation] = operations.filter(({ path }) => path === '/v1/convert')
  const { schema } = parameters.get('amount') ?? { schema: {} }

  it.each([
    ...['1e309', '1e-400', `${'9'.repeat(60)}e999`].map((text) => [text, '400 invalid_amount']),
    ...['0e999', '1e308', '5e-324', '0'].map((text) => [text, '502 provider_unavailable']),
  ])(
    'of %s matches the pattern, but its outcome depends on the range of doubles: %s',
    async (text, outcome) => {
      expect(textFaultsOf(schema, text)).toBe('')
      expect(operation && (await outcomeWithoutData(operation, 'amount', text))).toBe(outcome)
    },
  )
})
