/** An IP address as eight groups of 16 bits; IPv4 as the address to which IPv6 maps it, `::ffff:192.0.2.1`. */
export type IpAddress = readonly number[]

/** A range of addresses with the same first `bits`, of 128. */
export interface IpRange {
  address: IpAddress
  bits: number
}

/** Longer texts are not addresses; limits the work for each. */
const MAX_LENGTH = 80

const ZERO = 48
/** The character code of a dot, relative to that of a zero. */
const DOT = -2

const MAPPED_BITS = 96

/** Parses an IPv4 or IPv6 address. An IPv6 zone is ignored; leading zeros in IPv4 are invalid, because some read them as octal. */
function parseIpAddress(text: string): IpAddress | undefined {
  if (text.length > MAX_LENGTH) return undefined
  return text.includes(':') ? parseIpv6(text) : mappedIpv4(text)
}

/** Parses an address that may have a port, `192.0.2.1:443`, or brackets, `[2001:db8::1]:443`. */
export function parseHost(text: string): IpAddress | undefined {
  if (text.length > MAX_LENGTH) return undefined
  const plain = mappedIpv4(withoutMapping(text))
  if (plain) return plain
  const [, bracketed] = /^\[([^\]]*)\](?::[\w.-]+)?$/.exec(text) ?? []
  if (bracketed !== undefined) return bracketed.includes(':') ? parseIpv6(bracketed) : undefined
  const [, ipv4] = /^([\d.]+):[\w.-]+$/.exec(text) ?? []
  return parseIpAddress(ipv4 ?? text)
}

/** Returns `text` without the prefix of IPv4 addresses on sockets that accept IPv4 and IPv6. */
function withoutMapping(text: string): string {
  return text.startsWith('::ffff:') ? text.slice('::ffff:'.length) : text
}

export function canonicalIpv4(text: string): string | undefined {
  const plain = withoutMapping(text)
  // A valid text is canonical, because leading zeros are invalid.
  return ipv4Groups(plain) && plain
}

function mappedIpv4(text: string): IpAddress | undefined {
  const groups = ipv4Groups(text)
  return groups && [0, 0, 0, 0, 0, 0xffff, ...groups]
}

/** Without a regular expression, because most clients have such an address. */
function ipv4Groups(text: string): [number, number] | undefined {
  let dots = 0
  let octet = -1
  let bits = 0
  for (let index = 0; index < text.length; index += 1) {
    const digit = text.charCodeAt(index) - ZERO
    if (digit === DOT && octet >= 0 && dots < 3) {
      dots += 1
      bits = bits * 0x100 + octet
      octet = -1
    } else if (digit >= 0 && digit <= 9 && octet !== 0) {
      octet = octet < 0 ? digit : octet * 10 + digit
      if (octet > 0xff) return undefined
    } else return undefined
  }
  if (dots < 3 || octet < 0) return undefined
  return [bits >> 8, ((bits & 0xff) << 8) | octet]
}

function parseIpv6(text: string): IpAddress | undefined {
  const [, address = ''] = /^([\da-f:.]+)(?:%.+)?$/i.exec(text) ?? []
  const [head = '', tail, ...more] = address.split('::')
  if (more.length > 0) return undefined
  const before = ipv6Groups(head, tail === undefined)
  const after = ipv6Groups(tail ?? '', true)
  if (!before || !after) return undefined
  const missing = 8 - before.length - after.length
  if (tail === undefined ? missing !== 0 : missing < 1) return undefined
  return [...before, ...Array<number>(missing).fill(0), ...after]
}

function ipv6Groups(text: string, isEnd: boolean): number[] | undefined {
  if (text === '') return []
  const groups: number[] = []
  const parts = text.split(':')
  for (const [index, part] of parts.entries()) {
    const ipv4 = isEnd && index === parts.length - 1 ? ipv4Groups(part) : undefined
    if (ipv4) groups.push(...ipv4)
    else if (/^[\da-f]{1,4}$/i.test(part)) groups.push(parseInt(part, 16))
    else return undefined
  }
  return groups
}

function isIpv4(address: IpAddress): boolean {
  const [first, second, third, fourth, fifth, sixth] = address
  return sixth === 0xffff && !first && !second && !third && !fourth && !fifth
}

function prefixOf(address: IpAddress, bits: number): IpAddress {
  return address.map((group, index) => group & (0xffff << unused(bits, index)))
}

function unused(bits: number, index: number): number {
  return Math.min(16, Math.max(0, (index + 1) * 16 - bits))
}

/** @throws {TypeError} for other texts, bits after the prefix, and a prefix that contains all addresses */
export function parseIpRange(text: string): IpRange {
  const [, host = '', length] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const address = parseIpAddress(host)
  const isMapped = address !== undefined && isIpv4(address)
  const offset = isMapped && !host.includes(':') ? MAPPED_BITS : 0
  const bits = length === undefined ? 128 : Number(length) + offset
  if (!address || bits > 128 || host.includes('%') || (isMapped && bits < MAPPED_BITS)) {
    throw new TypeError(`must contain addresses and ranges such as 10.0.0.0/8, got ${text}`)
  }
  if (bits === (isMapped ? MAPPED_BITS : 0)) {
    throw new TypeError(`must not contain all addresses, got ${text}`)
  }
  const prefix = prefixOf(address, bits)
  if (prefix.some((group, index) => group !== address[index])) {
    const range = `${formatIpAddress(prefix)}/${bits - (isMapped ? MAPPED_BITS : 0)}`
    throw new TypeError(`has bits after the prefix of ${text}; write ${range}`)
  }
  return { address, bits }
}

/** Returns whether `range` contains `address`; IPv6 ranges contain no mapped IPv4 address. */
export function isInRange(address: IpAddress, range: IpRange): boolean {
  const { address: start, bits } = range
  if (bits < MAPPED_BITS && isIpv4(address)) return false
  return start.every((group, index) => (group ^ (address[index] ?? 0)) >> unused(bits, index) === 0)
}

/** Returns the canonical text: IPv4 in dotted form, IPv6 as in RFC 5952. */
function formatIpAddress(address: IpAddress): string {
  if (isIpv4(address)) {
    const { 6: high = 0, 7: low = 0 } = address
    return `${high >> 8}.${high & 0xff}.${low >> 8}.${low & 0xff}`
  }
  const { start, length } = longestZeros(address)
  const texts = address.map((group) => group.toString(16))
  if (length < 2) return texts.join(':')
  return `${texts.slice(0, start).join(':')}::${texts.slice(start + length).join(':')}`
}

function longestZeros(address: IpAddress): { start: number; length: number } {
  let longest = { start: 0, length: 0 }
  let length = 0
  for (const [index, group] of address.entries()) {
    length = group === 0 ? length + 1 : 0
    if (length > longest.length) longest = { start: index - length + 1, length }
  }
  return longest
}

/** Returns the canonical text of an IPv4 address, or of the first `bits` of an IPv6 address: `2001:db8:1:2::/64`. */
export function formatNetwork(address: IpAddress, bits: number): string {
  if (bits === 128 || isIpv4(address)) return formatIpAddress(address)
  return `${formatIpAddress(prefixOf(address, bits))}/${bits}`
}
