import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import type { RatesHandler } from '../../src/index.ts'
import type { ResponseData } from '../catalogue/catalogue.ts'
import { ENDPOINTS, SEED } from './endpoints.ts'
import { fetchFrom, get, loadedHandler, withoutId } from './loaded-handler.ts'

const ODD = 'a/api/rates? a?base=GBP& a# a\\b user@a [::1 <script> :0 a:99999 .. %2e'.split(' ')

const printable = fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code))

const AUTHORITIES = fc.oneof(
  fc.constantFrom('localhost', 'evil.example', ...ODD),
  fc.string({ unit: printable }),
)

const TARGETS = [...ENDPOINTS.map(({ target }) => target), '/api/v1/latest?base=ZZZ', '/nothing']

const handler = await loadedHandler()

test('responses do not depend on Host, in any position', { timeout: 30_000 }, async () => {
  const first = await loadedHandler()
  const host = AUTHORITIES.filter((text) => text !== '')
  await fc.assert(
    fc.asyncProperty(host, fc.constantFrom(...TARGETS), async (authority, target) => {
      const expected = await fetchFrom(handler, target)
      // Also for the first request of a handler.
      expect(await responseFor(first, authority, target)).toEqual(expected)
      expect(await get(first, target, { host: authority })).toEqual(expected)
    }),
    { ...SEED, numRuns: 500 },
  )
})

test('responses do not depend on the authority of a target', { timeout: 30_000 }, async () => {
  // Without an authority, a URL parses the first path segment as one.
  const authority = AUTHORITIES.filter((text) => /^[^/\\?#]+$/.test(text))
  const scheme = fc.constantFrom('http://', 'https://', 'HTTP://')
  await fc.assert(
    fc.asyncProperty(scheme, authority, fc.constantFrom(...TARGETS), async (...parts) => {
      const [, , target] = parts
      expect(await get(handler, parts.join(''))).toEqual(await get(handler, target))
    }),
    { ...SEED, numRuns: 500 },
  )
})

/** Sends a request whose URL has the raw Host, as on Deno; `Request` would reject some. */
async function responseFor(
  from: RatesHandler,
  authority: string,
  target: string,
): Promise<ResponseData> {
  const request = new Request('http://localhost/', { headers: { host: authority } })
  Object.defineProperty(request, 'url', { value: `http://${authority}${target}` })
  const response = await from(request)
  const headers = [...response.headers].sort(([one], [other]) => (one < other ? -1 : 1))
  return withoutId({
    status: response.status,
    headers: Object.fromEntries(headers),
    body: await response.text(),
  })
}
