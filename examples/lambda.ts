// npm install ratesmith
// npx esbuild lambda.ts --bundle --platform=node --format=esm --outfile=index.mjs
//
// An AWS Lambda function behind a function URL, or an HTTP API with payload format 2.0; its handler is `index.handler`.
import { consoleLogger, createRatesHandler } from 'ratesmith'
import { fakeProviders } from 'ratesmith/testing'

/** The fields of the event that are read. */
interface FunctionUrlEvent {
  rawPath: string
  rawQueryString: string
  headers: Record<string, string | undefined>
  requestContext: { http: { method: string; sourceIp: string } }
}

interface FunctionUrlResult {
  statusCode: number
  headers: Record<string, string>
  body: string
}

// Without `providers`, the rates are real. Then set a `store`, because every instance starts empty.
const rates = createRatesHandler({ providers: fakeProviders(), onEvent: consoleLogger() })

export async function handler(event: FunctionUrlEvent): Promise<FunctionUrlResult> {
  const { rawPath, rawQueryString, headers, requestContext } = event
  const response = await rates.answer({
    method: requestContext.http.method,
    client: requestContext.http.sourceIp,
    target: rawQueryString === '' ? rawPath : `${rawPath}?${rawQueryString}`,
    header: (name) => headers[name],
  })
  const { status, body } = response
  return {
    statusCode: status,
    headers: Object.fromEntries(response.headers),
    // Long texts are bytes.
    body: typeof body === 'string' ? body : Buffer.from(body ?? []).toString(),
  }
}
