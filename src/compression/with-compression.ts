import { RequestView } from '../http/answer.ts'
import type { Answer, AnswerRequest, Header } from '../http/answer.ts'
import { lengthHeader } from '../http/representation.ts'
import { meetsIfMatch, revalidated } from '../http/respond.ts'
import { createRendering } from '../http/response.ts'
import { createEncodingChoice } from './accept-encoding.ts'
import type { Encoding } from './accept-encoding.ts'
import { createVariants } from './variants.ts'
import type { Codecs } from './variants.ts'

/** Bodies of up to so many bytes go as they are: there is little to gain. */
const SMALL = 1_024

/** How many bytes of bodies have their encoded ones kept, for each coding; these take a quarter of it beside. */
const CAPACITY = 16 * 1_024 * 1_024

/** An `If-Match` that no body meets. */
const NO_TAG = 'W/""'

const VARY: Header = ['vary', 'Accept-Encoding']

/** Whatever gives answers as data, as the handler of this package does. */
interface Answering {
  answer(request: AnswerRequest): Promise<Answer>
}

/** A handler in both of its forms: fetch-style, and with answers as data. */
export interface CompressedHandler extends Answering {
  (request: Request): Promise<Response>
}

/**
 * `handler` with its larger bodies in brotli or gzip for clients that ask for it. An encoded body has another entity tag, and
 * `If-Match` and `If-None-Match` are judged by the body that would be sent. A codec that fails costs nothing but the plain
 * body.
 */
export function withCompression(handler: Answering, codecs: Codecs): CompressedHandler {
  const choose = createEncodingChoice()
  const encode = createVariants(codecs, CAPACITY)
  const encodedLists = {
    br: new WeakMap<Header[], Header[]>(),
    gzip: new WeakMap<Header[], Header[]>(),
  }

  /** The representation of `plain`, which is a 200, that `request` asks for. */
  async function represented(plain: Answer, request: AnswerRequest): Promise<Answer> {
    const encoding = choose(request.header('accept-encoding'))
    const { headers, body } = plain
    const isLarge = body !== null && body.length > SMALL
    const encoded =
      encoding && isLarge ? await encode(encoding, body).catch(() => undefined) : undefined
    if (!encoding || !encoded) return { ...plain, headers: [...headers, VARY] }
    const lists = encodedLists[encoding]
    let list = lists.get(headers)
    if (!list) lists.set(headers, (list = encodedHeaders(headers, encoding, encoded)))
    return { ...plain, headers: list, body: encoded }
  }

  async function answer(request: AnswerRequest): Promise<Answer> {
    const isHead = request.method === 'HEAD'
    const sent = await judged(await handler.answer(new PlainRequest(request)), request)
    return isHead ? { ...sent, body: null } : sent
  }

  /** What is sent of `plain`, by the preconditions of `request`. */
  async function judged(plain: Answer, request: AnswerRequest): Promise<Answer> {
    if (plain.status !== 200) return plain
    const answer = await represented(plain, request)
    const isWanted = meetsIfMatch(answer, request.header('if-match'))
    // The handler knows in which words to refuse.
    if (!isWanted) return handler.answer(new PlainRequest(request, NO_TAG))
    return revalidated(answer, request.header('if-none-match'))
  }

  const render = createRendering()
  return Object.assign(async (request: Request) => render(await answer(new RequestView(request))), {
    answer,
  })
}

/** `request` for the body that decides: `HEAD` and its preconditions, by which that would be left out, are heeded later. */
class PlainRequest implements AnswerRequest {
  readonly #request: AnswerRequest
  readonly #ifMatch: string | undefined

  constructor(request: AnswerRequest, ifMatch?: string) {
    this.#request = request
    this.#ifMatch = ifMatch
  }

  get method(): string {
    return this.#request.method === 'HEAD' ? 'GET' : this.#request.method
  }

  // Read when it is needed: some hosts throw on the way to it, and the handler has an answer to that.
  get target(): string {
    return this.#request.target
  }

  readonly header = (name: string): string | null | undefined => {
    if (name === 'if-match') return this.#ifMatch
    return name === 'if-none-match' ? undefined : this.#request.header(name)
  }

  get signal(): AbortSignal | undefined {
    return this.#request.signal
  }
}

/** The headers of a body in a coding: its length and tag are others. */
function encodedHeaders(headers: Header[], encoding: Encoding, body: Uint8Array): Header[] {
  const own = headers.map((header): Header => {
    const [name, value] = header
    if (name === 'etag') return [name, value.replace(/"$/, `-${encoding}"`)]
    return name === 'content-length' ? lengthHeader(body.length) : header
  })
  return [...own, ['content-encoding', encoding], VARY]
}
