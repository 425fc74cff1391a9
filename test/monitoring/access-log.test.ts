import { describe, expect, it } from 'vitest'

import { createAccess } from '../../src/access/index.ts'
import { withAccessLog, withRequestIds } from '../../src/monitoring/index.ts'
import type { AccessLogOptions } from '../../src/monitoring/index.ts'
import { NOW, openService } from '../fixtures/service.ts'
import { bodyInOnePart } from '../whole-body.ts'

const LATEST = '/api/v1/latest'

interface Sent {
  method?: string
  headers?: Record<string, string>
  client?: string | undefined
}

function open(
  options: Partial<AccessLogOptions> = {},
  handlerOptions: Parameters<typeof openService>[0] = {},
) {
  const lines: string[] = []
  const { handler } = openService({
    routes: [{ path: '/shop/:item', get: () => ({}) }],
    ...handlerOptions,
  })
  const log = { write: (line: string) => void lines.push(line), now: () => NOW, ...options }
  const logged = withRequestIds(withAccessLog(handler, log))
  const send = (target: string, { method = 'GET', headers = {}, client }: Sent = {}) => {
    const all: Record<string, string> = { 'x-request-id': 'abc', ...headers }
    return logged.answer({ method, target, header: (name) => all[name], client })
  }
  return { lines, send, entries: (): object[] => lines.map((line) => JSON.parse(line)) }
}

describe('a line of the access log', () => {
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
        bytes: new TextEncoder().encode(String(bodyInOnePart(body))).length,
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
    ['GET', '/api/v1/convert?from=EUR&to=XYZ', 400],
  ])('has the status and the sent bytes: %s %s', async (method, target, status) => {
    const { send, entries } = open()
    const { body } = await send(target, { method })
    expect(entries()).toMatchObject([
      { method, status, bytes: String(bodyInOnePart(body) ?? '').length },
    ])
  })

  it('counts bytes, not characters, of a body whose length no header has', async () => {
    const lines: string[] = []
    const response = { status: 200, headers: [], body: 'é 漢 🙂', matched: true }
    const logged = withAccessLog({ answer: () => response }, { write: (line) => lines.push(line) })
    await logged.answer({ method: 'GET', target: LATEST, header: () => undefined })
    expect(lines.map((line) => JSON.parse(line).bytes)).toEqual([11])
  })

  it('has no address, not even behind a proxy', async () => {
    const { send, lines } = open()
    const headers = { 'x-forwarded-for': '198.51.100.9', forwarded: 'for=198.51.100.9' }
    await send(LATEST, { client: '192.0.2.1', headers })
    expect(lines).toHaveLength(1)
    expect(lines[0]).not.toMatch(/192\.0\.2|198\.51/)
  })

  it.each([
    ['that of the connection', '192.0.2.1', undefined, '192.0.2.1'],
    ['of IPv6 as a whole', '2001:DB8::5:6', undefined, '2001:db8::5:6'],
    ['that behind a trusted proxy', '10.0.0.1', '198.51.100.9, 192.0.2.7', '192.0.2.7'],
    ['not one that the client claims', '192.0.2.1', '198.51.100.9', '192.0.2.1'],
    ['no address that a header invents', '10.0.0.1', 'rsk_secret', '10.0.0.1'],
    ['unknown where the host passes none', undefined, undefined, 'unknown'],
  ])('has the address with clients: true, %s', async (_, client, forwarded, logged) => {
    const { send, entries } = open({ clients: true }, { trustedProxies: ['10.0.0.0/8'] })
    const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }
    await send(LATEST, { client, headers })
    expect(entries()).toMatchObject([{ client: logged }])
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
    `${LATEST}?t%6fken=SECRET=SECRET`,
    `${LATEST}?other=${KEY}`,
    `${LATEST}?${KEY}`,
    `${LATEST}?other=x${KEY.toUpperCase()}`,
    `${LATEST}?other=${KEY.replace('_', '%5F')}`,
    `${LATEST}?other=${KEY.replace('rsk', '%72s%6b')}`,
    `${LATEST}?a=1;app_id=SECRET`,
    `${LATEST}?a=1?app_id=SECRET`,
    `/shop/${KEY}`,
    '/api/v1/convert?quote=eyJhbGciOiJIUzI1NiJ9.eyJSECRETgciOiJ9.SECRET-_9&context=cart',
    '/shop/eyJhbGciOiJIUzI1NiJ9%2EeyJSECRETgciOiJ9%2ESECRET',
    `${LATEST}?app_id[]=SECRET`,
    `${LATEST}?app_id[0]=SECRET&token%5B%5D=SECRET`,
    `${LATEST}?keys[app_id]=SECRET`,
    `${LATEST}?App-Id=SECRET&apiKey=SECRET&token%5B1%5D=SECRET`,
    `${LATEST}?app%255Fid=SECRET`,
    `${LATEST}?other=${KEY.replace('_', '%25255F')}`,
    `${LATEST}?app_id=SECRET;SECRET`,
    `${LATEST}?app_id=SECRET?x=SECRET`,
    `${LATEST}?%20app_id%20=SECRET`,
    `${LATEST}?from=https%3A%2F%2Fa.example%2F%3Fb%3D1%26app_id%3DSECRET`,
  ])('are redacted: %s', async (target) => {
    const { send, lines } = open()
    await send(target)
    expect(lines).toHaveLength(1)
    expect(lines[0]).not.toMatch(/SECRET|rsk|0123456789|72s/i)
    expect(lines[0]).toContain('REDACTED')
  })

  it.each([
    ['a?app_id=SECRET', 'a?app_id=REDACTED'],
    [`https://a.example/${KEY}/b?c=${KEY}`, 'https://a.example/REDACTED/b?c=REDACTED'],
    [`Agent ${KEY} b`, 'Agent REDACTED b'],
    ['Agent (app_id=SECRET)', 'Agent (app_id=REDACTED'],
    ['https://a.example/#/b?token[]=SECRET', 'https://a.example/#/b?token[]=REDACTED'],
    ['https://a.example/#access_token=SECRET', 'https://a.example/#access_token=REDACTED'],
  ])('are redacted in headers: %s', async (value, redacted) => {
    const { send, entries } = open()
    await send(LATEST, { headers: { 'user-agent': value, referer: value } })
    expect(entries()).toMatchObject([
      { agent: redacted, referrer: redacted.replace(/#.*/, '#REDACTED') },
    ])
  })

  it.each([
    ['https://a.example/b#SECRET', 'https://a.example/b#REDACTED'],
    ['https://user:SEC@RET@a.example/b', 'https://REDACTED@a.example/b'],
  ])('and what a referrer must not contain are redacted: %s', async (referer, referrer) => {
    const { send, entries } = open()
    await send(LATEST, { headers: { referer } })
    expect(entries()).toMatchObject([{ referrer }])
  })

  it('are redacted in the method and in the id of a request', async () => {
    const { send, lines } = open()
    await send(LATEST, { method: KEY })
    const { handler } = openService()
    const logged = withAccessLog(handler, { write: (line) => void lines.push(line) })
    const request = { method: 'GET', target: LATEST, header: () => undefined, requestId: KEY }
    await logged.answer(request)
    expect(lines).toHaveLength(2)
    expect(lines.join('\n')).not.toContain('rsk')
  })

  it('are redacted in the parameters that the option access names', async () => {
    const access = createAccess({
      plans: { free: '60/min' },
      anonymous: 'free',
      keys: { find: () => undefined },
      client: () => '192.0.2.1',
      queryParameters: ['session'],
    })
    const { send, entries } = open({}, { access })
    await send(`${LATEST}?session=SECRET&_session=1`)
    expect(entries()).toMatchObject([{ query: 'session=REDACTED&_session=REDACTED' }])
  })

  it('do not hide other parameters', async () => {
    const { send, entries } = open()
    const others = 'base=USD&symbols=EUR,GBP&monkey=1&a=b%20c+d=&=x&[]='
    await send(`${LATEST}?app_id=SECRET&${others}`)
    expect(entries()).toMatchObject([{ query: `app_id=REDACTED&${others}` }])
  })
})

describe('the option', () => {
  it('write may throw or reject', async () => {
    const throws = (): never => {
      throw new Error('full')
    }
    for (const write of [throws, async () => throws()]) {
      const { send } = open({ write })
      expect(await send(LATEST)).toMatchObject({ status: 200 })
    }
  })

  it.each([
    { write: undefined },
    { write: 'stdout' },
    { clients: 'all' },
    { now: 0 },
    { format: 'combined' },
  ])('is checked: %j', (options) => {
    // @ts-expect-error the option has another type
    expect(() => open(options)).toThrow(TypeError)
  })
})
