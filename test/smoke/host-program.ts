// Serves the handler from source with the mount in its settings, and prints the URL.
import { createServer } from 'node:http'

import { createRatesHandler } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { reportToParent, settingsFromParent } from '../system/child.ts'
import { listenOnFreePort } from '../system/sockets.ts'

const rates = createRatesHandler({ providers: fakeProviders() })
const ANY_PORT = { port: 0 }

const MOUNTS = {
  serveNode: async () =>
    (await (await import('../../adapters/node.ts')).serve(rates, ANY_PORT)).url,
  serveBun: async () => (await (await import('../../adapters/bun.ts')).serve(rates, ANY_PORT)).url,
  serveDeno: async () =>
    (await (await import('../../adapters/deno.ts')).serve(rates, ANY_PORT)).url,
  async http() {
    const { toNodeHandler } = await import('../../adapters/node.ts')
    return `http://127.0.0.1:${await listenOnFreePort(createServer(toNodeHandler(rates)))}`
  },
  async express() {
    const { default: express } = await import('express')
    const { toExpressHandler } = await import('../../adapters/express.ts')
    const app = express().use(toExpressHandler(rates))
    return `http://127.0.0.1:${await listenOnFreePort(createServer(app))}`
  },
}

export type Mount = keyof typeof MOUNTS

const mount: Mount = JSON.parse(settingsFromParent())
reportToParent(await MOUNTS[mount]())
