// Serves the synthetic market with the adapter that its argument names, counts the computed histories, and prints its
// port. Plain JavaScript, because stripping types takes as much memory as everything else.
import { createRatesHandler } from 'ratesmith'
import { fakeProviders } from 'ratesmith/testing'

const rates = createRatesHandler({ providers: fakeProviders() })
let computed = 0

function report() {
  const { user, system } = process.cpuUsage()
  return JSON.stringify({ computed, cpu: (user + system) / 1_000, rss: process.memoryUsage.rss() })
}

async function answer(request) {
  if (request.target === '/report')
    return { status: 200, headers: [], body: report(), matched: true }
  if (request.target.includes('/history')) computed += 1
  return rates.answer(request)
}

async function respond(request) {
  const { pathname } = new URL(request.url)
  if (pathname === '/report') return new Response(report())
  if (pathname.endsWith('/history')) computed += 1
  return rates(request)
}

process.stdin.on('end', () => process.exit()).resume()
// The first request loads all days since 1999.
await rates.rates.history({ from: 'EUR', to: 'USD', start: '1999-01-04' })
const { serve } = await import(`ratesmith/${JSON.parse(process.argv[2] ?? '')}`)
const { url } = await serve(Object.assign(respond, { answer }), { port: 0 })
process.stdout.write(`${new URL(url).port}\n`)
