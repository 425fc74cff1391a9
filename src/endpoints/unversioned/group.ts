import type { Memory } from '../../http/memory.ts'
import type { Group } from '../../http/endpoint.ts'
import type { RateSources } from '../../sources/sources.ts'
import { convert } from './convert.ts'
import { rates } from './rates.ts'

/** The earlier endpoints: errors are texts, and the source is one text too. */
export function unversioned(sources: RateSources, memory: Memory): Group {
  return {
    endpoints: {
      '/rates': rates(sources, memory),
      '/convert': convert(sources),
    },
    errorBody: ({ summary }) => ({ error: summary }),
  }
}
