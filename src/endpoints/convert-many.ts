import { convertRows, isRounded, requireRows } from '../api/convert-many.ts'
import type { AnyRowConversion, ManyOptions } from '../api/convert-many.ts'
import { readRows, resultsCsv, resultsHead } from '../api/csv-rows.ts'
import { OPERATIONS } from '../api/parameters.ts'
import { runInSlices } from '../async.ts'
import type { Runtime } from '../async.ts'
import { invalidParameter } from '../errors.ts'
import type { RatesError } from '../errors.ts'
import { createByteBudget, withBody } from '../http/body.ts'
import type { ReceivedBody } from '../http/body.ts'
import { overloaded } from '../http/limiter.ts'
import type { Limiter } from '../http/limiter.ts'
import type { EndpointResponse, RawRequest } from '../http/messages.ts'
import { createQueryParser } from '../http/query.ts'
import { failure, toBytes, toSendable, uncachedText } from '../http/response.ts'
import type { EndpointResult, PostEndpoint } from '../http/response.ts'
import type { RateSources } from '../sources/rate-sources.ts'
import { costOfCodes } from './costs.ts'
import type { Format } from './context.ts'

const MAX_BODY_BYTES = 1_048_576

/** The bodies of all requests together. */
const MAX_BODIES_BYTES = 32 * MAX_BODY_BYTES

const BODY_TIMEOUT_MS = 10_000

export interface ManyConversionsOptions extends Pick<ManyOptions, 'onInternalError'> {
  sources: RateSources
  runtime: Runtime
  limiter: Limiter
  keyNames: readonly string[]
  errorBody(error: RatesError): object
}

export function manyConversions(options: ManyConversionsOptions): PostEndpoint {
  const { runtime, errorBody } = options
  const budget = createByteBudget(MAX_BODIES_BYTES)
  const limits = { runtime, maxBytes: MAX_BODY_BYTES, timeout: BODY_TIMEOUT_MS, budget }

  /** The list of error codes is closed: these statuses have the code of an invalid parameter. */
  function refuse(status: number, parameter: string, hint: string): EndpointResponse {
    const error = invalidParameter(parameter, hint)
    return { ...failure(error, errorBody(error)), status }
  }

  function refuseBody(body: Exclude<ReceivedBody, Uint8Array>): EndpointResponse {
    switch (body) {
      case 'too_long':
        return refuse(413, 'body', 'must have at most 1 MiB')
      case 'too_slow':
        return refuse(408, 'body', `must arrive within ${BODY_TIMEOUT_MS / 1_000} s`)
      case 'incomplete':
        return refuse(400, 'body', 'must arrive completely')
      default:
        throw overloaded(runtime)
    }
  }

  const parse = createQueryParser<{ format?: Format }>(OPERATIONS.convertMany, options.keyNames)

  return async (query, request) => {
    const { format: asked } = parse(query).params
    const form = formOf(request.header('content-type') ?? '')
    if (!form) {
      return refuse(415, 'Content-Type', 'must be application/json or text/csv, in UTF-8')
    }
    if (!request.readBody) return refuse(415, 'body', 'the adapter of this host passes no bodies')
    const coding = request.header('content-encoding')?.toLowerCase() ?? ''
    if (coding !== '' && coding !== 'identity') {
      return refuse(415, 'Content-Encoding', 'must be absent or identity')
    }
    return withBody(request, limits, async (body) =>
      body instanceof Uint8Array
        ? respond(options, request, { body, form, answer: asked ?? form })
        : refuseBody(body),
    )
  }
}

/** Media types that browsers and clients send for CSV files. */
const CSV_TYPES: readonly (string | undefined)[] = [
  'text/csv',
  'application/csv',
  'application/vnd.ms-excel',
  'text/tab-separated-values',
]

function formOf(contentType: string): Format | undefined {
  const [type, ...parameters] = contentType.toLowerCase().split(';').map(trim)
  const charset = parameters.find((each) => each.startsWith('charset='))
  if (charset && !/^charset="?(utf-?8|us-ascii)"?$/.test(charset)) return undefined
  if (type === 'application/json') return 'json'
  return CSV_TYPES.includes(type) ? 'csv' : undefined
}

function trim(text: string): string {
  return text.trim()
}

interface Received {
  body: Uint8Array
  form: Format
  answer: Format
}

/** Waits for the limiter each time that work begins, so that a wait for data delays no other request. */
async function respond(
  { sources, runtime, limiter, onInternalError }: ManyConversionsOptions,
  request: RawRequest,
  { body, form, answer }: Received,
): Promise<EndpointResult> {
  const { signal } = request
  const context = { signal, unsentBytes: () => request.unsentBytes?.() ?? 0 }
  const rows = await limiter.run(() => parseRows(body, form, { runtime, signal }), context)
  const parts: string[] = []
  const hasRounded = answer === 'csv' && rows.some(isRounded)
  const use = (results: AnyRowConversion[]): void => {
    parts.push(
      answer === 'csv' ? resultsCsv(results, hasRounded) : JSON.stringify(results).slice(1, -1),
    )
  }
  const run = async <Result>(work: () => Promise<Result>): Promise<Result> =>
    limiter.run(work, context, { hasWaited: true })
  await convertRows(sources, rows, { runtime, onInternalError, signal, run }, use)
  const text = answer === 'csv' ? resultsHead(hasRounded) + parts.join('') : `[${parts.join()}]`
  return { ...uncachedText(toSendable(toBytes(text)), answer), cost: costOfCodes(targetsOf(rows)) }
}

function* targetsOf(rows: readonly unknown[]): Iterable<string> {
  for (const row of rows) {
    const { to }: { to?: unknown } = Object(row)
    for (const code of [to].flat()) if (typeof code === 'string') yield code
  }
}

/** @throws {RatesError} `invalid_parameter` */
async function parseRows(
  body: Uint8Array,
  form: Format,
  { runtime, signal }: { runtime: Runtime; signal: AbortSignal | undefined },
): Promise<readonly unknown[]> {
  if (body.length === 0) throw invalidParameter('body', 'must not be empty')
  const text = decode(body)
  if (form === 'csv') {
    const { rows } = await runInSlices(readRows(text), runtime.yieldToEventLoop, signal)
    return rows
  }
  return requireRows(parseJson(text))
}

function decode(body: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch {
    throw invalidParameter('body', 'must be UTF-8')
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The message of the runtime would quote the body.
    throw invalidParameter('body', 'must be JSON')
  }
}
