import type { Answer, AnswerRequest } from '../../src/index.ts'
import type { NodeRequest, NodeResponse } from './messages.ts'

/**
 * What an answer depends on. A class, because the getter of an object made for each request would cost as much as a third of
 * the answer.
 */
export class NodeAnswerRequest implements AnswerRequest {
  readonly method: string
  readonly target: string
  readonly #request: NodeRequest
  readonly #response: NodeResponse

  constructor(request: NodeRequest, response: NodeResponse, target: string = request.url ?? '/') {
    this.method = request.method ?? 'GET'
    this.target = target
    this.#request = request
    this.#response = response
  }

  readonly header = (name: string): string | undefined => this.#request.headers[name]?.toString()

  /** Made for whoever asks for it; aborts when the client has left. */
  get signal(): AbortSignal {
    const controller = new AbortController()
    this.#response.once('close', () => controller.abort())
    return controller.signal
  }
}

/** Sends `answer` through `response`. */
export function send({ status, headers, body }: Answer, response: NodeResponse): void {
  const list: string[] = []
  for (const [name, value] of headers) list.push(name, value)
  response.writeHead(status, list)
  response.end(body ?? undefined)
}
