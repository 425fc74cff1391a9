import type { ReadBody } from '../http/body.ts'
import { LARGE_BODY_BYTES } from '../http/limiter.ts'
import type {
  EndpointResponse,
  Header,
  RawRequest,
  RawResponse,
  WrappedRequest,
} from '../http/messages.ts'
import {
  isMatch,
  lengthHeader,
  meetsIfMatch,
  revalidated,
  toFetchStyle,
  withVary,
} from '../http/response.ts'
import type { Representation, RequestContext } from '../http/response.ts'
import { createEncodingChoice, createVariants } from './encodings.ts'
import type { AcceptedEncodings, Codecs, Encoding, Variants } from './encodings.ts'

/** Smaller bodies are not compressed: the gain is too small. */
const MIN_BODY_BYTES = 1_024

/** Plain bytes whose encoded forms are cached, for each coding; the encoded forms take about a quarter in addition. */
const CACHE_BYTES = 16 * 1_024 * 1_024

/** An `If-Match` value that matches no body. */
const NO_TAG = 'W/""'

const VARY = 'Accept-Encoding'

interface RawHandler {
  answer(request: RawRequest): RawResponse | Promise<RawResponse>
}

export interface CompressedHandler extends RawHandler {
  (request: Request): Promise<Response>
}

/**
 * Returns `handler` with bodies over 1 KiB in brotli or gzip for clients that accept them: an expensive body in gzip for the
 * request that it was computed for, and in the client's preferred coding later. Each coding has its own entity tag;
 * `If-Match` and `If-None-Match` are compared with the tags of all codings that the client may have received. If a codec
 * fails, the plain body is sent.
 */
export function withCompression(handler: RawHandler, codecs: Codecs): CompressedHandler {
  const choose = createEncodingChoice()
  const variants = createVariants(codecs, CACHE_BYTES)
  const lists = createHeaderLists()

  async function represented(plain: RawResponse, request: PlainRequest): Promise<RawResponse> {
    const { headers, body } = plain
    const { status, encoding: known } = evaluate(plain, request)
    // The handler writes the error response.
    if (status === 412) return withLimits(await handler.answer(request.refused()), headers)
    if (status === 304) {
      return revalidated({ ...plain, headers: lists.find(headers, known) }, request.ifNoneMatch)
    }
    const encoded = isEncodable(body, request.accepted) && (await encodedFor(request, body))
    if (!encoded) return { ...plain, headers: headersOf(headers, undefined) }
    const { encoding, bytes } = encoded
    return { ...plain, headers: lists.complete(headers, encoding, bytes.length), body: bytes }
  }

  function encodedFor(
    { method, accepted, isExpensive, encoded }: PlainRequest,
    body: NonNullable<RawResponse['body']>,
  ): ReturnType<Variants['encode']> {
    if (isExpensive) return encoded
    if (method === 'POST') return variants.encodeUncached(body, accepted)
    return variants.encode(body, accepted)
  }

  async function answer(request: RawRequest): Promise<RawResponse> {
    const isHead = request.method === 'HEAD'
    const plainRequest = new PlainRequest(request, variants, choose)
    const plain = await handler.answer(plainRequest)
    const sent = plain.status === 200 ? await represented(plain, plainRequest) : plain
    return isHead ? { ...sent, body: null } : sent
  }

  return Object.assign(toFetchStyle(answer), { answer })
}

/**
 * Evaluates the preconditions of a request against each coding in which the client may have received `plain`. `encoding` is
 * that of the representation that a 304 confirms.
 */
function evaluate(
  plain: EndpointResponse,
  { accepted, ifMatch, ifNoneMatch }: Pick<PlainRequest, 'accepted' | 'ifMatch' | 'ifNoneMatch'>,
): { status: number; encoding?: Encoding | undefined } {
  const { headers, body, status } = plain
  if (!ifMatch && !ifNoneMatch) return { status }
  const encodings = isEncodable(body, accepted) ? encodingsSent(body, accepted) : [undefined]
  const sent = encodings.map((encoding) => ({
    encoding,
    response: { ...plain, headers: headersOf(headers, encoding) },
  }))
  if (!sent.some(({ response }) => meetsIfMatch(response, ifMatch))) return { status: 412 }
  const known = sent.find(({ response }) => revalidated(response, ifNoneMatch).status === 304)
  return known ? { status: 304, encoding: known.encoding } : { status }
}

function isEncodable(
  body: EndpointResponse['body'],
  { best }: AcceptedEncodings,
): body is NonNullable<EndpointResponse['body']> {
  return best !== undefined && body !== null && body.length > MIN_BODY_BYTES
}

/** The request to the handler: a `GET` without preconditions, because the body is needed to choose the representation. */
class PlainRequest implements WrappedRequest, RequestContext {
  readonly #request: RawRequest
  readonly #variants: Variants
  readonly #choose: ReturnType<typeof createEncodingChoice>
  /** Whether an expensive body was computed for this request; `encoded` is its encoded form. */
  isExpensive = false
  encoded: ReturnType<Variants['encodeOnce']>

  constructor(
    request: RawRequest,
    variants: Variants,
    choose: ReturnType<typeof createEncodingChoice>,
  ) {
    this.#request = request
    this.#variants = variants
    this.#choose = choose
  }

  get method(): string {
    return this.#request.method === 'HEAD' ? 'GET' : this.#request.method
  }

  // A getter, because reading the target may throw; the handler responds to that.
  get target(): string {
    return this.#request.target
  }

  header(name: string): string | null | undefined {
    const isPrecondition = name === 'if-match' || name === 'if-none-match'
    return isPrecondition ? undefined : this.#request.header(name)
  }

  get signal(): AbortSignal | undefined {
    return this.#request.signal
  }

  get client(): string | undefined {
    return this.#request.client
  }

  get requestId(): string | undefined {
    return this.#request.requestId
  }

  get readBody(): ReadBody | undefined {
    return this.#request.readBody?.bind(this.#request)
  }

  unsentBytes(): number {
    return this.#request.unsentBytes?.() ?? 0
  }

  /** A request that gets a 412. The guard has counted this one before. */
  refused(): WrappedRequest {
    const { method, target, signal, requestId } = this
    const header = (name: string): string | null | undefined =>
      name === 'if-match' ? NO_TAG : this.header(name)
    return { method, target, header, signal, requestId, isCounted: true }
  }

  statusFor(response: EndpointResponse): number {
    return evaluate(response, this).status
  }

  get ifMatch(): string | null | undefined {
    return this.#request.header('if-match')
  }

  get ifNoneMatch(): string | null | undefined {
    return this.#request.header('if-none-match')
  }

  get accepted(): AcceptedEncodings {
    return this.#choose(this.#request.header('accept-encoding'))
  }

  encode({ body, etag: [, tag] }: Representation): Promise<void> | undefined {
    const { accepted, ifNoneMatch } = this
    const isKnown = encodingsSent(body, accepted).some(
      (encoding) => ifNoneMatch && isMatch(ifNoneMatch, tagOf(tag, encoding), 'weak'),
    )
    if (isKnown || body.length <= MIN_BODY_BYTES) return undefined
    this.isExpensive = true
    this.encoded = this.#variants.encodeOnce(body, accepted)
    return this.encoded?.then(() => undefined)
  }
}

/** Returns the response to a repeated request, with what the guard added to `headers` when it counted the first one. */
function withLimits(response: RawResponse, headers: readonly Header[]): RawResponse {
  const added = headers.filter(([name]) => /^(vary|ratelimit)/.test(name))
  const others = response.headers.filter(([name]) => added.every(([each]) => each !== name))
  return { ...response, headers: [...others, ...added] }
}

/** Returns the codings in which the client may have received the body; only large bodies may have been sent plain (undefined). */
function encodingsSent(
  { length }: { length: number },
  { best, fast }: AcceptedEncodings,
): (Encoding | undefined)[] {
  return length > LARGE_BODY_BYTES ? [best, fast, undefined] : [best, fast ?? best]
}

function createHeaderLists() {
  const cached = {
    br: new WeakMap<Header[], Header[]>(),
    gzip: new WeakMap<Header[], Header[]>(),
  }
  return {
    find: (headers: Header[], encoding: Encoding | undefined): Header[] =>
      (encoding && cached[encoding].get(headers)) ?? headersOf(headers, encoding),
    complete(headers: Header[], encoding: Encoding, length: number): Header[] {
      const known = cached[encoding].get(headers)
      if (known) return known
      const list = headersOf(headers, encoding, length)
      cached[encoding].set(headers, list)
      return list
    },
  }
}

function headersOf(headers: Header[], encoding: Encoding | undefined, length?: number): Header[] {
  if (!encoding) return withVary(headers, VARY)
  const own = headers.map((header): Header => {
    const [name, value] = header
    if (name === 'etag') return [name, tagOf(value, encoding)]
    return name === 'content-length' && length !== undefined ? lengthHeader(length) : header
  })
  return withVary([...own, ['content-encoding', encoding]], VARY)
}

function tagOf(plainTag: string, encoding: Encoding | undefined): string {
  return encoding ? plainTag.replace(/"$/, `-${encoding}"`) : plainTag
}
