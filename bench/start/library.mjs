// A user's program with the installed package: the handler and the adapter for Node.
import { createServer } from 'node:http'

import { createRatesHandler } from 'ratesmith'
import { toNodeHandler } from 'ratesmith/node'
import { fakeProviders } from 'ratesmith/testing'

const handler = createRatesHandler({ providers: fakeProviders() })

const server = createServer(toNodeHandler(handler)).listen(0, '127.0.0.1', () => {
  process.stdout.write(`listens on http://127.0.0.1:${server.address().port}\n`)
})
