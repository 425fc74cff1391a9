import { describe, expect, it } from 'vitest'

import { createQuotes } from '../../src/quotes/index.ts'
import { CACHE_CONTROL } from '../fixtures/contract.ts'
import { rowsOf } from '../fixtures/rows.ts'
import { NOW, market, openService } from '../fixtures/service.ts'

/** Longer in UTF-8 than in characters. */
const SHOWN = { name: 'Zoë’s rates 💶', url: 'https://rates.example/ö' }

const attribution = { ...SHOWN, secret: 'a-key-of-the-upstream' }

const providers = {
  latest: { ...market.latest, attribution },
  history: { ...market.history, attribution },
}
const quotes = { secrets: ['a secret of thirty-two bytes, or more'] }
const { rates } = openService({ providers }).handler
const { quote } = await createQuotes({ rates, ...quotes, now: () => NOW }).create({
  from: 'USD',
  to: 'EUR',
})

/** 16:00 in Frankfurt, in winter. */
const MODIFIED: Readonly<Record<string, string>> = {
  newest: 'Fri, 20 Nov 2026 15:00:00 GMT',
  dated: 'Wed, 18 Nov 2026 15:00:00 GMT',
}

/** Every form of response, with its lifetime and Last-Modified. */
const TARGETS = rowsOf(`
  v1/latest latest newest | v1/latest?format=csv latest newest | v1/latest?date=2026-11-18 latest dated
  v1/latest?date=2026-11-18&format=csv latest dated | v1/convert?from=USD&to=EUR latest newest
  v1/convert?from=USD&to=EUR&date=2026-11-18 latest dated | v1/convert?from=USD&to=EUR&reverse=true latest newest
  v1/convert?from=USD&to=EUR&date=2026-11-18&rule=exact&maxAge=0 latest dated | v1/convert?from=USD&to=EUR,JPY latest newest
  v1/convert?from=USD&to=EUR,JPY&format=csv latest newest | v1/quote?from=USD&to=EUR none
  v1/convert?from=USD&to=EUR&quote=${quote} none | v1/history?from=USD&to=EUR history | v1/history?from=USD&to=EUR&period=5Y history
  v1/history?from=USD&to=EUR&format=csv history | v1/history?from=USD&to=EUR&start=2026-10-01 history
  v1/history?from=USD&to=EUR&interval=week history | v1/status none | rates latest newest | rates?format=csv latest newest
  v1/history?from=USD&to=EUR&start=2026-10-01&interval=week&format=csv history | convert?from=USD&to=EUR latest newest`)

describe.each(TARGETS)('a response to %s', (target = '', lifetime, modified) => {
  const isKept = lifetime !== 'none'
  const open = () => openService({ providers, quotes })

  it('has exact headers, and names the source without private fields of the provider', async () => {
    const service = open()
    await service.handler.refresh()
    const response = await service.get(`/api/${target}`)
    const text = await response.clone().text()
    const { headers } = response
    expect(text).toContain(SHOWN.name)
    expect(text).toContain(SHOWN.url)
    expect(text).not.toMatch(/secret|a-key/)
    expect(headers.get('content-length')).toBe(String((await response.arrayBuffer()).byteLength))
    const isCsv = target.includes('format=csv')
    expect(headers.get('content-type')).toBe(
      isCsv ? 'text/csv; charset=utf-8; header=present' : 'application/json; charset=utf-8',
    )
    const caching =
      lifetime === 'latest' || lifetime === 'history' ? CACHE_CONTROL[lifetime] : 'no-store'
    expect(headers.get('cache-control')).toBe(caching)
    expect(headers.get('last-modified')).toBe(MODIFIED[modified ?? ''] ?? null)
    expect(headers.get('access-control-allow-origin')).toBe(target.startsWith('v1/') ? '*' : null)
    expect(headers.has('etag')).toBe(isKept)
  })

  it('reports in Cache-Status whether data was loaded', async () => {
    const { cacheStatus } = open()
    expect(await cacheStatus(`/api/${target}`)).toBe(isKept ? 'rates; fwd=miss' : null)
    const again = String(await cacheStatus(`/api/${target}`))
    expect(again).toMatch(isKept ? /^rates; hit; ttl=\d+$/ : /^null$/)
  })

  it.each(['GET', 'HEAD'])('is a 412 if If-Match does not list its ETag: %s', async (method) => {
    const { get } = open()
    const etag = (await get(`/api/${target}`)).headers.get('etag')
    const statusWith = async (ifMatch: string) => {
      const headers = { 'if-match': ifMatch, 'if-none-match': etag ?? '*' }
      return (await get(`/api/${target}`, { method, headers })).status
    }
    for (const other of ['"other"', `W/${etag}`, '"a", "b"', 'other', '"*"']) {
      expect([other, await statusWith(other)]).toEqual([other, 412])
    }
    // Without an ETag, no list matches.
    expect(await statusWith(`W/"x", ${etag}`)).toBe(isKept ? 304 : 412)
    expect(await statusWith('*')).toBe(isKept ? 304 : 200)
  })
})

it('no result of a function has a private field of a provider', async () => {
  for (const name of ['latest', 'convert', 'snapshot', 'history'] as const) {
    const params = name === 'convert' || name === 'history' ? { from: 'USD', to: ['EUR'] } : {}
    const record: unknown = await Reflect.apply(rates[name], undefined, [params])
    expect(JSON.stringify(record)).toContain(SHOWN.name)
    expect(JSON.stringify(record)).not.toContain('secret')
  }
})
