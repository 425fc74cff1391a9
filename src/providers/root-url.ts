/**
 * `url` without trailing slashes, ready for a path to be appended.
 *
 * @throws {TypeError} where it is not an absolute http or https URL without query and fragment, or has a user name or
 *   password, with which `fetch` refuses it
 */
export function requireRootUrl(url: string): string {
  const isRoot = /^https?:\/\/[^?#]+$/.test(url) && URL.canParse(url)
  if (!isRoot) {
    const shown = url.replace(/\/\/.*@/, '//…@')
    throw new TypeError(`url must be an absolute http(s) URL without a query, got ${shown}`)
  }
  const { username, password } = new URL(url)
  if (username !== '' || password !== '') {
    throw new TypeError('url must have no user name and no password')
  }
  return url.replace(/\/+$/, '')
}
