/** Returns the error hint for a `baseUrl` whose server does not know the paths of the API. */
export function baseUrlHint(root: string): string {
  const { pathname } = new URL(root)
  const [version] = /\/v\d+$/.exec(pathname) ?? []
  const expected = version ? `without "${version}"` : 'by default "/api"'
  return `baseUrl must end with the handler's base path, ${expected}; got "${pathname}"`
}

/**
 * Returns `baseUrl` as an absolute URL without a trailing slash; a path is resolved against the page.
 *
 * @throws {TypeError} unless it is an http(s) URL, or in a browser a path, without query, fragment and credentials
 */
export function requireBaseUrl(baseUrl: string): string {
  const page = globalThis.location?.href
  if (/^(https?:\/)?\//i.test(baseUrl) && URL.canParse(baseUrl, page)) {
    const { href, origin, pathname } = new URL(baseUrl, page)
    if (href === origin + pathname) return href.replace(/\/+$/, '')
  }
  // The value may contain credentials.
  throw new TypeError(
    'baseUrl must be an http(s) URL, or in a browser a path, without query, fragment and credentials',
  )
}
