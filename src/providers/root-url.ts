/**
 * Returns `url` without trailing slashes. Errors never quote a query, a fragment, a user name or a password.
 *
 * @throws {TypeError} if it is not an absolute http or https URL, or has a query, a fragment, a user name or a password
 *   (`fetch` rejects URLs with credentials)
 */
export function requireRootUrl(url: string): string {
  const isRoot = /^https?:\/\/[^?#]+$/.test(url) && URL.canParse(url)
  if (!isRoot) {
    // Anything else than a host and a path may be a password or a token.
    const value = /[@?#]/.test(url) ? '' : `, got ${url}`
    throw new TypeError(`url must be an absolute http(s) URL without a query${value}`)
  }
  const { username, password } = new URL(url)
  if (username !== '' || password !== '') {
    throw new TypeError('url must not contain a user name or password')
  }
  return url.replace(/\/+$/, '')
}
