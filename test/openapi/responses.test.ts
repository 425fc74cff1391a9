import * as fc from 'fast-check'
import { beforeEach, describe, expect, it, vi } from 'vitest'

import { operations } from './document.ts'
import { coveredCodes, exampleOf, handler, outcomeOf, request } from './live.ts'
import { answerableQueries, toSearch } from './requests.ts'
import { words } from './words.ts'
import { wholeBody } from '../whole-body.ts'

// The only part of a quote that differs from one response to the next.
beforeEach(() => {
  vi.spyOn(globalThis.crypto, 'randomUUID').mockReturnValue('0-0-0-0-0')
})

/** Names that the endpoints of `/v1` ignore, for example of click trackers, cache busters and keys. */
const IGNORED =
  /^(_.*|x[_-].*|utm_.*|fbclid|gclid|msclkid|callback|cb|v|t|ts|rand|nocache|cachebuster|access_key|api_?key|app_id|key|token)$/

/** Whether `round` may name a currency without a minor unit, which no pattern can express. */
function isUnrounded(query: object): boolean {
  return 'round' in query && /XDR|XA[GU]|XP[DT]/i.test(JSON.stringify(query))
}

describe.each(operations)('$operationId', (operation) => {
  const names = operation.parameters.map(({ name }) => name)
  const isVersioned = operation.path.startsWith('/v1')

  it('returns what the document describes for all covered currencies and combinations', async () => {
    const queries = answerableQueries(operation, await coveredCodes(operation))
    const property = fc.asyncProperty(queries, async (query) => {
      const outcome = outcomeOf(await request(operation, toSearch(query)))
      expect(outcome).toMatch(isUnrounded(query) ? /^(200|400 invalid_parameter)$/ : /^200$/)
    })
    // A response has up to 7,000 days.
    const numRuns = operation.path === '/v1/days' ? 10 : names.length > 0 ? 60 : 1
    await fc.assert(property, { seed: 20_261_122, numRuns })
  })

  it('rejects all other words of its sources as parameters, or ignores them if unversioned', async () => {
    const others = words.filter((word) => !names.includes(word))
    expect(words).toEqual(expect.arrayContaining(names))
    const example = exampleOf(operation)
    const plain = (await request(operation, example)).body
    const ignored: string[] = []
    for (const word of others) {
      const target = `/api${operation.path}?${word}=1&${example.slice(1)}`
      const { body } = await handler.answer({ method: 'GET', target, header: () => null })
      const text = await wholeBody(body)
      if (text === plain) ignored.push(word)
      expect(text === plain || text.includes(`Invalid parameter: ${word.slice(0, 20)}`)).toBe(true)
    }
    expect(ignored.length > others.length / 2).toBe(!isVersioned)
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
    const [given, wanted] = [body, required.body].map((text) => text.replace(/"quote":"[^"]*"/, ''))
    expect([status, given]).toEqual([200, wanted])
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
