import { text } from 'node:stream/consumers'

import { isStreamed } from '../src/http/response.ts'
import type { RawResponse, StreamedBody } from '../src/index.ts'

type Body = RawResponse['body']

/** Returns the text of a body, read to its end. */
export async function wholeBody(body: Body): Promise<string> {
  return isStreamed(body) ? text(body) : new Response(body).text()
}

/** Returns a body that must not come in parts. */
export function bodyInOnePart(body: Body): Exclude<Body, StreamedBody> {
  if (isStreamed(body)) throw new TypeError('unexpected body in parts')
  return body
}
