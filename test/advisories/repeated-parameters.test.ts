import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import type { ResponseData } from '../catalogue/catalogue.ts'
import { ENDPOINTS, SEED, errorMessage, value } from './endpoints.ts'
import { fetchFrom, loadedHandler } from './loaded-handler.ts'

const handler = await loadedHandler()

describe('a repeated parameter', () => {
  const given = ENDPOINTS.flatMap(({ path, parameters, target }) =>
    parameters.map((name) => [name, path, target] as const),
  )

  test.each(given)('is rejected with any value in any position: %s on %s', async (...row) => {
    const [name, path, target] = row
    const query = new URLSearchParams(target.slice(path.length))
    const own = query.get(name) ?? ''
    query.delete(name)
    for (const [one, other] of [
      [own, own],
      [own, ''],
      ['', own],
      ['EUR', 'USD'],
    ]) {
      for (const text of [
        `${name}=${one}&${name}=${other}&${query}`,
        `${name}=${one}&${query}&${name}=${other}`,
        `${name}=${one}&x=1&${percentEncoded(name)}=${other}&${query}`,
      ]) {
        expect(await refusalOf(path, text), text).toContain(name)
      }
    }
  })
})

describe('any query', () => {
  const own = ENDPOINTS.filter(({ parameters }) => parameters.length > 0)

  test.each(own)('means the same in any order, on $path', async ({ path, parameters }) => {
    // Of several unknown names, the error is that of the first.
    const parameter = fc.tuple(fc.constantFrom(...parameters, '_x', 'utm_y', 'foo'), value)
    const chosen = fc.uniqueArray(parameter, { selector: ([name]) => name, maxLength: 7 })
    const permuted = chosen.chain((list) =>
      fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })),
    )
    const request = (list: [string, string][]): Promise<ResponseData> =>
      fetchFrom(handler, `${path}?${new URLSearchParams(list)}`)
    await fc.assert(
      fc.asyncProperty(permuted, async ([one, other]) => {
        expect(await request(other)).toEqual(await request(one))
      }),
      { ...SEED, numRuns: 150 },
    )
  })
})

/** Returns the error message of a rejected query, and an empty text for a valid one. */
async function refusalOf(path: string, text: string): Promise<string> {
  const { status, body } = await fetchFrom(handler, `${path}?${text}`)
  return status === 400 ? errorMessage(path, body) : ''
}

function percentEncoded(name: string): string {
  return `%${name.charCodeAt(0).toString(16)}${name.slice(1)}`
}
