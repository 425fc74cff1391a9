// npm install ratesmith && npm pkg set type=module
// node monitoring.ts
//
// Serves rates with request ids and an access log on stdout, http://127.0.0.1:3000/api/v1/latest, and probes and metrics at
// the next port: http://127.0.0.1:3001/readyz and http://127.0.0.1:3001/metrics
import { createRatesHandler } from 'ratesmith'
import { createHealth, createMetrics, withAccessLog, withRequestIds } from 'ratesmith/monitoring'
import { serve } from 'ratesmith/node'
import { fakeProviders } from 'ratesmith/testing'

const { PORT = '3000', METRICS_PORT = '3001' } = process.env

// Synthetic rates; omit `providers` for real ones.
const rates = createRatesHandler({ providers: fakeProviders() })
const health = createHealth(rates)
const metrics = createMetrics(rates)

const ROUTES: Record<string, (request: Request) => Response> = {
  '/metrics': metrics.fetch,
  '/healthz': health.live,
  '/readyz': health.ready,
}

function respond(request: Request): Response {
  const route = ROUTES[new URL(request.url).pathname]
  return route ? route(request) : new Response(null, { status: 404 })
}

const logged = withAccessLog(rates, { write: (line) => console.log(line) })
const server = await serve(withRequestIds(logged), { port: Number(PORT) })
const internal = await serve(respond, { port: Number(METRICS_PORT) })

process.once('SIGTERM', async () => {
  health.drain()
  // Load balancers need some seconds to notice.
  await new Promise((resolve) => void setTimeout(resolve, 3_000))
  await Promise.all([server.stop(), internal.stop()])
  metrics.close()
  rates.close()
})
