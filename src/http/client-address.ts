/** How clients are counted by address. */
export interface AddressOptions {
  /**
   * The proxies whose `Forwarded` or `X-Forwarded-For` is read: addresses and ranges such as `10.0.0.0/8`, or the number of
   * proxies in front of the server (default none: forwarding headers are ignored).
   */
  trustedProxies?: readonly string[] | number | undefined
  /** Bits of an IPv6 address that identify a client, from 32 to 128 (default 64). */
  ipv6Prefix?: number | undefined
}
