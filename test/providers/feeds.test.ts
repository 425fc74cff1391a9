import { describe, expect, it } from 'vitest'

import { FEEDS, RANGE, good } from './feeds.ts'
import type { Feed } from './feeds.ts'
import { upstream } from './upstream.ts'
import type { Upstream } from './upstream.ts'

const ROOT = 'https://feed.example'
const NO_ROOTS = ['', 'open.er-api.com', '/v1', 'ftp://x', 'https://x?key=1', 'https://x#y']

/** Calls the provider for its latest rates, or else for those of `RANGE`. */
async function call(provider: ReturnType<Feed['create']>, { context }: Upstream): Promise<unknown> {
  return provider.fetchLatest?.(context) ?? provider.fetchHistory?.(RANGE, context)
}

describe.each(Object.entries(FEEDS))('%s', (_, feed) => {
  const { create } = feed
  const well = (): Response => good(feed)

  it('names its source, and makes one request with the headers that it needs', async () => {
    const market = upstream([well])
    const provider = create()
    await call(provider, market)
    expect(provider.attribution).toEqual(feed.attribution)
    expect(market.asked).toHaveLength(1)
    expect(market.asked[0]?.url).toBe(`${feed.root}${feed.path}`)
    expect(market.asked[0]?.init.headers).toEqual(feed.headers)
  })

  it.each(['', '/mirror//'])('makes its request below a root with the path %j', async (path) => {
    const root = `http://127.0.0.1:8080${path}`
    const market = upstream([well])
    await call(create(root), market)
    expect(market.asked[0]?.url).toBe(`${root.replace(/\/+$/, '')}${feed.path}`)
  })

  it.each(NO_ROOTS)('throws for the root %j', (root) => {
    expect(() => create(root)).toThrow(TypeError)
  })

  function redirecting(host: string): Upstream {
    const headers = { location: `https://${host}/x` }
    return upstream([new Response(null, { status: 302, headers }), well])
  }

  it.each(feed.redirectHosts)('follows a redirect to %s', async (host) => {
    const market = redirecting(host)
    await call(create(ROOT), market)
    expect(market.asked.at(-1)?.url).toBe(`https://${host}/x`)
  })

  it('follows no redirect to another host', async () => {
    const market = redirecting('elsewhere.example')
    await expect(call(create(ROOT), market)).rejects.toThrow('is not trusted')
  })

  it('refuses an answer of more bytes than its limit', async () => {
    const market = upstream([new Response(new Uint8Array(feed.maxBytes + 1).fill(32))])
    await expect(call(create(ROOT), market)).rejects.toThrow(
      `feed.example answered 200 with more than ${feed.maxBytes} bytes`,
    )
  })

  it.each([203, 206, 400, 404, 422, 500, 503])('fails with the status %d', async (status) => {
    const market = upstream([good(feed, { status, headers: { 'retry-after': '7' } })])
    await expect(call(create(ROOT), market)).rejects.toMatchObject({
      name: 'UpstreamError',
      message: `feed.example answered with status ${status}`,
      retryAfterMs: 7_000,
    })
  })
})

const ODD = Object.entries(FEEDS).flatMap(([name, feed]) =>
  (feed.odd ?? []).map(([overrides, where]) => ({ name, overrides, where, feed })),
)

describe('JSON in another form', () => {
  it('is tried with every feed of JSON', () => {
    expect(new Set(ODD.map(({ name }) => name)).size).toBe(8)
  })

  it.each(ODD)('is refused by $name, with $where', async ({ feed, overrides, where }) => {
    const body = overrides && { ...Object(feed.body), ...overrides }
    const market = upstream([Response.json(body)])
    await expect(call(feed.create(ROOT), market)).rejects.toThrow(
      new Error(`feed.example answered in another form: ${where}`),
    )
  })
})
