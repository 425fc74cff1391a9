/**
 * `url` without trailing slashes, ready for a path to be appended.
 *
 * @throws {TypeError} where it is not an absolute http or https URL without query and fragment
 */
export function requireRootUrl(url: string): string {
  const isRoot = /^https?:\/\/[^?#]+$/.test(url) && URL.canParse(url)
  if (!isRoot)
    throw new TypeError(`url must be an absolute http(s) URL without a query, got ${url}`)
  return url.replace(/\/+$/, '')
}
