import { describe, expect, it } from 'vitest'

import { toNextHandler } from '../adapters/next.ts'
import type { NextFunction } from '../adapters/next.ts'

/** Calls a function of a route handler like Next.js, with parts of the path that a client chooses. */
async function call(next: (...args: Parameters<NextFunction>) => Promise<Response>) {
  const path = { client: '192.0.2.1', remoteAddr: { hostname: '192.0.2.1' } }
  return Reflect.apply(next, undefined, [new Request('http://localhost/api'), path])
}

describe('toNextHandler()', () => {
  it('never takes the second argument of Next.js for the address of a client', async () => {
    const infos: unknown[] = []
    const answer = ({ client }: { client?: string | undefined }) => {
      infos.push(client)
      return { status: 204, headers: [], body: null, matched: true }
    }
    const fetchStyle = (_request: Request, info?: unknown): Response => {
      infos.push(info)
      return new Response(null, { status: 204 })
    }
    for (const handler of [fetchStyle, Object.assign(() => new Response(), { answer })]) {
      for (const next of Object.values(toNextHandler(handler))) await call(next)
    }
    expect(infos).toEqual(Array.from({ length: 14 }))
  })

  it.each<[string, () => Response]>([
    [
      'throws',
      () => {
        throw new Error('secret')
      },
    ],
    // @ts-expect-error a handler in JavaScript
    ['returns no response', () => 'text'],
  ])('returns an empty 500 if the handler %s', async (_, handler) => {
    const { GET } = toNextHandler(handler)
    const response = await GET(new Request('http://localhost/api'))
    expect([response.status, await response.text()]).toEqual([500, ''])
    expect(response.headers.get('cache-control')).toBe('no-store')
  })
})
