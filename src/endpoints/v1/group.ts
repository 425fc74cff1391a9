import type { Memory } from '../../http/memory.ts'
import type { Group } from '../../http/endpoint.ts'
import type { RateSources } from '../../sources/sources.ts'
import { convert } from './convert.ts'
import { history } from './history.ts'
import { latest } from './latest.ts'
import { status } from './status.ts'

/** What has been answered, by the data set that it was made from. */
export interface Memories {
  latest: Memory
  history: Memory
}

/** The versioned endpoints: errors are objects with a code and a message. */
export function v1(sources: RateSources, memories: Memories, now: () => number): Group {
  return {
    endpoints: {
      '/v1/latest': latest(sources, memories.latest),
      '/v1/convert': convert(sources),
      '/v1/history': history(sources, memories.history, now),
      '/v1/status': status(sources, now),
    },
    errorBody: ({ code, message }) => ({ error: { code, message } }),
  }
}
