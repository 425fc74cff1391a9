import * as fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'

import { createAccess } from '../../src/access/index.ts'
import { frankfurter } from '../../src/compat/frankfurter.ts'
import { withCompression } from '../../src/cli/compression.ts'
import { createClientAddress } from '../../src/connections/client-address.ts'
import type { ClientAddressOptions } from '../../src/connections/client-address.ts'
import type { RawRequest } from '../../src/http/messages.ts'
import { openService } from '../fixtures/service.ts'

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

describe('an address without proxies', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['192.0.2.1:443', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::FFFF:c000:201', '192.0.2.1'],
    ['0:0:0:0:0:ffff:192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:0001:0002::', '2001:db8:1:2::/64'],
    ['[2001:db8:1:2:ffff::9]:8080', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8::/64'],
    ['2001:0:0:1::1', '2001:0:0:1::/64'],
    ['fe80::1%eth0', 'fe80::/64'],
    ['[fe80::1%25eth0]', 'fe80::/64'],
    ['::1', '::/64'],
    ['::', '::/64'],
    // 6to4, NAT64 and IPv4-compatible addresses stay IPv6.
    ['2002:c000:201::1', '2002:c000:201::/64'],
    ['64:ff9b::192.0.2.1', '64:ff9b::/64'],
    ['::192.0.2.1', '::/64'],
  ])('%s is counted as %s', (client, identity) => {
    expect(identityOf(client)).toBe(identity)
  })

  const INVALID = `192.0.2 192.0.2.256 192.0.2.1.5 0300.0.2.1 192.0.2.01 0xc0.0.2.1 3221225985 1::2::3 :::
    1:2:3:4:5:6:7 1:2:3:4:5:6:7:8:9 1:2:3:4:5:6:7::8 :1:2:3:4:5:6:7 1:2:3:4:5:6:7: 12345::
    g:: ::1.2.3 1.2.3.4::1 [192.0.2.1] [::1 ::1] ::1% unknown _hidden localhost /run/app.sock fe80::1%
    192.0.2.1: :443 - 1.2.3.4,5.6.7.8`

  it.each([undefined, '', ' ', 'a'.repeat(1e6), '1'.repeat(1e6), ...INVALID.split(/\s+/)])(
    '%j is counted as unknown',
    (client) => {
      expect(identityOf(client)).toBe('unknown')
    },
  )

  it.each([
    [32, '2001:db8::/32'],
    [48, '2001:db8:12::/48'],
    [56, '2001:db8:12:3400::/56'],
    [63, '2001:db8:12:34fe::/63'],
    [64, '2001:db8:12:34ff::/64'],
    [127, '2001:db8:12:34ff:1:2:3:4/127'],
    [128, '2001:db8:12:34ff:1:2:3:5'],
  ])('of IPv6 is counted by its first %d bits', (ipv6Prefix, identity) => {
    expect(identityOf('2001:db8:12:34ff:1:2:3:5', { ipv6Prefix })).toBe(identity)
    expect(identityOf('192.0.2.1', { ipv6Prefix })).toBe('192.0.2.1')
  })

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

describe('X-Forwarded-For of trusted proxies', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['203.0.113.7, 192.0.2.1', '192.0.2.1'],
    ['203.0.113.7, 192.0.2.1, 10.0.0.2', '192.0.2.1'],
    ['203.0.113.7,192.0.2.1 ,\t10.0.0.2, 2001:db8:ffff::2', '192.0.2.1'],
    ['192.0.2.1:5555, [2001:db8:ffff::2]:443', '192.0.2.1'],
    ['2001:db8:1:2::3', '2001:db8:1:2::/64'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    [', 192.0.2.1, ,', '192.0.2.1'],
    // A malformed entry ends the walk at the last trusted proxy.
    ['192.0.2.1, unknown', PROXY],
    ['192.0.2.1, unknown, 10.0.0.2', '10.0.0.2'],
    ['unknown', PROXY],
    ['192.0.2.1 203.0.113.7', PROXY],
    ['"192.0.2.1"', PROXY],
    [', ,', PROXY],
    ['', PROXY],
    // A client inside the trusted ranges.
    ['10.0.0.9, 10.0.0.2', '10.0.0.9'],
  ])('%j leads to %s', (list, identity) => {
    const headers = forwardedFor(list)
    expect(identityOf(PROXY, { headers, trustedProxies: TRUSTED })).toBe(identity)
    expect(identityOf('::ffff:10.0.0.1', { headers, trustedProxies: TRUSTED })).toBe(identity)
  })

  it.each(['192.0.2.9', '2001:db8:fffe::1', '11.0.0.0', '9.255.255.255', 'unknown', undefined])(
    'is ignored from %s',
    (client) => {
      const headers = forwardedFor('203.0.113.7')
      const identity = identityOf(client, { headers, trustedProxies: TRUSTED })
      expect(identity).toBe(identityOf(client))
    },
  )

  it.each(['10.255.255.255', '2001:db8:ffff:ffff::1'])('is read from %s', (client) => {
    const headers = forwardedFor('203.0.113.7')
    expect(identityOf(client, { headers, trustedProxies: TRUSTED })).toBe('203.0.113.7')
  })

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
})

describe('Forwarded of trusted proxies', () => {
  it.each([
    ['for=192.0.2.1', '192.0.2.1'],
    ['For="192.0.2.1:80";proto=https;by=10.0.0.1', '192.0.2.1'],
    ['proto=https ; FOR = 192.0.2.1', PROXY],
    ['proto=https; FOR=192.0.2.1 ', '192.0.2.1'],
    ['for="[2001:db8:1:2::3]:4711"', '2001:db8:1:2::/64'],
    ['for="[2001:db8:1:2::3]:_port"', '2001:db8:1:2::/64'],
    ['for="192\\.0.2.1"', '192.0.2.1'],
    ['for=203.0.113.7, for=192.0.2.1, for=10.0.0.2', '192.0.2.1'],
    ['for=203.0.113.7,for=192.0.2.1;host="a,b;for=c",for="[2001:db8:ffff::1]"', '192.0.2.1'],
    ['for=192.0.2.1;host="a\\",for=203.0.113.7"', '192.0.2.1'],
    ['for=192.0.2.1;;', '192.0.2.1'],
    ['"""", , for=192.0.2.1', '192.0.2.1'],
    // Without a usable address, the walk ends at the last trusted proxy.
    ['for=unknown', PROXY],
    ['for=192.0.2.1, for=unknown, for=10.0.0.2', '10.0.0.2'],
    ['for=_hidden', PROXY],
    ['for="_SEVKISEK"', PROXY],
    ['for=192.0.2.1, proto=https', PROXY],
    ['for=192.0.2.1;for=203.0.113.7', PROXY],
    ['192.0.2.1', PROXY],
    ['for="192.0.2.1', PROXY],
    ['for=192.0.2.1 203.0.113.7', PROXY],
    ['for', PROXY],
    ['=', PROXY],
    ['for=', PROXY],
    ['', PROXY],
  ])('%j leads to %s', (forwarded, identity) => {
    const options = { headers: { forwarded }, trustedProxies: TRUSTED }
    expect(identityOf(PROXY, options)).toBe(identity)
  })

  it('takes linear time', () => {
    for (const piece of ['"', '\\', '\\"', ',', ';', 'for=', 'for="', ' ', 'for=a;', '\t ;', '=']) {
      const options = { headers: { forwarded: piece.repeat(1e6) }, trustedProxies: TRUSTED }
      const identify = createClientAddress({ trustedProxies: TRUSTED })
      for (let count = 0; count < 50; count += 1) identify(request(PROXY, options.headers))
      expect(identify(request(PROXY, options.headers))).toBe(PROXY)
    }
  })
})

describe('both headers', () => {
  const same = { forwarded: 'for="192.0.2.1:80"', 'x-forwarded-for': '203.0.113.7, 192.0.2.1' }
  const different = { forwarded: 'for=203.0.113.7', 'x-forwarded-for': '192.0.2.1' }

  it('name the client if they agree, and otherwise the proxy', () => {
    expect(identityOf(PROXY, { headers: same, trustedProxies: TRUSTED })).toBe('192.0.2.1')
    expect(identityOf(PROXY, { headers: different, trustedProxies: TRUSTED })).toBe(PROXY)
    expect(identityOf(PROXY, { headers: different, trustedProxies: 1 })).toBe(PROXY)
  })

  it.each([
    ['forwarded', '203.0.113.7'],
    ['x-forwarded-for', '192.0.2.1'],
  ] as const)('are not compared with forwardedHeader: %j', (forwardedHeader, identity) => {
    const options = { headers: different, trustedProxies: TRUSTED, forwardedHeader }
    expect(identityOf(PROXY, options)).toBe(identity)
    const other = forwardedHeader === 'forwarded' ? 'x-forwarded-for' : 'forwarded'
    const headers = { [other]: different[other] }
    expect(identityOf(PROXY, { ...options, headers })).toBe(PROXY)
  })
})

describe('a number of proxies', () => {
  it.each([
    [1, '192.0.2.1', '192.0.2.1'],
    [1, '203.0.113.7, 192.0.2.1', '192.0.2.1'],
    [2, '203.0.113.7, 192.0.2.1, 10.9.9.9', '192.0.2.1'],
    [2, '203.0.113.7, 192.0.2.1, unknown', '192.0.2.1'],
    // Fewer entries: the request did not pass all proxies.
    [2, '203.0.113.7', PROXY],
    [32, '203.0.113.7, '.repeat(31), PROXY],
    [1, '', PROXY],
    // The last one that has an address.
    [1, 'unknown', PROXY],
    [3, '192.0.2.1, unknown, 10.0.0.2, unknown', '10.0.0.2'],
  ])('%d with %j leads to %s', (trustedProxies, list, identity) => {
    expect(identityOf(PROXY, { headers: forwardedFor(list), trustedProxies })).toBe(identity)
  })

  it('serves proxies at a Unix socket', () => {
    const headers = forwardedFor('203.0.113.7, 192.0.2.1')
    expect(identityOf(undefined, { headers, trustedProxies: 1 })).toBe('192.0.2.1')
    expect(identityOf(undefined, { trustedProxies: 1 })).toBe('unknown')
  })
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

describe('invalid options', () => {
  const list = /^trustedProxies must be an array of addresses or a number of proxies/
  it.each<[object, RegExp]>([
    [{ trustedProxies: true }, list],
    [{ trustedProxies: 'loopback' }, list],
    [{ trustedProxies: [1] }, list],
    [{ trustedProxies: null }, list],
    [{ trustedProxies: -1 }, /from 0 to 32, got -1$/],
    [{ trustedProxies: 1.5 }, /from 0 to 32, got 1.5$/],
    [{ trustedProxies: 33 }, /from 0 to 32, got 33$/],
    [{ trustedProxies: NaN }, /from 0 to 32, got NaN$/],
    [{ trustedProxies: ['loopback'] }, /ranges such as 10.0.0.0\/8, got loopback$/],
    [{ trustedProxies: ['10.0.0.0/33'] }, /got 10.0.0.0\/33$/],
    [{ trustedProxies: ['::/129'] }, /got ::\/129$/],
    [{ trustedProxies: ['10.0.0.0/'] }, /got 10.0.0.0\/$/],
    [{ trustedProxies: ['10.0.0.0/-1'] }, /got 10.0.0.0\/-1$/],
    [{ trustedProxies: ['10.0.0.1:80'] }, /got 10.0.0.1:80$/],
    [{ trustedProxies: ['fe80::1%eth0'] }, /got fe80::1%eth0$/],
    [{ trustedProxies: ['::ffff:0:0/90'] }, /got ::ffff:0:0\/90$/],
    [{ trustedProxies: ['0.0.0.0/0'] }, /must not contain all addresses, got 0.0.0.0\/0$/],
    [{ trustedProxies: ['::/0'] }, /must not contain all addresses, got ::\/0$/],
    [{ trustedProxies: ['::ffff:0:0/96'] }, /must not contain all addresses/],
    [
      { trustedProxies: ['0.0.0.0/1', '10.0.0.0/8', '0.0.0.0/1', '192.0.0.0/2', '128.0.0.0/2'] },
      /^trustedProxies must not contain all addresses, got 0.0.0.0\/1 and /,
    ],
    [{ trustedProxies: ['8000::/1', '::/1'] }, /must not contain all addresses/],
    [{ trustedProxies: ['10.0.0.5/8'] }, /after the prefix of 10.0.0.5\/8; write 10.0.0.0\/8$/],
    [{ trustedProxies: ['2001:db8::1/32'] }, /; write 2001:db8::\/32$/],
    [{ trustedProxies: [''] }, /^trustedProxies must contain addresses .+, got $/],
    [{ forwardedHeader: 'x-real-ip' }, /^forwardedHeader must be 'forwarded' or 'x-forwarded-for'/],
    [{ forwardedHeader: 'Forwarded' }, /got Forwarded$/],
    [{ ipv6Prefix: 31 }, /^ipv6Prefix must be a whole number from 32 to 128, got 31$/],
    [{ ipv6Prefix: 129 }, /got 129$/],
    [{ ipv6Prefix: 64.5 }, /got 64.5$/],
    [{ ipv6Prefix: '64' }, /^ipv6Prefix must be a whole number from 32 to 128/],
  ])(
    '%j throw a TypeError, also in createAccess() and createRatesHandler()',
    (options, message) => {
      const error = expect.objectContaining({ message: expect.stringMatching(message) })
      expect(() => createClientAddress(options)).toThrow(TypeError)
      expect(() => createClientAddress(options)).toThrow(error)
      const { ipv6Prefix, ...proxies }: ClientAddressOptions = options
      const create = () => {
        const access = createAccess({ plans: { free: '1/s' }, anonymous: 'free', ipv6Prefix })
        openService({ access, ...proxies })
      }
      // Which also checks the types.
      const [name = ''] = Object.keys(options)
      expect(create).toThrow(TypeError)
      expect(create).toThrow(name)
    },
  )

  it('are not these', () => {
    const ranges = ['10.0.0.1', '10.0.0.0/8', '::ffff:10.0.0.0/104', '::1', 'fc00::/7', '::/1']
    expect(identityOf('10.0.0.9', { trustedProxies: ranges })).toBe('10.0.0.9')
    // An IPv6 range contains no mapped IPv4 address.
    const headers = forwardedFor('203.0.113.7')
    expect(identityOf('192.0.2.1', { headers, trustedProxies: ['::/1'] })).toBe('192.0.2.1')
    const mapped = ['::ffff:192.0.2.0/120']
    expect(identityOf('192.0.2.1', { headers, trustedProxies: mapped })).toBe('203.0.113.7')
  })
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
