import { gzipSync } from 'node:zlib'

import { MockAgent, getGlobalDispatcher, setGlobalDispatcher } from 'undici'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

import { createFrankfurterProvider, createRatesHandler } from '../../src/index.ts'
import type { RatesEvent } from '../../src/index.ts'
import { frankfurterPayload, openErApiPayload } from '../fixtures/upstream-payloads.ts'

// Node's own fetch, which the handler uses unless told otherwise, with undici's stand-in for the network.
const dispatcher = getGlobalDispatcher()
let network: MockAgent

beforeEach(() => {
  network = new MockAgent()
  network.disableNetConnect()
  setGlobalDispatcher(network)
})

afterEach(async () => {
  setGlobalDispatcher(dispatcher)
  await network.close()
})

const now = Date.UTC(2026, 10, 20, 18)

describe("the platform's fetch", () => {
  it('gets both data sets from where they live, compressed or not', async () => {
    const asked: Record<string, string>[] = []
    network
      .get('https://open.er-api.com')
      .intercept({ path: '/v6/latest/USD' })
      .reply(({ headers }) => {
        asked.push(Object.fromEntries(new Headers(Object(headers))))
        const data = gzipSync(openErApiPayload({ now }))
        return {
          statusCode: 200,
          data,
          responseOptions: { headers: { 'content-encoding': 'gzip' } },
        }
      })
    const range = { start: '2021-11-06', end: '2026-11-20' }
    network
      .get('https://api.frankfurter.dev')
      .intercept({ path: `/v1/${range.start}..${range.end}` })
      .reply(200, frankfurterPayload({ ...range, now }))
    const { rates } = createRatesHandler({ now: () => now })
    expect(Object.keys((await rates.latest()).rates)).toHaveLength(166)
    expect((await rates.history({ from: 'USD', to: 'JPY' })).points.length).toBeGreaterThan(20)
    expect(asked).toMatchObject([{ accept: 'application/json' }])
    expect(asked[0]).not.toHaveProperty('cookie')
    network.assertNoPendingInterceptors()
  })

  it('follows an old root to where it has moved', async () => {
    const path = '/v1/2021-11-06..2026-11-20'
    network
      .get('https://api.frankfurter.app')
      .intercept({ path })
      .reply(301, '', { headers: { location: `https://api.frankfurter.dev${path}` } })
    network
      .get('https://api.frankfurter.dev')
      .intercept({ path })
      .reply(200, frankfurterPayload({ start: '2021-11-06', end: '2026-11-20', now }))
    const history = createFrankfurterProvider({ url: 'https://api.frankfurter.app' })
    const { rates } = createRatesHandler({ now: () => now, providers: { history } })
    expect((await rates.history({ from: 'USD', to: 'JPY' })).points.length).toBeGreaterThan(20)
    network.assertNoPendingInterceptors()
  })

  it('is led nowhere else by a redirect', async () => {
    network
      .get('https://open.er-api.com')
      .intercept({ path: '/v6/latest/USD' })
      .reply(302, '', { headers: { location: 'https://evil.example/v6/latest/USD' } })
    const events: RatesEvent[] = []
    const { rates } = createRatesHandler({ onEvent: (event) => events.push(event) })
    await expect(rates.latest()).rejects.toMatchObject({ code: 'provider_unavailable' })
    expect(events.at(1)).toMatchObject({
      type: 'upstream_failed',
      reason: 'open.er-api.com redirected to evil.example, which is not trusted',
    })
  })

  it('is not reached at all without a network, and the reason says so', async () => {
    const events: RatesEvent[] = []
    const { rates } = createRatesHandler({ onEvent: (event) => events.push(event) })
    await expect(rates.latest()).rejects.toMatchObject({ code: 'provider_unavailable' })
    expect(events.at(1)).toMatchObject({
      type: 'upstream_failed',
      reason: expect.stringMatching(/^open\.er-api\.com did not answer: fetch failed: /),
    })
  })
})
