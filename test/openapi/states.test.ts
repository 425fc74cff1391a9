import { describe, expect, it } from 'vitest'

import { createRatesHandler } from '../../src/index.ts'
import type { HistoryProvider } from '../../src/index.ts'
import { operationAt, operations } from './document.ts'
import {
  answerTo,
  ask,
  coldAt,
  differences,
  exampleOf,
  handler,
  history,
  latest,
  now,
  otherResponse,
  responseDifferences,
  sharedResponse,
} from './live.ts'

describe.each(operations)('$operationId', (operation) => {
  const search = exampleOf(operation)

  it('answers HEAD like GET, without the body', async () => {
    // The first answer says that it was loaded for this very request.
    await ask(operation, search)
    const get = await ask(operation, search)
    const head = await answerTo(operation, search, { method: 'HEAD' })
    expect([head.status, head.body]).toEqual([200, ''])
    expect([...head.headers]).toEqual([...get.headers])
  })

  const allow = { required: true, schema: { type: 'string', enum: ['GET, HEAD, OPTIONS'] } }

  it.each(['POST', 'PUT', 'PATCH', 'DELETE'])('answers %s with what it allows', async (method) => {
    const answered = await answerTo(operation, search, { method })
    expect(answered.status).toBe(405)
    const expected = otherResponse(operation, 'method_not_allowed', { Allow: allow })
    expect(responseDifferences(expected, answered)).toEqual([])
  })

  it('answers OPTIONS with 204', async () => {
    const { status } = await answerTo(operation, search, { method: 'OPTIONS' })
    expect(status).toBe(204)
  })

  it('answers 304 to a client that has it, where that is documented', async () => {
    const etag = (await ask(operation, search)).headers.get('etag')
    const headers = { 'if-none-match': etag ?? '*' }
    const { status } = await ask(operation, search, handler, { headers })
    expect(status).toBe(Object.hasOwn(operation.responses, '304') ? 304 : 200)
  })

  it('answers 412 to a client that has another one', async () => {
    const headers = { 'if-match': '"other"' }
    expect((await ask(operation, search, handler, { headers })).status).toBe(412)
  })

  it('answers 502 while there are no data, where that is documented', async () => {
    const { status, headers } = await ask(operation, search, coldAt(now))
    expect(status).toBe(Object.hasOwn(operation.responses, '502') ? 502 : 200)
    expect(headers.has('retry-after')).toBe(status === 502)
  })

  it('answers 503 to a long query while the service is overloaded', async () => {
    const query = `${search}${search ? '&' : '?'}${'-'.repeat(600)}`
    // A client that has left gets the same answer.
    const answered = await answerTo(operation, query, { signal: AbortSignal.abort() })
    expect(answered.status).toBe(503)
    expect(responseDifferences(sharedResponse(operation, 'Overloaded'), answered)).toEqual([])
    expect(operation.responses).toHaveProperty('503')
  })

  it('answers 404 to its path with a slash behind it', async () => {
    const answered = await answerTo({ path: `${operation.path}/` }, search)
    expect(answered.status).toBe(404)
    expect(responseDifferences(otherResponse(operation, 'not_found'), answered)).toEqual([])
  })
})

describe.each(operations)('$operationId', (operation) => {
  it('answers 500 where the host cannot read its headers', async () => {
    const header = (): never => {
      throw new Error('no headers')
    }
    const target = `/api${operation.path}${exampleOf(operation)}`
    const { status, headers, body } = await handler.answer({ method: 'GET', target, header })
    expect(status).toBe(500)
    const answered = { status, headers: new Headers(headers), body: String(body) }
    expect(differences(operation, answered)).toEqual([])
  })
})

describe('getHistory', () => {
  it('answers 404 where the window has no rates', async () => {
    const withoutRecentYen: HistoryProvider = {
      ...history,
      async fetchHistory(range, context) {
        const { base, days } = await history.fetchHistory(range, context)
        const quoted = days.map(({ date, rates: { JPY = NaN, ...rates } }) => {
          return { date, rates: date < '2026-11-10' ? { JPY, ...rates } : rates }
        })
        return { base, days: quoted }
      },
    }
    const gappy = createRatesHandler({ providers: { latest, history: withoutRecentYen }, now })
    const { status } = await ask(operationAt('/v1/history'), '?from=USD&to=JPY&period=1W', gappy)
    expect(status).toBe(404)
  })
})
