import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { operations } from '../openapi/document.ts'
import { ask, coveredCodes } from '../openapi/live.ts'
import type { Asked } from '../openapi/live.ts'
import { allowedQueries, answerableQueries, toSearch } from '../openapi/questions.ts'
import { nearTexts } from '../openapi/texts.ts'
import { RUNTIMES } from './runtimes.ts'
import { rootOf, serve } from './serving.ts'

const RUNS = { seed: 20_261_122, numRuns: 25 }

describe.each(RUNTIMES)('ratesmith serve on %s', (...runtime) => {
  it('answers every operation as the OpenAPI document has it', async () => {
    const root = await rootOf(serve(['--demo'], {}, runtime))
    const overHttp: Asked = ({ url }) => {
      const { pathname, search } = new URL(url)
      return fetch(`${root}${pathname}${search}`)
    }
    const statuses = new Set<number>()
    for (const operation of operations) {
      const whatever = operation.parameters.map(({ name, schema }) => [name, nearTexts(schema)])
      const codes = await coveredCodes(operation)
      const queries = fc.oneof(
        allowedQueries(operation, codes),
        answerableQueries(operation, codes),
        fc.record<Record<string, string>>(Object.fromEntries(whatever), { requiredKeys: [] }),
      )
      const property = fc.asyncProperty(queries, async (query) => {
        statuses.add((await ask(operation, toSearch(query), overHttp)).status)
      })
      await fc.assert(property, RUNS)
    }
    expect([...statuses]).toEqual(expect.arrayContaining([200, 400]))
  })
})
