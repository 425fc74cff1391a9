import { readdirSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, it, onTestFinished } from 'vitest'

import { createRatesHandler } from 'ratesmith'
import { toNodeHandler } from 'ratesmith/node'
import { fakeProviders } from 'ratesmith/testing'

import { handler as lambda } from '../../examples/lambda.ts'
import * as next from '../../examples/next.ts'
import { mountContract } from '../conformance/mount-contract.ts'
import { CLI } from './commands.ts'
import { listen, requireProgram, run, start, temporaryFolder } from './processes.ts'
import type { Running } from './processes.ts'
import { REDIS_IS_MISSING, startRedis } from './redis-server.ts'
import { BUN, DENO, ROOT, findPackage, findWorkerd } from './runtimes.ts'
import { freePort } from './sockets.ts'
import { openUpstreams, respondAsUpstream } from './upstreams.ts'
import { bundleWorker, openWorkers } from './workerd.ts'

const CONVERSION = '/api/v1/convert?from=USD&to=EUR&amount=100'
const isConversion = (body: string): boolean =>
  body.startsWith('{"from":"USD","to":"EUR","amount":100,')

const TRIED =
  'access agents bun checkout client cloudflare custom-provider custom-store deno express fastify hono lambda monitoring next node opentelemetry postgres redis-fleet serve-compat serve-fleet serve-public static-cdn unit-test'

const example = (name: string): string => join('examples', name)

describe('an example that ends', () => {
  it.each([
    [
      'access.ts',
      [],
      /^(without a key: 200, no fields\n){2}without a key: 429, "burst";r=0;t=30\nwith a key: 200, "burst";r=599;t=1, "month";r=99999;t=\d+\nwith a wrong key: 401, no fields\n$/,
    ],
    ['custom-provider.ts', [], /from: 'PTS',[^]*rate: 0\.01,\s+result: 25,[^]*'Loyalty points'/],
    [
      'custom-store.ts',
      [],
      /^first calls the upstream\nfirst: 1 USD = (\d\S+) EUR\nsecond: 1 USD = \1 EUR\n$/,
    ],
    [
      'opentelemetry.ts',
      [],
      /'rates\.events'[^]*'rates\.event': 'upstream_request'[^]*value: 1\b[^]*'rates\.upstream\.duration'/,
    ],
    ['unit-test.ts', ['--test', '--test-reporter=tap'], /\n# pass 2\n# fail 0\n/],
  ])('%s prints the documented output', async (name, flags, output) => {
    const ran = await run(process.execPath, [...flags, example(name)])
    expect(ran).toEqual({ code: 0, stdout: expect.stringMatching(output), stderr: '' })
  })

  it('client.ts prints rates, and the error for an unknown currency', async () => {
    const handler = createRatesHandler({ providers: fakeProviders() })
    const { url } = await listen(toNodeHandler(handler))
    const ran = await run(process.execPath, [example('client.ts'), `${url}/api`])
    const { USD, GBP, JPY } = (await handler.rates.latest({ base: 'EUR' })).rates
    const rates = `1 EUR = ${USD} USD = ${GBP} GBP = ${JPY} JPY`
    const stdout = `${rates} (Synthetic rates (ratesmith))\ninvalid_currency: Invalid to currency: ABC (see /v1/currencies)\n`
    expect(ran).toEqual({ code: 0, stderr: '', stdout })
  })

  it('postgres.ts inserts the rates of a year, and values a payment', async ({ skip }) => {
    skip(!findPackage('@electric-sql/pglite'), 'PGlite is not installed')
    const upstreams = await openUpstreams()
    onTestFinished(upstreams.close)
    const programs = ['system/pg-program.mjs', 'release/documentation/upstream-program.ts']
    const flags = programs.flatMap((each) => ['--import', join(ROOT, 'test', each)])
    const env = { DOCUMENTATION_UPSTREAM: upstreams.url }
    const ran = await run(process.execPath, [...flags, example('postgres.ts')], { env })
    const stdout = /^\d{3,} inserted, 0 updated\n\[ \{ euros: '\d+\.\d+' \} \]\n$/
    expect(ran).toEqual({ code: 0, stdout: expect.stringMatching(stdout), stderr: '' })
  })

  it('static-cdn.ts prints rates of the files of an export', async () => {
    const folder = temporaryFolder()
    const args = ['export', folder, '--demo', '--since', '2026-01-01']
    expect((await run(process.execPath, [CLI, ...args])).code).toBe(0)
    const ran = await run(process.execPath, [example('static-cdn.ts'), folder])
    const output =
      /^1 USD = \d\.\d+ EUR \(Synthetic rates \(ratesmith\)\)\n1 EUR was \d\.\d+ to \d\.\d+ USD in a month\n$/
    expect(ran).toEqual({ code: 0, stdout: expect.stringMatching(output), stderr: '' })
  })

  it('redis-fleet.ts makes one upstream request for all its servers', async ({ skip }) => {
    skip(REDIS_IS_MISSING, 'redis-server is not installed')
    const redis = await startRedis()
    onTestFinished(() => redis.kill())
    const env = { REDIS_URL: redis.url }
    const ran = await run(process.execPath, [example('redis-fleet.ts')], { env })
    const output = /^(\w+: 1 USD = (\d\.\d+) EUR\n)(\w+: 1 USD = \2 EUR\n){4}upstream \w+: 1\n$/
    expect(ran).toEqual({ code: 0, stdout: expect.stringMatching(output), stderr: '' })
  })
})

describe('an example that serves', () => {
  async function startExample(program: string, args: string[]): Promise<[Running, string]> {
    const port = await freePort()
    return [start(program, args, { env: { PORT: String(port) } }), `http://127.0.0.1:${port}`]
  }

  const besidePages = ['node.ts', 'express.ts', 'fastify.ts', 'hono.ts']
  it.for(besidePages)('%s serves rates besides its own pages', async (name, { skip }) => {
    const framework = name.replace('.ts', '')
    skip(name !== 'node.ts' && !findPackage(framework), `${framework} is not installed`)
    const [running, url] = await startExample(process.execPath, [example(name)])
    await expectServes(running, `${url}/`, (body) => body === 'My own page\n')
    await expectServes(running, url + CONVERSION, isConversion)
    if (name === 'node.ts') return
    await expectServes(running, `${url}/api/users`, (body) => body === '["Ada","Grace"]')
  })

  it('checkout.ts charges the price of a quote once, and no other quote', async ({ skip }) => {
    skip(!findPackage('express'), 'express is not installed')
    const [running, url] = await startExample(process.execPath, [example('checkout.ts')])
    await expectServes(running, `${url}/cart`, (body) =>
      body.startsWith('{"from":"EUR","to":"USD"'),
    )
    const { quote, rounded } = await (await fetch(`${url}/cart`)).json()
    const checkout = (body: object) => post(`${url}/checkout`, body)
    const altered = quote.replace(/.$/, (last: string) => (last === 'A' ? 'E' : 'A'))
    for (const body of [{}, { quote: 5 }, { quote: altered }]) {
      expect((await checkout(body))[0], JSON.stringify(body)).toBe(400)
    }
    expect(await checkout({ quote })).toEqual([200, JSON.stringify({ paid: rounded })])
    expect((await checkout({ quote }))[0]).toBe(409)
  })

  it('agents.ts serves tools next to the API, to allowed websites only', async () => {
    const [running, url] = await startExample(process.execPath, [example('agents.ts')])
    await expectServes(running, url + CONVERSION, isConversion)
    const params = { name: 'convert', arguments: { from: 'USD', to: 'EUR', amount: '100' } }
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
    const accept = 'application/json, text/event-stream'
    const call = (origin: string) => post(`${url}/mcp`, message, { accept, origin })
    const line = /"100 USD = \d+\.\d+ EUR at \d\.\d+ \(Synthetic rates \(ratesmith\), [\d-]{10}\)"/
    expect(await call('https://app.example.com')).toEqual([200, expect.stringMatching(line)])
    expect(await call('https://elsewhere.example')).toEqual([403, expect.any(String)])
  })

  it.for([BUN, DENO])('%s.ts serves rates until SIGTERM', async (runtime, { skip }) => {
    const [name, program, ...flags] = runtime
    requireProgram(name, program, skip)
    const args = [...flags, example(`${name.toLowerCase()}.ts`)]
    const [running, url] = await startExample(program, args)
    await expectServes(running, url + CONVERSION, isConversion)
    expect(running.stdout).toBe(`Try ${url}${CONVERSION}\n`)
    expect(await running.end()).toBe(0)
  })

  it('monitoring.ts is ready, logs requests, counts them, and drains on SIGTERM', async () => {
    const [port, metricsPort] = [await freePort(), await freePort()]
    const env = { PORT: String(port), METRICS_PORT: String(metricsPort) }
    const running = start(process.execPath, [example('monitoring.ts')], { env })
    const internal = `http://127.0.0.1:${metricsPort}`
    const statusOf = async () => (await fetch(`${internal}/readyz`)).status
    await expect.poll(statusOf).toBe(200)
    const url = `http://127.0.0.1:${port}${CONVERSION}`
    expect(isConversion(await (await fetch(url)).text())).toBe(true)
    const [line = ''] = await running.written(/^\{.*\}$/m)
    expect(JSON.parse(line)).toMatchObject({ path: '/api/v1/convert', status: 200 })
    const count = 'ratesmith_requests_total{route="/v1/convert",method="GET",status="200"} 1\n'
    expect(await (await fetch(`${internal}/metrics`)).text()).toContain(count)
    running.process.kill('SIGTERM')
    await expect.poll(statusOf).toBe(503)
    expect(await running.exited).toBe(0)
  })

  it('cloudflare.ts has rates in the store before its first request', async ({ skip }) => {
    requireProgram('workerd', findWorkerd() ?? '', skip)
    const hosts: string[] = []
    const simulator = openWorkers({
      script: await bundleWorker(example('cloudflare.ts')),
      outboundService({ url }) {
        hosts.push(new URL(url).hostname)
        return respondAsUpstream(new URL(url))
      },
    })
    const [first, second] = [await simulator.getWorker('one'), await simulator.getWorker('two')]
    expect(await first.scheduled({ cron: '*/15 * * * *' })).toMatchObject({ outcome: 'ok' })
    expect(hosts.sort()).toEqual(['api.frankfurter.dev', 'open.er-api.com'])
    const stored = await simulator.getKVNamespace('RATES', 'one')
    const keys = async (): Promise<unknown[]> => (await stored.list()).keys
    await expect.poll(keys, { timeout: 20_000 }).toHaveLength(2)
    const response = await first.fetch(`http://localhost${CONVERSION}`)
    expect(isConversion(await response.text())).toBe(true)
    const elsewhere = await second.fetch(`http://localhost${CONVERSION}`)
    expect(elsewhere.headers.get('cache-status')).toMatch(/^rates; hit; /)
    expect(hosts).toHaveLength(2)
  })
})

type LambdaEvent = Parameters<typeof lambda>[0]

/** Returns the event of a function URL or an HTTP API, whose path starts with the name of any stage but the default one. */
async function eventOfHttpApi(request: Request, stage = '$default'): Promise<LambdaEvent> {
  const { pathname, search } = new URL(request.url)
  return {
    rawPath: stage === '$default' ? pathname : `/${stage}${pathname}`,
    rawQueryString: search.slice(1),
    headers: Object.fromEntries(request.headers),
    ...(request.body && { body: await request.text(), isBase64Encoded: false }),
    requestContext: { stage, http: { method: request.method, sourceIp: '192.0.2.1' } },
  }
}

/** Returns the event of a REST API, which has a decoded query, and the names of headers as received. */
async function eventOfRestApi(request: Request): Promise<LambdaEvent> {
  const { pathname, searchParams } = new URL(request.url)
  const query = [...searchParams.keys()].map((name) => [name, searchParams.getAll(name)])
  const headers = [...request.headers].map(([name, value]) => [
    name.replaceAll(/\b[a-z]/g, (letter) => letter.toUpperCase()),
    [value],
  ])
  const body = Buffer.from(await request.arrayBuffer())
  return {
    path: pathname,
    httpMethod: request.method,
    headers: null,
    multiValueHeaders: Object.fromEntries(headers),
    multiValueQueryStringParameters: query.length === 0 ? null : Object.fromEntries(query),
    body: body.length === 0 ? null : body.toString('base64'),
    isBase64Encoded: body.length > 0,
    requestContext: { stage: 'prod', identity: { sourceIp: '192.0.2.1' } },
  }
}

describe.each<[kind: string, eventOf: (request: Request) => Promise<LambdaEvent>]>([
  ['a function URL', eventOfHttpApi],
  ['a stage of an HTTP API', (request) => eventOfHttpApi(request, 'prod')],
  ['a stage with the name of the base path', (request) => eventOfHttpApi(request, 'api')],
  ['a REST API', eventOfRestApi],
])('lambda.ts behind %s', (_, eventOf) => {
  async function respond(request: Request): Promise<Response> {
    const { statusCode: status, headers, ...result } = await lambda(await eventOf(request))
    const body = Buffer.from(result.body, result.isBase64Encoded ? 'base64' : 'utf8')
    return new Response(body.length === 0 ? null : body, { status, headers })
  }

  const mount = { url: 'http://localhost/api', fetch: respond }
  it.each(mountContract(() => mount))('$name', async ({ run }) => {
    await expect(run()).resolves.toBeUndefined()
  })

  it('converts the rows of a body', async () => {
    const init = {
      method: 'POST',
      headers: { 'content-type': 'text/csv' },
      body: 'from,to,amount\nUSD,EUR,100\nEUR,USD,2\n',
    }
    const response = await respond(new Request(`${mount.url}/v1/convert`, init))
    expect([response.status, await response.text()]).toEqual([
      200,
      expect.stringMatching(/\r\nUSD,EUR,100,[^]*\r\nEUR,USD,2,/),
    ])
  })

  it('responds with 404 to a path of no endpoint', async () => {
    for (const path of ['/', '/api', '/prod/v1/latest', '/dev/api/v1/latest']) {
      expect((await respond(new Request(`http://localhost${path}`))).status, path).toBe(404)
    }
  })
})

describe('next.ts', () => {
  const { dynamic, ...functions } = next
  type NextFunction = (request: Request, context: object) => Promise<Response>
  const byMethod = new Map<string, NextFunction>(Object.entries(functions))

  /** Calls the function of the method like Next.js, which also passes the parts of the path. */
  async function respond(request: Request): Promise<Response> {
    const found = byMethod.get(request.method)
    if (!found) throw new Error(`Next.js has no function for ${request.method}`)
    return found(request, { params: Promise.resolve({ path: ['v1'] }) })
  }

  const mount = { url: 'http://localhost/api', fetch: respond }
  it.each(mountContract(() => mount))('$name', async ({ run }) => {
    await expect(run()).resolves.toBeUndefined()
  })

  it('has a function for each method of Next.js, and one setting', () => {
    const methods = ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT']
    expect(Object.keys(functions).sort()).toEqual(methods)
    expect(dynamic).toBe('force-dynamic')
  })
})

it('tests all examples', () => {
  const names = readdirSync(join(ROOT, 'examples')).sort()
  expect(names).toEqual(TRIED.split(' ').map((name) => `${name}.ts`))
})

async function post(url: string, body: object, more = {}): Promise<[number, string]> {
  const headers = { 'content-type': 'application/json', ...more }
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  return [response.status, await response.text()]
}

async function expectServes(
  running: Running,
  url: string,
  isExpected: (body: string) => boolean,
): Promise<void> {
  const read = async (): Promise<boolean | string> => {
    const text = await (await fetch(url)).text()
    return isExpected(text) || text
  }
  const body = (): Promise<boolean | string> => read().catch(() => running.stdout + running.stderr)
  await expect.poll(body, { timeout: 60_000, interval: 100 }).toBe(true)
}
