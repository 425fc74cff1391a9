/** Responses of one HTTP/2 connection under way at a time: a few more than the six connections of a browser over HTTP/1. */
export const MAX_STREAMS = 8

/** Requests of one HTTP/2 connection that may wait. */
const MAX_WAITING_STREAMS = 200

/** Lets the requests of a connection start a few at a time. */
export interface ConnectionLimit {
  /**
   * Calls `start` as soon as fewer than `MAX_STREAMS` responses of `connection` are under way; returns false where too
   * many requests wait already.
   */
  enter(connection: unknown, start: () => void): boolean
  /** Ends what `start` has begun, or withdraws it. */
  leave(connection: unknown, start: () => void): void
}

/**
 * Returns a function that calls what it is given later: in order, and one in each turn of the event loop, so that between
 * two expensive responses the server gets to the requests of other connections.
 */
export function createStartQueue(): (start: () => void) => void {
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

/** Creates a limit for any number of connections, each identified by a value. */
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
