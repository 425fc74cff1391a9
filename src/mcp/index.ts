import { check } from '../api/check.ts'
import {
  FetchRawRequest,
  assertKnownOptions,
  createGate,
  failure,
  isOrigin,
  requireFunctions,
  systemRuntime,
  toRatesError,
} from '../core.ts'
import type { Access, ProxyOptions } from '../core.ts'
import listed from '../generated/mcp-tools.json' with { type: 'json' }
import type { RatesError, RatesOperations } from '../index.ts'
import { TOOLS } from './tools.ts'

const sdk = await import('@modelcontextprotocol/server').catch((cause: unknown) => {
  const missing = 'ratesmith/mcp requires @modelcontextprotocol/server'
  throw new Error(`${missing}; run: npm install @modelcontextprotocol/server`, { cause })
})

/** Options of `createMcpHandler`. */
export interface McpOptions extends ProxyOptions {
  /** Hosts that clients may address, such as `rates.example.com`, besides `localhost`, `127.0.0.1` and `[::1]` (default none). */
  allowedHosts?: readonly string[] | undefined
  /** Websites that may send requests, such as `https://app.example.com`, besides those on the same three hosts (default none). */
  allowedOrigins?: readonly string[] | undefined
  /** Keys and limits, as of `createRatesHandler` but without events; each message costs 1 (default none). */
  access?: Access | undefined
}

/** Longer messages get a 413. */
const MAX_BODY_BYTES = 65_536

/** Hosts pass the client's address in a second argument. */
type Respond = (request: Request, ...info: unknown[]) => Promise<Response>

/**
 * Creates a function that responds to messages of the Model Context Protocol over HTTP, without sessions: with the tools
 * `convert`, `get_rates`, `get_history`, `find_currency` and `get_status`. A message for another host, or from another website,
 * gets a 403.
 *
 * @throws {TypeError} that names the invalid option
 * @example
 * ```ts
 * import { createRatesHandler } from 'ratesmith'
 * import { createMcpHandler } from 'ratesmith/mcp'
 *
 * const handler = createRatesHandler({
 *   routes: [{ path: '/mcp', post: (request, rates) => createMcpHandler(rates)(request) }],
 * })
 * export default { fetch: handler.fetch }
 * ```
 */
export function createMcpHandler(
  rates: RatesOperations,
  options: McpOptions = {},
): (request: Request) => Promise<Response> {
  const { allowedHosts = [], allowedOrigins = [], access, ...proxies } = options
  const named = { trustedProxies: true, forwardedHeader: true }
  assertKnownOptions(options, { allowedHosts, allowedOrigins, access, ...named })
  requireFunctions({ 'rates.convert': rates?.convert }, true)
  requireEach(allowedHosts, isHost, "allowedHosts must be a list like ['rates.example.com']")
  requireEach(allowedOrigins, isOrigin, "allowedOrigins must be a list like ['https://a.example']")
  const hosts = [...sdk.localhostAllowedHostnames(), ...allowedHosts]
  const { fetch } = sdk.createMcpHandler(() => createServer(rates), { maxSubscriptions: 0 })

  function refuseForeign({ headers, url }: Request): Response | undefined {
    const sent = { headers: new Headers({ host: headers.get('host') ?? new URL(url).host }) }
    const foreign = sdk.hostHeaderValidationResponse(Object(sent), hosts)
    if (foreign || allowedOrigins.includes(headers.get('origin') ?? '')) return foreign
    return sdk.originValidationResponse(Object({ headers }), sdk.localhostAllowedOrigins())
  }

  const respond: Respond = async (request) => {
    const message = request.method === 'POST' ? await readMessage(request) : request
    return message instanceof Response ? message : fetch(message)
  }
  const guarded = access ? guard(respond, access, proxies) : respond
  const handle: Respond = async (...sent) => refuseForeign(sent[0]) ?? guarded(...sent)
  return handle
}

/** A server on stdin and stdout. */
export interface StdioServer {
  close(): Promise<void>
  /** Resolves when stdin has ended, stdout has no reader, a message of more than 10 MB has come, or `close` is called. */
  readonly closed: Promise<void>
}

/**
 * Serves the same tools on stdin and stdout, on Node, Bun and Deno, until stdin ends or `close` is called.
 *
 * @example
 * ```ts
 * import { createRates } from 'ratesmith'
 * import { serveStdio } from 'ratesmith/mcp'
 *
 * const server = await serveStdio(createRates())
 * await server.close()
 * ```
 */
export async function serveStdio(rates: RatesOperations): Promise<StdioServer> {
  const stdio = await import('@modelcontextprotocol/server/stdio')
  const transport = new stdio.StdioServerTransport()
  const server = stdio.serveStdio(() => createServer(rates), { maxSubscriptions: 0, transport })
  const { onclose } = transport
  const closed = new Promise<void>((resolve) => {
    Object.assign(transport, { onclose: () => resolve(onclose?.()) })
  })
  return { close: server.close, closed }
}

const INSTRUCTIONS =
  'Mid-market reference rates for information only. Name the source and the day with every rate. Send amounts as text.'

function createServer(rates: RatesOperations): InstanceType<typeof sdk.McpServer> {
  const about = { name: 'ratesmith', title: 'Exchange rates', version: listed.version }
  const capabilities = { tools: { listChanged: false } }
  const server = new sdk.McpServer(about, { capabilities, instructions: INSTRUCTIONS })
  for (const { name, operation, run, ...shown } of TOOLS) {
    const { input, output } = listed.schemas[name]
    const schemas = { inputSchema: schemaOf(input), outputSchema: schemaOf(output) }
    const annotations = { readOnlyHint: true, idempotentHint: true }
    server.registerTool(name, { ...shown, ...schemas, annotations }, async (params) => {
      try {
        check(operation, params)
        const { record, line } = await run(rates, params)
        return { structuredContent: { ...record }, content: [{ type: 'text', text: line }] }
      } catch (error) {
        const { message } = toRatesError(error)
        throw new Error(message.replace('/v1/currencies', 'find_currency'), { cause: error })
      }
    })
  }
  return server
}

/** The operation checks its parameters itself: its errors say what to send. */
function schemaOf(schema: object) {
  const valid = { valid: true, errorMessage: undefined } as const
  const accept = (data: unknown) => ({ ...valid, data: Object(data) })
  return sdk.fromJsonSchema(Object(schema), { getValidator: () => accept })
}

/** Returns the request with its body read, or a refusal. The limits of clients count requests: each has one message. */
async function readMessage(request: Request): Promise<Request | Response> {
  const { url, headers, signal } = request
  const sent = await sdk.readRequestBody(request, MAX_BODY_BYTES).catch(() => undefined)
  if (!sent) return refuse(400, 'The body cannot be read')
  if (sent.tooLarge) return refuse(413, 'Send at most 64 KiB in each request')
  if (/^\s*\[/.test(sent.text)) return refuse(400, 'Send one message in each request')
  return new Request(url, { method: 'POST', headers, body: sent.text, signal })
}

function refuse(status: number, message: string): Response {
  const refusal = { jsonrpc: '2.0', id: null, error: { code: -32_600, message } }
  return Response.json(refusal, { status })
}

function isHost(text: string): boolean {
  return URL.parse(`http://${text}`)?.hostname === text
}

/** @throws {TypeError} with `rule` */
function requireEach(all: readonly string[], isOne: (text: string) => boolean, rule: string): void {
  if (!Array.isArray(all) || !all.every(isOne)) throw new TypeError(`${rule}, got ${String(all)}`)
}

function guard(respond: Respond, access: Access, proxies: ProxyOptions): Respond {
  const runtime = systemRuntime(Date.now)
  const context = { runtime, proxies, emit: () => undefined, isParameter: () => false }
  const gate = createGate(access, context)
  return async (request, ...[info]: unknown[]) => {
    const about = { request: new FetchRawRequest(request, info), cost: 1 }
    const { search } = new URL(request.url)
    const admission = await gate.admit({ ...about, query: search.slice(1) })
    const { refusal } = admission
    const response = refusal ? toResponse(refusal) : await respond(request)
    const plain = { status: response.status, headers: [...response.headers], body: null }
    return new Response(response.body, gate.finish(admission, plain, about))
  }
}

function toResponse(error: RatesError): Response {
  const record = { error: { code: error.code, message: error.message } }
  return Response.json(record, failure(error, record))
}
