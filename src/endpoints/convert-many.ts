import { convertRows, isRounded } from '../api/convert-many.ts'
import type { AnyRowConversion, ManyOptions } from '../api/convert-many.ts'
import { readRows, resultsCsv, resultsHead } from '../api/csv-rows.ts'
import { parseJsonRows } from '../api/json-rows.ts'
import { OPERATIONS } from '../api/parameters.ts'
import { runInSlices } from '../async.ts'
import type { Runtime } from '../async.ts'
import { invalidParameter, isRatesError, toRatesError } from '../errors.ts'
import type { RatesError } from '../errors.ts'
import { refusal } from '../http/body.ts'
import type { BodyReceiver } from '../http/body.ts'
import type { Limiter } from '../http/limiter.ts'
import type { RawRequest } from '../http/messages.ts'
import { createQueryParser } from '../http/query.ts'
import { failure, toBytes, toSendable, uncachedText } from '../http/response.ts'
import type { EndpointResult, PostEndpoint } from '../http/response.ts'
import { isCodeShaped } from '../rates/currency-code.ts'
import type { RateSources } from '../sources/rate-sources.ts'
import { MAX_COST, costOfCodes } from './costs.ts'
import type { EndpointContext, Format } from './context.ts'

// What costs as much as a conversion by `GET`: some 10 ms of processor time.
const CONVERSIONS_PER_COST = 1_000
const BYTES_PER_COST = 100 * 1_024

/** By time: the signature has to be verified, and there may be ten targets. */
const CONVERSIONS_PER_QUOTE = 20
const MAX_QUOTES = 500

export interface ManyConversionsOptions
  extends Pick<ManyOptions, 'onInternalError'>, Pick<EndpointContext, 'quotes'> {
  sources: RateSources
  runtime: Runtime
  limiter: Limiter
  keyNames: readonly string[]
  errorBody(error: RatesError): object
  /** The bodies of all requests. */
  bodies: () => Promise<BodyReceiver>
}

export function manyConversions(options: ManyConversionsOptions): PostEndpoint {
  const { errorBody, bodies } = options

  /** Returns the response to a body that is refused as a whole, which costs what it took to read. */
  function refuseContent(error: unknown, body: Uint8Array): EndpointResult {
    if (!isRatesError(error) || error.status >= 500) throw error
    return { ...failure(error, errorBody(error)), cost: costOfBytes(body) }
  }

  const parse = createQueryParser<{ format?: Format }>(OPERATIONS.convertMany, options.keyNames)

  return async (query, request) => {
    const { format: asked } = parse(query).params
    const form = formOf(request.header('content-type') ?? '')
    if (!form) {
      throw refusal(415, 'Content-Type', 'must be application/json or text/csv, in UTF-8')
    }
    const coding = request.header('content-encoding')?.toLowerCase() ?? ''
    if (coding !== '' && coding !== 'identity') {
      throw refusal(415, 'Content-Encoding', 'must be absent or identity')
    }
    const { receive } = await bodies()
    return receive(request, async (body) => {
      const received = { body, form, answer: asked ?? form }
      return respond(options, request, received).catch((error) => refuseContent(error, body))
    })
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
  { sources, runtime, limiter, onInternalError, quotes }: ManyConversionsOptions,
  request: RawRequest,
  { body, form, answer }: Received,
): Promise<EndpointResult> {
  const { signal } = request
  const context = { signal, unsentBytes: () => request.unsentBytes?.() ?? 0 }
  const parsed = await limiter.run(() => parseRows(body, form, { runtime, signal }), context)
  const quoted = parsed.filter(hasQuote).length
  if (quoted > MAX_QUOTES)
    throw invalidParameter('rows', `must have at most ${MAX_QUOTES} with a quote`)
  const rows =
    quoted > 0 ? await limiter.run(() => withQuotes(parsed, answer, quotes), context) : parsed
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
  return { ...uncachedText(toSendable(toBytes(text)), answer), cost: costOfRows(parsed, body) }
}

/** A code as a quote means the target, and gets the error of a row. */
function hasQuote(row: unknown): row is object {
  const { quote }: { quote?: unknown } = Object(row)
  return quote !== undefined && !isCodeShaped(quote)
}

/** Converts the rows with a quote, one after another: to verify a signature lets the event loop go on. */
async function withQuotes(
  rows: readonly unknown[],
  answer: Format,
  quotes: ManyConversionsOptions['quotes'],
): Promise<unknown[]> {
  const all: unknown[] = []
  for (const row of rows) {
    if (!hasQuote(row)) all.push(row)
    else if (!quotes) all.push(invalidParameter('quote', 'this service has no quotes'))
    else if (answer === 'csv') all.push(invalidParameter('quote', 'not supported in CSV'))
    else all.push(await (await quotes()).convertRow(row).catch(toRatesError))
  }
  return all
}

/** Returns 1 for each distinct target, for each 1,000 conversions, 50 quotes or 100 KiB, whichever is most; at most 10. */
function costOfRows(rows: readonly unknown[], body: Uint8Array): number {
  const targets = rows.map((row): readonly unknown[] => {
    const { to }: { to?: unknown } = Object(row)
    return Array.isArray(to) ? to : [to]
  })
  const more = rows.filter(hasQuote).length * (CONVERSIONS_PER_QUOTE - 1)
  const conversions = targets.reduce((sum, { length }) => sum + length, more)
  const ofConversions = Math.min(MAX_COST, Math.ceil(conversions / CONVERSIONS_PER_COST))
  return Math.max(costOfCodes(textsIn(targets)), ofConversions, costOfBytes(body))
}

/** One by one, because the cost needs few of them. */
function* textsIn(lists: readonly (readonly unknown[])[]): Generator<string> {
  for (const list of lists) {
    for (const item of list) if (typeof item === 'string') yield item
  }
}

function costOfBytes({ length }: Uint8Array): number {
  return Math.min(MAX_COST, Math.max(1, Math.ceil(length / BYTES_PER_COST)))
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
  return parseJsonRows(body, text)
}

function decode(body: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch {
    throw invalidParameter('body', 'must be UTF-8')
  }
}
