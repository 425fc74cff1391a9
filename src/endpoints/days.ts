import { DAY_FORMS, openDays } from '../api/days.ts'
import type { DaysReader } from '../api/days.ts'
import { OPERATIONS } from '../api/parameters.ts'
import type { DaysParams } from '../api/parameter-types.ts'
import type { Runtime } from '../async.ts'
import { isRatesError, toRatesError } from '../errors.ts'
import type { RatesError } from '../errors.ts'
import { isScheduledByPlatform, overloaded } from '../http/limiter.ts'
import type { Limiter } from '../http/limiter.ts'
import type { StreamedBody } from '../http/messages.ts'
import { createQueryParser } from '../http/query.ts'
import { bodyHeaders, entityTag, toBytes, viaLink } from '../http/response.ts'
import type { Endpoint, EndpointResult } from '../http/response.ts'
import { addDays, toDay } from '../rates/dates.ts'
import type { EndpointContext } from './context.ts'

export interface DaysOptions extends EndpointContext {
  runtime: Runtime
  limiter: Limiter
  onInternalError(error: unknown): void
  errorBody(error: RatesError): object
}

type DaysQuery = DaysParams & { format?: 'ndjson' | 'csv' }

/** Older days hardly ever change. */
const SETTLED_DAYS = 14

/** Bodies that are read at the same time: each has a month of days in memory, for as long as its client takes. */
const MAX_OPEN = 200

export function days({
  sources,
  now,
  keyNames,
  runtime,
  limiter,
  onInternalError,
  errorBody,
}: DaysOptions): Endpoint {
  const parse = createQueryParser<DaysQuery>(OPERATIONS.days, keyNames)
  const takeTurn = createTurns(runtime)
  let opened = 0

  async function* counted(body: StreamedBody): StreamedBody {
    opened += 1
    try {
      yield* body
    } finally {
      opened -= 1
    }
  }

  async function open(
    { format = 'ndjson', ...params }: DaysQuery,
    key: string,
    signal: AbortSignal | undefined,
  ): Promise<EndpointResult> {
    const reader = await openDays(sources, { ...params, signal }, now)
    const last = reader.months.at(-1)
    const newest = last ? await reader.read(last, false) : []
    const parts = partsOf(reader, format, takeTurn)
    const first = await parts.next()
    const isSettled = (params.end ?? '9999') < addDays(toDay(now()), -SETTLED_DAYS)
    const headers = bodyHeaders({ form: format, lifetime: isSettled ? 'day' : 'hour' })
    // Weak, because earlier days may have been corrected.
    headers.push(['etag', `W/${entityTag(key + JSON.stringify(newest))}`])
    headers.push(['link', reader.sources.map((source) => viaLink(source)[0]?.[1]).join(', ')])
    const toLine = (thrown: unknown): string => {
      if (!isRatesError(thrown) && !signal?.aborted) onInternalError(thrown)
      const error = toRatesError(thrown)
      return format === 'csv' ? `error,${error.code}\r\n` : `${JSON.stringify(errorBody(error))}\n`
    }
    return { status: 200, headers, body: counted(bodyOf(first, parts, toLine)) }
  }

  return async (query, request) => {
    const { params, key } = parse(query)
    limiter.requireRoom(request)
    if (opened >= MAX_OPEN) throw overloaded(runtime)
    const { signal } = request
    return sources.inTime(open(params, key, signal), signal)
  }
}

/** About 20 days of 40 currencies. */
const PART_CHARACTERS = 16_384

async function* partsOf(
  { months, read }: DaysReader,
  format: 'ndjson' | 'csv',
  takeTurn: () => Promise<void>,
): AsyncGenerator<ReturnType<typeof toBytes>, void> {
  const { head, write } = DAY_FORMS[format]
  let text = head
  for (const [index, month] of months.entries()) {
    await takeTurn()
    for (const day of await read(month, index > 0)) {
      text += write(day)
      if (text.length < PART_CHARACTERS) continue
      yield toBytes(text)
      text = ''
      await takeTurn()
    }
  }
  if (text !== '') yield toBytes(text)
}

/**
 * Returns a function that waits until one part may be computed: one in a turn of the event loop, so that any number of streams
 * delays other requests by one part.
 */
function createTurns({ yieldToEventLoop }: Runtime): () => Promise<void> {
  let last = Promise.resolve()
  return async () => {
    // There, a promise of another request never settles.
    if (isScheduledByPlatform()) return
    last = last.then(yieldToEventLoop)
    await last
  }
}

/** Ends with the line of an error, because some hosts make a response that fails look complete, and with the error. */
async function* bodyOf(
  first: IteratorResult<ReturnType<typeof toBytes>, void>,
  parts: StreamedBody,
  toLine: (error: unknown) => string,
): StreamedBody {
  if (first.done) return
  yield first.value
  try {
    yield* parts
  } catch (error) {
    yield toBytes(toLine(error))
    throw error
  }
}
