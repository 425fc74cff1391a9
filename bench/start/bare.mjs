// The smallest HTTP server on Node: the reference for every start.
import { createServer } from 'node:http'

const body = Buffer.from(
  '{"from":"USD","to":"EUR","amount":1,"rate":0.85367936,"result":0.85367936}',
)

const server = createServer((_request, response) => {
  response.setHeader('content-type', 'application/json; charset=utf-8')
  response.setHeader('content-length', body.length)
  response.end(body)
}).listen(0, '127.0.0.1', () => {
  process.stdout.write(`listens on http://127.0.0.1:${server.address().port}\n`)
})
