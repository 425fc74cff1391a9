// The least that a function can do on Bun to send these bytes.
import { LOOPBACK, readyAnswer, tellReady } from '../peer.ts'

declare const Bun: {
  serve(options: object): { port: number }
}

const { headers, body } = readyAnswer()
const text = body.toString()
const init = { headers: new Headers(headers) }

const server = Bun.serve({
  ...LOOPBACK,
  development: false,
  fetch: () => new Response(text, init),
})
tellReady(server.port)
