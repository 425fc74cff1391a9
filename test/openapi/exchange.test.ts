import { describe, expect, it } from 'vitest'

import { operations } from './document.ts'
import type { Operation } from './document.ts'
import { differences } from './exchange.ts'
import type { Answered } from './exchange.ts'
import { ask } from './live.ts'

function operationAt(path: string): Operation {
  const found = operations.find((operation) => operation.path === path)
  if (!found) throw new Error(`the document has no ${path}`)
  return found
}

const conversion = operationAt('/v1/convert')

const RANGE = '?from=USD&to=EUR&start=2008-09-01&end=2008-09-30&interval=week'

/** What the check says of an answer to a conversion that `change` has changed. */
async function changed(change: (answered: Answered) => Partial<Answered>): Promise<string> {
  const answered = await ask(conversion, '?from=USD&to=EUR&amount=100')
  return differences(conversion, { ...answered, ...change(answered) }).join()
}

function withRecord(change: object): Promise<string> {
  return changed(({ body }) => ({ body: JSON.stringify({ ...JSON.parse(body), ...change }) }))
}

function withHeader(name: string, value?: string): Promise<string> {
  return changed((answered) => {
    const headers = new Headers(answered.headers)
    headers.delete(name)
    if (value !== undefined) headers.set(name, value)
    return { headers }
  })
}

describe('the check of an answer against the document', () => {
  it('finds nothing in one that is as it should be', async () => {
    expect(await withRecord({})).toBe('')
  })

  it.each([
    ['another field', { fee: 0 }],
    ['a field that is gone', { rate: undefined }],
    ['a number as a text', { rate: '0.85' }],
    ['a rate of nothing', { rate: 0 }],
    ['a code in small letters', { from: 'usd' }],
    ['an instant with a fraction', { updatedAt: 1.5 }],
    ['a source that is a text', { source: 'Synthetic rates' }],
    [
      'a source with something private',
      { source: { name: 'a', url: 'https://a.example', key: 1 } },
    ],
    ['a source without an address', { source: { name: 'a', url: 'nowhere' } }],
  ])('finds %s', async (_what, change) => {
    expect(await withRecord(change)).toMatch(/^the body: /)
  })

  it.each([
    ['a day that there is not', '/v1/latest', '?date=2020-02-29', { date: '2020-02-30' }],
    ['a target beside several', '/v1/convert', '?from=USD&to=EUR,GBP', { to: 'EUR' }],
    ['several results that are gone', '/v1/convert', '?from=USD&to=EUR,', { results: undefined }],
    [
      'a result without a rate',
      '/v1/convert',
      '?from=USD&to=EUR,',
      { results: { EUR: { result: 1 } } },
    ],
    [
      'a result of no code',
      '/v1/convert',
      '?from=USD&to=EUR,',
      { results: { eur: { rate: 1, result: 1 } } },
    ],
    ['what is not in reverse as such', '/v1/convert', '?from=USD&to=EUR', { reverse: false }],
    ['a day that is an instant', '/v1/convert', '?from=USD&to=EUR', { date: 1_795_186_800_000 }],
    ['a period beside a range', '/v1/history', RANGE, { period: '1M' }],
    ['a range without an end', '/v1/history', RANGE, { end: undefined }],
    ['an interval that there is not', '/v1/history', RANGE, { interval: 'year' }],
    ['a range without points', '/v1/history', RANGE, { points: [] }],
  ])('finds %s', async (_what, path, search, change) => {
    const operation = operationAt(path)
    const answered = await ask(operation, search)
    const body = JSON.stringify({ ...JSON.parse(answered.body), ...change })
    expect(differences(operation, { ...answered, body }).join()).toMatch(/^the body: /)
  })

  it.each([
    ['that is gone', 'etag', undefined],
    ['that is no entity tag', 'etag', 'abc'],
    ['that keeps a minute for an hour', 'cache-control', 'public, max-age=3600'],
    ['that tells of no reading', 'cache-status', 'rates; hit'],
    ['that nothing is told of', 'x-upstream', 'https://upstream.example'],
    ['of a media type that nothing is told of', 'content-type', 'text/html'],
  ])('finds a header %s', async (_what, name, value) => {
    expect(await withHeader(name, value)).toMatch(/^the (header|media type)/)
  })

  it('finds a status that nothing is told of', async () => {
    expect(await changed(() => ({ status: 418 }))).toBe('the status 418 is not documented')
  })

  it('finds an error with a code that the status does not have', async () => {
    const body = JSON.stringify({ error: { code: 'no_data', message: 'No data' } })
    expect(await changed(() => ({ status: 400, body }))).toMatch(/the body: .*code/)
  })

  it('finds CSV with other columns', async () => {
    const latest = operationAt('/v1/latest')
    const answered = await ask(latest, '?format=csv')
    const body = answered.body.replace('base,code,', 'code,base,')
    expect(differences(latest, { ...answered, body }).join()).toMatch(/^the body: /)
  })

  it('finds CSV of a day whose lines have none', async () => {
    const latest = operationAt('/v1/latest')
    const answered = await ask(latest, '?date=2020-02-29&format=csv')
    const body = answered.body.replaceAll(',2020-02-28,', ',')
    expect(body).not.toBe(answered.body)
    expect(differences(latest, { ...answered, body }).join()).toMatch(/^the body: /)
  })
})
