import type { FetchHandler } from './server.ts'

/** The part of a Worker's execution context that is used. */
export interface WorkerContext {
  waitUntil(promise: Promise<unknown>): void
}

/** The default export of a module worker. */
export interface Worker<Env> {
  fetch(request: Request, env: Env): Promise<Response>
  scheduled(controller: unknown, env: Env, context: WorkerContext): Promise<void>
}

/**
 * A module worker: `export default toWorker((env: Env) => …)`. `create` makes the handler of an isolate, once, from the
 * bindings of its first event. A cron trigger refreshes what is due and so fills the store of all isolates, so that no
 * visitor waits for an upstream.
 */
export function toWorker<Env>(
  create: (env: Env) => FetchHandler & { refresh(): Promise<void> },
): Worker<Env> {
  let handler: ReturnType<typeof create> | undefined
  const handlerFor = (env: Env): ReturnType<typeof create> => (handler ??= create(env))
  return {
    fetch: async (request, env) => handlerFor(env)(request),
    async scheduled(_controller, env, context) {
      const refreshed = handlerFor(env).refresh()
      context.waitUntil(refreshed)
      await refreshed
    },
  }
}
