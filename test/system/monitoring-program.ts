// Serves rates with all wrappers, and monitoring at another port; prints both URLs, and then the access log.
import { createRatesHandler } from '../../src/index.ts'
import {
  createHealth,
  createMetrics,
  withAccessLog,
  withRequestIds,
} from '../../src/monitoring/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { reportToParent, settingsFromParent } from './child.ts'

const adapter: 'node' | 'bun' | 'deno' = JSON.parse(settingsFromParent())

const { serve }: typeof import('../../adapters/node.ts') = await import(
  `../../adapters/${adapter}.ts`
)

const write = (line: string): void => void process.stdout.write(`${line}\n`)
const rates = createRatesHandler({ providers: fakeProviders() })
const health = createHealth(rates)
const metrics = createMetrics(rates)
const handler = withRequestIds(withAccessLog(rates, { write }))

const ROUTES: Record<string, (request: Request) => Response> = {
  '/metrics': metrics.fetch,
  '/healthz': health.live,
  '/readyz': health.ready,
  '/drain': () => {
    health.drain()
    return new Response()
  },
}

const internal = await serve(
  (request) => {
    const { pathname } = new URL(request.url)
    return ROUTES[pathname]?.(request) ?? new Response(null, { status: 404 })
  },
  { port: 0 },
)
const server = await serve(handler, { port: 0 })
reportToParent({ server: server.url, internal: internal.url })
