/**
 * `url` without trailing slashes, ready for a path to be appended. No error shows a query, a fragment, a user or a password.
 *
 * @throws {TypeError} where it is not an absolute http or https URL without query and fragment, or has a user name or
 *   password, with which `fetch` refuses it
 */
export function requireRootUrl(url: string): string {
  const isRoot = /^https?:\/\/[^?#]+$/.test(url) && URL.canParse(url)
  if (!isRoot) {
    // Where there is more than a host and a path, it may be a password or a token, written as nobody expects.
    const shown = /[@?#]/.test(url) ? '' : `, got ${url}`
    throw new TypeError(`url must be an absolute http(s) URL without a query${shown}`)
  }
  const { username, password } = new URL(url)
  if (username !== '' || password !== '') {
    throw new TypeError('url must have no user name and no password')
  }
  return url.replace(/\/+$/, '')
}
