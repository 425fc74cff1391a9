import { toAnswerRequest, toResponse } from '../http/answer.ts'
import type { Answer, AnswerRequest } from '../http/answer.ts'
import { revalidated, withoutBody } from '../http/respond.ts'
import { chooseEncoding } from './accept-encoding.ts'
import { createVariants } from './variants.ts'
import type { Codecs } from './variants.ts'

/** Texts of up to so many characters go as they are: there is little to gain. */
const SMALL = 1_024

/** How much the encoded bodies, and the texts that they were made from, may take together, in bytes. */
const CAPACITY = 16 * 1_024 * 1_024

/** Whatever gives answers as data, as the handler of this package does. */
interface Answering {
  answer(request: AnswerRequest): Promise<Answer>
}

/** A handler in both of its forms: fetch-style, and with answers as data. */
export interface CompressedHandler extends Answering {
  (request: Request): Promise<Response>
}

/**
 * `handler` with its larger texts in brotli or gzip for clients that ask for it. An encoded body has an entity tag of its
 * own, and `If-None-Match` is judged by the body that would be sent. A codec that fails costs nothing but the plain body.
 */
export function withCompression(handler: Answering, codecs: Codecs): CompressedHandler {
  const encode = createVariants(codecs, CAPACITY)

  /** The representation of `plain`, which is a 200, that `request` asks for. */
  async function represented(plain: Answer, request: AnswerRequest): Promise<Answer> {
    const encoding = chooseEncoding(request.header('accept-encoding'))
    const { body } = plain
    if (!encoding || typeof body !== 'string' || body.length <= SMALL) return plain
    const bytes = await encode(encoding, body).catch(() => undefined)
    if (!bytes) return plain
    const headers = plain.headers.map(([name, value]): [string, string] =>
      name === 'etag' ? [name, value.replace(/"$/, `-${encoding}"`)] : [name, value],
    )
    return { ...plain, headers: [...headers, ['content-encoding', encoding]], body: bytes }
  }

  async function varying(plain: Answer, request: AnswerRequest): Promise<Answer> {
    const { headers, ...rest } = await represented(plain, request)
    const sent: Answer = { ...rest, headers: [...headers, ['vary', 'Accept-Encoding']] }
    return revalidated(sent, request.header('if-none-match'))
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
    const sent = plain.status === 200 ? await varying(plain, request) : plain
    return isHead ? withoutBody(sent) : sent
  }

  return Object.assign(
    async (request: Request) => toResponse(await answer(toAnswerRequest(request))),
    { answer },
  )
}
