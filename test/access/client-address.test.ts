import * as fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'

import { createAccess } from '../../src/access/index.ts'
import { frankfurter } from '../../src/compat/frankfurter.ts'
import { withCompression } from '../../src/cli/compression.ts'
import { createClientAddress } from '../../src/core.ts'
import type { RawRequest } from '../../src/index.ts'
import { openService } from '../fixtures/service.ts'

type ClientAddressOptions = Parameters<typeof createClientAddress>[0]

type Headers = Partial<Record<'forwarded' | 'x-forwarded-for' | (string & {}), string>>

function request(client: string | undefined, headers: Headers = {}): RawRequest {
  return { method: 'GET', target: '/api/v1/latest', header: (name) => headers[name], client }
}

function identityOf(
  client: string | undefined,
  { headers = {}, ...options }: ClientAddressOptions & { headers?: Headers } = {},
): string {
  return createClientAddress(options)(request(client, headers))
}

const PROXY = '10.0.0.1'
const TRUSTED = ['10.0.0.0/8', '2001:db8:ffff::/48']

const forwardedFor = (list: string) => ({ 'x-forwarded-for': list })

describe('the address of a client', () => {
  it('has the canonical text of URL', () => {
    fc.assert(
      fc.property(fc.ipV6(), (text) => {
        const identity = identityOf(text, { ipv6Prefix: 128 })
        expect(identity).not.toBe('unknown')
        // Bun refuses some with IPv4 at their end.
        fc.pre(URL.canParse(`http://[${text}]`))
        const { hostname } = new URL(`http://[${text}]`)
        // URL writes mapped addresses in hexadecimal.
        const isMapped = /^\[::ffff:[^:]+:[^:]+\]$/.test(hostname)
        const written = isMapped ? new URL(`http://[::ffff:${identity}]`).hostname : `[${identity}]`
        expect(written).toBe(hostname)
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('a header of trusted proxies', () => {
  it('is cut at its left if it is long', () => {
    const identity = (list: string): string =>
      identityOf(PROXY, { headers: forwardedFor(list), trustedProxies: TRUSTED })
    const forged = '203.0.113.7, '.repeat(100_000)
    expect(identity(`${forged}192.0.2.1`)).toBe('192.0.2.1')
    expect(identity(`${forged}${'10.0.0.2, '.repeat(20)}10.0.0.3`)).toBe('203.0.113.7')
    expect(identity(`${forged}${'10.0.0.2, '.repeat(40)}10.0.0.3`)).toBe('10.0.0.2')
    expect(identity(`192.0.2.1${' '.repeat(1e6)}`)).toBe(PROXY)
    expect(identity(`203.0.113.${'7'.repeat(1e6)}`)).toBe(PROXY)
    expect(identity(','.repeat(1e6))).toBe(PROXY)
  })

  it('never has a part of an address as its client', () => {
    const listed = Array.from({ length: 40 }, (_, more) =>
      identityOf(PROXY, {
        headers: forwardedFor(`192.0.2.17${' '.repeat(8_160 + more)}, 10.0.0.3`),
        trustedProxies: TRUSTED,
      }),
    )
    // Whole, or left out.
    expect(new Set(listed)).toEqual(new Set(['192.0.2.17', '10.0.0.3']))
  })

  it('takes linear time', () => {
    const identify = createClientAddress({ trustedProxies: TRUSTED })
    for (const piece of ['"', '\\', '\\"', ',', ';', 'for=', 'for="', ' ', 'for=a;', '\t ;', '=']) {
      expect(identify(request(PROXY, { forwarded: piece.repeat(1e6) }))).toBe(PROXY)
    }
    expect(identify(request('1'.repeat(1e6)))).toBe('unknown')
  })

  it.each<[object, string]>([
    [{ trustedProxies: true }, 'trustedProxies'],
    [{ forwardedHeader: 'x-real-ip' }, 'forwardedHeader'],
    [{ ipv6Prefix: 31 }, 'ipv6Prefix'],
  ])(
    'is chosen by options that createAccess() or createRatesHandler() check: %j',
    (options, name) => {
      const { ipv6Prefix, ...proxies }: ClientAddressOptions = options
      const plans = { free: '1/s' } as const
      const create = () =>
        openService({ access: createAccess({ plans, anonymous: 'free', ipv6Prefix }), ...proxies })
      expect(create).toThrow(new RegExp(name))
    },
  )
})

it('no list of a client changes what its proxies add', () => {
  const signs = [',', ';', '"', '\\', ' ', 'a', '=', 'for=', 'unknown']
  const piece = fc.constantFrom(...signs, '203.0.113.7', '[::1]', '10.0.0.1')
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      const sent = pieces.join('')
      const forwarded = `${sent}, for="192.0.2.1:80";proto="https", for=10.0.0.2`
      const list = `${sent}, 192.0.2.1, 10.0.0.2`
      for (const trustedProxies of [TRUSTED, 2]) {
        expect(identityOf(PROXY, { headers: { forwarded }, trustedProxies })).toBe('192.0.2.1')
        expect(identityOf(PROXY, { headers: forwardedFor(list), trustedProxies })).toBe('192.0.2.1')
      }
    }),
    { numRuns: 2_000 },
  )
})

describe('a proxy that is not trusted', () => {
  const headers = forwardedFor('192.0.2.1')

  it.each('127.0.0.1 ::ffff:10.1.2.3 172.31.0.1 192.168.0.1 100.127.0.1 ::1 fd00::1'.split(' '))(
    'is reported once at the private address %s',
    (client) => {
      const report = vi.fn<() => void>()
      const identify = createClientAddress({}, report)
      identify(request(client))
      expect(report).not.toHaveBeenCalled()
      identify(request(client, headers))
      identify(request(client, { forwarded: 'for=192.0.2.1' }))
      expect(report).toHaveBeenCalledTimes(1)
    },
  )

  it.each<[string | undefined, ClientAddressOptions]>([
    ['192.0.2.9', {}],
    ['172.32.0.1', {}],
    ['2001:db8::1', {}],
    [undefined, {}],
    ['127.0.0.1', { trustedProxies: [] }],
    ['127.0.0.1', { trustedProxies: 0 }],
    ['127.0.0.1', { trustedProxies: 1 }],
    ['127.0.0.1', { trustedProxies: ['10.0.0.0/8'] }],
  ])('is not reported at %s with %j', (client, options) => {
    const report = vi.fn<() => void>()
    createClientAddress(options, report)(request(client, headers))
    expect(report).not.toHaveBeenCalled()
  })

  it('is one event of a handler, without an address', async () => {
    const access = createAccess({ anonymous: 'free', plans: { free: '2/min' } })
    const { handler, eventsOf } = openService({ access })
    const statuses: number[] = []
    for (const last of [1, 2, 3]) {
      const sent = request('127.0.0.1', forwardedFor(`192.0.2.${last}`))
      statuses.push((await handler.answer(sent)).status)
    }
    expect(statuses).toEqual([200, 200, 429])
    expect(eventsOf('proxy_untrusted')).toEqual([{ type: 'proxy_untrusted' }])
  })
})

describe('the second argument of a fetch-style handler', () => {
  const get = (): never => {
    throw new Error('unreadable')
  }
  const unreadable = new Proxy({}, { get })

  it.each<[string, unknown, string | undefined]>([
    ['Bun’s server', { requestIP: () => ({ address: '192.0.2.1', port: 1 }) }, '192.0.2.1'],
    ['Bun’s server at a Unix socket', { requestIP: () => null }, undefined],
    ['Deno’s info', { remoteAddr: { hostname: '2001:db8::1', port: 1 } }, '2001:db8::1'],
    ['Deno’s info at a Unix socket', { remoteAddr: { transport: 'unix', path: '/a' } }, undefined],
    ['an address', { client: '192.0.2.1' }, '192.0.2.1'],
    ['no address', { client: undefined }, undefined],
    ['bindings of a Worker', { RATES: {}, client: {} }, undefined],
    ['the context of a framework', { params: Promise.resolve({}) }, undefined],
    ['a text', '192.0.2.1', undefined],
    ['null', null, undefined],
    ['nothing', undefined, undefined],
    ['an object that throws', unreadable, undefined],
  ])('has the address in %s', async (_, info, identity) => {
    const seen: (string | undefined)[] = []
    const identify = createClientAddress({ ipv6Prefix: 128 })
    const client = (sent: RawRequest): string => {
      seen.push(sent.client === undefined ? undefined : identify(sent))
      return 'all'
    }
    const access = createAccess({ anonymous: 'free', plans: { free: '100/s' }, client })
    const { handler } = openService({ access, routes: frankfurter() })
    const noCodec = async (): Promise<never> => expect.unreachable()
    const all: ((request: Request, info?: unknown) => Promise<Response>)[] = [
      handler,
      withCompression(handler, { br: noCodec, gzip: noCodec }),
    ]
    for (const fetch of all) {
      for (const path of ['/api/v1/latest', '/v1/latest']) {
        expect((await fetch(new Request(`http://localhost${path}`), info)).status).toBe(200)
      }
    }
    expect(seen).toEqual(Array.from({ length: 4 }, () => identity))
  })
})
