// npm install ratesmith @modelcontextprotocol/server && npm pkg set type=module
// node agents.ts
//
// Serves rates as tools to agents at http://127.0.0.1:3000/mcp, next to the API.
import { createRatesHandler } from 'ratesmith'
import { createMcpHandler } from 'ratesmith/mcp'
import { serve } from 'ratesmith/node'
import { fakeProviders } from 'ratesmith/testing'

const { PORT = '3000' } = process.env

// Besides those of this machine: what a proxy passes on as `Host`, and websites that call the tools.
const allowed = { allowedHosts: ['rates.example.com'], allowedOrigins: ['https://app.example.com'] }

const handler = createRatesHandler({
  // Synthetic rates; omit `providers` for real ones.
  providers: fakeProviders(),
  routes: [{ path: '/mcp', post: (request, rates) => createMcpHandler(rates, allowed)(request) }],
})
await serve(handler, { port: Number(PORT) })
// http://127.0.0.1:3000/api/v1/latest
