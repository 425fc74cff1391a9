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
  it('describes a response, without an address, and without what the request lacks', async () => {
    const { send, entries } = open()
    const referer = 'https://app.example/page?tab=1'
    const headers = { 'user-agent': 'Agent/1', referer, 'x-forwarded-for': '198.51.100.9' }
    const { body } = await send(`${LATEST}?base=USD`, { headers, client: '192.0.2.1' })
    const about = { time: '2026-11-20T18:00:00.000Z', id: 'abc', method: 'GET', path: LATEST }
    const bytes = new TextEncoder().encode(String(bodyInOnePart(body))).length
    const duration: unknown = expect.any(Number)
    const sent = { query: 'base=USD', referrer: referer, agent: 'Agent/1' }
    expect(entries()).toEqual([{ ...about, status: 200, bytes, duration, ...sent }])
    await send('/shop/a')
    expect(Object.keys(entries()[1] ?? {})).toEqual(
      'time id method path status bytes duration'.split(' '),
    )
    // Not those of others.
    await send('/other?rsk_secret')
    await send('/api/v1/nothing')
    expect(entries()).toHaveLength(2)
  })

  it.each([
    ['HEAD', LATEST, 200],
    ['OPTIONS', LATEST, 204],
    ['DELETE', LATEST, 405],
    ['GET', '/api/v1/convert?from=EUR&to=XYZ', 400],
  ])('has the status and the sent bytes: %s %s', async (method, target, status) => {
    const { send, entries } = open()
    const { body } = await send(target, { method })
    const bytes = String(bodyInOnePart(body) ?? '').length
    expect(entries()).toMatchObject([{ method, status, bytes }])
  })

  it('counts bytes, not characters, of a body whose length no header has', async () => {
    const lines: string[] = []
    const response = { status: 200, headers: [], body: 'é 漢 🙂', matched: true }
    const logged = withAccessLog({ answer: () => response }, { write: (line) => lines.push(line) })
    await logged.answer({ method: 'GET', target: LATEST, header: () => undefined })
    expect(lines.map((line) => JSON.parse(line).bytes)).toEqual([11])
  })

  it.each([
    ['192.0.2.1', undefined, '192.0.2.1'],
    ['2001:DB8::5:6', undefined, '2001:db8::5:6'],
    ['10.0.0.1', '198.51.100.9, 192.0.2.7', '192.0.2.7'],
    ['192.0.2.1', '198.51.100.9', '192.0.2.1'],
    ['10.0.0.1', 'rsk_secret', '10.0.0.1'],
    [undefined, undefined, 'unknown'],
  ])('has with clients: true, from %s behind %s, the address %s', async (client, sent, logged) => {
    const { send, entries } = open({ clients: true }, { trustedProxies: ['10.0.0.0/8'] })
    await send(LATEST, { client, headers: sent === undefined ? {} : { 'x-forwarded-for': sent } })
    expect(entries()).toMatchObject([{ client: logged }])
  })

  it('is one short line without invisible characters, for any request', async () => {
    const { send, lines } = open()
    const hostile = 'a\nb\r\u2028c\u202ed\u0000e\u0085f\ud800g"h\\'
    const headers = { 'user-agent': hostile, referer: hostile }
    await send(`${LATEST}?x=\u2029\n\u202e`, { headers })
    expect(lines[0]).toMatch(/^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]*$/u)
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ agent: hostile, referrer: hostile })
    const long = { 'user-agent': 'u'.repeat(10_000), referer: 'r'.repeat(10_000) }
    await send(`${LATEST}?${'q'.repeat(10_000)}`, { headers: long })
    expect(JSON.parse(lines[1] ?? '')).toMatchObject({
      agent: `${'u'.repeat(255)}…`,
      query: `${'q'.repeat(2_047)}…`,
    })
  })
})

describe('keys', () => {
  const KEY = 'rsk_0123456789abcdefghijABCDEFGHIJ'
  const QUERIES = `access_key=${KEY} base=USD&ACCESS%5FKEY=${KEY}&x=1 app_id=SECRET api_key=SECRET
    apikey=SECRET&token=SECRET t%6fken=SECRET=SECRET other=${KEY} ${KEY} other=x${KEY.toUpperCase()}
    other=${KEY.replace('_', '%5F')} other=${KEY.replace('rsk', '%72s%6b')} a=1;app_id=SECRET
    a=1?app_id=SECRET app_id[]=SECRET app_id[0]=SECRET&token%5B%5D=SECRET keys[app_id]=SECRET
    App-Id=SECRET&apiKey=SECRET&token%5B1%5D=SECRET app%255Fid=SECRET key=SECRET access_token=SECRET
    other=${KEY.replace('_', '%25255F')} app_id=SECRET;SECRET app_id=SECRET?x=SECRET %20app_id%20=SECRET
    from=https%3A%2F%2Fa.example%2F%3Fb%3D1%26app_id%3DSECRET`

  it.each([
    ...QUERIES.split(/\s+/).map((query) => `${LATEST}?${query}`),
    `/shop/${KEY}`,
    '/api/v1/convert?quote=eyJhbGciOiJIUzI1NiJ9.eyJSECRETgciOiJ9.SECRET-_9&context=cart',
    '/shop/eyJhbGciOiJIUzI1NiJ9%2EeyJSECRETgciOiJ9%2ESECRET',
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
    ['https://a.example/b#A', 'https://a.example/b#A'],
  ])('are redacted in headers, and the fragment of a referrer: %s', async (value, redacted) => {
    const { send, entries } = open()
    await send(LATEST, { headers: { 'user-agent': value, referer: value } })
    const referrer = redacted.replace(/#.*/, '#REDACTED')
    expect(entries()).toMatchObject([{ agent: redacted, referrer }])
  })

  it('and the user of a referrer, the method, the id and parameters of access are redacted', async () => {
    const access = createAccess({
      plans: { free: '60/min' },
      anonymous: 'free',
      keys: { find: () => undefined },
      client: () => '192.0.2.1',
      queryParameters: ['session'],
    })
    const { send, entries } = open({}, { access })
    const headers = { referer: 'https://user:SEC@RET@a.example/b', 'x-request-id': `x${KEY}` }
    const others = 'base=USD&symbols=EUR,GBP&monkey=1&a=b%20c+d=&=x&[]='
    await send(`${LATEST}?session=SECRET&_session=1&${others}`, { method: KEY, headers })
    expect(entries()).toMatchObject([
      {
        method: 'REDACTED',
        referrer: 'https://REDACTED@a.example/b',
        query: `session=REDACTED&_session=REDACTED&${others}`,
      },
    ])
    const lines: string[] = []
    const logged = withAccessLog(openService().handler, { write: (line) => lines.push(line) })
    const request = { method: 'GET', target: LATEST, header: () => undefined, requestId: KEY }
    await logged.answer(request)
    expect(lines.join()).toContain('"id":"REDACTED"')
  })
})

describe('the option', () => {
  it('write may throw or reject', async () => {
    const throws = (): never => {
      throw new Error('full')
    }
    for (const write of [throws, async () => throws()]) {
      expect(await open({ write }).send(LATEST)).toMatchObject({ status: 200 })
    }
  })

  it.each([
    { write: undefined },
    { write: 'stdout' },
    { clients: 'all' },
    { now: 0 },
    { format: '' },
  ])('is checked: %j', (options) => {
    // @ts-expect-error the option has another type
    expect(() => open(options)).toThrow(TypeError)
  })
})
