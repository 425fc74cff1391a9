import { describe, expect, it } from 'vitest'

import { createRatesHandler } from '../../src/index.ts'
import type { HistoryProvider } from '../../src/index.ts'
import { BANK_DAYS, createBank, isBankDay } from '../fixtures/bank.ts'
import { wholeBody } from '../whole-body.ts'
import { QUOTES, operationAt, operations } from './document.ts'
import {
  coldOptions,
  differences,
  exampleOf,
  handler,
  history,
  latest,
  now,
  otherResponse,
  request,
  responseDifferences,
  send,
  sharedResponse,
} from './live.ts'

describe.each(operations)('$operationId', (operation) => {
  const search = exampleOf(operation)
  const { path, operationId, responses } = operation

  const hasPost = path === '/v1/convert'
  const methods = hasPost ? 'GET, HEAD, OPTIONS, POST' : 'GET, HEAD, OPTIONS'
  const allow = { required: true, schema: { type: 'string', enum: [methods] } }

  it('returns 405 with Allow to other methods, and 404 for a trailing slash', async () => {
    const refused = otherResponse(operation, 'method_not_allowed', { Allow: allow })
    for (const method of ['PUT', 'PATCH', 'DELETE', ...(hasPost ? [] : ['POST'])]) {
      const received = await send(operation, search, { method })
      expect([received.status, responseDifferences(refused, received)]).toEqual([405, []])
    }
    const received = await send({ path: `${path}/` }, search)
    const missing = responseDifferences(otherResponse(operation, 'not_found'), received)
    expect([received.status, missing]).toEqual([404, []])
  })

  it('returns 304 if If-None-Match matches, where documented, and 412 if If-Match does not', async () => {
    const etag = (await request(operation, search)).headers.get('etag')
    const statusFor = async (headers: HeadersInit) =>
      (await request(operation, search, handler, { headers })).status
    const unchanged = Object.hasOwn(responses, '304') ? 304 : 200
    expect(await statusFor({ 'if-none-match': etag ?? '*' })).toBe(unchanged)
    expect(await statusFor({ 'if-match': '"other"' })).toBe(412)
  })

  it('returns 502 without data, where documented', async () => {
    const cold = createRatesHandler(coldOptions())
    const { status, headers } = await request(operation, search, cold)
    const isListed = operationId === 'listCurrencies'
    expect(status).toBe(Object.hasOwn(responses, '502') && !isListed ? 502 : 200)
    expect(headers.has('retry-after')).toBe(status === 502)
  })

  it('returns 503 to an expensive request if overloaded', async () => {
    const query = `${search}${search ? '&' : '?'}${'-'.repeat(800)}`
    // A disconnected client gets the same response.
    const received = await send(operation, query, { signal: AbortSignal.abort() })
    const found = responseDifferences(sharedResponse(operation, 'Overloaded'), received)
    expect([received.status, found]).toEqual([503, []])
    expect(responses).toHaveProperty('503')
  })

  it('returns 500 if the host cannot read the headers', async () => {
    const header = (): never => {
      throw new Error('no headers')
    }
    const target = `/api${path}${search}`
    const { status, headers, body } = await handler.answer({ method: 'GET', target, header })
    const received = { status, headers: new Headers(headers), body: await wholeBody(body) }
    expect([status, differences(operation, received)]).toEqual([500, []])
  })
})

describe('a history of several publications', () => {
  const late = createBank({
    codes: ['USD', 'KWD'],
    now,
    isOpen: (day) => isBankDay(day) && day < '2026-11-18',
  })
  const prices: HistoryProvider = {
    attribution: { name: 'Prices', url: 'https://prices.example' },
    publication: { ...BANK_DAYS, id: 'prices', frequency: 'weekly' },
    fetchHistory: async ({ start, end }) => ({
      base: 'PLN',
      days: ['2026-11-06', '2026-11-13', '2026-11-20']
        .filter((date) => date >= start && date <= end)
        .map((date) => ({ date, rates: {}, prices: { KWD: 12.3456, AED: 1.0123 } })),
    }),
  }
  const down: HistoryProvider = {
    ...late,
    publication: { ...BANK_DAYS, id: 'down' },
    fetchHistory: () => Promise.reject(new Error('down')),
  }
  const providers = { latest, history: [history, late, prices, down] }
  const wide = createRatesHandler({ providers, now, quotes: QUOTES })

  // Days of a source that is down cannot be left out.
  const examples = operations.map((operation): [string, string, number] => [
    operation.path,
    exampleOf(operation),
    operation.path === '/v1/days' ? 502 : 200,
  ])

  it.each([
    ...examples,
    ['/v1/latest', '?date=2026-11-20&base=KWD', 200],
    ['/v1/latest', '?date=2026-11-17&base=USD&symbols=KWD&rule=exact&format=csv', 200],
    ['/v1/convert', '?from=KWD&to=PLN,AED&date=2026-11-20&rule=previous-business-day', 200],
    ['/v1/history', '?from=AED&to=PLN&period=1M', 200],
    ['/v1/history', '?from=KWD&to=USD&start=2026-10-01&interval=week&format=csv', 200],
    ['/v1/history', '?from=GBP&to=AED', 502],
    ['/v1/days', '?start=2026-11-01&source=prices', 200],
    ['/v1/days', '?start=2026-11-01&source=prices&format=csv', 200],
    ['/v1/convert', '?from=KWD&to=PLN&date=2026-11-20&maxAge=0&rule=exact', 200],
    ['/v1/convert', '?from=KWD&to=PLN&date=1998-11-20', 502],
  ] as [string, string, number][])('%s%s matches the document', async (path, query, status) => {
    expect((await request(operationAt(path), query, wide)).status).toBe(status)
  })
})
