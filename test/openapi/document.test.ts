import { Validator } from '@seriousme/openapi-schema-validator'
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
    const broken = { ...document, info: { title: 'no version' } }
    expect(await new Validator().validate(broken)).toMatchObject({ valid: false })
  })

  it('has the version of the package, and fewer than 119,000 characters', () => {
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

  it('has content in every response except 304', () => {
    const unchanged = responses.filter(([place]) => place.endsWith(' 304'))
    expect(unchanged.length).toBeGreaterThan(5)
    expect(responses.filter(([, { content }]) => !content)).toEqual(unchanged)
  })

  it('requires headers that every such response has, except those that the operator can disable', () => {
    const described = responses.flatMap(([place, { headers }]) =>
      Object.entries(headers).map(([name, { required }]) => ({
        header: `${name}, ${place}`,
        required,
      })),
    )
    const isCors = ({ header }: { header: string }) =>
      /^(Access-Control|Cross-Origin)-/.test(header)
    const cors = described.filter(isCors)
    expect(cors.length).toBeGreaterThan(50)
    expect(cors.filter(({ required }) => required)).toEqual([])
    const others = described.filter((each) => !isCors(each) && !each.required)
    expect(others.map(({ header }) => header)).toEqual([
      'Link, getLatest 200',
      'Link, getLatest 304',
      'Last-Modified, convert 200',
      'ETag, convert 200',
      'Cache-Status, convert 200',
      'Link, convert 200',
      'Link, convert 304',
      'Link, getHistory 200',
      'Link, getHistory 304',
      'ETag, listCurrencies 200',
      'Cache-Status, listCurrencies 200',
      'Link, getUnversionedRates 200',
      'Link, getUnversionedRates 304',
    ])
  })

  it('has distinct names of operations', () => {
    const names = operations.map(({ operationId }) => operationId)
    expect(new Set(names).size).toBe(names.length)
  })

  it('has only JSON as content, or lines of it, so that generated clients need not narrow types', () => {
    const others = responses.filter(
      ([, { content }]) => content && Object.keys(content).join() !== 'application/json',
    )
    expect(others).toMatchObject([
      ['listDays 200', { content: { 'application/x-ndjson': expect.anything() } }],
    ])
    const inCsv = responses.filter((response) => Object.hasOwn(response[1], 'x-csv'))
    expect(inCsv.map(([place]) => place)).toEqual(
      operations
        .filter(({ parameters }) => parameters.some(({ name }) => name === 'format'))
        .map(({ operationId }) => `${operationId} 200`),
    )
  })

  it('needs no key', () => {
    expect(document['security']).toEqual([])
  })

  const codesOfNoOperation = ['not_found', 'method_not_allowed']

  it.each(codesOfNoOperation)('describes the error %s in its introduction', (code) => {
    expect(Object(document['info']).description).toContain(`(\`${code}\`)`)
  })

  const codesOfAccess = ['unauthorized', 'forbidden', 'rate_limited']

  it.each(codesOfAccess)('does not mention the error %s of keys and limits', (code) => {
    expect(text).not.toContain(code)
  })

  const others = [...codesOfNoOperation, ...codesOfAccess]
  const codes = Object.keys(ERROR_STATUSES).filter((code) => !others.includes(code))

  it.each(codes)('has an example of the error %s', (code) => {
    const examples = responses.filter(([, { content = {} }]) =>
      Object.hasOwn(Object(content['application/json']).examples ?? {}, code),
    )
    expect(examples).not.toEqual([])
  })
})

describe('the description of many conversions', () => {
  const { requestBody, responses: described } = Object(document['paths'])['/v1/convert'].post
  const bodies: [string, Body][] = [
    ...Object.entries<Body>(requestBody.content),
    ...Object.entries<Response>(described).flatMap(([status, each]) =>
      Object.entries(bodiesOf(each)).map(([type, body]): [string, Body] => [
        `${status} ${type}`,
        body,
      ]),
    ),
  ]

  it.each(bodies)('has examples that match the schema of %s', (_, { schema, examples }) => {
    const values = Object.values(examples).map(({ value }) => value)
    expect(values).not.toEqual([])
    expect(values.map((value) => faultsOf(schema, value))).toEqual(values.map(() => ''))
  })

  it('has the statuses of unusable bodies', () => {
    expect(Object.keys(described)).toEqual(expect.arrayContaining(['400', '408', '413', '415']))
  })

  it('limits rows like the handler', () => {
    const { schema } = requestBody.content['application/json']
    const row = { from: 'USD', to: ['EUR'], amount: '1e2', rule: 'next', date: '2020-02-29' }
    expect(faultsOf(schema, [row, row])).toBe('')
    const quoted = { from: 'USD', to: 'EUR', quote: 'a.b.c', context: 'cart 4711' }
    expect(faultsOf(schema, [quoted])).toBe('')
    for (const wrong of [
      { ...quoted, quote: 'a.b' },
      { ...quoted, context: '' },
    ]) {
      expect(faultsOf(schema, [wrong])).not.toBe('')
    }
    for (const wrong of [{ from: 'USD' }, { ...row, amount: '1,5' }, { ...row, to: [] }, null]) {
      expect(faultsOf(schema, [wrong])).not.toBe('')
    }
    const tooMany = Array.from({ length: 10_001 }, () => row)
    expect(faultsOf(schema, tooMany)).not.toBe('')
  })
})

describe('the examples', () => {
  const examples = responses.flatMap(([place, response]) =>
    Object.entries(bodiesOf(response)).flatMap(([type, { schema, examples }]) =>
      Object.entries(examples).map(([name, { value }]) => ({ place, type, schema, name, value })),
    ),
  )

  it.each(examples)('match the schema: $place, $type, $name', ({ schema, name, value }) => {
    expect(faultsOf(schema, value)).toBe('')
    // Examples of errors are named by the code.
    expect(Object(value).error?.code ?? name).toBe(name)
  })

  const parameters = operations.flatMap((operation) => operation.parameters)

  // Viewers send every example.
  it('exist for all required parameters, and for no others', () => {
    const shown = parameters.filter(({ example }) => example !== undefined)
    expect(shown).toEqual(parameters.filter(({ required }) => required))
    for (const { schema, example } of shown) expect(faultsOf(schema, example)).toBe('')
  })
})
