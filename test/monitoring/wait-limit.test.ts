import { expect, it } from 'vitest'

import { createMetrics } from '../../src/monitoring/index.ts'
import { market, openService } from '../fixtures/service.ts'
import { settled } from '../virtual-runtime.ts'
import { bodyInOnePart } from '../whole-body.ts'

const LIMIT = 10_000

const WAITING = '/api/v1/history?from=USD&to=EUR'
const CACHED = '/api/v1/latest'

/** Creates a service with latest rates, whose history is loading until `load()`. */
async function open() {
  const { promise: loading, resolve: load } = Promise.withResolvers<void>()
  const { latest, history } = market
  const slow = {
    ...history,
    fetchHistory: (...given: Parameters<typeof history.fetchHistory>) =>
      loading.then(() => history.fetchHistory(...given)),
  }
  const service = openService({ providers: { latest, history: slow } })
  const { answer } = service.handler
  const request = async (target: string, method = 'GET') =>
    answer({ method, target, header: () => undefined })
  await request(CACHED)
  return { ...service, request, load }
}

it('10,000 requests that wait for data are the limit: others get a 503, unless their data are cached', async () => {
  const { request, handler, events, load } = await open()
  const metrics = createMetrics(handler)
  const statuses: number[] = []
  for (let number = 0; number < LIMIT; number += 1) {
    void request(WAITING).then(({ status }) => statuses.push(status))
  }
  await settled()
  expect(statuses).toEqual([])
  const from = events.length
  const refused = await request(WAITING)
  expect(refused).toMatchObject({ status: 503, matched: true })
  const fields = { 'retry-after': '1', 'cache-control': 'no-store' }
  expect(Object.fromEntries(refused.headers)).toMatchObject(fields)
  expect(String(bodyInOnePart(refused.body))).toContain('"code":"overloaded"')
  for (const [target, method, status] of [
    [CACHED, 'GET', 200],
    [CACHED, 'HEAD', 200],
    [`${CACHED}?base=USD`, 'GET', 200],
    ['/api/v1/convert?from=USD&to=EUR', 'GET', 200],
    ['/api/v1/status', 'GET', 200],
    [WAITING, 'OPTIONS', 204],
    ['/api/v1/convert', 'GET', 400],
    [WAITING, 'GET', 503],
  ] as const) {
    expect(await request(target, method), target).toMatchObject({ status })
  }
  const event = { type: 'overloaded', waiting: LIMIT } as const
  expect(events.slice(from)).toEqual([event, event])
  expect(metrics.text()).toContain(`\nratesmith_waiting_requests ${LIMIT}\n`)
  load()
  await expect.poll(() => statuses.length).toBe(LIMIT)
  expect(new Set(statuses)).toEqual(new Set([200]))
  expect(handler.inspect().waiting).toBe(0)
  expect((await request(WAITING)).status).toBe(200)
})
