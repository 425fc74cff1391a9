import type { Server } from 'node:http'

import { DRAINING_LIMIT } from '../server.ts'

/** Takes no more connections, and resolves when the last answer under way is sent or has taken too long. */
export function drain(server: Server): Promise<void> {
  const giveUp = setTimeout(() => server.closeAllConnections(), DRAINING_LIMIT)
  // A connection that was busy is kept alive after its answer, and would hold the server open.
  const sweep = setInterval(() => server.closeIdleConnections(), 50)
  return new Promise<void>((resolve) => void server.close(() => resolve())).finally(() => {
    clearTimeout(giveUp)
    clearInterval(sweep)
  })
}
