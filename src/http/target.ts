export interface Target {
  path: string
  /** Without the question mark. */
  query: string
}

/**
 * Accepts origin-form (`/path?query`) and absolute-form, whose authority is ignored. Not by `URL` first: a hostile `Host`
 * can make `request.url` relative or unparsable (Bun, Deno). Normalizes a raw target as `Request` does: resolves dot
 * segments, turns backslashes into slashes, drops the fragment.
 */
export function splitTarget(target: string): Target {
  const local = target.startsWith('/') ? target : target.replace(/^https?:[/\\]*[^/\\?#]*/i, '')
  const plain = /^(\/[\w/~!$&'()*+,;=:@-]*)(?:\?([\x21\x22\x24-\x7e]*))?$/.exec(local)
  if (plain) return { path: plain[1] ?? '', query: plain[2] ?? '' }
  // With an authority in front, a leading double slash is part of the path.
  const url = `http://localhost${local}`
  if (!/^([/\\?#]|$)/.test(local) || !URL.canParse(url)) return { path: local, query: '' }
  const { pathname, search } = new URL(url)
  return { path: pathname, query: search.slice(1) }
}

/** @throws {TypeError} unless it is empty, or an absolute path without a trailing slash that `URL` does not change */
export function assertBasePath(basePath: string): void {
  if (basePath === '') return
  const isUsable =
    /^(\/[^/]+)+$/.test(basePath) &&
    URL.canParse(`http://localhost${basePath}`) &&
    // No request could have a path that `URL` normalizes or cuts at a question mark.
    new URL(`http://localhost${basePath}`).pathname === basePath
  if (isUsable) return
  throw new TypeError(
    `basePath must be '' or an absolute path without a trailing slash, got ${String(basePath)}`,
  )
}
