// npm install ratesmith
// npx esbuild lambda.ts --bundle --platform=node --format=esm --outfile=index.mjs
//
// An AWS Lambda function behind a function URL, an HTTP API or a REST API; its handler is `index.handler`.
import { isUtf8 } from 'node:buffer'
import { buffer } from 'node:stream/consumers'

import { consoleLogger, createRatesHandler } from 'ratesmith'
import type { RawRequest } from 'ratesmith'
import { fakeProviders } from 'ratesmith/testing'

type Values = Record<string, string | string[] | undefined> | null

/** The fields of an event that are read, in the formats 2.0 (function URLs, HTTP APIs) and 1.0 (REST APIs). */
interface LambdaEvent {
  rawPath?: string
  rawQueryString?: string
  path?: string
  multiValueQueryStringParameters?: Values
  httpMethod?: string
  headers?: Values
  multiValueHeaders?: Values
  body?: string | null
  isBase64Encoded?: boolean
  requestContext: {
    stage?: string
    http?: { method: string; sourceIp: string }
    identity?: { sourceIp: string }
  }
}

interface LambdaResult {
  statusCode: number
  headers: Record<string, string>
  body: string
  isBase64Encoded: boolean
}

// Without `providers`, the rates are real. Then set a `store`, because every instance starts empty.
const rates = createRatesHandler({ providers: fakeProviders(), onEvent: consoleLogger() })

export async function handler(event: LambdaEvent): Promise<LambdaResult> {
  const request = toRequest(event)
  const first = await rates.answer(request)
  // The path may start with the name of the stage: /prod/api/v1/latest
  const stage = `/${event.requestContext.stage ?? '$default'}`
  const isStaged = !first.matched && request.target.startsWith(`${stage}/`)
  const target = request.target.slice(stage.length)
  const { status, headers, body } = isStaged ? await rates.answer({ ...request, target }) : first
  const isInParts = typeof body === 'object' && body && Symbol.asyncIterator in body
  const bytes = isInParts ? await buffer(body) : Buffer.from(body ?? [])
  const isText = isUtf8(bytes)
  return {
    statusCode: status,
    headers: Object.fromEntries(headers),
    body: bytes.toString(isText ? 'utf8' : 'base64'),
    isBase64Encoded: !isText,
  }
}

function toRequest(event: LambdaEvent): RawRequest {
  const { http, identity } = event.requestContext
  const parameters = new URLSearchParams(pairsOf(event.multiValueQueryStringParameters))
  const query = event.rawQueryString ?? parameters.toString()
  const headers = pairsOf(event.multiValueHeaders ?? event.headers)
  return {
    method: http?.method ?? event.httpMethod ?? 'GET',
    client: http?.sourceIp ?? identity?.sourceIp,
    target: `${event.rawPath ?? event.path}${query && `?${query}`}`,
    header(name) {
      const found = headers.filter(([each]) => each.toLowerCase() === name)
      return found.length === 0 ? undefined : found.map(([, value]) => value).join(', ')
    },
    headers: () => headers,
    async readBody(onChunk) {
      onChunk(Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8'))
    },
  }
}

function pairsOf(values: Values | undefined): [name: string, value: string][] {
  return Object.entries(values ?? {}).flatMap(([name, value = []]) =>
    [value].flat().map((each): [string, string] => [name, each]),
  )
}
