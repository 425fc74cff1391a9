import { describe, expect, it } from 'vitest'

import { lazyEndpoint } from '../../src/endpoints/lazy-endpoint.ts'

const REPLY = { status: 200, headers: [], body: 'loaded' }

describe('an endpoint that is loaded when it is first asked', () => {
  it('is loaded once, for all who ask', async () => {
    let loads = 0
    const endpoint = lazyEndpoint(async () => {
      loads += 1
      return () => REPLY
    })
    expect(loads).toBe(0)
    expect(await Promise.all([endpoint('', {}), endpoint('', {})])).toEqual([REPLY, REPLY])
    expect(loads).toBe(1)
  })

  it('is loaded again for the next request after that has failed', async () => {
    let loads = 0
    const endpoint = lazyEndpoint(async () => {
      loads += 1
      if (loads === 1) throw new Error('a part of the app is missing')
      return () => REPLY
    })
    await expect(endpoint('', {})).rejects.toThrow('missing')
    expect(await endpoint('', {})).toBe(REPLY)
  })
})
