import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { Agent, request } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { connect } from 'node:http2'
import type { ClientHttp2Session, IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http2'
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'

import { beforeAll, beforeEach } from 'vitest'

import type { RequestData, ResponseData } from '../catalogue/catalogue.ts'
import { startChild } from '../system/child.ts'
import { requireProgram } from '../system/processes.ts'
import { BUN, DENO, NODE, findNode, findPackage, findWorkerd } from '../system/runtimes.ts'
import type { Runtime } from '../system/runtimes.ts'
import { portIn } from '../system/sockets.ts'
import { startWorker } from '../system/workerd.ts'
import type { HostSettings } from './host-program.ts'

/** A request with a body. */
type SentRequest = RequestData & { body?: string }

/** A client of one server over real keep-alive connections. */
interface Client {
  send(request: SentRequest): Promise<ResponseData>
  close(): void
}

function openHttp1(port: number): Client {
  const keepAlive = new Agent({ keepAlive: true })
  // The body of a response reports an error that comes later.
  const sendOver = async (agent: Agent | false, { target: path, body, ...sent }: SentRequest) => {
    const outgoing = request({ host: '127.0.0.1', port, agent, path, ...sent })
    outgoing.on('error', () => {}).end(body)
    const [response]: [IncomingMessage] = Object(await once(outgoing, 'response'))
    return toReply(response.statusCode, response.headers, response)
  }
  return {
    // A server may close a keep-alive connection at any time (RFC 9112 §9.5): retries over a new connection.
    send: (request) => sendOver(keepAlive, request).catch(() => sendOver(false, request)),
    close: () => keepAlive.destroy(),
  }
}

/** Opens a client without TLS. */
function openHttp2(port: number): Client {
  let current: ClientHttp2Session | undefined
  function session(): ClientHttp2Session {
    if (!current || current.closed || current.destroyed) {
      current = connect(`http://127.0.0.1:${port}`)
      // The streams report the error.
      current.on('error', () => {})
    }
    return current
  }
  const sendOnce = async ({ method, target, headers = {}, body }: SentRequest) => {
    const fields: OutgoingHttpHeaders = { ':method': method, ':path': target }
    // A field value must not start or end with a space (RFC 9113 §8.2.1); HTTP/1 parsers trim them.
    for (const [name, value] of Object.entries(headers)) fields[name] = value.trim()
    const stream = session().request(fields)
    stream.on('error', () => {}).end(body)
    const [{ ':status': status, ...named }] = await once(stream, 'response')
    return toReply(status, named, stream)
  }
  return {
    // A server may end a session, also for the request before; a refused stream may be sent again (RFC 9113 §8.7).
    send: (request) =>
      sendOnce(request).catch((error: Error) => {
        if (!error.message.includes('REFUSED_STREAM')) throw error
        current = undefined
        return sendOnce(request)
      }),
    close: () => current?.close(),
  }
}

/** Rejects unless the body is well-formed UTF-8. */
async function toReply(
  status: number | undefined,
  named: IncomingHttpHeaders,
  stream: Readable,
): Promise<ResponseData> {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(named)) headers[name] = String(value)
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  return { status: status ?? 0, headers, body: decoder.decode(await buffer(stream)) }
}

/** A way to serve the handler. */
export interface Host {
  name: string
  /** Path of the program that runs it, which may not be installed. */
  program: string
  /** The requests that reach the handler: all, those below its base path, or those for its own paths. */
  scope: 'all' | 'below' | 'own'
  /** Prefix of the paths of the service (default none). */
  prefix?: string
  /** Opens the client (default HTTP/1.1). */
  openClient?: (port: number) => Client
  start(): Promise<{ port: number; stop(): Promise<void> }>
}

/** Serves the handler by the runtime's adapter, or in a framework, in a separate process. */
function host(
  name: string,
  mount: HostSettings['mount'],
  [, runtime, ...flags]: Runtime,
  more: Partial<Omit<Host, 'name' | 'start'>> = {},
): Host {
  const { prefix = '', scope = 'all', program = runtime } = more
  return {
    ...more,
    name,
    program,
    scope,
    async start() {
      const settings: HostSettings = { mount, basePath: `${prefix}/api` }
      const program = 'test/conformance/host-program.ts'
      const { firstLine, kill } = startChild({ program, settings, runtime, flags })
      const { port }: { port: number } = JSON.parse(await firstLine)
      return { port, stop: kill }
    },
  }
}

/** Serves the handler in a framework that `npm run tools` installs. */
function framework(
  name: string,
  mount: HostSettings['mount'],
  scope: Host['scope'],
  { runtime = NODE, module = mount }: { runtime?: Runtime; module?: string } = {},
): Host {
  return host(name, mount, runtime, {
    scope,
    program: findPackage(module) ?? '',
  })
}

const WORKERD: Host = {
  name: 'workerd',
  program: findWorkerd() ?? '',
  scope: 'all',
  async start() {
    const { url, stop } = await startWorker('test/conformance/worker-program.ts')
    return { port: portIn(url), stop }
  },
}

/** All documented ways to serve the handler over HTTP. */
export const HOSTS: readonly Host[] = [
  host('Node', 'serveNode', NODE),
  ...[22, 26].map((major) => {
    const name = `Node ${major}`
    return host(name, 'serveNode', [name, findNode(major) ?? ''])
  }),
  host('Node over @whatwg-node/server', 'fetchStyleOnNode', NODE),
  host('@whatwg-node/server with its own Response', 'whatwg', NODE),
  framework('srvx with its own Response', 'srvx', 'all'),
  host('Node over HTTP/2', 'http2', NODE, { openClient: openHttp2 }),
  host('Node over both', 'fetchStyleOverHttp2', NODE, { openClient: openHttp2 }),
  host('Next.js, its calls', 'next', NODE),
  host('Express 5', 'express5', NODE, { scope: 'own' }),
  host('Express 5 below a prefix', 'express5Prefix', NODE, { scope: 'own', prefix: '/fx' }),
  host('Bun', 'serveBun', BUN),
  host('Deno', 'serveDeno', DENO),
  WORKERD,
  framework('Express 4', 'express4', 'own', { module: 'express-4' }),
  framework('Hono', 'hono', 'below'),
  framework('H3', 'h3', 'below'),
  framework('Elysia', 'elysia', 'below', { runtime: BUN }),
  framework('Fastify', 'fastify', 'own'),
  framework('Koa', 'koa', 'below'),
]

/** Runs a host for all tests of a suite; skips them if its program is not installed. */
export function runHost({ name, program, prefix = '', openClient = openHttp1, start }: Host) {
  const running: { port: number; client: Client } = {
    port: 0,
    client: { send: () => Promise.reject(new Error('the host is not running')), close() {} },
  }
  beforeAll(async () => {
    if (!existsSync(program)) return undefined
    const { port, stop } = await start()
    const client = openClient(port)
    Object.assign(running, { port, client })
    // Loads the data for all later requests.
    for (const target of ['/api/v1/latest', '/api/v1/history?from=EUR&to=USD']) {
      await client.send({ method: 'GET', target: prefix + target })
    }
    return async () => {
      client.close()
      await stop()
    }
  })
  beforeEach(({ skip }) => requireProgram(name, program, skip))
  return running
}
