import type { RatesError } from 'ratesmith/client'

import type { FieldOf } from '../src/response-body.ts'
import type * as More from './more.ts'
import type { RequestOptions } from './request.ts'

export interface Api {
  base: string
  /**
   * Requests a path below the base path with the current key, and returns the body of the response, which must have `field`.
   *
   * @throws {RatesError} if the request fails
   * @throws {DOMException} `AbortError` if the signal aborts
   */
  request<Body>(path: string, field: FieldOf<Body>, options?: RequestOptions): Promise<Body>
  /** The header with the current key, or none. */
  keyHeader(): Record<string, string>
  /** Called with each error of a request. */
  failed(error: RatesError): void
  /** Calls `use` with the second script of the page, which is loaded with the first interaction. */
  onMore(use: (more: typeof More) => void): void
  /** Loads the second script now. */
  needMore(): void
}
