// A route of Express 5 with ready bytes, past its own `send`, which would hash them.
import express from 'express'

import { listen, readyAnswer } from '../peer.ts'

const { path, headers, body } = readyAnswer()
const flat = headers.flat()

const app = express().disable('x-powered-by')
app.get(path, (_request, response) => {
  response.writeHead(200, flat)
  response.end(body)
})
await listen(app)
