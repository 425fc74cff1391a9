import { Agent, request } from 'node:http'
import { connect } from 'node:http2'
import type { ClientHttp2Session, IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http2'
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'

import type { RequestData, ResponseData } from '../catalogue/catalogue.ts'

/** A client of one server over real keep-alive connections. */
export interface Client {
  send(request: RequestData): Promise<ResponseData>
  close(): void
}

/** Opens an HTTP/1.1 client. */
export function openHttp1(port: number): Client {
  const keepAlive = new Agent({ keepAlive: true })
  const sendOver = (
    agent: Agent | false,
    { method, target, headers }: RequestData,
  ): Promise<ResponseData> =>
    new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', port, agent, method, path: target, headers }
      const sent = request(options, (response) => {
        toReply(response.statusCode, response.headers, response).then(resolve, reject)
      })
      sent.on('error', reject).end()
    })
  return {
    // A server may close a keep-alive connection at any time (RFC 9112 §9.5): retries over a new connection.
    send: (request) => sendOver(keepAlive, request).catch(() => sendOver(false, request)),
    close: () => keepAlive.destroy(),
  }
}

/** Opens an HTTP/2 client without TLS. */
export function openHttp2(port: number): Client {
  let current: ClientHttp2Session | undefined
  function session(): ClientHttp2Session {
    if (!current || current.closed || current.destroyed) {
      current = connect(`http://127.0.0.1:${port}`)
      // The streams report the error.
      current.on('error', () => {})
    }
    return current
  }
  return {
    send: ({ method, target, headers = {} }) =>
      new Promise((resolve, reject) => {
        const fields: OutgoingHttpHeaders = { ':method': method, ':path': target }
        // A field value must not start or end with a space (RFC 9113 §8.2.1); HTTP/1 parsers trim them.
        for (const [name, value] of Object.entries(headers)) fields[name] = value.trim()
        const stream = session().request(fields)
        stream.on('error', reject)
        stream.on('response', ({ ':status': status, ...named }) => {
          toReply(status, named, stream).then(resolve, reject)
        })
        stream.end()
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
