import type { FetchHandler } from './server.ts'

/** The answer where a handler has failed: what it threw reaches no client. */
export function failed(): Response {
  return new Response(null, { status: 500, headers: { 'cache-control': 'no-store' } })
}

/** What `handler` answers, or that it has failed: when it throws, and when its answer is none or has been read already. */
export async function answerOf(handler: FetchHandler, request: Request): Promise<Response> {
  try {
    const response: Partial<Response> | undefined = await handler(request)
    return response?.bodyUsed === false ? (response as Response) : failed()
  } catch {
    return failed()
  }
}
