import type { Answer } from './answer.ts'

/** Constant, so that one answer serves everybody: no origin is reflected and no credentials are allowed. */
const CORS_HEADERS: Answer['headers'] = [
  ['access-control-allow-origin', '*'],
  ['access-control-expose-headers', 'ETag, Retry-After, Cache-Status'],
  ['cross-origin-resource-policy', 'cross-origin'],
]

const PREFLIGHT_HEADERS: Answer['headers'] = [
  ['access-control-allow-methods', 'GET, HEAD, OPTIONS'],
  ['access-control-allow-headers', '*'],
  ['access-control-max-age', '86400'],
]

/** `answer` for readers of any origin; the answer to a preflight too, which is the only one without content. */
export function withCors(answer: Answer): Answer {
  const preflight = answer.status === 204 ? PREFLIGHT_HEADERS : []
  return { ...answer, headers: [...answer.headers, ...CORS_HEADERS, ...preflight] }
}
