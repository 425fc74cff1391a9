import { describe, expect, it } from 'vitest'

import { createAccess } from '../../src/access/index.ts'
import { createRatesHandler } from '../../src/index.ts'
import type { RatesHandlerOptions } from '../../src/index.ts'
import { withFacts } from '../fixtures/facts.ts'
import { openService } from '../fixtures/service.ts'

const request = (options: RatesHandlerOptions, path: string, init?: RequestInit) =>
  openService(options).get(path, init)

describe('the explorer page', () => {
  it.each([
    [{}, '/api'],
    [{}, '/api/'],
    [{}, '/api/?from=USD'],
    [{ basePath: '/a/b' }, '/a/b'],
    [{ basePath: '/a/b' }, '/a/b/'],
    [{ basePath: '' }, '/'],
  ])('is at the base path, with any query: %j %s', async (options, path) => {
    const response = await request({ ...options, explorer: true }, path)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(await response.text()).toMatch(/^<!doctype html>/i)
    expect((await request(options, path)).status).toBe(404)
  })

  it.each(['/api//', '/api/index.html', '/api/v1/', '/', '/API'])('is not at %s', async (path) => {
    const response = await request({ explorer: true }, path)
    expect(response.status).toBe(404)
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
  })

  it('has a strict policy, and is a 304 on revalidation', async () => {
    const { headers } = await request({ explorer: true }, '/api')
    const policy = headers.get('content-security-policy') ?? ''
    expect(policy).toMatch(/^default-src 'none';/)
    // Two inline scripts, and the second script from the origin.
    expect(policy).toMatch(/script-src 'sha256-[\w+/]+=' 'sha256-[\w+/]+=' 'self';/)
    expect(policy).toContain("require-trusted-types-for 'script'; trusted-types 'none'")
    expect(policy).not.toMatch(/unsafe|\*|https?:/)
    expect(headers.get('referrer-policy')).toBe('no-referrer')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('access-control-allow-origin')).toBeNull()
    expect(headers.get('cache-status')).toBeNull()
    expect(headers.get('cache-control')).toBe('no-cache')
    const seen = { headers: { 'if-none-match': headers.get('etag') ?? '' } }
    const again = await request({ explorer: true }, '/api/', seen)
    expect([again.status, await again.text()]).toEqual([304, ''])
    expect(again.headers.get('content-security-policy')).toBe(policy)
  })

  it('accepts the methods of every path', async () => {
    const head = await request({ explorer: true }, '/api', { method: 'HEAD' })
    expect(head.status).toBe(200)
    expect(Number(head.headers.get('content-length'))).toBeGreaterThan(100)
    expect(await head.text()).toBe('')
    const options = await request({ explorer: true }, '/api', { method: 'OPTIONS' })
    expect([options.status, options.headers.get('allow')]).toEqual([204, 'GET, HEAD, OPTIONS'])
    const post = await request({ explorer: true }, '/api', { method: 'POST' })
    expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS'])
  })

  it('has links to examples below the base path for browsers without scripts', async () => {
    const text = await (await request({ explorer: true, basePath: '/a&b' }, '/a&b')).text()
    expect(text).toContain('href="/a&amp;b/v1/latest?base=USD"')
    expect(text).not.toContain('{base}')
  })

  it('matches only if the explorer is enabled', async () => {
    const target = { method: 'GET', target: '/api', header: () => null }
    const on = createRatesHandler({ explorer: true })
    const off = createRatesHandler()
    expect(await on.answer(target)).toMatchObject({ status: 200, matched: true })
    expect(await off.answer(target)).toMatchObject({ status: 404, matched: false })
  })

  it.each(['yes', 1, null])('throws a TypeError for the option %j', (explorer) => {
    const create = () => createRatesHandler(Object({ explorer }))
    expect(create).toThrow(TypeError)
    expect(create).toThrow(withFacts(`explorer …true or false…${explorer}`))
  })
})

describe('the second script of the explorer', () => {
  it.each([
    [{}, '/api/explorer-api.js'],
    [{ basePath: '/a/b' }, '/a/b/explorer-api.js'],
    [{ basePath: '' }, '/explorer-api.js'],
  ])('is below the base path if the explorer is enabled: %j %s', async (options, path) => {
    const response = await request({ ...options, explorer: true }, path)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    expect(response.headers.get('cache-control')).toBe('no-cache')
    expect(await response.text()).toContain('createCombobox')
    const seen = { headers: { 'if-none-match': response.headers.get('etag') ?? '' } }
    expect((await request({ ...options, explorer: true }, path, seen)).status).toBe(304)
    expect((await request(options, path)).status).toBe(404)
  })

  it('needs no key', async () => {
    const access = createAccess({
      keys: { find: () => undefined },
      plans: { all: '9/min' },
    })
    const options = { explorer: true, access }
    expect((await request(options, '/api/explorer-api.js')).status).toBe(200)
    expect((await request(options, '/api/v1/latest')).status).toBe(401)
  })
})
