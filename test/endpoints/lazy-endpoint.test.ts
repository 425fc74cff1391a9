import { describe, expect, it } from 'vitest'

import { lazyEndpoint } from '../../src/endpoints/service.ts'

const REQUEST = { method: 'GET', target: '/', header: () => null }

const RESPONSE = { status: 200, headers: [], body: 'loaded' }

describe('lazyEndpoint()', () => {
  it('loads once for concurrent requests', async () => {
    let loads = 0
    const endpoint = lazyEndpoint(async () => {
      loads += 1
      return () => RESPONSE
    })
    expect(loads).toBe(0)
    expect(await Promise.all([endpoint('', REQUEST), endpoint('', REQUEST)])).toEqual([
      RESPONSE,
      RESPONSE,
    ])
    expect(loads).toBe(1)
  })

  it('retries a failed load on the next request', async () => {
    let loads = 0
    const endpoint = lazyEndpoint(async () => {
      loads += 1
      if (loads === 1) throw new Error('a part of the app is missing')
      return () => RESPONSE
    })
    await expect(endpoint('', REQUEST)).rejects.toThrow('missing')
    expect(await endpoint('', REQUEST)).toBe(RESPONSE)
  })
})
