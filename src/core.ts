/** What a part of the package that can be left out (`access`, `compat`, `monitoring`, `cli`) may import besides `index.ts`. */
export { withDays, writeDays } from './api/day-table.ts'
export type { DayRates, DaysParams, DayTable } from './api/day-table.ts'
export { DISCLAIMER } from './api/latest.ts'
export { MAX_CODES, MAX_CODES_CHARACTERS, splitCodes, tooManyCodes } from './api/parameter-kinds.ts'
export {
  callSafely,
  loadOnce,
  runInSlices,
  systemRuntime,
  withTimeout,
  yieldToEventLoop,
} from './async.ts'
export type { Runtime } from './async.ts'
export { createCircuitBreaker } from './cache/backoff.ts'
export { UNKNOWN_CLIENT, createClientAddress } from './connections/client-address.ts'
export { widerNetwork } from './connections/ip-address.ts'
export { senderOf } from './connections/redis.ts'
export type { RedisClient } from './connections/redis.ts'
export {
  invalidAmount,
  invalidCurrency,
  invalidParameter,
  missingParameter,
  providerUnavailable,
  toRatesError,
} from './errors.ts'
export { EVENT_RECORDS } from './event-records.ts'
export type { EventCounter } from './event-records.ts'
export { reasonOf, shortened } from './events.ts'
export type { Emit } from './events.ts'
export { isOrigin } from './http/cors.ts'
export { accessUnavailable, createGate } from './http/guard.ts'
export type { Access, Admission, Guard, GuardedRequest, ProxyOptions, Usage } from './http/guard.ts'
export { LARGE_BODY_BYTES } from './http/limiter.ts'
export { FetchRawRequest, withProperties } from './http/messages.ts'
export { createTextReader } from './http/query.ts'
export { createBoundedMap, createRepeatFilter } from './http/response-cache.ts'
export {
  bodyHeaders,
  byteLength,
  failure,
  isStreamed,
  privateHeaders,
  toFetchStyle,
  withVary,
} from './http/response.ts'
export type { Route, RouteContext, RouteRequest } from './http/routes.ts'
export { assertBasePath, splitTarget } from './http/target.ts'
export { assertKnownOptions, assertOneOf, requireFunctions } from './known-options.ts'
export { escapeInvisible, toSingleLine } from './log.ts'
export { exactDifference, exactProduct, isAmount, percentChange } from './rates/arithmetic.ts'
export { isCodeShaped, minorUnitHint } from './rates/currency-code.ts'
export { dayNumber, earlierDay, FIRST_REFERENCE_DAY, isDay, toDay } from './rates/dates.ts'
export type { Day } from './rates/dates.ts'
export { divide, ONE, toDecimal, toNumber, toPlainText } from './rates/decimal.ts'
