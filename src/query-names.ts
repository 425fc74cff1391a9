import { invalidParameter } from './errors.ts'
import type { RatesError } from './errors.ts'

/** Names that browsers, trackers, caches and other services add to queries, and of keys. */
const IGNORED =
  /^(?:_|x[_-]|utm_)|^(?:fbclid|gclid|msclkid|callback|cb|v|t|ts|rand|nocache|cachebuster|access_key|api_key|apikey|app_id|key|token)$/

export function isIgnored(name: string): boolean {
  return IGNORED.test(name)
}

/** Returns the error of a parameter of a function whose name has a meaning in queries alone. */
export function onlyInQueries(name: string): RatesError | undefined {
  return isIgnored(name) || name === 'format' || name === 'layout'
    ? invalidParameter(name, 'only for queries')
    : undefined
}
