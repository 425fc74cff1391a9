import { describe, expect, it, vi } from 'vitest'

import type { LatestTable, ProviderContext } from '../../src/index.ts'
import { createFawazahmed0Provider } from '../../src/providers/index.ts'
import { fawazahmed0Body } from '../fixtures/feeds/fawazahmed0.ts'
import { DAY } from '../virtual-runtime.ts'
import { NOW, respondingWith, upstream } from './upstream.ts'

const MIDNIGHT = Date.UTC(2026, 10, 20)

const FIRST = 'cdn.jsdelivr.net'
const SECOND = 'latest.currency-api.pages.dev'

const goodAt = (now: number): Response => Response.json(fawazahmed0Body(now))

const good = (): Response => goodAt(NOW)

const behind = (): Response => goodAt(NOW - DAY)

function down(retryAfter?: number, status = 503): Response {
  const headers = retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }
  return new Response('', { status, headers })
}

/** Returns the result of a call, and the hosts of its requests. */
async function call(
  responses: Parameters<typeof upstream>[0],
  { previous, urls }: { previous?: LatestTable | undefined; urls?: readonly string[] } = {},
) {
  const { context, requests } = upstream(responses)
  const given = { ...context, ...(previous && { previous }) }
  let error: unknown
  const reading = createFawazahmed0Provider({ urls }).fetchLatest(given)
  const table = await reading.catch((reason: unknown) => void (error = reason))
  return { table: table ?? undefined, error, hosts: requests.map(({ url }) => new URL(url).host) }
}

describe('createFawazahmed0Provider()', () => {
  it('requests only the first host while it is healthy', async () => {
    const { table, hosts } = await call([good])
    expect(table?.updatedAt).toBe(MIDNIGHT)
    expect(hosts).toEqual([FIRST])
  })

  it.each([
    ['is down', down(), false],
    ['cannot be reached', new TypeError('fetch failed'), false],
    ['has half a table', Response.json({ date: '2026-11-20', usd: { eur: 0.85 } }), false],
    ['is a day behind the current table', behind(), true],
  ])('requests the second host when the first %s', async (_, first, hasTable) => {
    const previous = hasTable ? (await call([good])).table : undefined
    const { table, hosts } = await call([first, good], { previous })
    expect(table?.updatedAt).toBe(MIDNIGHT)
    expect(hosts).toEqual([FIRST, SECOND])
  })

  const BAD_URLS = [[], ['cdn.jsdelivr.net'], ['https://cdn.jsdelivr.net/v1?x=1']]

  it.each(BAD_URLS.map((urls) => ({ urls })))('throws for the URLs $urls', ({ urls }) => {
    expect(() => createFawazahmed0Provider({ urls })).toThrow(TypeError)
  })
})

describe('a failure of every host', () => {
  it('is a RejectedError if each response was rejected', async () => {
    const previous = (await call([good])).table
    const days = '.*2026-11-19.* 2026-11-20'
    const rejected = expect.stringMatching(`^${FIRST} ${days}; ${SECOND} ${days}$`)
    const both = await call([behind], { previous })
    expect(both.error).toMatchObject({ name: 'RejectedError', message: rejected })
    const { error } = await call([down(), behind], { previous })
    expect(error).toBeInstanceOf(AggregateError)
    const message = expect.stringMatching(`^${FIRST} .*503.*; ${SECOND} .*2026-11-19`)
    expect(error).toMatchObject({ message })
  })

  it.each([
    [[7, 5, 9], 5_000],
    [[600, 120], 120_000],
    [[7, undefined], 0],
  ])('has the shortest of the delays %j', async (delays, retryAfterMs) => {
    const urls = delays.map((_, at) => `https://${at}.example`)
    const responses = delays.map((delay) => down(delay))
    const { error, hosts } = await call(responses, { urls })
    expect(hosts).toHaveLength(delays.length)
    const pattern = hosts.map((host) => `${host} [^;]*503[^;]*`).join('; ')
    const message = expect.stringMatching(`^${pattern}$`)
    expect(error).toMatchObject({ message, retryAfterMs })
  })

  it('has no delay if a host could not be reached, and keeps the causes', async () => {
    const unreachable = new TypeError('fetch failed')
    const { error } = await call([down(undefined, 429), unreachable])
    expect(error).toMatchObject({ retryAfterMs: 0 })
    expect(error).toHaveProperty('errors.1.cause', unreachable)
  })

  it('is the error of the only host, unchanged', async () => {
    const { error } = await call([down()], { urls: ['http://127.0.0.1:8080/v1/'] })
    const message = expect.stringMatching(/^127\.0\.0\.1:8080 .*503/)
    expect(error).toMatchObject({ name: 'UpstreamError', message })
  })
})

it('uses the first response of two hosts, of which the second gets its request after two seconds', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const hosts: string[] = []
  const first = Promise.withResolvers<Response>()
  const fetch: ProviderContext['fetch'] = async (input) => {
    hosts.push(new URL(new Request(input).url).host)
    return hosts.length === 1 ? first.promise : new Promise(() => undefined)
  }
  const { context } = upstream([])
  const reading = createFawazahmed0Provider().fetchLatest({ ...context, fetch })
  await vi.advanceTimersByTimeAsync(1_999)
  expect(hosts).toEqual([FIRST])
  // After its timer, a hedged call has one more turn for a received response.
  await vi.advanceTimersByTimeAsync(2)
  vi.useRealTimers()
  expect(hosts).toEqual([FIRST, SECOND])
  first.resolve(good())
  expect(await reading).toMatchObject({ updatedAt: MIDNIGHT })
})

it('requests no second host once the call is aborted', async () => {
  const controller = new AbortController()
  const responses = [() => (controller.abort(), behind())]
  const { context, requests } = upstream(responses, controller.signal)
  const previous = (await call([good])).table
  const reading = createFawazahmed0Provider().fetchLatest({
    ...context,
    ...(previous && { previous }),
  })
  await expect(reading).rejects.toThrow(Error)
  expect(requests).toHaveLength(1)
})

describe('the table of fawazahmed0', () => {
  const provider = createFawazahmed0Provider({ urls: ['https://feed.example'] })

  it('has the day of the feed, and codes of current and withdrawn currencies only', async () => {
    const table = await provider.fetchLatest(respondingWith(fawazahmed0Body(NOW)))
    const { rates } = table
    // Published at midnight UTC of its day, and due a day later.
    const times = { updatedAt: MIDNIGHT, nextUpdateAt: MIDNIGHT + DAY }
    expect(table).toMatchObject({ base: 'USD', ...times })
    expect(rates).toMatchObject({ USD: 1, EUR: expect.any(Number), DEM: expect.any(Number) })
    for (const coin of ['BTC', 'ETH', 'AVAX', '1INCH', 'btc']) expect(rates[coin]).toBeUndefined()
    expect(Object.keys(rates).length).toBeGreaterThan(160)
  })

  it('has NaN for values that are not numbers', async () => {
    const { date, usd } = fawazahmed0Body(NOW)
    const body = { date, usd: { ...usd, eur: '0.85', jpy: null } }
    const { rates } = await provider.fetchLatest(respondingWith(body))
    expect(rates).toMatchObject({ EUR: NaN, JPY: NaN, GBP: usd['gbp'] })
  })
})
