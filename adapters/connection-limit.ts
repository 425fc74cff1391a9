import type { NodeResponse, RequestSocket } from './node-messages.ts'

/** Concurrent responses per HTTP/2 connection: a few more than the six HTTP/1 connections of a browser. */
export const MAX_STREAMS = 8

const MAX_WAITING_STREAMS = 200

export interface ConnectionLimit {
  /** Returns false if too many requests already wait. */
  enter(connection: unknown, start: () => void): boolean
  /** Marks the request of `start` as finished, or removes it from the waiting ones. */
  leave(connection: unknown, start: () => void): void
}

/** Runs one callback per turn of the event loop, so that other connections are handled between two expensive responses. */
function createStartQueue(): (start: () => void) => void {
  const queue: (() => void)[] = []
  function startNext(): void {
    const start = queue.shift()
    if (queue.length > 0) setImmediate(startNext)
    start?.()
  }
  return (start) => {
    queue.push(start)
    if (queue.length === 1) setImmediate(startNext)
  }
}

export function createConnectionLimit(): ConnectionLimit {
  const connections = new Map<unknown, { underWay: number; waiting: Set<() => void> }>()
  const startLater = createStartQueue()
  return {
    enter(key, start) {
      const connection = connections.get(key)
      if (!connection) {
        connections.set(key, { underWay: 1, waiting: new Set() })
        start()
      } else if (connection.underWay < MAX_STREAMS) {
        connection.underWay += 1
        startLater(start)
      } else if (connection.waiting.size < MAX_WAITING_STREAMS) connection.waiting.add(start)
      else return false
      return true
    },
    leave(key, start) {
      const connection = connections.get(key)
      if (!connection || connection.waiting.delete(start)) return
      const [next] = connection.waiting
      if (next) {
        connection.waiting.delete(next)
        startLater(next)
      } else {
        connection.underWay -= 1
        if (connection.underWay === 0) connections.delete(key)
      }
    },
  }
}

/** Stops reading from an HTTP/1 connection while more of its requests wait. */
const MAX_WAITING = 100

/** While more requests wait on all connections, closes the connections with more than `MAX_WAITING`. */
const MAX_WAITING_IN_ALL = 10_000

/** Returns a function that calls `start` when the responses before `response` are sent, unless the client has disconnected. */
export function createPipeline(): (
  socket: RequestSocket,
  response: NodeResponse,
  start: () => void,
) => void {
  const startLater = createStartQueue()
  const pipelines = new Map<RequestSocket, { waiting: number; isPausing: boolean }>()
  let waitingInAll = 0

  function pipelineOf(socket: RequestSocket): { waiting: number; isPausing: boolean } {
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
