// bun add ratesmith
// bun bun.ts
//
// Serves http://127.0.0.1:3000/api/v1/latest until it receives SIGTERM.
import { consoleLogger, createRatesHandler } from 'ratesmith'
import { serve } from 'ratesmith/bun'
import { fakeProviders } from 'ratesmith/testing'

const { PORT = '3000' } = process.env

// Synthetic rates; omit `providers` for real ones.
const handler = createRatesHandler({ providers: fakeProviders(), onEvent: consoleLogger() })

const server = await serve(handler, { port: Number(PORT) })
console.log(`Try ${server.url}/api/v1/convert?from=USD&to=EUR&amount=100`)

process.once('SIGTERM', async () => {
  await server.stop()
  process.exit()
})
