/** A request target cut in two; neither part is decoded. */
export interface Target {
  path: string
  /** Without the question mark. */
  query: string
}

/**
 * Cuts path and query out of a request target: origin-form (`/path?query`), or absolute-form with http or https, whose
 * authority is ignored. By hand, because a hostile `Host` can make `request.url` relative or unparsable (Bun, Deno).
 * A raw target is read as `Request` would read it: dot segments resolved, backslashes turned, the fragment dropped.
 */
export function splitTarget(target: string): Target {
  const local = target.startsWith('/') ? target : target.replace(/^https?:[/\\]*[^/\\?#]*/i, '')
  const plain = /^(\/[\w/~!$&'()*+,;=:@-]*)(?:\?([\x21\x22\x24-\x7e]*))?$/.exec(local)
  if (plain) return { path: plain[1] ?? '', query: plain[2] ?? '' }
  // Behind an authority of our own, a double slash does not read as one.
  const url = `http://localhost${local}`
  if (!/^([/\\?#]|$)/.test(local) || !URL.canParse(url)) return { path: local, query: '' }
  const { pathname, search } = new URL(url)
  return { path: pathname, query: search.slice(1) }
}

/**
 * The target in `url`, which a server has put together with the header `Host`. Deno takes that as it came, where a slash or
 * a question mark in it would read as a path or a query.
 */
export function targetBehind(host: string | null, url: string): string {
  if (!host) return url
  const [scheme] = /^https?:\/\//.exec(url) ?? ['']
  const target = url.slice(scheme.length + host.length)
  return url === scheme + host + target && target.startsWith('/') ? target : url
}

/**
 * Checks that requests can have a path below `basePath`.
 *
 * @throws {TypeError} unless it is empty, or an absolute path that a URL leaves as it is, without a trailing slash
 */
export function assertBasePath(basePath: string): void {
  if (basePath === '') return
  const isUsable =
    /^(\/[^/]+)+$/.test(basePath) &&
    URL.canParse(`http://localhost${basePath}`) &&
    // A path that a URL would write otherwise, or cut at a question mark, could never be asked for.
    new URL(`http://localhost${basePath}`).pathname === basePath
  if (isUsable) return
  throw new TypeError(
    `basePath must be '' or an absolute path without a trailing slash, got ${String(basePath)}`,
  )
}
