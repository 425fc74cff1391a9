// The least work on Bun that sends these bytes.
import { LOOPBACK, readPreparedResponse, reportReady } from '../peer.ts'

declare const Bun: {
  serve(options: object): { port: number }
}

const { headers, body } = readPreparedResponse()
const text = body.toString()
const init = { headers: new Headers(headers) }

const server = Bun.serve({
  ...LOOPBACK,
  development: false,
  fetch: () => new Response(text, init),
})
reportReady(server.port)
