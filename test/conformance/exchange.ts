import { Agent, request } from 'node:http'
import { connect } from 'node:http2'
import type { ClientHttp2Session, IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http2'
import { buffer } from 'node:stream/consumers'
import type { Readable } from 'node:stream'

import type { Question, Reply } from '../catalogue/catalogue.ts'

/** Asks one server over real connections, which it keeps. */
export interface Client {
  ask(question: Question): Promise<Reply>
  close(): void
}

/** A client of HTTP/1.1. */
export function openHttp1(port: number): Client {
  const kept = new Agent({ keepAlive: true })
  const askOver = (agent: Agent | false, { method, target, headers }: Question): Promise<Reply> =>
    new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', port, agent, method, path: target, headers }
      const asked = request(options, (response) => {
        toReply(response.statusCode, response.headers, response).then(resolve, reject)
      })
      asked.on('error', reject).end()
    })
  return {
    // A server may close a connection that is kept at any moment (RFC 9112 §9.5): once more, over one of its own.
    ask: (question) => askOver(kept, question).catch(() => askOver(false, question)),
    close: () => kept.destroy(),
  }
}

/** A client of HTTP/2 without TLS. */
export function openHttp2(port: number): Client {
  let kept: ClientHttp2Session | undefined
  function session(): ClientHttp2Session {
    if (!kept || kept.closed || kept.destroyed) {
      kept = connect(`http://127.0.0.1:${port}`)
      // What went wrong is told by its streams.
      kept.on('error', () => {})
    }
    return kept
  }
  return {
    ask: ({ method, target, headers = {} }) =>
      new Promise((resolve, reject) => {
        const fields: OutgoingHttpHeaders = { ':method': method, ':path': target }
        // No field may begin or end with a space (RFC 9113 §8.2.1); a parser of HTTP/1 takes them away.
        for (const [name, value] of Object.entries(headers)) fields[name] = value.trim()
        const stream = session().request(fields)
        stream.on('error', reject)
        stream.on('response', ({ ':status': status, ...named }) => {
          toReply(status, named, stream).then(resolve, reject)
        })
        stream.end()
      }),
    close: () => kept?.close(),
  }
}

/** Fails where the body is no well-formed text. */
async function toReply(
  status: number | undefined,
  named: IncomingHttpHeaders,
  stream: Readable,
): Promise<Reply> {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(named)) headers[name] = String(value)
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  return { status: status ?? 0, headers, body: decoder.decode(await buffer(stream)) }
}
