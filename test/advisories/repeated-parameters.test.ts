import { describe, expect, test } from 'vitest'

import { ENDPOINTS, errorMessage } from './endpoints.ts'
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

/** Returns the error message of a rejected query, and an empty text for a valid one. */
async function refusalOf(path: string, text: string): Promise<string> {
  const { status, body } = await fetchFrom(handler, `${path}?${text}`)
  return status === 400 ? errorMessage(path, body) : ''
}

function percentEncoded(name: string): string {
  return `%${name.charCodeAt(0).toString(16)}${name.slice(1)}`
}
