// Sends the prepared bytes from a buffer, with all headers in one list.
import { listen, readPreparedResponse } from '../peer.ts'

const { headers, body } = readPreparedResponse()
const flat = headers.flat()

await listen((_request, response) => {
  response.writeHead(200, flat)
  response.end(body)
})
