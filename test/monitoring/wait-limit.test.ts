import { describe, expect, it } from 'vitest'

import { createLog } from '../../src/log.ts'
import { createMetrics } from '../../src/monitoring/index.ts'
import { market, openService } from '../fixtures/service.ts'
import { settled } from '../virtual-runtime.ts'

const LIMIT = 10_000

const WAITING = '/api/v1/history?from=USD&to=EUR'
const CACHED = '/api/v1/latest'

/** Creates a service with latest rates, whose history is loading until `load()`. */
async function open() {
  let load: () => void = () => {}
  const loading = new Promise<void>((resolve) => (load = resolve))
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

async function openFull() {
  const service = await open()
  const statuses: number[] = []
  for (let number = 0; number < LIMIT; number += 1) {
    void service.request(WAITING).then(({ status }) => statuses.push(status))
  }
  await settled()
  return { ...service, statuses }
}

describe('10,000 requests that wait for data', () => {
  it('are the limit: others get a 503 immediately', async () => {
    const { request, statuses, handler, load } = await openFull()
    expect(statuses).toEqual([])
    expect(handler.inspect().waiting).toBe(LIMIT)
    const refused = await request(WAITING)
    expect(refused).toMatchObject({ status: 503, matched: true })
    expect(Object.fromEntries(refused.headers)).toMatchObject({
      'retry-after': '1',
      'cache-control': 'no-store',
    })
    expect(JSON.parse(String(refused.body))).toMatchObject({ error: { code: 'overloaded' } })
    expect(handler.inspect().waiting).toBe(LIMIT)
    load()
    await expect.poll(() => statuses.length).toBe(LIMIT)
    expect(new Set(statuses)).toEqual(new Set([200]))
    expect(handler.inspect().waiting).toBe(0)
    expect((await request(WAITING)).status).toBe(200)
  })

  it('do not affect responses from cached data', async () => {
    const { request, load, statuses } = await openFull()
    for (const [target, method, status] of [
      [CACHED, 'GET', 200],
      [CACHED, 'HEAD', 200],
      [`${CACHED}?base=USD`, 'GET', 200],
      ['/api/v1/convert?from=USD&to=EUR', 'GET', 200],
      ['/api/v1/status', 'GET', 200],
      [WAITING, 'OPTIONS', 204],
      ['/api/v1/convert', 'GET', 400],
    ] as const) {
      expect(await request(target, method), target).toMatchObject({ status })
    }
    load()
    await expect.poll(() => statuses.length).toBe(LIMIT)
  })

  it('cause one event per refusal, which the logger summarizes, and metrics', async () => {
    const { request, events, handler, load, statuses } = await openFull()
    const metrics = createMetrics(handler)
    const from = events.length
    for (const _ of [1, 2, 3]) await request(WAITING)
    const refused = events.slice(from)
    const event = { type: 'overloaded', waiting: LIMIT }
    expect(refused).toEqual([event, event, event])
    let now = 0
    const lines: string[] = []
    const log = createLog({ format: 'text', write: (line) => lines.push(line), now: () => now })
    refused.forEach((each) => log(each))
    now = 60_000
    refused.forEach((each) => log(each))
    expect(lines).toEqual([
      'ratesmith: overloaded: 1 requests got a 503, 10000 are waiting',
      'ratesmith: overloaded: 3 requests got a 503, 10000 are waiting',
    ])
    const text = metrics.text()
    expect(text).toContain(`\nratesmith_waiting_requests ${LIMIT}\n`)
    expect(text).toContain('\nratesmith_overloaded_responses_total 3\n')
    expect(text).toContain(
      '\nratesmith_requests_total{route="/v1/history",method="GET",status="503"} 3\n',
    )
    load()
    await expect.poll(() => statuses.length).toBe(LIMIT)
  })
})
