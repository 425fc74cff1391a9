import { request as send } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { connect } from 'node:net'
import type { Socket } from 'node:net'

import { listen } from './processes.ts'

/**
 * Starts a proxy at `host` that forwards plain requests, and connects every tunnel to `tunnelPort`; with `status`, it
 * refuses both. `requests` lists its requests (`GET http://…` or `CONNECT host:port`), and `credentials` their
 * `Proxy-Authorization`.
 */
export async function openProxy(options: { tunnelPort?: number; status?: number } = {}) {
  const { tunnelPort = 0, status } = options
  const requests: string[] = []
  const credentials: (string | undefined)[] = []
  function note({ method, url, headers }: IncomingMessage): void {
    requests.push(`${method} ${url}`)
    credentials.push(headers['proxy-authorization'])
  }
  const { url, server } = await listen((request, response) => {
    note(request)
    if (status) response.writeHead(status).end()
    else forward(request, response)
  })
  server.on('connect', (request: IncomingMessage, socket: Socket) => {
    note(request)
    socket.on('error', () => {})
    if (status) socket.end(`HTTP/1.1 ${status} Refused\r\n\r\n`)
    else lead(socket, tunnelPort)
  })
  return { host: new URL(url).host, requests, credentials }
}

function forward(request: IncomingMessage, response: ServerResponse): void {
  const { url = '', method, headers } = request
  send(url, { method, headers }, (received) => {
    received.pipe(response.writeHead(received.statusCode ?? 502, received.headers))
  }).end()
}

function lead(socket: Socket, port: number): void {
  const upstream = connect(port, '127.0.0.1', () => {
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
  })
  upstream.on('error', () => socket.destroy())
  upstream.pipe(socket).pipe(upstream)
}
