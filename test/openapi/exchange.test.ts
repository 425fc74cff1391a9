import { describe, expect, it } from 'vitest'

import { operationAt } from './document.ts'
import { differences, request } from './live.ts'
import type { ReceivedResponse } from './live.ts'

// Conversions by a quote have fewer headers.
const table = operationAt('/v1/latest')

const RANGE = '?from=USD&to=EUR&start=2008-09-01&end=2008-09-30&interval=week'

/** Returns the differences that the check finds in a table of rates after `change`. */
async function changed(change: (received: ReceivedResponse) => Partial<ReceivedResponse>) {
  const received = await request(table, '?base=USD')
  return differences(table, { ...received, ...change(received) }).join()
}

function withHeader(name: string, value?: string): Promise<string> {
  return changed((received) => {
    const headers = new Headers(received.headers)
    headers.delete(name)
    if (value !== undefined) headers.set(name, value)
    return { headers }
  })
}

/** Defects of responses, by target, with the changed fields. */
const DEFECTS: Record<string, [what: string, change: object][]> = {
  '/v1/convert?from=USD&to=EUR': [
    ['an unknown field', { fee: 0 }],
    ['a missing field', { rate: undefined }],
    ['a number in a string', { rate: '0.85' }],
    ['a rate of 0', { rate: 0 }],
    ['a lower-case code', { from: 'usd' }],
    ['a fraction of a ms', { updatedAt: 1.5 }],
    ['a source that is a string', { source: 'Synthetic rates' }],
    ['a source with a key', { source: { name: 'a', url: 'https://a.example', key: 1 } }],
    ['a source without a URL', { source: { name: 'a', url: 'nowhere' } }],
    ['`reverse` that is false', { reverse: false }],
    ['a day in ms', { date: 1_795_186_800_000 }],
  ],
  '/v1/convert?from=USD&to=EUR,GBP': [['one target with several results', { to: 'EUR' }]],
  '/v1/convert?from=USD&to=EUR,': [
    ['missing results', { results: undefined }],
    ['a result without a rate', { results: { EUR: { result: 1 } } }],
    ['a result with a malformed code', { results: { eur: { rate: 1, result: 1 } } }],
  ],
  '/v1/quote?from=USD&to=EUR': [
    ['a missing quote', { quote: undefined }],
    ['a missing id', { jti: undefined }],
    ['an end as text', { expiresAt: '2026-11-20' }],
    ['a quoted rate of 0', { quotedRate: 0 }],
    ['a markup that is a number', { markup: 1.5 }],
  ],
  '/v1/latest?date=2020-02-29': [['a day that does not exist', { date: '2020-02-30' }]],
  [`/v1/history${RANGE}`]: [
    ['an unknown interval', { interval: 'decade' }],
    ['an unknown value', { value: 'median' }],
    ['a point that is not filled', { points: [{ d: '2008-09-05', r: 1, filled: false }] }],
    ['a range without points', { points: [] }],
  ],
  '/v1/days?start=2026-11-20&symbols=USD': [
    ['a day without a source', { source: undefined }],
    ['a price of 0', { prices: { KWD: 0 } }],
  ],
  '/v1/history?from=USD&to=EUR,GBP': [
    ['a list without series', { series: undefined }],
    ['a series with a malformed code', { series: { eur: {} } }],
    ['a series without points', { series: { EUR: { from: 'USD', to: 'EUR', period: '1M' } } }],
    ['points beside series', { points: [{ d: '2026-11-20', r: 1 }] }],
  ],
}

describe('the check of a response against the document', () => {
  const defects = Object.entries(DEFECTS).flatMap(([target, rows]) =>
    rows.map(([what, change]) => ({ what, target, change })),
  )

  it.each(defects)('detects $what in $target', async ({ target, change }) => {
    const [path = '', search = ''] = target.split(/(?=\?)/)
    const operation = operationAt(path)
    // The unchanged response has no differences.
    const received = await request(operation, search)
    const body = `${JSON.stringify({ ...JSON.parse(received.body), ...change })}\n`
    expect(differences(operation, { ...received, body }).join()).toMatch(/^the body: /)
  })

  it.each([
    ['a missing header', 'etag', undefined],
    ['a malformed entity tag', 'etag', 'abc'],
    ['another lifetime', 'cache-control', 'public, max-age=3600'],
    ['a Cache-Status without ttl', 'cache-status', 'rates; hit'],
    ['an undocumented header', 'x-upstream', 'https://upstream.example'],
    ['an undocumented media type', 'content-type', 'text/html'],
  ])('detects %s', async (_what, name, value) => {
    expect(await withHeader(name, value)).toMatch(/^the (header|media type)/)
  })

  it('detects an undocumented status', async () => {
    expect(await changed(() => ({ status: 418 }))).toBe('the status 418 is not documented')
  })

  it('detects an error code of another status', async () => {
    const body = JSON.stringify({ error: { code: 'no_data', message: 'No data' } })
    expect(await changed(() => ({ status: 400, body }))).toMatch(/the body: .*code/)
  })
})
