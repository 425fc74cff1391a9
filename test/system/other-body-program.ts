// A server for the bench that sends another body than it was told to.
import { listen, readyAnswer } from '../../bench/wire/peer.ts'

const { headers, body } = readyAnswer()
const other = Buffer.from(body.toString().replace('"from":"USD"', '"from":"GBP"'))

await listen((_request, response) => {
  response.writeHead(200, headers.flat())
  response.end(other)
})
