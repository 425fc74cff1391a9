// The least work on Bun that sends these bytes; and the same after reading what decides about a response.
import { settingsFromParent } from '../../../test/system/child.ts'
import { LOOPBACK, readPreparedResponse, reportReady } from '../peer.ts'
import type { PeerSettings } from '../peer.ts'

declare const Bun: {
  serve(options: object): { port: number }
}

const { id }: PeerSettings = JSON.parse(settingsFromParent())
const { target, headers, body } = readPreparedResponse()
const text = body.toString()
const init = { headers: new Headers(headers) }

function respond(): Response {
  return new Response(text, init)
}

function readAndRespond({ method, url, headers: sent }: Request): Response {
  const isExpected =
    method === 'GET' &&
    url.endsWith(target) &&
    sent.get('host') !== null &&
    sent.get('if-match') === null &&
    sent.get('if-none-match') === null
  return isExpected ? respond() : new Response(null, { status: 500 })
}

const fetch = id === 'reads-bun' ? readAndRespond : respond
const server = Bun.serve({ ...LOOPBACK, development: false, fetch })
reportReady(server.port)
