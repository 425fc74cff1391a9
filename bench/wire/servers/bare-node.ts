// The ready bytes as a buffer, and their headers in one list.
import { listen, readyAnswer } from '../peer.ts'

const { headers, body } = readyAnswer()
const flat = headers.flat()

await listen((_request, response) => {
  response.writeHead(200, flat)
  response.end(body)
})
