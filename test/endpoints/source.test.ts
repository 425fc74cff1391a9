import { describe, expect, it } from 'vitest'

import { createRatesHandler } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'

const now = (): number => Date.UTC(2026, 10, 20, 18)
const { latest, history } = fakeProviders({ now })

/** In UTF-8 longer than it is in characters. */
const SHOWN = { name: 'Zoë’s rates 💶', url: 'https://rates.example/ö' }

/** A provider may keep more beside its attribution than it shows. */
const attribution = { ...SHOWN, secret: 'a-key-of-the-upstream' }

const handler = createRatesHandler({
  providers: { latest: { ...latest, attribution }, history: { ...history, attribution } },
  now,
})

/** What every answer from data is made in: each endpoint, with each question that has a record of its own, and each format. */
const TARGETS = [
  'v1/latest',
  'v1/latest?format=csv',
  'v1/latest?date=2026-11-18',
  'v1/latest?date=2026-11-18&format=csv',
  'v1/convert?from=USD&to=EUR',
  'v1/convert?from=USD&to=EUR&date=2026-11-18',
  'v1/convert?from=USD&to=EUR&reverse=true',
  'v1/convert?from=USD&to=EUR,JPY',
  'v1/history?from=USD&to=EUR',
  'v1/history?from=USD&to=EUR&period=5Y',
  'v1/history?from=USD&to=EUR&format=csv',
  'v1/history?from=USD&to=EUR&start=2026-10-01',
  'v1/history?from=USD&to=EUR&start=2026-10-01&interval=week&format=csv',
  'v1/status',
  'rates',
  'rates?format=csv',
  'convert?from=USD&to=EUR',
]

describe.each(TARGETS)('an answer to %s', (target) => {
  const get = async (method = 'GET'): Promise<Response> => {
    await handler.refresh()
    return handler(new Request(`http://localhost/api/${target}`, { method }))
  }

  it('names the source, and nothing else that the provider has', async () => {
    const text = await (await get()).text()
    expect(text).toContain(SHOWN.name)
    expect(text).toContain(SHOWN.url)
    expect(text).not.toMatch(/secret|a-key/)
  })

  it('has the length of its body in bytes, for HEAD too', async () => {
    const response = await get()
    const bytes = (await response.arrayBuffer()).byteLength
    expect(response.headers.get('content-length')).toBe(String(bytes))
    expect((await get('HEAD')).headers.get('content-length')).toBe(String(bytes))
  })
})

describe('a record of handler.rates', () => {
  it('has the name and the address of the source, and nothing else that the provider has', async () => {
    const pair = { from: 'USD', to: 'EUR' } as const
    const date = '2026-11-18'
    const { rates } = handler
    const records = await Promise.all([
      rates.latest(),
      rates.latest({ date }),
      rates.convert(pair),
      rates.convert({ ...pair, date }),
      rates.convert({ from: 'USD', to: ['EUR', 'JPY'] }),
      rates.history(pair),
      rates.history({ ...pair, interval: 'week' }),
      rates.history({ ...pair, start: date }),
    ])
    for (const { source } of records) expect(source).toEqual(SHOWN)
  })
})
