/** What a part of the package that can be left out (`access`, `compat`, `monitoring`, `cli`) may import besides `index.ts`. */
export { callSafely, loadOnce, systemRuntime, withTimeout } from './async.ts'
export type { Runtime } from './async.ts'
export { createCircuitBreaker } from './cache/backoff.ts'
export { shortened, reasonOf } from './events.ts'
export type { Emit } from './events.ts'
export { createBoundedMap } from './http/response-cache.ts'
export { assertBasePath, splitTarget } from './http/target.ts'
export { assertKnownOptions, assertOneOf, requireFunctions } from './known-options.ts'
