import type { FieldOf } from '../src/response-body.ts'
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
  hasKey(): boolean
  /** Called when a request is refused, by a missing or wrong key or by a limit. */
  refused(): void
  loadMore(): Promise<typeof import('./on-demand.ts')>
}
