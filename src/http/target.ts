/** A request target cut in two; neither part is decoded. */
export interface Target {
  path: string
  /** Without the question mark. */
  query: string
}

/**
 * Cuts path and query out of a request target: origin-form (`/path?query`), or absolute-form with http or https, whose
 * authority is ignored. By hand, because a hostile `Host` can make `request.url` relative or unparsable (Bun, Deno).
 * Whatever a `Request` would normalise away is treated the same for a raw target.
 */
export function splitTarget(target: string): Target {
  const local = target.replace(/^https?:\/\/[^/\\?#]*/i, '')
  const [beforeFragment = ''] = local.split('#', 1)
  const questionMark = beforeFragment.indexOf('?')
  const end = questionMark === -1 ? beforeFragment.length : questionMark
  return {
    path: normalisePath(beforeFragment.slice(0, end)),
    query: beforeFragment.slice(end + 1),
  }
}

/** `path` as the URL standard writes it: dot segments resolved, backslashes turned, the unprintable encoded. */
function normalisePath(path: string): string {
  if (path === '') return '/'
  const isPlain = /^\/[\w/~!$&'()*+,;=:@-]*$/.test(path)
  if (isPlain || !/^[/\\]/.test(path)) return path
  // An authority of our own keeps what follows a double slash from being read as one.
  return new URL(`http://localhost${path}`).pathname
}
