import type { FetchHandler } from './server.ts'

/** Returns the response after a handler failure, without any details of the failure. */
export function failed(): Response {
  return new Response(null, { status: 500, headers: { 'cache-control': 'no-store' } })
}

/** Returns the response of `handler`, or a 500 if it throws or returns an invalid or already read response. */
export async function responseOf(handler: FetchHandler, request: Request): Promise<Response> {
  try {
    const response: Partial<Response> | undefined = await handler(request)
    return response?.bodyUsed === false ? (response as Response) : failed()
  } catch {
    return failed()
  }
}
