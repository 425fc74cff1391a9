import type { EndpointGroup } from '../../http/endpoint.ts'
import type { ResponseCache } from '../../http/response-cache.ts'
import type { RateSources } from '../../sources/rate-sources.ts'
import { convert } from './convert.ts'
import { rates } from './rates.ts'

/** Creates the unversioned endpoints, with errors and sources as plain text. */
export function unversioned(sources: RateSources, responseCache: ResponseCache): EndpointGroup {
  return {
    endpoints: {
      '/rates': rates(sources, responseCache),
      '/convert': convert(sources),
    },
    errorBody: ({ summary }) => ({ error: summary }),
  }
}
