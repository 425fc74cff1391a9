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
  const local = target.replace(/^https?:\/\/[^/\\?#]*/i, '')
  const [beforeFragment = ''] = local.split('#', 1)
  const questionMark = beforeFragment.indexOf('?')
  const end = questionMark === -1 ? beforeFragment.length : questionMark
  const path = beforeFragment.slice(0, end)
  return {
    path: isNormal(path) ? path : normalPath(local),
    query: beforeFragment.slice(end + 1),
  }
}

/** Whether a URL would leave `path` as it is; the common case, decided without building one. */
function isNormal(path: string): boolean {
  return /^\/[\w/~!$&'()*+,;=:@-]*$/.test(path)
}

function normalPath(local: string): string {
  // Behind an authority of our own, a double slash does not read as one.
  const url = `http://localhost${local}`
  return /^([/\\?#]|$)/.test(local) && URL.canParse(url) ? new URL(url).pathname : local
}
