// npm install ratesmith hono @hono/node-server && npm pkg set type=module
// node hono.ts
//
// Serves rates next to the routes of an app: http://127.0.0.1:3000/api/v1/latest
import { serve } from '@hono/node-server'
import { getConnInfo } from '@hono/node-server/conninfo'
import { Hono } from 'hono'
import { consoleLogger, createRatesHandler } from 'ratesmith'
import type { FetchHandler } from 'ratesmith/node'
import { fakeProviders } from 'ratesmith/testing'

const { PORT = '3000' } = process.env

// Synthetic rates; omit `providers` for real ones.
const handler: FetchHandler = createRatesHandler({
  providers: fakeProviders(),
  onEvent: consoleLogger(),
})

const app = new Hono()
app.get('/', (c) => c.text('My own page\n'))
app.get('/api/users', (c) => c.json(['Ada', 'Grace']))
// Hono matches routes in order: this one must follow the app's own.
// The address counts where anonymous clients have a limit.
app.all('/api/*', (c) => handler(c.req.raw, { client: getConnInfo(c).remote.address }))

// On Bun, Deno and Workers this is `export default app`, with `getConnInfo` from `hono/bun`, `/deno` or `/cloudflare-workers`.
serve({ fetch: app.fetch, port: Number(PORT), hostname: '127.0.0.1' })
