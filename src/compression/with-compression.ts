import { toAnswerRequest } from '../http/answer.ts'
import type { Answer, AnswerRequest, Header } from '../http/answer.ts'
import { lengthOf } from '../http/representation.ts'
import { revalidated } from '../http/respond.ts'
import { createRendering } from '../http/response.ts'
import { createEncodingChoice } from './accept-encoding.ts'
import type { Encoding } from './accept-encoding.ts'
import { createVariants } from './variants.ts'
import type { Codecs } from './variants.ts'

/** Bodies of up to so many bytes go as they are: there is little to gain. */
const SMALL = 1_024

/** Whatever gives answers as data, as the handler of this package does. */
interface Answering {
  answer(request: AnswerRequest): Promise<Answer>
}

/** A handler in both of its forms: fetch-style, and with answers as data. */
export interface CompressedHandler extends Answering {
  (request: Request): Promise<Response>
}

/**
 * `handler` with its larger bodies in brotli or gzip for clients that ask for it. An encoded body has an entity tag of its
 * own, and `If-None-Match` is judged by the body that would be sent. A codec that fails costs nothing but the plain body.
 */
export function withCompression(handler: Answering, codecs: Codecs): CompressedHandler {
  const choose = createEncodingChoice()
  const encode = createVariants(codecs)

  /** The representation of `plain`, which is a 200, that `request` asks for. */
  async function represented(plain: Answer, request: AnswerRequest): Promise<Answer> {
    const encoding = choose(request.header('accept-encoding'))
    const { headers, body } = plain
    const vary: Header = ['vary', 'Accept-Encoding']
    // What is worth encoding is sent again and again, and so comes as bytes.
    const isWorth = body instanceof Uint8Array && body.length > SMALL
    const encoded =
      encoding && isWorth ? await encode(encoding, body).catch(() => undefined) : undefined
    if (!encoding || !encoded) return { ...plain, headers: [...headers, vary] }
    return {
      ...plain,
      headers: [...encodedHeaders(headers, encoding, encoded), vary],
      body: encoded,
    }
  }

  async function answer(request: AnswerRequest): Promise<Answer> {
    const isHead = request.method === 'HEAD'
    const plain = await handler.answer({
      // Both are for here to heed: by them the handler would leave out the body that decides.
      method: isHead ? 'GET' : request.method,
      header: (name) => (name === 'if-none-match' ? undefined : request.header(name)),
      // Read when it is needed: some hosts throw on the way to it, and the handler has an answer to that.
      get target() {
        return request.target
      },
      get signal() {
        return request.signal
      },
    })
    const sent =
      plain.status === 200
        ? revalidated(await represented(plain, request), request.header('if-none-match'))
        : plain
    return isHead ? { ...sent, body: null } : sent
  }

  const render = createRendering()
  return Object.assign(async (request: Request) => render(await answer(toAnswerRequest(request))), {
    answer,
  })
}

/** The headers of a body in a coding: its length and tag are others. */
function encodedHeaders(headers: Header[], encoding: Encoding, body: Uint8Array): Header[] {
  const own = headers.map((header): Header => {
    const [name, value] = header
    if (name === 'etag') return [name, value.replace(/"$/, `-${encoding}"`)]
    return name === 'content-length' ? lengthOf(body) : header
  })
  return [...own, ['content-encoding', encoding]]
}
