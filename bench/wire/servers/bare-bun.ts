// The least that a function can do on Bun to send these bytes.
import { LOOPBACK, readyAnswer, tellReady } from '../peer.ts'

declare const Bun: {
  serve(options: object): { port: number }
}

const { headers, body } = readyAnswer()
const init = { headers }

const server = Bun.serve({
  ...LOOPBACK,
  development: false,
  fetch: () => new Response(body, init),
})
tellReady(server.port)
