import { describe, expect, it } from 'vitest'

import { createRatesHandler } from '../../src/index.ts'
import type { HistoryProvider } from '../../src/index.ts'
import { operations } from './document.ts'
import { differences, read, responseDifferences } from './exchange.ts'
import {
  ask,
  coldAt,
  exampleOf,
  handler,
  history,
  latest,
  now,
  requestFor,
  sharedResponse,
} from './live.ts'

describe.each(operations)('$operationId', (operation) => {
  const search = exampleOf(operation)

  it('answers HEAD like GET, without the body', async () => {
    // The first answer says that it was loaded for this very request.
    await ask(operation, search)
    const get = await ask(operation, search)
    const head = await read(await handler(requestFor(operation, search, { method: 'HEAD' })))
    expect(head.status).toBe(200)
    expect(head.body).toBe('')
    expect([...head.headers]).toEqual([...get.headers])
  })

  it.each(['POST', 'PUT', 'PATCH', 'DELETE'])('answers %s with what it allows', async (method) => {
    const answered = await read(await handler(requestFor(operation, search, { method })))
    expect(answered.status).toBe(405)
    expect(responseDifferences(sharedResponse(operation, 'MethodNotAllowed'), answered)).toEqual([])
  })

  it('answers OPTIONS with 204', async () => {
    const { status } = await handler(requestFor(operation, search, { method: 'OPTIONS' }))
    expect(status).toBe(204)
  })

  it('answers 304 to whoever has it already, where that is documented', async () => {
    const etag = (await ask(operation, search)).headers.get('etag')
    const headers = { 'if-none-match': etag ?? '*' }
    const { status } = await ask(operation, search, handler, { headers })
    expect(status).toBe(Object.hasOwn(operation.responses, '304') ? 304 : 200)
  })

  it('answers 502 while there are no data, where that is documented', async () => {
    const { status, headers } = await ask(operation, search, coldAt(now))
    expect(status).toBe(Object.hasOwn(operation.responses, '502') ? 502 : 200)
    expect(headers.has('retry-after')).toBe(status === 502)
  })

  it('answers 404 beside its path', async () => {
    const { path } = operation
    const beside = { ...operation, path: `${path}/` }
    const answered = await read(await handler(requestFor(beside, search)))
    expect(answered.status).toBe(404)
    expect(responseDifferences(sharedResponse(operation, 'NotFound'), answered)).toEqual([])
  })
})

describe('a defect', () => {
  const header = (): never => {
    throw new Error('a host that cannot read its headers')
  }

  // The status is the only one to read none.
  it.each(operations.filter(({ operationId }) => operationId !== 'getStatus'))(
    'is 500 in $operationId',
    async (operation) => {
      const target = `/api${operation.path}${exampleOf(operation)}`
      const { status, headers, body } = await handler.answer({ method: 'GET', target, header })
      expect(status).toBe(500)
      const answered = { status, headers: new Headers(headers), body: String(body) }
      expect(differences(operation, answered)).toEqual([])
    },
  )
})

describe('history', () => {
  it('is 404 where the window has no rates', async () => {
    const until = '2026-11-10'
    const gappy = createRatesHandler({ providers: { latest, history: withoutYen(until) }, now })
    const [operation] = operations.filter(({ path }) => path === '/v1/history')
    if (!operation) throw new Error('the document has no history')
    expect((await ask(operation, '?from=USD&to=JPY&period=1W', gappy)).status).toBe(404)
  })
})

/** The reference rates of the market, without those of the yen from the day `until` on. */
function withoutYen(until: string): HistoryProvider {
  return {
    ...history,
    async fetchHistory(range, context) {
      const { base, days } = await history.fetchHistory(range, context)
      const quoted = days.map(({ date, rates: { JPY = NaN, ...rates } }) => {
        return { date, rates: date < until ? { JPY, ...rates } : rates }
      })
      return { base, days: quoted }
    },
  }
}
