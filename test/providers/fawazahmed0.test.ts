import { describe, expect, it } from 'vitest'

import { toLatestTable } from '../../src/providers/fawazahmed0-table.ts'
import { createFawazahmed0Provider } from '../../src/providers/fawazahmed0.ts'
import type { LatestTable } from '../../src/providers/provider.ts'
import { DAY_MS } from '../../src/rates/day.ts'
import { fawazahmed0Body } from '../fixtures/feed-payloads.ts'
import { upstream } from './upstream.ts'
import type { Upstream } from './upstream.ts'

const NOW = Date.UTC(2026, 10, 20, 18)
const MIDNIGHT = Date.UTC(2026, 10, 20)

const FIRST = 'cdn.jsdelivr.net'
const SECOND = 'latest.currency-api.pages.dev'

function good(now = NOW): Response {
  return Response.json(fawazahmed0Body(now))
}

function down(status = 503, headers: Record<string, string> = {}): Response {
  return new Response('', { status, headers })
}

function answer(overrides: object = {}, status = 200): Parameters<typeof toLatestTable>[0] {
  return { host: FIRST, status, body: { ...fawazahmed0Body(NOW), ...overrides } }
}

/** What is left of a call, and which hosts it asked. */
async function call(
  { context, asked }: Upstream,
  previous?: LatestTable,
): Promise<{ table?: LatestTable; error?: unknown; hosts: string[] }> {
  const hosts = (): string[] => asked.map(({ url }) => new URL(url).host)
  try {
    const given = { ...context, ...(previous && { previous }) }
    return { table: await createFawazahmed0Provider().fetchLatest(given), hosts: hosts() }
  } catch (error) {
    return { error, hosts: hosts() }
  }
}

describe('createFawazahmed0Provider()', () => {
  it('asks the first host alone while it is well', async () => {
    const market = upstream([good])
    const { table } = await call(market)
    expect(table?.updatedAt).toBe(MIDNIGHT)
    expect(market.asked.map(({ url }) => url)).toEqual([
      'https://cdn.jsdelivr.net/npm/@fawazahmed0/currency-api@latest/v1/currencies/usd.min.json',
    ])
  })

  it.each([
    ['is down', down()],
    ['cannot be reached', new TypeError('fetch failed')],
    ['has half a table', Response.json({ date: '2026-11-20', usd: { eur: 0.85 } })],
  ])('asks the second host when the first %s', async (_, first) => {
    const { table, hosts } = await call(upstream([first, good]))
    expect(table?.updatedAt).toBe(MIDNIGHT)
    expect(hosts).toEqual([FIRST, SECOND])
  })

  it('asks the second host when the first is a day behind what is held', async () => {
    const previous = (await call(upstream([good]))).table
    const { table, hosts } = await call(upstream([good(NOW - DAY_MS), good]), previous)
    expect(table?.updatedAt).toBe(MIDNIGHT)
    expect(hosts).toEqual([FIRST, SECOND])
  })

  it('rejects when both are behind', async () => {
    const previous = (await call(upstream([good]))).table
    const { error } = await call(upstream([() => good(NOW - DAY_MS)]), previous)
    expect(error).toMatchObject({
      name: 'RejectedError',
      message: `${FIRST} is behind: it has 2026-11-19; ${SECOND} is behind: it has 2026-11-19`,
    })
  })

  it('tells both errors, and the pause of the one that asks for the shorter', async () => {
    const { error } = await call(
      upstream([down(429, { 'retry-after': '600' }), down(503, { 'retry-after': '120' })]),
    )
    expect(error).toMatchObject({
      message: `${FIRST} answered 429 without JSON; ${SECOND} answered 503 without JSON`,
      retryAfterMs: 120_000,
    })
  })

  it('asks for no pause where one of them asked for none', async () => {
    const unreachable = new TypeError('fetch failed')
    const { error } = await call(upstream([down(429), unreachable]))
    expect(error).toMatchObject({ retryAfterMs: 0 })
    expect(error).toHaveProperty('errors.1.cause', unreachable)
  })

  it('has the error of the only host as it is', async () => {
    const { context } = upstream([down()])
    const provider = createFawazahmed0Provider({ urls: ['http://127.0.0.1:8080/v1/'] })
    await expect(provider.fetchLatest(context)).rejects.toMatchObject({
      name: 'UpstreamError',
      message: '127.0.0.1:8080 answered 503 without JSON',
    })
  })

  it.each([[[]], [['cdn.jsdelivr.net']], [['https://cdn.jsdelivr.net/v1?x=1']]])(
    'refuses the URLs %j',
    (urls) => {
      expect(() => createFawazahmed0Provider({ urls })).toThrow(TypeError)
    },
  )
})

describe('toLatestTable()', () => {
  it('has upper-case codes of currencies, withdrawn ones too, and no coins', () => {
    const { base, rates } = toLatestTable(answer())
    expect(base).toBe('USD')
    expect(rates).toMatchObject({ USD: 1, EUR: expect.any(Number), DEM: expect.any(Number) })
    for (const coin of ['BTC', 'ETH', 'AVAX', '1INCH', 'btc']) expect(rates[coin]).toBeUndefined()
    expect(Object.keys(rates).length).toBeGreaterThan(160)
  })

  it('is of midnight UTC of its day, and due a day later', () => {
    const { updatedAt, nextUpdateAt } = toLatestTable(answer())
    expect([updatedAt, nextUpdateAt]).toEqual([MIDNIGHT, MIDNIGHT + DAY_MS])
  })

  it.each([
    [{ date: '2026-11-31' }, 'date'],
    [{ date: undefined, usd: 1 }, 'date, usd'],
    [{ usd: null }, 'usd'],
  ])('refuses another form: %j', (overrides, where) => {
    expect(() => toLatestTable(answer(overrides))).toThrow(
      `${FIRST} answered in another form: ${where}`,
    )
  })

  it('refuses a table that comes with 203', () => {
    expect(() => toLatestTable(answer({}, 203))).toThrow(`${FIRST} answered with status 203`)
  })
})
