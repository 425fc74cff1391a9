import { failed } from './server.ts'
import type { FetchHandler } from './server.ts'

/** The used part of a Worker's execution context. */
export interface WorkerContext {
  /** Keeps the isolate alive until `promise` settles. */
  waitUntil(promise: Promise<unknown>): void
}

/** The default export of a module worker. */
export interface Worker<Env> {
  /** Handles a request. */
  fetch(request: Request, env: Env, context: WorkerContext): Promise<Response>
  /** Handles a cron trigger. */
  scheduled(controller: unknown, env: Env): Promise<void>
}

/**
 * Creates a module worker. Each isolate calls `create` once, with the bindings of its first event; if it throws, that event
 * fails and the next one calls it again. A cron trigger refreshes due data, so that requests rarely wait for an upstream.
 *
 * @example
 * ```ts
 * import { createRatesHandler } from 'ratesmith'
 * import { toWorker } from 'ratesmith/cloudflare'
 * import { createKvStore } from 'ratesmith/stores/cloudflare-kv'
 * import type { KvNamespace } from 'ratesmith/stores/cloudflare-kv'
 *
 * export default toWorker((env: { RATES: KvNamespace }) =>
 *   createRatesHandler({ store: createKvStore(env.RATES) }),
 * )
 * ```
 */
export function toWorker<Env>(
  create: (env: Env) => FetchHandler & { refresh(): Promise<void> },
): Worker<Env> {
  let handler: ReturnType<typeof create> | undefined
  const handlerFor = (env: Env): ReturnType<typeof create> => (handler ??= create(env))
  return {
    async fetch(request, env, context) {
      try {
        const client = request.headers.get('cf-connecting-ip') ?? undefined
        return await handlerFor(env)(request, { client })
      } catch (error) {
        // A rejected promise appears in the Worker's log; an exception would send the platform's error page.
        context.waitUntil(Promise.reject(error))
        return failed()
      }
    },
    async scheduled(_controller, env) {
      await handlerFor(env).refresh()
    },
  }
}
