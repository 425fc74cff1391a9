// The least that Node can do to send these bytes, where they are ASCII.
import { listen, readyAnswer } from '../peer.ts'

/** Up to so many bytes, text goes out in one write with the head; beyond, a buffer that is written as it is costs less. */
const TEXT_UP_TO = 16_384

const { headers, body } = readyAnswer()
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
