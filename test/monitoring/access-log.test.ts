import { describe, expect, it } from 'vitest'

import { openExchangeRates } from '../../src/compat/open-exchange-rates.ts'
import { withAccessLog, withRequestIds } from '../../src/monitoring/index.ts'
import type { AccessLogOptions } from '../../src/monitoring/index.ts'
import { NOW, openService } from '../fixtures/service.ts'

const LATEST = '/api/v1/latest'

interface Sent {
  method?: string
  headers?: Record<string, string>
  client?: string
}

function open(options: Partial<AccessLogOptions> = {}) {
  const lines: string[] = []
  const { handler } = openService()
  const log = { write: (line: string) => void lines.push(line), now: () => NOW, ...options }
  const logged = withRequestIds(withAccessLog(openExchangeRates(handler), log))
  const send = (target: string, { method = 'GET', headers = {}, client }: Sent = {}) => {
    const all: Record<string, string> = { 'x-request-id': 'abc', ...headers }
    return logged.answer({ method, target, header: (name) => all[name], client })
  }
  return { lines, send, entries: (): object[] => lines.map((line) => JSON.parse(line)) }
}

/** Returns the combined line without its time. */
async function combined(target: string, sent: Sent = {}, options = {}): Promise<string> {
  const { send, lines } = open({ format: 'combined', ...options })
  await send(target, sent)
  return lines.join('\n').replace(/^(\S+) - - \[[^\]]*\] /, '$1 ')
}

describe('a line of JSON', () => {
  it('describes a response', async () => {
    const { send, entries } = open()
    const headers = { 'user-agent': 'Agent/1', referer: 'https://app.example/page?tab=1' }
    const { body } = await send(`${LATEST}?base=USD`, { headers, client: '192.0.2.1' })
    expect(entries()).toEqual([
      {
        time: '2026-11-20T18:00:00.000Z',
        id: 'abc',
        method: 'GET',
        path: LATEST,
        query: 'base=USD',
        status: 200,
        bytes: new TextEncoder().encode(String(body)).length,
        referrer: 'https://app.example/page?tab=1',
        agent: 'Agent/1',
        duration: expect.any(Number),
      },
    ])
  })

  it('has no query, agent or referrer where the request has none', async () => {
    const { send, entries } = open()
    await send(LATEST)
    const names = ['time', 'id', 'method', 'path', 'status', 'bytes', 'duration']
    expect(entries().map((entry) => Object.keys(entry))).toEqual([names])
  })

  it.each([
    ['HEAD', LATEST, 200],
    ['OPTIONS', LATEST, 204],
    ['DELETE', LATEST, 405],
    ['GET', '/api/convert/1/EUR/XYZ', 400],
  ])('has the status and the sent bytes: %s %s', async (method, target, status) => {
    const { send, entries } = open()
    const { body } = await send(target, { method })
    expect(entries()).toMatchObject([{ method, status, bytes: String(body ?? '').length }])
  })

  it('has the address only with the option addresses', async () => {
    const sent = { client: '192.0.2.1', headers: { 'x-forwarded-for': '198.51.100.9' } }
    const [without, withAddress] = [open(), open({ addresses: true })]
    await without.send(LATEST, sent)
    await withAddress.send(LATEST, sent)
    expect(without.lines.join()).not.toMatch(/192\.0\.2|198\.51/)
    expect(withAddress.entries()).toMatchObject([{ address: '192.0.2.1' }])
  })

  it.each([
    [{}, '192.0.2.1', '192.0.2.1'],
    [{}, '::ffff:192.0.2.1', '192.0.2.1'],
    [{}, '2001:db8:1:2:3:4:5:6', '2001:db8:1:2:3:4:5:6'],
    [{}, undefined, undefined],
    [{ trustedProxies: 1 }, '10.0.0.1', '198.51.100.9'],
    [{ trustedProxies: ['10.0.0.0/8'] }, '10.0.0.1', '198.51.100.9'],
    [{ trustedProxies: ['10.0.0.0/8'] }, '192.0.2.1', '192.0.2.1'],
    [{ trustedProxies: 1, forwardedHeader: 'forwarded' }, '10.0.0.1', '10.0.0.1'],
  ] as const)('has the address behind trusted proxies: %j %s', async (proxies, client, address) => {
    const { send, entries } = open({ addresses: true, ...proxies })
    await send(LATEST, {
      headers: { 'x-forwarded-for': '203.0.113.5, 198.51.100.9' },
      ...(client !== undefined && { client }),
    })
    expect(entries().map((entry) => Reflect.get(entry, 'address'))).toEqual([address])
  })

  it('is not written for paths of others', async () => {
    const { send, lines } = open()
    await send('/other?rsk_secret')
    await send('/api/v1/nothing')
    expect(lines).toEqual([])
  })

  it('is one line without invisible characters, for any headers', async () => {
    const { send, lines } = open()
    const hostile = 'a\nb\r\u2028c\u202ed\u0000e\u0085f\ud800g"h\\'
    await send(`${LATEST}?x=\u2029\n\u202e`, {
      headers: { 'user-agent': hostile, referer: hostile },
    })
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatch(/^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]*$/u)
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ agent: hostile, referrer: hostile })
  })

  it('is short for long requests', async () => {
    const { send, lines } = open()
    const headers = { 'user-agent': 'u'.repeat(10_000), referer: 'r'.repeat(10_000) }
    await send(`${LATEST}?${'q'.repeat(10_000)}`, { headers })
    expect(lines[0]?.length).toBeLessThan(3_000)
    expect(lines[0]).toContain(`${'u'.repeat(255)}…"`)
  })
})

describe('keys', () => {
  const KEY = 'rsk_0123456789abcdefghijABCDEFGHIJ'

  it.each([
    `${LATEST}?access_key=${KEY}`,
    `${LATEST}?base=USD&ACCESS%5FKEY=${KEY}&x=1`,
    `${LATEST}?app_id=SECRET`,
    `${LATEST}?api_key=SECRET`,
    `${LATEST}?apikey=SECRET&token=SECRET`,
    `${LATEST}?mine=SECRET`,
    `${LATEST}?m%69ne=SECRET=SECRET`,
    `${LATEST}?other=${KEY}`,
    `${LATEST}?${KEY}`,
    `${LATEST}?other=x${KEY.toUpperCase()}`,
    `${LATEST}?other=${KEY.replace('_', '%5F')}`,
    `${LATEST}?other=${KEY.replace('rsk', '%72s%6b')}`,
    `${LATEST}?a=1;app_id=SECRET`,
    `${LATEST}?a=1?app_id=SECRET`,
    `/api/convert/5/EUR/${KEY}`,
  ])('are redacted: %s', async (target) => {
    const options = { queryParameters: ['mine'] }
    const { send, lines } = open(options)
    await send(target)
    const line = await combined(target, {}, options)
    expect(lines).toHaveLength(1)
    for (const text of [...lines, line]) {
      expect(text).not.toMatch(/SECRET|rsk|0123456789|72s/i)
      expect(text).toContain('REDACTED')
    }
  })

  it.each([
    ['a?app_id=SECRET', 'a?app_id=REDACTED'],
    [`https://a.example/${KEY}/b?c=${KEY}#d`, 'https://a.example/REDACTED/b?c=REDACTED#d'],
    [`Agent ${KEY} b`, 'Agent REDACTED b'],
  ])('are redacted in headers: %s', async (value, redacted) => {
    const { send, entries } = open()
    await send(LATEST, { headers: { 'user-agent': value, referer: value } })
    expect(entries()).toMatchObject([{ agent: redacted, referrer: redacted }])
  })

  it('do not hide other parameters', async () => {
    const { send, entries } = open()
    await send(`${LATEST}?base=USD&app_id=SECRET&symbols=EUR,GBP`)
    expect(entries()).toMatchObject([{ query: 'base=USD&app_id=REDACTED&symbols=EUR,GBP' }])
  })
})

describe('a combined line', () => {
  it('has the format of Apache and nginx', async () => {
    const { send, lines } = open({ format: 'combined', addresses: true })
    const headers = { 'user-agent': 'Agent/1 (a; b)', referer: 'https://app.example/' }
    const { body } = await send(`${LATEST}?base=USD`, { headers, client: '192.0.2.1' })
    const bytes = String(body).length
    expect(lines).toEqual([
      `192.0.2.1 - - [20/Nov/2026:18:00:00 +0000] "GET ${LATEST}?base=USD HTTP/1.1" 200 ${bytes} ` +
        '"https://app.example/" "Agent/1 (a; b)"',
    ])
  })

  it('has hyphens for what is missing', async () => {
    expect(await combined(LATEST, { method: 'OPTIONS', client: '192.0.2.1' })).toBe(
      `- "OPTIONS ${LATEST} HTTP/1.1" 204 - "-" "-"`,
    )
  })

  it('escapes quotes, backslashes and what is not printable ASCII', async () => {
    const agent = 'a"b\\c\nd\u202eé'
    const line = await combined(LATEST, { headers: { 'user-agent': agent } })
    expect(line).toContain(String.raw`"a\x22b\x5Cc\x0Ad\xE2\x80\xAE\xC3\xA9"`)
    expect(await combined(`${LATEST}?a=%20"\\ b`)).toMatch(/\?a=%20%22\\x5C%20b HTTP\/1\.1" 200/)
  })
})

describe('the option', () => {
  it.each([
    [1, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]],
    [0.5, [0, 2, 4, 6, 8]],
    [0.1, [0]],
    [0.3, [0, 4, 7]],
  ])('sample: %d logs an even share', async (sample, expected) => {
    const { send, entries } = open({ sample })
    for (let number = 0; number < 10; number += 1) await send(`${LATEST}?n=${number}`)
    expect(entries()).toMatchObject(expected.map((number) => ({ query: `n=${number}` })))
  })

  it.each([0.1, 0.3, 1 / 3, 0.7, 0.001])('sample: %d is exact in the long run', async (sample) => {
    const { send, lines } = open({ sample })
    for (let number = 0; number < 3_000; number += 1) await send(LATEST)
    expect(Math.abs(lines.length - 3_000 * sample)).toBeLessThanOrEqual(1)
  })

  it('write may throw or reject', async () => {
    const fails = [
      () => {
        throw new Error('full')
      },
      () => Promise.reject(new Error('full')),
    ]
    for (const write of fails) {
      const { send } = open({ write })
      expect(await send(LATEST)).toMatchObject({ status: 200 })
    }
  })

  it.each([
    { write: undefined },
    { write: 'stdout' },
    { format: 'text' },
    { format: 'toString' },
    { sample: 0 },
    { sample: 1.1 },
    { sample: NaN },
    { sample: '1' },
    { addresses: 1 },
    { queryParameters: 'key' },
    { queryParameters: [1] },
    { trustedProxies: '10.0.0.1' },
    { trustedProxies: ['10.0.0.300'] },
    { forwardedHeader: 'via' },
    { now: 0 },
  ])('is checked: %j', (options) => {
    // @ts-expect-error the option has another type
    expect(() => open(options)).toThrow(TypeError)
  })
})
