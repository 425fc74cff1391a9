import ipaddr from 'ipaddr.js'

/** The 4 or 16 bytes of an IP address; IPv6 addresses to which IPv4 is mapped, such as `::ffff:192.0.2.1`, are IPv4. */
export type IpAddress = readonly number[]

/** A range of addresses with the same first `bits`. */
export interface IpRange {
  address: IpAddress
  bits: number
}

/** Longer texts are not addresses; limits the work for each. */
const MAX_LENGTH = 80

const OCTET = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)'
/** Four decimal parts; without leading zeros, because some read them as octal. */
const IPV4 = new RegExp(`^(?:${OCTET}\\.){3}${OCTET}$`)

/** The prefix of IPv4 addresses on sockets that accept IPv4 and IPv6. */
const MAPPED = '::ffff:'
const MAPPED_BITS = 96

/** Returns the canonical text of an IPv4 address without parsing it, because most clients have one. */
export function canonicalIpv4(text: string): string | undefined {
  const plain = text.startsWith(MAPPED) ? text.slice(MAPPED.length) : text
  return IPV4.test(plain) ? plain : undefined
}

/** Parses an address that may have a port, `192.0.2.1:443`, or brackets, `[2001:db8::1]:443`. */
export function parseHost(text: string): IpAddress | undefined {
  if (text.length > MAX_LENGTH) return undefined
  const [, bracketed] = /^\[([^\]]*:[^\]]*)\](?::[\w.-]+)?$/.exec(text) ?? []
  const [, ipv4] = /^([\d.]+):[\w.-]+$/.exec(text) ?? []
  return parseIpAddress(bracketed ?? ipv4 ?? text)
}

/** Parses an IPv4 or IPv6 address; an IPv6 zone is ignored. */
function parseIpAddress(text: string): IpAddress | undefined {
  if (IPV4.test(text)) return text.split('.').map(Number)
  const [, address = ''] = /^([\da-f:.]+)(?:%.+)?$/i.exec(text) ?? []
  try {
    const parsed = ipaddr.IPv6.parse(withoutDots(address))
    return (parsed.isIPv4MappedAddress() ? parsed.toIPv4Address() : parsed).toByteArray()
  } catch {
    return undefined
  }
}

/** Writes an IPv4 address at the end in hexadecimal digits: the package also reads octal ones, and others as mapped. */
function withoutDots(address: string): string {
  const start = address.lastIndexOf(':') + 1
  if (start === 0 || !IPV4.test(address.slice(start))) return address.replaceAll('.', ' ')
  const [a = 0, b = 0, c = 0, d = 0] = address.slice(start).split('.').map(Number)
  return `${address.slice(0, start)}${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`
}

/** @throws {TypeError} for other texts, bits after the prefix, and a prefix that contains all addresses */
export function parseIpRange(text: string): IpRange {
  const [, host = '', length] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const address = host.length > MAX_LENGTH || host.includes('%') ? undefined : parseIpAddress(host)
  const width = address?.length === 4 ? 32 : 128
  const mapping = width === 32 && host.includes(':') ? MAPPED_BITS : 0
  const bits = length === undefined ? width : Number(length) - mapping
  if (!address || bits > width || bits < 0) {
    throw new TypeError(`must contain addresses and ranges such as 10.0.0.0/8, got ${text}`)
  }
  if (bits === 0) throw new TypeError(`must not contain all addresses, got ${text}`)
  const prefix = prefixOf(address, bits)
  if (prefix.some((byte, index) => byte !== address[index])) {
    throw new TypeError(`has bits after the prefix of ${text}; write ${format(prefix)}/${bits}`)
  }
  return { address, bits }
}

export function isInRange(address: IpAddress, range: IpRange): boolean {
  const { address: start, bits } = range
  if (address.length !== start.length) return false
  return start.every((byte, index) => ((byte ^ (address[index] ?? 0)) & mask(bits, index)) === 0)
}

/** Returns whether `ranges` contain all IPv4 or all IPv6 addresses together. */
export function containAll(ranges: readonly IpRange[]): boolean {
  // Of two ranges that have common addresses, one contains the other.
  const outermost = ranges.filter(
    ({ address, bits }, index) =>
      !ranges.some(
        (other, at) =>
          isInRange(address, other) && (other.bits < bits || (other.bits === bits && at < index)),
      ),
  )
  return [4, 16].some((length) => {
    const shares = outermost.filter(({ address }) => address.length === length)
    return shares.reduce((sum, { bits }) => sum + 2 ** -bits, 0) >= 1
  })
}

function prefixOf(address: IpAddress, bits: number): IpAddress {
  return address.map((byte, index) => byte & mask(bits, index))
}

/** Returns the bits of a byte that belong to a prefix. */
function mask(bits: number, index: number): number {
  return (0xff << Math.min(8, Math.max(0, (index + 1) * 8 - bits))) & 0xff
}

function format(address: IpAddress): string {
  return String(ipaddr.fromByteArray([...address]))
}

/** Returns the canonical text of an IPv4 address, or of the first `bits` of an IPv6 address: `2001:db8:1:2::/64`. */
export function formatNetwork(address: IpAddress, bits: number): string {
  if (bits === 128 || address.length === 4) return format(address)
  return `${format(prefixOf(address, bits))}/${bits}`
}

/** Returns the network with `bits` of a client that `formatNetwork` returned; undefined unless it is a longer IPv6 prefix. */
export function widerNetwork(client: string, bits: number): string | undefined {
  const [text = '', length = '128'] = client.split('/')
  const address = text.includes(':') && Number(length) > bits ? parseIpAddress(text) : undefined
  return address?.length === 16 ? formatNetwork(address, bits) : undefined
}
