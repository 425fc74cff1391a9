// The same as a buffer, whatever its size.
import { listen, readyAnswer } from '../peer.ts'

const { headers, body } = readyAnswer()
const flat = headers.flat()

await listen((_request, response) => {
  response.writeHead(200, flat)
  response.end(body)
})
