// npm install ratesmith && npm pkg set type=module
// node node.ts
//
// Serves rates next to the pages of an app: http://127.0.0.1:3000/api/v1/latest
import { createServer } from 'node:http'

import { consoleLogger, createRatesHandler } from 'ratesmith'
import { toNodeHandler } from 'ratesmith/node'
import { fakeProviders } from 'ratesmith/testing'

const { PORT = '3000' } = process.env

// Synthetic rates; omit `providers` for real ones.
const handler = createRatesHandler({ providers: fakeProviders(), onEvent: consoleLogger() })
const rates = toNodeHandler(handler)

createServer((request, response) => {
  if (request.url?.startsWith('/api/')) rates(request, response)
  else response.end('My own page\n')
}).listen(Number(PORT), '127.0.0.1')
