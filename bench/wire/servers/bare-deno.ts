// The least that Deno can do to send these bytes.
import { LOOPBACK, readyAnswer, tellReady } from '../peer.ts'

interface Deno {
  serve(options: object, handler: () => Response): { addr: { port: number } }
}

const { Deno } = globalThis as unknown as { Deno: Deno }
const { headers, body } = readyAnswer()
const init = { headers }

const server = Deno.serve({ ...LOOPBACK, onListen: () => {} }, () => new Response(body, init))
tellReady(server.addr.port)
