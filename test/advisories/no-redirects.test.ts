import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { entries, send, sendEntry } from '../catalogue/catalogue.ts'
import type { RequestData, ResponseData } from '../catalogue/catalogue.ts'
import { ENDPOINTS, SEED } from './endpoints.ts'
import { loadedHandler } from './loaded-handler.ts'

/** Headers that redirect a browser or change how it interprets a response. */
const LEADING = ['location', 'refresh', 'content-location', 'set-cookie', 'content-disposition']

const LURES = ['//evil.example', 'https://evil.example', '\\\\evil.example', 'javascript:alert(1)']

const NAMES = 'url next redirect redirect_uri return returnTo goto callback continue dest r'.split(
  ' ',
)

const METHODS = ['GET', 'HEAD', 'OPTIONS', 'POST', 'DELETE']

const [usual, atRoot] = await Promise.all([
  loadedHandler(),
  loadedHandler({ basePath: '', explorer: true }),
])

describe.each([
  ['at its usual place', usual],
  ['at the root, with its page', atRoot],
])('no response redirects, of a handler %s', (_, handler) => {
  test('to an entry of the catalogue', async () => {
    for (const entry of entries) expectToStay(await sendEntry(handler, entry, 'answer'), entry.id)
  })

  test('to a path or a parameter that has somewhere else in it', async () => {
    const paths = ['', '/', '/api', '/api/', '/api/v1', ...ENDPOINTS.map(({ path }) => path)]
    for (const path of paths) {
      for (const lure of LURES) {
        const inPath = [`${path}/${lure}`, `/${lure}/..${path}`, `/${lure}/%2e%2e${path}/`]
        const inQuery = NAMES.map((name) => `${path}?${name}=${encodeURIComponent(lure)}`)
        for (const target of [...inPath, ...inQuery, `${lure}${path}`]) {
          for (const method of METHODS) {
            expectToStay(await send(handler, { method, target }, 'answer'), target)
          }
        }
      }
    }
  })

  test('to any target, method and headers', { timeout: 30_000 }, async () => {
    const path = fc.oneof(fc.string(), fc.constantFrom('/', '/api', '/api/'))
    const names = 'host referer if-none-match upgrade-insecure-requests x-forwarded-proto'.split(
      ' ',
    )
    const values = fc.constantFrom('http', 'evil.example', '*', '1')
    const headers = fc.dictionary(fc.constantFrom(...names), values)
    const request: fc.Arbitrary<RequestData> = fc.record({
      method: fc.constantFrom(...METHODS),
      target: fc.tuple(path, fc.string()).map((parts) => parts.join('?')),
      headers,
    })
    await fc.assert(
      fc.asyncProperty(request, async (sent) => {
        expectToStay(await send(handler, sent, 'answer'), sent.target)
      }),
      { ...SEED, numRuns: 500 },
    )
  })
})

function expectToStay({ status, headers }: ResponseData, about: string): void {
  expect(status >= 300 && status < 400 && status !== 304, `${status} ${about}`).toBe(false)
  expect(Object.keys(headers).filter((name) => LEADING.includes(name))).toEqual([])
}
