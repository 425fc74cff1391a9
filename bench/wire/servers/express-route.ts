// An Express 5 route with prepared bytes. It bypasses Express's own `send`, which would hash them.
import express from 'express'

import { listen, readPreparedResponse } from '../peer.ts'

const { path, headers, body } = readPreparedResponse()
const flat = headers.flat()

const app = express().disable('x-powered-by')
app.get(path, (_request, response) => {
  response.writeHead(200, flat)
  response.end(body)
})
await listen(app)
