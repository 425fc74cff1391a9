import { describe, expect, it } from 'vitest'

import manifest from '../../package.json' with { type: 'json' }
import { createRatesHandler } from '../../src/index.ts'
import { ERROR_STATUSES } from '../error-statuses.ts'
import {
  QUOTES,
  bodiesOf,
  document,
  expectSound,
  faultsOf,
  lookUp,
  operations,
  sharedResponses,
} from './document.ts'
import type { Body, Response } from './document.ts'
import { paths } from './words.ts'

const text = JSON.stringify(document)

/** Every response of the document, by operation and status or by component name. */
const responses = [
  ...operations.flatMap(({ operationId, responses }) =>
    Object.entries(responses).map(([status, each]) => [`${operationId} ${status}`, each] as const),
  ),
  ...Object.entries(sharedResponses),
]

describe('the OpenAPI document', () => {
  it('is valid, without broken references', async () => {
    await expectSound({ document, lookUp })
    expect(document).toMatchObject({ openapi: '3.1.1', info: { version: manifest.version } })
    expect(text.length).toBeLessThan(119_000)
  })

  it('has exactly the paths of the handler', async () => {
    const { answer } = createRatesHandler({ basePath: '', quotes: QUOTES })
    const served: string[] = []
    for (const target of paths) {
      const { matched } = await answer({ method: 'OPTIONS', target, header: () => null })
      if (matched) served.push(target)
    }
    expect(paths.length).toBeGreaterThan(5_000)
    expect(served.toSorted()).toEqual(operations.map(({ path }) => path).toSorted())
  })

  it.each([
    ['', '/'],
    ['/api', '/api'],
    ['/a/b', '/a/b'],
  ])('of a handler with basePath %j has the server URL %j', async (basePath, url) => {
    const handler = createRatesHandler({ basePath })
    const response = await handler(new Request(`http://localhost${basePath}/v1/openapi.json`))
    expect(await response.json()).toEqual({ ...document, servers: [{ url }] })
  })

  it('requires headers that every such response has, except those that the operator can disable', () => {
    const described = responses.flatMap(([place, { headers }]) =>
      Object.entries(headers).map(
        ([name, { required }]) => [`${name}, ${place}`, required] as const,
      ),
    )
    const isCors = (header: string) => /^(Access-Control|Cross-Origin)-/.test(header)
    const cors = described.filter(([header]) => isCors(header))
    expect(cors.length).toBeGreaterThan(50)
    expect(cors.filter(([, required]) => required)).toEqual([])
    const others = described.filter(([header, required]) => !isCors(header) && !required)
    const optional =
      'Link, getLatest 200|Link, getLatest 304|Last-Modified, convert 200|ETag, convert 200|' +
      'Cache-Status, convert 200|Link, convert 200|Link, convert 304|Link, getHistory 200|' +
      'Link, getHistory 304|ETag, listCurrencies 200|Cache-Status, listCurrencies 200|' +
      'Link, getUnversionedRates 200|Link, getUnversionedRates 304'
    expect(others.map(([header]) => header)).toEqual(optional.split('|'))
  })

  it('has distinct names of operations, and needs no key', () => {
    const names = operations.map(({ operationId }) => operationId)
    expect(new Set(names).size).toBe(names.length)
    expect(document['security']).toEqual([])
  })

  it('has only JSON as content but in 304, or lines of it, so that generated clients need not narrow types', () => {
    const typesOf = ({ content = {} }: Response) => Object.keys(content).join()
    const others = responses
      .map(([place, response]) => [place, typesOf(response)] as const)
      .filter(([place, types]) => types !== (place.endsWith(' 304') ? '' : 'application/json'))
    expect(others).toEqual([['listDays 200', 'application/x-ndjson']])
    const inCsv = responses.filter((response) => Object.hasOwn(response[1], 'x-csv'))
    expect(inCsv.map(([place]) => place)).toEqual(
      operations
        .filter(({ parameters }) => parameters.some(({ name }) => name === 'format'))
        .map(({ operationId }) => `${operationId} 200`),
    )
  })

  const outsideOperations = ['not_found', 'method_not_allowed']
  const ofAccess = ['unauthorized', 'forbidden', 'rate_limited']
  const others = [...outsideOperations, ...ofAccess]
  const codes = Object.keys(ERROR_STATUSES).filter((code) => !others.includes(code))

  it('describes every error but those of keys and limits, with an example of an operation', () => {
    const { description } = Object(document['info'])
    for (const code of outsideOperations) expect(description).toContain(`(\`${code}\`)`)
    expect(ofAccess.filter((code) => text.includes(code))).toEqual([])
    const shown = responses.flatMap(([, { content = {} }]) =>
      Object.keys(content['application/json']?.examples ?? {}),
    )
    expect(shown).toEqual(expect.arrayContaining(codes))
  })
})

describe('the description of many conversions', () => {
  const { requestBody, responses: described } = Object(document['paths'])['/v1/convert'].post
  it('has examples that match their schemas, and the statuses of unusable bodies', () => {
    const answers: Response[] = Object.values(described)
    const bodies = [requestBody.content, ...answers.map(bodiesOf)].flatMap<Body>(Object.values)
    for (const { schema, examples } of bodies) {
      const values = Object.values(examples).map(({ value }) => value)
      expect(values).not.toEqual([])
      expect(values.map((value) => faultsOf(schema, value))).toEqual(values.map(() => ''))
    }
    expect(bodies.length).toBeGreaterThan(7)
    expect(Object.keys(described)).toEqual(expect.arrayContaining(['400', '408', '413', '415']))
  })

  const { schema } = requestBody.content['application/json']
  const row = { from: 'USD', to: ['EUR'], amount: '1e2', rule: 'next', date: '2020-02-29' }
  const quoted = { from: 'USD', to: 'EUR', quote: 'a.b.c', context: 'cart 4711' }

  it.each<[isAllowed: boolean, rows: unknown[]]>([
    [true, [row, row]],
    [true, [quoted]],
    [false, [{ ...quoted, quote: 'a.b' }]],
    [false, [{ ...quoted, context: '' }]],
    [false, [{ from: 'USD' }]],
    [false, [{ ...row, amount: '1,5' }]],
    [false, [{ ...row, to: [] }]],
    [false, [null]],
    [true, Array.from({ length: 10_000 }, () => row)],
    [false, Array.from({ length: 10_001 }, () => row)],
  ])('allows rows like the handler: %s', (isAllowed, rows) => {
    expect(faultsOf(schema, rows) === '').toBe(isAllowed)
  })
})

describe('the examples', () => {
  const examples = responses.flatMap(([place, response]) =>
    Object.entries(bodiesOf(response)).flatMap(([type, { schema, examples }]) =>
      Object.entries(examples).map(([name, { value }]) => ({ place, type, schema, name, value })),
    ),
  )

  it('match their schemas', () => {
    expect(examples.length).toBeGreaterThan(100)
    for (const { place, type, schema, name, value } of examples) {
      expect([place, type, name, faultsOf(schema, value)]).toEqual([place, type, name, ''])
      // Examples of errors are named by the code.
      expect(Object(value).error?.code ?? name).toBe(name)
    }
  })

  const parameters = operations.flatMap((operation) => operation.parameters)

  // Viewers send every example.
  it('exist for all required parameters, and for no others', () => {
    const shown = parameters.filter(({ example }) => example !== undefined)
    expect(shown).toEqual(parameters.filter(({ required }) => required))
    for (const { schema, example } of shown) expect(faultsOf(schema, example)).toBe('')
  })
})
