import { Validator } from '@seriousme/openapi-schema-validator'
import { describe, expect, it } from 'vitest'

import manifest from '../../package.json' with { type: 'json' }
import { createRatesHandler } from '../../src/index.ts'
import type { RatesErrorCode } from '../../src/index.ts'
import { document, faultsOf, lookUp, operations, sharedResponses } from './document.ts'
import type { Response } from './document.ts'
import { paths } from './words.ts'

const text = JSON.stringify(document)

// Complete, or it would not compile.
const CODES: Record<RatesErrorCode, true> = {
  missing_parameter: true,
  invalid_parameter: true,
  invalid_currency: true,
  unsupported_currency: true,
  invalid_amount: true,
  invalid_period: true,
  no_data: true,
  not_found: true,
  method_not_allowed: true,
  provider_unavailable: true,
  internal_error: true,
}

/** Every response of the document, and where it stands. */
const responses: [place: string, response: Response][] = [
  ...operations.flatMap(({ operationId, responses }) =>
    Object.entries(responses).map(([status, each]): [string, Response] => [
      `${operationId} ${status}`,
      each,
    ]),
  ),
  ...Object.entries(sharedResponses),
]

describe('the OpenAPI document', () => {
  it('is valid, says a validator that knows nothing of this project', async () => {
    expect(await new Validator().validate(structuredClone(document))).toEqual({ valid: true })
    const broken = { ...document, info: { title: 'no version' } }
    expect(await new Validator().validate(broken)).toMatchObject({ valid: false })
  })

  it('is of this version of the package, and of a size to be read', () => {
    expect(document).toMatchObject({ openapi: '3.1.1', info: { version: manifest.version } })
    expect(text.length).toBeLessThan(60_000)
  })

  it('refers to nothing that is not there', () => {
    const references = [...text.matchAll(/"\$ref":"([^"]*)"/g)].map(([, pointer = '']) => pointer)
    expect(references.length).toBeGreaterThan(50)
    for (const pointer of references) expect(lookUp(pointer), pointer).toBeDefined()
  })

  it('has every path of the handler, and no other', async () => {
    const { answer } = createRatesHandler({ basePath: '' })
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
  ])('of a handler at %j says that the API is at %j', async (basePath, url) => {
    const handler = createRatesHandler({ basePath })
    const response = await handler(new Request(`http://localhost${basePath}/v1/openapi.json`))
    expect(await response.json()).toEqual({ ...document, servers: [{ url }] })
  })

  it('has content in every response but 304, which has none', () => {
    const unchanged = responses.filter(([place]) => place.endsWith(' 304'))
    expect(unchanged.length).toBeGreaterThan(5)
    expect(responses.filter(([, { content }]) => !content)).toEqual(unchanged)
  })

  it('requires of headers what every such answer has, and none that the operator can leave out', () => {
    const optional = responses.flatMap(([place, { headers }]) =>
      Object.entries(headers).flatMap(([name, { required }]) =>
        required ? [] : [`${name}, ${place}`],
      ),
    )
    const isOfOrigins = (each: string): boolean => /^(Access-Control|Cross-Origin)-/.test(each)
    const named = responses.flatMap(([place, { headers }]) =>
      Object.keys(headers).map((name) => `${name}, ${place}`),
    )
    expect(named.filter(isOfOrigins).length).toBeGreaterThan(50)
    expect(optional.filter(isOfOrigins)).toEqual(named.filter(isOfOrigins))
    expect(optional.filter((each) => !isOfOrigins(each))).toEqual([
      'Link, getLatest 200',
      'Link, getHistory 200',
      'ETag, listCurrencies 200',
      'Cache-Status, listCurrencies 200',
      'Link, getUnversionedRates 200',
    ])
  })

  it('names every operation once', () => {
    const names = operations.map(({ operationId }) => operationId)
    expect(new Set(names).size).toBe(names.length)
  })

  it.each(Object.keys(CODES))('shows the error %s', (code) => {
    const shown = responses.filter(([, { content = {} }]) =>
      Object.hasOwn(Object(content['application/json']).examples ?? {}, code),
    )
    expect(shown).not.toEqual([])
  })
})

describe('the examples', () => {
  const examples = responses.flatMap(([place, { content = {} }]) =>
    Object.entries(content).flatMap(([type, { schema, examples }]) =>
      Object.entries(examples).map(([name, { value }]) => ({ place, type, schema, name, value })),
    ),
  )

  it.each(examples)('of $place in $type: $name', ({ schema, name, value }) => {
    expect(faultsOf(schema, value)).toBe('')
    // Those of errors have the name of the code.
    expect(Object(value).error?.code ?? name).toBe(name)
  })

  it.each(operations.flatMap(({ parameters }) => parameters))(
    'of the parameter $name, and its default',
    ({ schema, example }) => {
      expect(faultsOf(schema, example)).toBe('')
      expect(faultsOf(schema, schema.default ?? example)).toBe('')
    },
  )
})
