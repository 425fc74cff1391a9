import { afterEach, describe, expect, it, vi } from 'vitest'

import { PAIR, clientOf, conversion, handler, inTurn } from './service.ts'

afterEach(() => vi.unstubAllGlobals())

/** Creates a client of the synthetic market and records the status of every response. */
function market() {
  const statuses: number[] = []
  const { client, tags } = clientOf(async (request) => {
    const response = await handler(request)
    statuses.push(response.status)
    return response
  })
  return { client, statuses, tags }
}

describe('a repeated call', () => {
  it('uses the cached body after a 304', async () => {
    const { client, statuses } = market()
    for (const call of [
      () => client.latest({ symbols: ['EUR'] }),
      () => client.history(PAIR),
      () => client.convert(PAIR),
      () => client.currencies(),
    ]) {
      const first = await call()
      expect(await call()).toEqual(first)
      expect(statuses.splice(0)).toEqual([200, 304])
    }
  })

  it('uses the new body and its ETag after a 200', async () => {
    let rate = 1
    const { client, tags } = clientOf(() => conversion((rate += 1)))
    expect(await client.convert(PAIR)).toMatchObject({ rate: 2 })
    expect(await client.convert(PAIR)).toMatchObject({ rate: 3 })
    await client.convert(PAIR)
    expect(tags()).toEqual([null, '"2"', '"3"'])
  })

  it('resolves to a new object, and never to the body of other parameters', async () => {
    const { client, statuses } = market()
    const first = await client.latest()
    const copy = structuredClone(first)
    first.rates['EUR'] = 0
    first.source.name = 'changed'
    expect(await client.latest()).toEqual(copy)
    expect((await client.latest({ base: 'EUR' })).base).toBe('EUR')
    expect(statuses).toEqual([200, 304, 200])
  })

  it('is revalidated if it is among the 64 most recent', async () => {
    const { client, statuses } = market()
    const convert = (amount: number): Promise<unknown> => client.convert({ ...PAIR, amount })
    for (let amount = 0; amount < 64; amount += 1) await convert(amount)
    await convert(0)
    await convert(64)
    statuses.splice(0)
    await convert(0)
    await convert(64)
    await convert(2)
    await convert(1)
    expect(statuses).toEqual([304, 304, 304, 200])
  })

  it.each([
    ['without an ETag', () => Response.json({ result: 1 })],
    ['other than 200', () => Response.json({}, { status: 404, headers: { etag: '"404"' } })],
  ])('sends no condition after a response %s', async (_which, respond) => {
    const { client, tags } = clientOf(inTurn(respond, conversion))
    await client.convert(PAIR).catch(() => undefined)
    expect(await client.convert(PAIR)).toMatchObject({ rate: 2 })
    expect(tags()).toEqual([null, null])
  })

  it('sends no condition in a browser, which has its own cache', async () => {
    vi.stubGlobal('location', { href: 'https://app.example/' })
    const { client, statuses, tags } = market()
    await client.convert(PAIR)
    await client.convert(PAIR)
    expect(tags()).toEqual([null, null])
    expect(statuses).toEqual([200, 200])
  })
})
