// Serves rates beside an app's own pages: `npx node examples/node.ts`, then http://127.0.0.1:3000/api/v1/latest
import { createServer } from 'node:http'

import { createRatesHandler } from 'ratesmith'
import { toNodeHandler } from 'ratesmith/node'

const rates = toNodeHandler(
  createRatesHandler({
    onEvent(event) {
      if (event.type === 'upstream_failed') console.error(event.provider, event.reason)
    },
  }),
)

createServer((request, response) => {
  if (request.url?.startsWith('/api/')) rates(request, response)
  else response.end('My own page\n')
}).listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1')
