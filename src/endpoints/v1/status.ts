import type { Endpoint } from '../../http/endpoint.ts'
import { uncached } from '../../http/respond.ts'
import { toServiceStatus } from '../../records/status.ts'
import type { RateSources } from '../../sources/rate-sources.ts'

/** Creates `GET /api/v1/status`: 200 in every state. Starts due refreshes in the background, so that it warms up a cold handler. */
export function status(sources: RateSources, now: () => number): Endpoint {
  return async () => {
    sources.refreshInBackground()
    return uncached(toServiceStatus(sources.state(), now()))
  }
}
