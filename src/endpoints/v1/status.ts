import { uncached } from '../../http/respond.ts'
import type { Endpoint } from '../../http/endpoint.ts'
import { toServiceStatus } from '../../records/status.ts'
import type { RateSources } from '../../sources/rate-sources.ts'

/** `GET /api/v1/status`: 200 in any state of the data. What is due is loaded behind the answer, so that asking wakes a cold handler. */
export function status(sources: RateSources, now: () => number): Endpoint {
  return async () => {
    sources.refreshInBackground()
    return uncached(toServiceStatus(sources.state(), now()))
  }
}
