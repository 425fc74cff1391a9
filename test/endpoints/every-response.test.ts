import { beforeEach, describe, expect, it } from 'vitest'

import { CACHE_CONTROL } from '../fixtures/contract.ts'
import { createQuotes } from '../../src/quotes/index.ts'
import { NOW, market, openService } from '../fixtures/service.ts'

/** Longer in UTF-8 than in characters. */
const SHOWN = { name: 'Zoë’s rates 💶', url: 'https://rates.example/ö' }

/** A provider may keep private fields in its attribution. */
const attribution = { ...SHOWN, secret: 'a-key-of-the-upstream' }

const providers = {
  latest: { ...market.latest, attribution },
  history: { ...market.history, attribution },
}
const quotes = { secrets: ['a secret of thirty-two bytes, or more'] }
const { rates } = openService({ providers }).handler
const { create } = createQuotes({ rates, ...quotes, now: () => NOW })
const { quote } = await create({ from: 'USD', to: 'EUR' })

// A new service, so that no test reads the response cache of another.
let service: ReturnType<typeof openService>
beforeEach(() => {
  service = openService({ providers, quotes })
})

const { latest: MINUTE, history: HOUR } = CACHE_CONTROL

/** 16:00 in Frankfurt, in winter. */
const published = (day: string): string => new Date(`${day}T15:00:00Z`).toUTCString()
const NEWEST = published('2026-11-20')
const DATED = published('2026-11-18')

const PAIR = 'from=USD&to=EUR'

/** Every form of response, with its Cache-Control and Last-Modified. */
const TARGETS: [target: string, lifetime: string, modified: string | null][] = [
  ['v1/latest', MINUTE, NEWEST],
  ['v1/latest?format=csv', MINUTE, NEWEST],
  ['v1/latest?date=2026-11-18', MINUTE, DATED],
  ['v1/latest?date=2026-11-18&format=csv', MINUTE, DATED],
  [`v1/convert?${PAIR}`, MINUTE, NEWEST],
  [`v1/convert?${PAIR}&date=2026-11-18`, MINUTE, DATED],
  [`v1/convert?${PAIR}&date=2026-11-18&rule=exact&maxAge=0`, MINUTE, DATED],
  [`v1/convert?${PAIR}&reverse=true`, MINUTE, NEWEST],
  [`v1/convert?${PAIR},JPY`, MINUTE, NEWEST],
  [`v1/convert?${PAIR},JPY&format=csv`, MINUTE, NEWEST],
  [`v1/quote?${PAIR}`, 'no-store', null],
  [`v1/convert?${PAIR}&quote=${quote}`, 'no-store', null],
  [`v1/history?${PAIR}`, HOUR, null],
  [`v1/history?${PAIR}&period=5Y`, HOUR, null],
  [`v1/history?${PAIR}&format=csv`, HOUR, null],
  [`v1/history?${PAIR}&start=2026-10-01`, HOUR, null],
  [`v1/history?${PAIR}&interval=week`, HOUR, null],
  [`v1/history?${PAIR}&start=2026-10-01&interval=week&format=csv`, HOUR, null],
  ['v1/status', 'no-store', null],
  ['rates', MINUTE, NEWEST],
  ['rates?format=csv', MINUTE, NEWEST],
  [`convert?${PAIR}`, MINUTE, NEWEST],
]

describe.each(TARGETS)('a response to %s', (target, lifetime, modified) => {
  const isKept = lifetime !== 'no-store'
  const get = async (init?: RequestInit): Promise<Response> => {
    await service.handler.refresh()
    return service.get(`/api/${target}`, init)
  }

  it('names the source, and no private field of the provider', async () => {
    const text = await (await get()).text()
    expect(text).toContain(SHOWN.name)
    expect(text).toContain(SHOWN.url)
    expect(text).not.toMatch(/secret|a-key/)
  })

  it('has Content-Length in bytes, Content-Type, Cache-Control and Last-Modified', async () => {
    const response = await get()
    const { headers } = response
    expect(headers.get('content-length')).toBe(String((await response.arrayBuffer()).byteLength))
    const isCsv = target.includes('format=csv')
    expect(headers.get('content-type')).toBe(
      isCsv ? 'text/csv; charset=utf-8; header=present' : 'application/json; charset=utf-8',
    )
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.has('etag')).toBe(isKept)
    expect(headers.get('cache-control')).toBe(lifetime)
    expect(headers.get('last-modified')).toBe(modified)
    expect(headers.get('access-control-allow-origin')).toBe(target.startsWith('v1/') ? '*' : null)
  })

  it('reports in Cache-Status whether data was loaded', async () => {
    const cacheStatus = () => service.cacheStatus(`/api/${target}`)
    expect(await cacheStatus()).toBe(isKept ? 'rates; fwd=miss' : null)
    expect(String(await cacheStatus())).toMatch(isKept ? /^rates; hit; ttl=\d+$/ : /^null$/)
  })

  it.each(['GET', 'HEAD'])('is a 412 if If-Match does not list its ETag: %s', async (method) => {
    const etag = (await get()).headers.get('etag')
    const getIfMatch = (ifMatch: string) =>
      get({ method, headers: { 'if-match': ifMatch, 'if-none-match': etag ?? '*' } })
    const message = expect.stringMatching(/^Precondition failed: .*If-Match/)
    const error = target.startsWith('v1/') ? { code: 'precondition_failed', message } : message
    for (const other of ['"other"', `W/${etag}`, '"a", "b"', 'other', '"*"']) {
      const refused = await getIfMatch(other)
      expect([refused.status, refused.headers.get('cache-control')]).toEqual([412, 'no-store'])
      const body = JSON.parse((await refused.text()) || '"empty"')
      expect(body).toEqual(method === 'GET' ? { error } : 'empty')
    }
    // Without an ETag, no list matches.
    expect((await getIfMatch(`W/"x", ${etag}`)).status).toBe(isKept ? 304 : 412)
    expect((await getIfMatch('*')).status).toBe(isKept ? 304 : 200)
  })
})
