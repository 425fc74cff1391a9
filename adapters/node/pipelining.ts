import { createConnectionLimit, createStartQueue } from '../connection-limit.ts'
import type { NodeRequest, NodeResponse } from './messages.ts'

/** While more requests of an HTTP/1 connection wait, no more are read from it. */
const MAX_WAITING = 100

/** When more wait on all connections together, those on which more than `MAX_WAITING` wait are closed. */
const MAX_WAITING_IN_ALL = 10_000

/** Code of HTTP/2 that promises that a request has not been processed: the client may repeat it. */
const REFUSED_STREAM = 7

type Socket = NonNullable<NodeRequest['socket']>

/**
 * Returns a listener that calls `respond` for one request of an HTTP/1 connection at a time, and for a few of an HTTP/2
 * connection. Node calls a listener for every request that has arrived; if all were answered at once, one client that does
 * not read could fill the memory with responses.
 */
export function limitPipelining<Request extends NodeRequest>(
  respond: (request: Request, response: NodeResponse, next?: () => void) => void,
): (request: Request, response: NodeResponse, next?: () => void) => void {
  const waitForTurn = createPipeline()
  const streams = createConnectionLimit()

  return (request, response, next) => {
    const { stream, socket } = request
    if (stream?.session) {
      const { session } = stream
      const start = (): void => {
        if (!stream.destroyed) respond(request, response, next)
      }
      if (!streams.enter(session, start)) stream.close(REFUSED_STREAM)
      else response.once('close', () => streams.leave(session, start))
    } else if (response.socket === null && isBusy(socket)) {
      waitForTurn(socket, response, () => respond(request, response, next))
    } else respond(request, response, next)
  }
}

/** Where Node's sockets have the response that is being sent; not documented, but older than most frameworks. */
const CURRENT_RESPONSE = '_httpMessage'

/**
 * Whether a response is being sent over `socket`. A framework that imitates Node's responses may never give them a socket:
 * such a response waits for nothing.
 */
function isBusy(socket: Socket | undefined): socket is Socket {
  return Boolean((socket as { [CURRENT_RESPONSE]?: unknown } | undefined)?.[CURRENT_RESPONSE])
}

/** Returns a function that calls `start` once the responses before `response` are sent, unless the client has left. */
function createPipeline(): (socket: Socket, response: NodeResponse, start: () => void) => void {
  const startLater = createStartQueue()
  const pipelines = new Map<Socket, { waiting: number; isPausing: boolean }>()
  let waitingInAll = 0

  function pipelineOf(socket: Socket): { waiting: number; isPausing: boolean } {
    const known = pipelines.get(socket)
    if (known) return known
    const pipeline = { waiting: 0, isPausing: false }
    pipelines.set(socket, pipeline)
    socket.once('close', () => {
      waitingInAll -= pipeline.waiting
      pipelines.delete(socket)
    })
    return pipeline
  }

  return (socket, response, start) => {
    if (socket.destroyed) return
    const pipeline = pipelineOf(socket)

    function count(added: 1 | -1): void {
      waitingInAll += added
      pipeline.waiting += added
      if (pipeline.waiting <= MAX_WAITING || pipeline.isPausing) return
      pipeline.isPausing = true
      // With every request that it has parsed, Node resumes the socket in `nextTick`; microtasks come later.
      queueMicrotask(() => {
        pipeline.isPausing = false
        if (pipeline.waiting > MAX_WAITING) socket.pause()
      })
    }
    count(1)
    if (pipeline.waiting > MAX_WAITING && waitingInAll > MAX_WAITING_IN_ALL) socket.destroy()
    response.once('socket', () => {
      count(-1)
      if (pipeline.waiting === MAX_WAITING) socket.resume()
      startLater(() => {
        if (!response.destroyed) start()
      })
    })
  }
}
