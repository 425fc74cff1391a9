import type { Group } from '../../http/router.ts'
import type { RateSources } from '../../sources/sources.ts'
import { convert } from './convert.ts'
import { history } from './history.ts'
import { latest } from './latest.ts'
import { status } from './status.ts'

/** The versioned endpoints: errors are objects with a code and a message. */
export function v1(sources: RateSources, now: () => number): Group {
  return {
    endpoints: {
      '/v1/latest': latest(sources),
      '/v1/convert': convert(sources),
      '/v1/history': history(sources, now),
      '/v1/status': status(sources, now),
    },
    errorBody: ({ code, message }) => ({ error: { code, message } }),
  }
}
