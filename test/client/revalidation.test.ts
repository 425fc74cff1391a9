import { afterEach, describe, expect, it, vi } from 'vitest'

import { createRatesHandler } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { clientOf, conversion, NOW } from './service.ts'

const PAIR = { from: 'USD', to: 'EUR' }

afterEach(() => vi.unstubAllGlobals())

/** A handler with the synthetic market, and the status of every answer that it has given. */
function market() {
  const now = (): number => NOW
  const handler = createRatesHandler({ providers: fakeProviders({ now }), now })
  const statuses: number[] = []
  const { client, requests } = clientOf(async (request) => {
    const response = await handler(request)
    statuses.push(response.status)
    return response
  })
  const tags = (): (string | null)[] => requests.map(({ headers }) => headers.get('if-none-match'))
  return { client, statuses, tags }
}

describe('a question that is asked again', () => {
  it('is answered with what the client has, if nothing has changed', async () => {
    const { client, statuses } = market()
    for (const ask of [
      () => client.latest({ symbols: ['EUR'] }),
      () => client.history(PAIR),
      () => client.convert(PAIR),
      () => client.currencies(),
    ]) {
      const first = await ask()
      expect(await ask()).toEqual(first)
      expect(statuses.splice(0)).toEqual([200, 304])
    }
  })

  it('is answered anew, if something has', async () => {
    let rate = 1
    const { client, requests } = clientOf(() => conversion((rate += 1)))
    expect(await client.convert(PAIR)).toMatchObject({ rate: 2 })
    expect(await client.convert(PAIR)).toMatchObject({ rate: 3 })
    await client.convert(PAIR)
    expect(requests.map(({ headers }) => headers.get('if-none-match'))).toEqual([
      null,
      '"2"',
      '"3"',
    ])
  })

  it('gives everybody a record of their own', async () => {
    const { client, statuses } = market()
    const first = await client.latest()
    const kept = structuredClone(first)
    first.rates['EUR'] = 0
    first.source.name = 'spoilt'
    expect(await client.latest()).toEqual(kept)
    expect(statuses).toEqual([200, 304])
  })

  it('is no other question', async () => {
    const { client, statuses } = market()
    await client.convert(PAIR)
    await client.convert({ ...PAIR, amount: 2 })
    await client.latest()
    await client.latest({ base: 'EUR' })
    expect(statuses).toEqual([200, 200, 200, 200])
  })

  it('has been forgotten after 64 others, unless it was asked meanwhile', async () => {
    const { client, statuses } = market()
    const ask = (amount: number): Promise<unknown> => client.convert({ ...PAIR, amount })
    for (let amount = 0; amount < 64; amount += 1) await ask(amount)
    await ask(0)
    await ask(64)
    statuses.splice(0)
    await ask(0)
    await ask(64)
    await ask(2)
    await ask(1)
    expect(statuses).toEqual([304, 304, 304, 200])
  })

  it('is asked in full of whoever gives no tags', async () => {
    const { client, requests } = clientOf(() => Response.json({ result: 1 }))
    await client.convert(PAIR)
    await client.convert(PAIR)
    expect(requests.map(({ headers }) => headers.has('if-none-match'))).toEqual([false, false])
  })

  it('is left to the cache of a browser', async () => {
    vi.stubGlobal('location', { href: 'https://app.example/' })
    const { client, statuses, tags } = market()
    await client.convert(PAIR)
    await client.convert(PAIR)
    expect(tags()).toEqual([null, null])
    expect(statuses).toEqual([200, 200])
  })
})
