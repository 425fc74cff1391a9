import { describe, expect, it } from 'vitest'

import { operationAt } from './document.ts'
import { ask, differences } from './live.ts'
import type { Answered } from './live.ts'

const conversion = operationAt('/v1/convert')

const PAIR = 'from=USD&to=EUR'
const DAY = 'date=2020-02-29'
const RANGE = '?from=USD&to=EUR&start=2008-09-01&end=2008-09-30&interval=week'

/** What the check says of an answer to a conversion that `change` has changed. */
async function changed(change: (answered: Answered) => Partial<Answered>): Promise<string> {
  const answered = await ask(conversion, '?from=USD&to=EUR&amount=100')
  return differences(conversion, { ...answered, ...change(answered) }).join()
}

function withHeader(name: string, value?: string): Promise<string> {
  return changed((answered) => {
    const headers = new Headers(answered.headers)
    headers.delete(name)
    if (value !== undefined) headers.set(name, value)
    return { headers }
  })
}

/** Defects of a record, by the path and the query whose answer has it, and the fields that are changed. */
const DEFECTS: Record<string, [what: string, change: object][]> = {
  '/v1/convert?from=USD&to=EUR': [
    ['another field', { fee: 0 }],
    ['a field that is gone', { rate: undefined }],
    ['a number as a text', { rate: '0.85' }],
    ['a rate of nothing', { rate: 0 }],
    ['a code in small letters', { from: 'usd' }],
    ['an instant with a fraction', { updatedAt: 1.5 }],
    ['a source that is a text', { source: 'Synthetic rates' }],
    ['a source with a secret', { source: { name: 'a', url: 'https://a.example', key: 1 } }],
    ['a source without an address', { source: { name: 'a', url: 'nowhere' } }],
    ['`reverse` without a conversion in reverse', { reverse: false }],
    ['a day that is an instant', { date: 1_795_186_800_000 }],
  ],
  '/v1/convert?from=USD&to=EUR,GBP': [['a target beside several', { to: 'EUR' }]],
  '/v1/convert?from=USD&to=EUR,': [
    ['several results that are gone', { results: undefined }],
    ['a result without a rate', { results: { EUR: { result: 1 } } }],
    ['a result of no code', { results: { eur: { rate: 1, result: 1 } } }],
  ],
  '/v1/latest?date=2020-02-29': [['a day that does not exist', { date: '2020-02-30' }]],
  [`/v1/history${RANGE}`]: [
    ['a period beside a range', { period: '1M' }],
    ['a range without an end', { end: undefined }],
    ['an unknown interval', { interval: 'year' }],
    ['a range without points', { points: [] }],
  ],
}

describe('the check of an answer against the document', () => {
  const defects = Object.entries(DEFECTS).flatMap(([target, rows]) =>
    rows.map(([what, change]) => ({ what, target, change })),
  )

  it.each(defects)('finds $what in $target', async ({ target, change }) => {
    const [path = '', search = ''] = target.split(/(?=\?)/)
    const operation = operationAt(path)
    // Finds nothing in the answer as it is.
    const answered = await ask(operation, search)
    const body = JSON.stringify({ ...JSON.parse(answered.body), ...change })
    expect(differences(operation, { ...answered, body }).join()).toMatch(/^the body: /)
  })

  it.each([
    ['that is gone', 'etag', undefined],
    ['that is no entity tag', 'etag', 'abc'],
    ['that keeps a minute for an hour', 'cache-control', 'public, max-age=3600'],
    ['that has no time to live', 'cache-status', 'rates; hit'],
    ['that is not documented', 'x-upstream', 'https://upstream.example'],
    ['of a media type that is not documented', 'content-type', 'text/html'],
  ])('finds a header %s', async (_what, name, value) => {
    expect(await withHeader(name, value)).toMatch(/^the (header|media type)/)
  })

  it('finds a status that is not documented', async () => {
    expect(await changed(() => ({ status: 418 }))).toBe('the status 418 is not documented')
  })

  it('finds an error with a code that the status does not have', async () => {
    const body = JSON.stringify({ error: { code: 'no_data', message: 'No data' } })
    expect(await changed(() => ({ status: 400, body }))).toMatch(/the body: .*code/)
  })

  it.each([
    ['with other columns', '/v1/latest', '?format=csv', 'base,code,', 'code,base,'],
    ['of a day whose lines have none', '/v1/latest', `?${DAY}&format=csv`, ',2020-02-28,', ','],
    ['of a conversion on a day', '/v1/convert', `?${PAIR}&${DAY}&format=csv`, ',date,', ','],
    ['of one in reverse', '/v1/convert', `?${PAIR}&reverse=true&format=csv`, ',true,', ',false,'],
  ])('finds CSV %s', async (_what, path, search, searched, replacement) => {
    const operation = operationAt(path)
    const answered = await ask(operation, search)
    const body = answered.body.replaceAll(searched, replacement)
    expect(body).not.toBe(answered.body)
    expect(differences(operation, { ...answered, body }).join()).toMatch(/^the body: /)
  })
})
