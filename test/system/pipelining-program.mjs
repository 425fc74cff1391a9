// Serves the synthetic market with the mount that its argument names, counts the computed histories, and prints its
// port. Plain JavaScript, because stripping types takes as much memory as everything else.
import { createServer } from 'node:http'
import { createServer as createHttp2Server } from 'node:http2'

import { createRatesHandler } from 'ratesmith'
import { toNodeHandler } from 'ratesmith/node'
import { fakeProviders } from 'ratesmith/testing'

const rates = createRatesHandler({ providers: fakeProviders() })
let computed = 0

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

function report() {
  const { user, system } = process.cpuUsage()
  return JSON.stringify({ computed, cpu: (user + system) / 1_000, rss: process.memoryUsage.rss() })
}

const counted = Object.assign(respond, { answer })

async function serve(adapter) {
  const { url } = await (await import(`ratesmith/${adapter}`)).serve(counted, { port: 0 })
  return Number(new URL(url).port)
}

function listen(server) {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(server.address().port))
  })
}

const MOUNTS = {
  node: () => serve('node'),
  bun: () => serve('bun'),
  deno: () => serve('deno'),
  fetchStyle: () => listen(createServer(toNodeHandler((request) => respond(request)))),
  http2: () => listen(createHttp2Server(toNodeHandler(counted))),
  async express() {
    const [{ default: express }, { toExpressHandler }] = await Promise.all([
      import('express'),
      import('ratesmith/express'),
    ])
    return listen(createServer(express().use(toExpressHandler(counted))))
  },
}

process.stdin.on('end', () => process.exit()).resume()
// The first request loads all days since 1999.
await rates.rates.history({ from: 'EUR', to: 'USD', start: '1999-01-04' })
process.stdout.write(`${await MOUNTS[JSON.parse(process.argv[2] ?? '')]()}\n`)
