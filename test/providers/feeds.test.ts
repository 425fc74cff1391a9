import { readFileSync } from 'node:fs'

import { describe, expect, it } from 'vitest'

import type { HistoryDay, HistoryProvider } from '../../src/index.ts'
import * as providers from '../../src/providers/index.ts'
import { expand } from '../catalogue/catalogue.ts'
import { RANGE, good } from '../fixtures/feed.ts'
import type { Feed } from '../fixtures/feed.ts'
import { BANK_FEEDS, TABLE_B } from '../fixtures/banks.ts'
import { addDays } from '../fixtures/dates.ts'
import { FEEDS } from '../fixtures/feeds.ts'
import { NOW, upstream } from './upstream.ts'
import type { Upstream } from './upstream.ts'

const ROOT = 'https://feed.example'
const rangeOf = ({ range = RANGE }: Feed): typeof RANGE => range

const NO_ROOTS = ['', 'open.er-api.com', '/v1', 'ftp://x', 'https://x?key=1', 'https://x#y']

describe.each(Object.entries(FEEDS))('%s', (_, feed) => {
  const { create } = feed
  const isPost = 'content-type' in feed.headers
  const healthy = (url: string, { body }: RequestInit): Response => {
    const isOwn = feed.requests !== undefined ? feed.respond : undefined
    return isOwn ? isOwn(url, NOW, typeof body === 'string' ? body : '') : good(feed)
  }

  /** Calls the provider for its latest rates, or else for those of its range. */
  async function call(
    provider: ReturnType<Feed['create']>,
    { context }: Upstream,
  ): Promise<unknown> {
    return provider.fetchLatest?.(context) ?? provider.fetchHistory?.(rangeOf(feed), context)
  }

  it('has its attribution, and sends one request with its headers', async () => {
    const market = upstream([healthy])
    const provider = create()
    await call(provider, market)
    expect(provider.attribution).toEqual(feed.attribution)
    expect(market.requests).toHaveLength(feed.requests ?? 1)
    expect(market.requests[0]?.url).toBe(`${feed.root}${feed.path}`)
    const headers = { ...feed.headers, 'user-agent': expect.any(String) }
    expect(market.requests[0]?.init.headers).toEqual(headers)
  })

  it.each(['', '/mirror//'])('sends its request below a root with the path %j', async (path) => {
    const root = `http://127.0.0.1:8080${path}`
    const market = upstream([healthy])
    await call(create(root), market)
    expect(market.requests[0]?.url).toBe(`${root.replace(/\/+$/, '')}${feed.path}`)
  })

  it.each(NO_ROOTS)('throws for the root %j', (root) => {
    expect(() => create(root)).toThrow(TypeError)
  })

  function redirecting(host: string): Upstream {
    const redirect = (url: string): Response => {
      const headers = { location: url.replace(ROOT, `https://${host}`) }
      return new Response(null, { status: 302, headers })
    }
    return upstream([redirect, healthy])
  }

  it.each(feed.redirectHosts)('follows a redirect to %s', async (host) => {
    const market = redirecting(host)
    await call(create(ROOT), market)
    expect(market.requests[1]?.url).toBe(`https://${host}${feed.path}`)
  })

  it('follows no redirect to another host', async () => {
    const market = redirecting('other.example')
    await expect(call(create(ROOT), market)).rejects.toThrow(
      isPost ? 'redirected a POST request' : 'is not trusted',
    )
  })

  it('rejects a response with more bytes than its limit', async () => {
    const market = upstream([new Response(new Uint8Array(feed.maxBytes + 1).fill(32))])
    await expect(call(create(ROOT), market)).rejects.toThrow(
      new RegExp(`^feed\\.example .*HTTP 200 .*more than ${feed.maxBytes} bytes${endOf(feed)}`),
    )
  })

  it.each([203, 206, 400, 404, 422, 500, 503])('fails with the status %d', async (status) => {
    const market = upstream([() => good(feed, { status, headers: { 'retry-after': '7' } })])
    await expect(call(create(ROOT), market)).rejects.toMatchObject({
      name: 'UpstreamError',
      message: expect.stringMatching(`^feed\\.example .*HTTP ${status}$`),
      status,
      retryAfterMs: 7_000,
    })
  })
})

const endOf = ({ hasOtherAddresses }: Feed): string =>
  hasOtherAddresses ? '; feed\\.example [^;]*$' : '$'

const INVALID = Object.entries(FEEDS).flatMap(([name, feed]) =>
  (feed.invalid ?? []).map(([overrides, where]) => ({ name, overrides, where, feed })),
)

describe('JSON in an unexpected format', () => {
  it.each(INVALID)('is rejected by $name, naming $where', async ({ feed, overrides, where }) => {
    const body = overrides && { ...Object(feed.body(NOW)), ...overrides }
    const market = upstream([Response.json(body)])
    const message = new RegExp(`^feed\\.example .*: ${where}${endOf(feed)}`)
    const { fetchLatest, fetchHistory } = feed.create(ROOT)
    const { context } = market
    const call = fetchLatest?.(context) ?? fetchHistory?.(rangeOf(feed), context)
    await expect(call).rejects.toThrow(message)
  })
})

/** The first Monday of a year, the end of February, and days in the months before and after October. */
const CLOCKS = ['2024-01-01', '2025-02-28', '2026-01-16', '2026-11-20']
const LENGTHS = { daily: 12, weekly: 20, monthly: 40, quarterly: 140 }

describe.each(Object.entries({ ...BANK_FEEDS, 'table B of NBP': TABLE_B }))(
  'the days of %s',
  (name, feed) => {
    // The file of a year that has no rates yet is rejected.
    const isYearly = /Bnr/.test(name)
    it.each(CLOCKS.slice(isYearly ? 1 : 0))(
      'are those of the bank, to the digit, on %s',
      async (today) => {
        const now = Date.parse(`${today}T21:00:00Z`)
        const range = {
          start: addDays(today, -LENGTHS[feed.create().publication?.frequency ?? 'daily']),
          end: today,
        }
        const { context } = upstream([
          (url, { body }) =>
            feed.respond?.(url, now, typeof body === 'string' ? body : '') ?? Response.error(),
        ])
        const { days } =
          (await feed.create().fetchHistory?.(range, { ...context, now: () => now })) ?? {}
        expect(days).toEqual(feed.days?.(range, now))
        expect(days?.length).toBeGreaterThan(0)
      },
    )
  },
)

/** A response of a bank, by a part of the URL where there are several, and its days, or the end of the error. */
interface BankResponse {
  provider: string
  title: string
  range: { start: string; end: string }
  /** The only currency (default all). */
  code?: string
  options?: object
  status?: number
  body: string | Record<string, string>
  days: HistoryDay[] | string
}

const RESPONSES = readFileSync(new URL('bank-responses.jsonl', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line): BankResponse => JSON.parse(line, (_, value) => value ?? NaN))

describe('a response of a bank', () => {
  it.each(RESPONSES)('$provider $title', async ({ provider: name, options, ...response }) => {
    const { range, code, status = 200, body, days } = response
    const { context } = upstream([
      (url) => {
        const parts = typeof body === 'string' ? { '': body } : body
        const [, text = ''] = Object.entries(parts).find(([part]) => url.includes(part)) ?? []
        return new Response(expand(text), { status })
      },
    ])
    const provider: Partial<HistoryProvider> | undefined = options
      ? Reflect.get(providers, name.slice(0, -'()'.length))(options)
      : FEEDS[name]?.create()
    const read =
      code === undefined
        ? provider?.fetchHistory?.(range, context)
        : provider?.fetchSeries?.({ code, ...range }, context)
    const outcome = await read?.then(
      (published) => published.days,
      (error: unknown) => String(error).split(': ').at(-1),
    )
    expect(outcome).toEqual(days)
  })
})
