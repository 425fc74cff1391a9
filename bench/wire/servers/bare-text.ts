// The least work on Node that sends these bytes, if they are ASCII.
import { listen, readPreparedResponse } from '../peer.ts'

/** Up to this size in bytes, text is sent in one write with the head; above it, a buffer is cheaper. */
const TEXT_UP_TO = 16_384

const { headers, body } = readPreparedResponse()
const flat = headers.flat()
const text = body.toString('latin1')

await listen(
  body.length <= TEXT_UP_TO
    ? (_request, response) => {
        response.writeHead(200, flat)
        response.end(text, 'latin1')
      }
    : (_request, response) => {
        response.writeHead(200, flat)
        response.end(body)
      },
)
