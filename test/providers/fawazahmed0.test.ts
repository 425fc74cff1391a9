import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

import type { LatestTable, ProviderContext } from '../../src/index.ts'
import { createFawazahmed0Provider } from '../../src/providers/fawazahmed0.ts'
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

  it('quotes a failure that is not an Error', async () => {
    const body = new ReadableStream({ cancel: () => Promise.reject('not an error') })
    const moved = new Response(body, { status: 302, headers: { location: '/moved' } })
    const { error } = await call([moved, down()])
    const message = expect.stringMatching(`^not an error; ${SECOND} .*503`)
    expect(error).toMatchObject({ message })
  })

  it('is the error of the only host, unchanged', async () => {
    const { error } = await call([down()], { urls: ['http://127.0.0.1:8080/v1/'] })
    const message = expect.stringMatching(/^127\.0\.0\.1:8080 .*503/)
    expect(error).toMatchObject({ name: 'UpstreamError', message })
  })
})

describe('several hosts', () => {
  const [A, B, C] = ['https://a.example', 'https://b.example', 'https://c.example'] as const

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  })

  afterEach(() => {
    vi.useRealTimers()
    vi.restoreAllMocks()
  })

  /** Starts a call whose requests are settled by hand. */
  function open(urls: readonly string[]) {
    const requests: (PromiseWithResolvers<Response> & Pick<Request, 'url' | 'signal'>)[] = []
    const controller = new AbortController()
    const context: ProviderContext = {
      signal: controller.signal,
      now: () => NOW,
      fetch(input, init) {
        const { url, signal } = new Request(input, init)
        const response = Promise.withResolvers<Response>()
        signal.addEventListener('abort', () => response.reject(signal.reason))
        requests.push({ ...response, url, signal })
        return response.promise
      },
    }
    const outcome = createFawazahmed0Provider({ urls })
      .fetchLatest(context)
      .catch((error: unknown) => error)
    const origins = (): string[] => requests.map(({ url }) => new URL(url).origin)
    return { requests, origins, outcome, abort: (error: Error) => controller.abort(error) }
  }

  it('get requests two seconds apart; the slower request is aborted', async () => {
    const { requests, origins, outcome } = open([A, B, C])
    await vi.advanceTimersByTimeAsync(1_999)
    expect(origins()).toEqual([A])
    // After its timer, a hedged call has one more turn for a received response.
    await vi.advanceTimersByTimeAsync(2)
    expect(origins()).toEqual([A, B])
    requests[1]?.resolve(good())
    expect(await outcome).toMatchObject({ updatedAt: MIDNIGHT })
    expect(requests[0]?.signal.aborted).toBe(true)
    await vi.advanceTimersByTimeAsync(10_000)
    expect(origins()).toEqual([A, B])
  })

  it.each([
    ['that comes before one of the second', [A, B], true],
    ['at once, and request no third host', [A, B, C], false],
  ])('use a late response of the first %s', async (_, hosts, isSecondDown) => {
    const { requests, origins, outcome } = open(hosts)
    await vi.advanceTimersByTimeAsync(2_001)
    if (isSecondDown) requests[1]?.reject(new Error('b is down'))
    requests[0]?.resolve(good())
    expect(await outcome).toMatchObject({ updatedAt: MIDNIGHT })
    expect(origins()).toEqual([A, B])
  })

  it('are not requested once the call is aborted', async () => {
    const { origins, outcome, abort } = open([A, B, C])
    const reason = new Error('time is up')
    abort(reason)
    expect(await outcome).toMatchObject({ message: 'request to a.example failed', cause: reason })
    expect(origins()).toEqual([A])
  })
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
