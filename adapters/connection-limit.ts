import type { NodeRequest, NodeResponse, RequestSocket } from './node-messages.ts'

/** Concurrent responses per HTTP/2 connection: a few more than the six HTTP/1 connections of a browser. */
export const MAX_STREAMS = 8

const MAX_WAITING_STREAMS = 200

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

/**
 * Calls `start`, at once or when another request of the connection ends. Returns a function to call once when the request
 * ends, also a waiting one; undefined if too many wait.
 */
export type StreamLimit = (connection: unknown, start: () => void) => (() => void) | undefined

export function createStreamLimit(): StreamLimit {
  const connections = new Map<unknown, { underWay: number; waiting: Set<() => void> }>()
  const startLater = createStartQueue()
  return (key, start) => {
    const connection = connections.get(key) ?? { underWay: 0, waiting: new Set() }
    const { waiting } = connection
    if (connection.underWay === MAX_STREAMS && waiting.size === MAX_WAITING_STREAMS)
      return undefined
    connections.set(key, connection)
    if (connection.underWay === MAX_STREAMS) waiting.add(start)
    else if ((connection.underWay += 1) === 1) start()
    else startLater(start)
    return () => {
      if (waiting.delete(start)) return
      const [next] = waiting
      if (next) {
        waiting.delete(next)
        startLater(next)
      } else if ((connection.underWay -= 1) === 0) connections.delete(key)
    }
  }
}

/** Stops reading from an HTTP/1 connection while more of its requests wait. */
const MAX_WAITING = 100

/** While more requests wait on all connections, closes the connections with more than `MAX_WAITING`. */
const MAX_WAITING_IN_ALL = 10_000

/** Calls `start` when the responses before `response` are sent, unless the client has disconnected. */
type Pipeline = (socket: RequestSocket, response: NodeResponse, start: () => void) => void

function createPipeline(): Pipeline {
  const startLater = createStartQueue()
  const waiting = new Map<RequestSocket, number>()
  let waitingInAll = 0

  function forget(socket: RequestSocket): void {
    waitingInAll -= waiting.get(socket) ?? 0
    waiting.delete(socket)
  }

  /** Returns how many requests of the connection wait. */
  function count(socket: RequestSocket, added: 1 | -1): number {
    const before = waiting.get(socket)
    if (before === undefined) socket.once('close', () => forget(socket))
    const now = (before ?? 0) + added
    waiting.set(socket, now)
    waitingInAll += added
    return now
  }

  /** After each parsed request, Node resumes the socket in `nextTick`; microtasks run later. */
  function pauseLater(socket: RequestSocket): void {
    queueMicrotask(() => {
      if ((waiting.get(socket) ?? 0) > MAX_WAITING) socket.pause()
    })
  }

  return (socket, response, start) => {
    if (socket.destroyed) return
    if (count(socket, 1) > MAX_WAITING) {
      if (waitingInAll > MAX_WAITING_IN_ALL) socket.destroy()
      pauseLater(socket)
    }
    response.once('socket', () => {
      if (socket.destroyed) return
      const left = count(socket, -1)
      if (left > MAX_WAITING) pauseLater(socket)
      else if (left === MAX_WAITING) socket.resume()
      startLater(() => {
        if (!response.destroyed) start()
      })
    })
  }
}

/** The HTTP/2 error code for a request that was not processed, which the client may repeat. */
const REFUSED_STREAM = 7

/** Starts requests of HTTP/2, and those that wait for earlier ones of their connection. */
export type LimitConnections = (
  request: NodeRequest,
  response: NodeResponse,
  start: () => void,
) => void

/** Node calls a listener for every received request: without a limit, a client that does not read could fill the memory. */
export function createConnectionLimit(): LimitConnections {
  const wait = createPipeline()
  const enter = createStreamLimit()
  return ({ stream, socket }, response, start) => {
    if (stream?.session) {
      const leave = enter(stream.session, () => {
        if (!stream.destroyed) start()
      })
      if (leave) response.once('close', leave)
      else stream.close(REFUSED_STREAM)
    } else if (socket) wait(socket, response, start)
  }
}
