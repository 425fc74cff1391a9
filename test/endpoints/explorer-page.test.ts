import { expect, it } from 'vitest'

import { createAccess } from '../../src/access/index.ts'
import { createRatesHandler } from '../../src/index.ts'
import type { RatesHandlerOptions } from '../../src/index.ts'
import { withFacts } from '../fixtures/facts.ts'
import { openService } from '../fixtures/service.ts'

const request = (options: RatesHandlerOptions, path: string, init?: RequestInit) =>
  openService(options).get(path, init)

const HTML = 'text/html; charset=utf-8'
const SCRIPT = 'text/javascript; charset=utf-8'

it.each([
  [{}, '/api', HTML],
  [{}, '/api/?from=USD', HTML],
  [{ basePath: '/a/b' }, '/a/b', HTML],
  [{ basePath: '/a/b' }, '/a/b/', HTML],
  [{ basePath: '' }, '/', HTML],
  [{}, '/api/explorer-api.js', SCRIPT],
  [{ basePath: '/a/b' }, '/a/b/explorer-api.js', SCRIPT],
  [{ basePath: '' }, '/explorer-api.js', SCRIPT],
])('with %j, the explorer has %s as %s, revalidated each time', async (options, path, type) => {
  const response = await request({ ...options, explorer: true }, path)
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'content-type': type,
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-cache',
  })
  expect(await response.text()).toMatch(type === HTML ? /^<!doctype html>/i : /createCombobox/)
  const seen = { headers: { 'if-none-match': response.headers.get('etag') ?? '' } }
  const again = await request({ ...options, explorer: true }, path, seen)
  expect([again.status, await again.text()]).toEqual([304, ''])
  const policy = 'content-security-policy'
  expect(again.headers.get(policy)).toBe(response.headers.get(policy))
  expect((await request(options, path)).status).toBe(404)
})

it.each(['/api//', '/api/index.html', '/api/v1/', '/', '/API'])(
  'the explorer is not at %s',
  async (path) => {
    const { status, headers } = await request({ explorer: true }, path)
    expect([status, headers.get('content-type')]).toEqual([404, 'application/json; charset=utf-8'])
  },
)

it('the page has a strict policy, and links for browsers without scripts', async () => {
  const { headers } = await request({ explorer: true }, '/api')
  const policy = headers.get('content-security-policy') ?? ''
  // Two inline scripts, and the second script from the origin.
  expect(policy).toMatch(
    /^default-src 'none';.*script-src 'sha256-[\w+/]+=' 'sha256-[\w+/]+=' 'self';/,
  )
  expect(policy).toContain("require-trusted-types-for 'script'; trusted-types 'none'")
  expect(policy).not.toMatch(/unsafe|\*|https?:/)
  expect(headers.get('referrer-policy')).toBe('no-referrer')
  expect(headers.get('access-control-allow-origin')).toBeNull()
  expect(headers.get('cache-status')).toBeNull()
  const text = await (await request({ explorer: true, basePath: '/a&b' }, '/a&b')).text()
  expect(text).toContain('href="/a&amp;b/v1/latest?base=USD"')
  expect(text).not.toContain('{base}')
})

it.each([
  ['HEAD', 200, null],
  ['OPTIONS', 204, 'GET, HEAD, OPTIONS'],
  ['POST', 405, 'GET, HEAD, OPTIONS'],
])('the page responds to %s with %d', async (method, status, allow) => {
  const response = await request({ explorer: true }, '/api', { method })
  expect([response.status, response.headers.get('allow')]).toEqual([status, allow])
})

it('the page matches only if the explorer is enabled', async () => {
  const target = { method: 'GET', target: '/api', header: () => null }
  const [on, off] = [createRatesHandler({ explorer: true }), createRatesHandler()]
  expect(await on.answer(target)).toMatchObject({ status: 200, matched: true })
  expect(await off.answer(target)).toMatchObject({ status: 404, matched: false })
})

it.each(['yes', 1, null])('the option explorer is not %j', (explorer) => {
  const create = () => createRatesHandler(Object({ explorer }))
  expect(create).toThrow(TypeError)
  expect(create).toThrow(withFacts(`explorer …true or false…${explorer}`))
})

it('the second script needs no key', async () => {
  const access = createAccess({ keys: { find: () => undefined }, plans: { all: '9/min' } })
  const options = { explorer: true, access }
  expect((await request(options, '/api/explorer-api.js')).status).toBe(200)
  expect((await request(options, '/api/v1/latest')).status).toBe(401)
})
