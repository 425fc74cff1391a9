import { afterEach, describe, expect, it, vi } from 'vitest'

import { PAIR, clientOf, conversion, handler, inTurn } from './service.ts'

afterEach(() => vi.unstubAllGlobals())

/** A client of the synthetic market, and the status of every answer that it has had. */
function market() {
  const statuses: number[] = []
  const { client, tags } = clientOf(async (request) => {
    const response = await handler(request)
    statuses.push(response.status)
    return response
  })
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
    const { client, tags } = clientOf(() => conversion((rate += 1)))
    expect(await client.convert(PAIR)).toMatchObject({ rate: 2 })
    expect(await client.convert(PAIR)).toMatchObject({ rate: 3 })
    await client.convert(PAIR)
    expect(tags()).toEqual([null, '"2"', '"3"'])
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

  it.each([
    ['without a tag', () => Response.json({ result: 1 })],
    ['other than 200', () => Response.json({}, { status: 404, headers: { etag: '"404"' } })],
  ])('is asked in full after an answer %s', async (_which, answer) => {
    const { client, tags } = clientOf(inTurn(answer, conversion))
    await client.convert(PAIR).catch(() => undefined)
    expect(await client.convert(PAIR)).toMatchObject({ rate: 2 })
    expect(tags()).toEqual([null, null])
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
