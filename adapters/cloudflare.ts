import { failed } from './raw-response.ts'
import type { FetchHandler } from './server.ts'

/** The part of a Worker's execution context that is used. */
export interface WorkerContext {
  /** Keeps the isolate alive until `promise` settles. */
  waitUntil(promise: Promise<unknown>): void
}

/** The default export of a module worker. */
export interface Worker<Env> {
  /** Answers a visitor. */
  fetch(request: Request, env: Env, context: WorkerContext): Promise<Response>
  /** Runs at the times of a cron trigger. */
  scheduled(controller: unknown, env: Env): Promise<void>
}

/**
 * A module worker: `export default toWorker((env: Env) => …)`. `create` makes the handler of an isolate, once, from the
 * bindings of its first event; if it throws, that event fails and the next one tries again. A cron trigger refreshes what
 * is due, and so fills the store of all isolates before a visitor would have to wait for an upstream.
 */
export function toWorker<Env>(
  create: (env: Env) => FetchHandler & { refresh(): Promise<void> },
): Worker<Env> {
  let handler: ReturnType<typeof create> | undefined
  const handlerFor = (env: Env): ReturnType<typeof create> => (handler ??= create(env))
  return {
    async fetch(request, env, context) {
      try {
        return await handlerFor(env)(request)
      } catch (error) {
        // The platform writes it to the Worker's log; thrown on, it would answer in the platform's own way.
        context.waitUntil(Promise.reject(error))
        return failed()
      }
    },
    async scheduled(_controller, env) {
      await handlerFor(env).refresh()
    },
  }
}
