import type { Memory } from '../../http/memory.ts'
import type { Group } from '../../http/endpoint.ts'
import type { RateSources } from '../../sources/sources.ts'
import { convert } from './convert.ts'
import { currencies } from './currencies.ts'
import { history } from './history.ts'
import { latest } from './latest.ts'
import { openapi } from './openapi.ts'
import { status } from './status.ts'

/** What has been answered, by the data set that it was made from. */
export interface Memories {
  latest: Memory
  history: Memory
}

/** What the versioned endpoints are made from. */
export interface V1Options {
  sources: RateSources
  memories: Memories
  now: () => number
  basePath: string
}

/** The versioned endpoints: errors are objects with a code and a message. */
export function v1({ sources, memories, now, basePath }: V1Options): Group {
  return {
    endpoints: {
      '/v1/latest': latest(sources, memories.latest),
      '/v1/convert': convert(sources),
      '/v1/history': history(sources, memories.history, now),
      '/v1/currencies': currencies(sources, now),
      '/v1/status': status(sources, now),
      '/v1/openapi.json': openapi(basePath),
    },
    errorBody: ({ code, message }) => ({ error: { code, message } }),
  }
}
