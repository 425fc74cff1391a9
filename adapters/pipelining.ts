import { createConnectionLimit, createStartQueue } from './connection-limit.ts'
import type { NodeRequest, NodeResponse } from './node-messages.ts'

/** Stops reading from an HTTP/1 connection while more of its requests wait. */
const MAX_WAITING = 100

/** While more requests wait on all connections, closes the connections with more than `MAX_WAITING`. */
const MAX_WAITING_IN_ALL = 10_000

/** The HTTP/2 error code for a request that was not processed, which the client may repeat. */
const REFUSED_STREAM = 7

type Socket = NonNullable<NodeRequest['socket']>

/**
 * Returns a listener that calls `respond` for one request of an HTTP/1 connection at a time, and for up to 8 of an HTTP/2
 * connection. Node calls a listener for every received request; without a limit, one client that does not read could fill
 * the memory with responses.
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

/** The property of Node's sockets with the current response: undocumented, but older than most frameworks. */
const CURRENT_RESPONSE = '_httpMessage'

/**
 * Returns whether `socket` is sending a response. False without a socket: a framework that imitates Node's responses may
 * never assign one, and such a response must not wait.
 */
function isBusy(socket: Socket | undefined): socket is Socket {
  return Boolean((socket as { [CURRENT_RESPONSE]?: unknown } | undefined)?.[CURRENT_RESPONSE])
}

/** Returns a function that calls `start` when the responses before `response` are sent, unless the client has disconnected. */
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
      // After each parsed request, Node resumes the socket in `nextTick`; microtasks run later.
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
