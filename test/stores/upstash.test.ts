import { describe, expect, it, onTestFinished, vi } from 'vitest'

import { createUpstashStore } from '../../src/stores/upstash.ts'
import { fakeRedis } from './fake-redis.ts'
import { itMeetsTheContract } from './meets-contract.ts'

const NOW = Date.UTC(2026, 10, 20)
const URL_OF_DATABASE = 'https://eager-mule-1234.upstash.invalid'
const TOKEN = 'AX8sASQgN2M5'

/** A database that checks the token and the form of a request. */
function fakeUpstash(now?: () => number) {
  const redis = fakeRedis(now)
  const requests: Request[] = []
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init)
    requests.push(request)
    if (request.method !== 'POST') return Response.json({ error: 'no' }, { status: 405 })
    if (request.headers.get('authorization') !== `Bearer ${TOKEN}`) {
      return Response.json({ error: 'Unauthorized' }, { status: 401 })
    }
    return Response.json({ result: redis.run(await request.json()) })
  }
  return { commands: redis.commands, requests, fetch }
}

function create(options: object) {
  return createUpstashStore({ url: URL_OF_DATABASE, token: TOKEN, ...options })
}

function storeReceiving(response: () => Response) {
  return create({ fetch: async () => response() })
}

async function failureOf(work: () => unknown): Promise<Error> {
  try {
    await work()
  } catch (error) {
    if (error instanceof Error) return error
  }
  throw new Error('it did not fail with an error')
}

describe('createUpstashStore()', () => {
  itMeetsTheContract(() => create({ fetch: fakeUpstash().fetch }))

  it('forbids a caching fetch, such as that of a framework, to store responses', async () => {
    const caches: unknown[] = []
    const { fetch } = fakeUpstash()
    const store = create({
      fetch(input: string, init: RequestInit) {
        caches.push(init.cache)
        return fetch(input, init)
      },
    })
    await store.set('k', 'text', Date.now() + 60_000)
    await store.get('k')
    expect(caches).toEqual(['no-store', 'no-store'])
  })

  it('posts these commands and no others, and follows no redirect', async () => {
    const { commands, requests, fetch } = fakeUpstash(() => NOW)
    const store = create({ fetch, prefix: 'app:', now: () => NOW })
    await store.set('k', 'text', NOW + 1_000.2)
    expect(await store.get('k')).toBe('text')
    await store.claim('k', NOW + 20_000)
    expect(commands).toEqual([
      ['SET', 'app:k', 'text', 'PX', '1001'],
      ['GET', 'app:k'],
      ['SET', 'app:k:claim', '1', 'NX', 'PX', '20000'],
    ])
    for (const { url, method, redirect } of requests) {
      expect([url, method, redirect]).toEqual([`${URL_OF_DATABASE}/`, 'POST', 'manual'])
    }
  })

  it.each<[string, () => Response]>([
    ['an error', () => Response.json({ error: `ERR ${TOKEN} at ${URL_OF_DATABASE}` })],
    ['an error and a result', () => Response.json({ result: 'text', error: 'ERR' })],
    ['a refusal', () => Response.json({ error: 'Unauthorized' }, { status: 401 })],
    ['a result with the status 201', () => Response.json({ result: 'a' }, { status: 201 })],
    ['a redirect', () => Response.redirect('https://elsewhere.invalid', 307)],
    ['a page', () => new Response(`<p>${TOKEN}</p>`)],
    ['null', () => new Response('null')],
    ['nothing', () => new Response('')],
    ['no result', () => Response.json({})],
  ])('rejects without a secret when the database returns %s', async (_, response) => {
    const store = storeReceiving(response)
    const [get, set] = [() => store.get('k'), () => store.set('k', '', 0)]
    for (const work of [get, set, () => store.claim('k', 0)]) {
      const { message } = await failureOf(work)
      expect(message).toMatch(/^Upstash returned HTTP \d{3} with/)
      expect(message).not.toMatch(/AX8s|eager-mule/)
    }
  })

  it('rejects without a secret when the request fails', async () => {
    const cause = new TypeError(`fetch of ${URL_OF_DATABASE} with ${TOKEN} failed`)
    const store = create({ fetch: () => Promise.reject(cause) })
    const failure = await failureOf(() => store.get('k'))
    expect(failure.message).toMatch(/Upstash failed$/)
    expect(failure.cause).toBe(cause)
    expect(failure.message).not.toMatch(/AX8s|eager-mule/)
  })

  it.each([7, true, { a: 1 }, ['a'], null])('treats the result %o as a miss', async (result) => {
    expect(await storeReceiving(() => Response.json({ result })).get('k')).toBeUndefined()
  })

  it('looks up fetch at each call', async () => {
    const store = create({})
    vi.stubGlobal('fetch', async () => Response.json({ result: 'found' }))
    onTestFinished(() => void vi.unstubAllGlobals())
    expect(await store.get('k')).toBe('found')
  })

  const HOST = 'eager-mule-1234.upstash.invalid'

  const WRONG: Record<string, unknown[]> = {
    url: [undefined, '', HOST, `redis://${HOST}`, `https://user:AX8s@${HOST}`],
    token: [undefined, '', `${TOKEN}\n`, `Bearer ${TOKEN}`],
    fetch: ['fetch'],
    prefix: [null],
    now: [NOW],
  }
  const wrong = Object.entries(WRONG).flatMap(([name, values]) =>
    values.map((value) => ({ name, value })),
  )

  it.each(wrong)('throws for the $name $value', async ({ name, value }) => {
    const error = await failureOf(() => create({ [name]: value }))
    expect(error).toBeInstanceOf(TypeError)
    expect(error.message).toMatch(new RegExp(`^${name} must be `))
    expect(error.message).not.toMatch(/AX8s|eager-mule/)
  })
})
