import {
  canonicalIpv4,
  containAll,
  formatNetwork,
  isInRange,
  parseHost,
  parseIpRange,
} from './ip-address.ts'
import type { IpAddress, IpRange } from './ip-address.ts'

/** The proxies in front of a server, and how clients behind them are identified. */
export interface ClientAddressOptions {
  trustedProxies?: readonly string[] | number | undefined
  forwardedHeader?: ForwardedHeader | undefined
  /** Bits of an IPv6 address that identify a client, from 32 to 128 (default 64). */
  ipv6Prefix?: number | undefined
}

/** A header to which proxies add addresses: that of RFC 7239, or the older one. */
type ForwardedHeader = 'forwarded' | 'x-forwarded-for'

/** What the address is read from. */
export interface AddressedRequest {
  header(name: string): string | null | undefined
  client?: string | undefined
}

const HEADERS: readonly ForwardedHeader[] = ['forwarded', 'x-forwarded-for']

/** Entries and characters of a header that are read, from the right. */
const MAX_ENTRIES = 32
const MAX_CHARACTERS = 8_192

/** All clients without an address. */
export const UNKNOWN_CLIENT = 'unknown'

/**
 * Returns a function that identifies the client of a request by its address. Calls `onUntrustedProxy` once, if a private or loopback address forwards requests and `trustedProxies` is not set.
 *
 * @throws {TypeError} that names the invalid option
 */
export function createClientAddress(
  options: ClientAddressOptions,
  onUntrustedProxy: () => void = () => {},
): (request: AddressedRequest) => string {
  const { trustedProxies, forwardedHeader, ipv6Prefix = 64 } = options
  requirePrefix(ipv6Prefix)
  const headers = requireHeaders(forwardedHeader)
  const clientBehind = createWalk(trustedProxies)
  const identify = (address: IpAddress | undefined): string =>
    address ? formatNetwork(address, ipv6Prefix) : UNKNOWN_CLIENT

  if (!clientBehind) {
    let isReported = trustedProxies !== undefined
    return (request) => {
      const { client = '' } = request
      if (!isReported && HEADERS.some((name) => request.header(name))) {
        const peer = parseHost(client)
        isReported = peer !== undefined && isPrivate(peer)
        if (isReported) onUntrustedProxy()
      }
      // Faster than to parse and format it; most clients have such an address.
      return canonicalIpv4(client) ?? identify(parseHost(client))
    }
  }
  return (request) => {
    const { client } = request
    const peer = client === undefined ? undefined : parseHost(client)
    const found = new Set<string>()
    for (const name of headers) {
      const value = request.header(name)
      if (value) found.add(identify(clientBehind(peer, entriesOf(name, value))))
    }
    const [identity, ...others] = found
    return identity === undefined || others.length > 0 ? identify(peer) : identity
  }
}

/** Returns the client of a connection from `peer`; `entries` are those of a header, from the right. */
type Walk = (peer: IpAddress | undefined, entries: readonly string[]) => IpAddress | undefined

/** Returns undefined if no proxy is trusted. */
function createWalk(trustedProxies: ClientAddressOptions['trustedProxies']): Walk | undefined {
  if (trustedProxies === undefined || trustedProxies === 0) return undefined
  if (typeof trustedProxies === 'number') return walkHops(requireHops(trustedProxies))
  if (!Array.isArray(trustedProxies)) throw new TypeError(HOPS_OR_LIST)
  const ranges = trustedProxies.map(requireRange)
  if (containAll(ranges)) {
    throw new TypeError(
      `trustedProxies must not contain all addresses, got ${trustedProxies.join(' and ')}`,
    )
  }
  return ranges.length === 0 ? undefined : walkTrusted(ranges)
}

/** Continues to the left as long as an address is trusted. */
function walkTrusted(ranges: readonly IpRange[]): Walk {
  const isTrusted = (address: IpAddress): boolean =>
    ranges.some((range) => isInRange(address, range))
  return (peer, entries) => {
    let client = peer
    for (const entry of entries) {
      if (!client || !isTrusted(client)) return client
      const next = parseHost(entry)
      if (!next) return client
      client = next
    }
    return client
  }
}

/** Counts entries. With fewer of them, the request did not pass all proxies, so that none of them is trusted. */
function walkHops(hops: number): Walk {
  return (peer, entries) => {
    if (entries.length < hops) return peer
    const addresses = entries.slice(0, hops).map(parseHost)
    return addresses.findLast((address) => address !== undefined) ?? peer
  }
}

/** Returns the entries of a header from the right, as texts; what does not name an address is an invalid text. */
function entriesOf(name: ForwardedHeader, value: string): string[] {
  const isCut = value.length > MAX_CHARACTERS
  const list = isCut ? value.slice(-MAX_CHARACTERS) : value
  const elements = name === 'forwarded' ? splitUnquoted(list, ',') : list.split(',').toReversed()
  // The first element of a cut list may have lost its start.
  const whole = isCut ? elements.slice(0, -1) : elements
  const entries = whole.map((element) => element.trim()).filter((element) => element !== '')
  const read = entries.slice(0, MAX_ENTRIES)
  return name === 'forwarded' ? read.map((element) => forOf(element) ?? '') : read
}

/** From the right: the elements of trusted proxies are there, and are found regardless of what precedes them. */
function splitUnquoted(text: string, separator: string): string[] {
  const parts: string[] = []
  let end = text.length
  let isQuoted = false
  for (let index = text.length - 1; index >= 0; index -= 1) {
    if (text[index] === '"' && !isEscaped(text, index)) isQuoted = !isQuoted
    else if (text[index] === separator && !isQuoted) {
      parts.push(text.slice(index + 1, end))
      end = index
    }
  }
  return [...parts, text.slice(0, end)]
}

function isEscaped(text: string, index: number): boolean {
  let start = index
  while (text[start - 1] === '\\') start -= 1
  return (index - start) % 2 === 1
}

const PAIR = /^([^\s=;,"]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*))$/

/** Returns the parameter `for` of an element of `Forwarded` (RFC 7239 §4); undefined without exactly one. */
function forOf(element: string): string | undefined {
  const found: string[] = []
  for (const part of splitUnquoted(element, ';')) {
    const text = part.trim()
    if (text === '') continue
    const [, name, quoted, plain = ''] = PAIR.exec(text) ?? []
    if (name === undefined) return undefined
    if (name.toLowerCase() === 'for') found.push(quoted?.replace(/\\(.)/g, '$1') ?? plain)
  }
  return found.length === 1 ? found[0] : undefined
}

/** Private, loopback and link-local addresses, and those of carriers' networks (RFC 6890). */
const PRIVATE: readonly IpRange[] = /* @__PURE__ */ [
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '100.64.0.0/10',
  '::1',
  'fc00::/7',
  'fe80::/10',
].map(parseIpRange)

function isPrivate(address: IpAddress): boolean {
  return PRIVATE.some((range) => isInRange(address, range))
}

const HOPS_OR_LIST = 'trustedProxies must be an array of addresses or a number of proxies'

function requireHops(hops: number): number {
  if (Number.isInteger(hops) && hops > 0 && hops <= MAX_ENTRIES) return hops
  throw new TypeError(`${HOPS_OR_LIST} from 0 to ${MAX_ENTRIES}, got ${hops}`)
}

function requireRange(text: unknown): IpRange {
  if (typeof text !== 'string') throw new TypeError(`${HOPS_OR_LIST}, got ${typeof text}`)
  try {
    return parseIpRange(text)
  } catch (error) {
    const reason = error instanceof Error ? error.message : ''
    throw new TypeError(`trustedProxies ${reason}`, { cause: error })
  }
}

function requireHeaders(name: ForwardedHeader | undefined): readonly ForwardedHeader[] {
  if (name === undefined) return HEADERS
  if (HEADERS.includes(name)) return [name]
  throw new TypeError(
    `forwardedHeader must be 'forwarded' or 'x-forwarded-for', got ${String(name)}`,
  )
}

function requirePrefix(bits: number): void {
  if (Number.isInteger(bits) && bits >= 32 && bits <= 128) return
  throw new TypeError(`ipv6Prefix must be a whole number from 32 to 128, got ${String(bits)}`)
}
