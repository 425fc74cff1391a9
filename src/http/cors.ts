import type { Answer } from './answer.ts'
import { ALLOW } from './respond.ts'

/** Constant, so that one answer serves everybody: no origin is reflected and no credentials are allowed. */
const CORS_HEADERS: Answer['headers'] = [
  ['access-control-allow-origin', '*'],
  ['access-control-expose-headers', 'ETag, Retry-After, Cache-Status'],
  ['cross-origin-resource-policy', 'cross-origin'],
]

const PREFLIGHT_HEADERS: Answer['headers'] = [
  ['access-control-allow-methods', ALLOW],
  ['access-control-allow-headers', '*'],
  ['access-control-max-age', '86400'],
]

/** Adds the headers that let any origin read `answer`; a 204, which only `OPTIONS` gets, also says what may be asked. */
export function withCors(answer: Answer): Answer {
  const preflight = answer.status === 204 ? PREFLIGHT_HEADERS : []
  return { ...answer, headers: [...answer.headers, ...CORS_HEADERS, ...preflight] }
}
