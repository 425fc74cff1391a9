/** Returns what is wrong with `root`, the URL of a mount, where a service does not know the paths below it: a hint of an error. */
export function baseUrlHint(root: string): string {
  const { pathname } = new URL(root)
  const [version] = /\/v\d+$/.exec(pathname) ?? []
  const fault = version ? `without "${version}"` : `by default "/api"; its path is "${pathname}"`
  return `baseUrl must end with the handler's base path, ${fault}`
}

/**
 * `baseUrl` as an absolute URL without a slash at its end; a path is one of the page's own origin.
 *
 * @throws {TypeError} where it is neither an http(s) URL nor, in a browser, a path; or has a query, a fragment or credentials
 */
export function requireBaseUrl(baseUrl: string): string {
  const page = globalThis.location?.href
  if (/^(https?:\/)?\//i.test(baseUrl) && URL.canParse(baseUrl, page)) {
    const { href, origin, pathname } = new URL(baseUrl, page)
    if (href === origin + pathname) return href.replace(/\/+$/, '')
  }
  throw new TypeError('baseUrl must be an http(s) URL without a query, or in a browser a path')
}
