import { describe, expect, it } from 'vitest'

import { send } from '../catalogue/catalogue.ts'
import type { RequestData, ResponseData } from '../catalogue/catalogue.ts'
import { HOSTS, runHost } from './hosts.ts'
import type { Host } from './hosts.ts'
import { createConformanceHandler } from './market.ts'
import { conformanceRequests } from './requests.ts'

describe.each(HOSTS)('$name', (host) => {
  const { prefix = '' } = host
  const running = runHost(host)

  it('sends the same bytes as the handler for every request', async () => {
    const exchanges = await exchangesBelow(prefix)
    expect(exchanges.length).toBeGreaterThan(600)
    const faults: string[] = []
    const queue = exchanges.values()
    const sendAll = async (): Promise<void> => {
      for (const exchange of queue) {
        const outcome = await running.client.send(exchange.request).catch((error: Error) => error)
        faults.push(...findFaults(host, exchange, outcome))
      }
    }
    await Promise.all([sendAll(), sendAll(), sendAll()])
    expect(faults).toEqual([])
  })

  it('ends the response where a year of days cannot be loaded, and serves others', async () => {
    const send = (query: string) => {
      return running.client.send({ method: 'GET', target: `${prefix}/api/v1/days${query}` })
    }
    expect(await send('?start=2019-01-01&end=2019-01-02&source=incomplete')).toMatchObject({
      status: 200,
      body: expect.stringMatching(/^\{"date":"2019-01-01".+\n\{"date":"2019-01-02".+\n$/),
    })
    for (const [format, line] of [
      ['ndjson', /^\{"error":\{.+\}\}$/],
      ['csv', /^error,provider_unavailable\r$/],
    ] as const) {
      // After the first parts.
      const query = `?start=2016-01-01&source=incomplete&format=${format}`
      const outcome = await send(query).catch((error: Error) => error)
      const end = outcome instanceof Error ? 'cut' : outcome.body.split('\n').at(-2)
      // Workerd makes a response that fails look complete.
      expect(end).toMatch(host.name === 'workerd' ? line : /^cut$/)
    }
    expect(await send('?start=2018-01-02&source=incomplete')).toMatchObject({ status: 502 })
  })

  it('redeems quotes of this process, which redeems its quotes', async () => {
    const handler = createConformanceHandler(`${prefix}/api`)
    const [here, there] = [
      (target: string) => send(handler, { method: 'GET', target: prefix + target }, 'answer'),
      (target: string) => running.client.send({ method: 'GET', target: prefix + target }),
    ]
    for (const [make, redeem] of [
      [here, there],
      [there, here],
      [there, there],
    ] as const) {
      const made = await make('/api/v1/quote?from=USD&to=EUR,JPY&amount=99.90&context=Zo%C3%AB+1')
      expect(made).toMatchObject({ status: 200, headers: { 'cache-control': 'no-store' } })
      const path = `/api/v1/convert?quote=${JSON.parse(made.body).quote}&context=Zo%C3%AB`
      const { status, headers, body } = await redeem(`${path}+1`)
      expect({ status, body }).toEqual({ status: 200, body: made.body })
      expect(headers['cache-control']).toBe('no-store')
      expect(await redeem(path)).toMatchObject({
        status: 400,
        body: expect.stringContaining('invalid_quote'),
      })
    }
  })

  it('serves tools to agents as a route', async () => {
    const params = { name: 'convert', arguments: { from: 'USD', to: 'EUR', amount: '99.90' } }
    const message = { jsonrpc: '2.0', id: 7, method: 'tools/call', params }
    const accept = 'application/json, text/event-stream'
    const post = (headers: object, body: string) => {
      const all = { accept, 'content-type': 'application/json', ...headers }
      const target = `${prefix}/api/mcp`
      return running.client.send({ method: 'POST', target, headers: all, body })
    }
    const handler = createConformanceHandler(`${prefix}/api`)
    const converted = await handler.rates.convert(params.arguments)
    const { status, body } = await post({}, JSON.stringify(message))
    const { id, result } = JSON.parse(/^data: (.*)$/m.exec(body)?.[1] ?? '{}')
    expect([status, id, result.structuredContent]).toEqual([200, 7, converted])
    const foreign = await post({ origin: 'https://other.example' }, JSON.stringify(message))
    expect(foreign.status).toBe(403)
  })
})

type Outcome = ResponseData | Error

const CONNECTION_HEADERS = /^(connection|content-length|date|keep-alive|transfer-encoding)$/

/** A server may reject a larger head; Node's own limit is about twice as much. */
const LARGEST_HEAD = 8_000

const SHOWN_CHARACTERS = 400

/** A request, the handler's response, and whether the path is the handler's. */
interface Exchange {
  request: RequestData
  expected: ResponseData
  matched: boolean
}

const exchanges = new Map<string, Promise<Exchange[]>>()

/** Returns what hosts with this prefix are tried with. */
function exchangesBelow(prefix: string): Promise<Exchange[]> {
  const known = exchanges.get(prefix) ?? createExchanges(prefix)
  exchanges.set(prefix, known)
  return known
}

async function createExchanges(prefix: string): Promise<Exchange[]> {
  const handler = createConformanceHandler(`${prefix}/api`)
  await handler.refresh()
  const made: Exchange[] = []
  for (const request of await conformanceRequests(handler, prefix)) {
    const { method, target } = request
    const { matched } = await handler.answer({ method, target, header: () => null })
    made.push({ request, matched, expected: await send(handler, request, 'answer') })
  }
  return made
}

function findFaults(
  host: Host,
  { request, expected, matched }: Exchange,
  outcome: Outcome,
): string[] {
  const { method, target } = request
  const isSame = toText(outcome) === toText(expected) && hasRightLength(outcome, expected)
  const mustBeApps = host.scope === 'own' && !matched
  if (isSame && !mustBeApps) return []
  if (isAllowedRejection(request, outcome)) return []
  if (!matched && mayBeApps(host, target, outcome) && !isSame) return []
  const [got, wanted] = [outcome, expected].map((each) => toText(each).slice(0, SHOWN_CHARACTERS))
  return [
    `${method} ${target.slice(0, 100)}: got ${got}\ninstead of ${mustBeApps ? 'the app’s own' : wanted}`,
  ]
}

/** Returns whether the `Content-Length` of `outcome` is that of its body, or for `HEAD` of the body of `GET`. */
function hasRightLength(outcome: Outcome, expected: ResponseData): boolean {
  if (outcome instanceof Error) return false
  const { status, headers } = outcome
  const sent = headers['content-length']
  if (sent === undefined) return true
  const length = expected.headers['content-length'] ?? String(Buffer.byteLength(expected.body))
  return sent === length && status !== 204 && status !== 304
}

/** Returns whether `outcome` is a rejection that a server may send before its handler runs. */
function isAllowedRejection({ method, target, headers }: RequestData, outcome: Outcome): boolean {
  const size = JSON.stringify([target, headers]).length
  // Servers may reject an unknown method.
  if (size <= LARGEST_HEAD && method !== 'FOO') return false
  return outcome instanceof Error || [400, 413, 414, 431, 501].includes(outcome.status)
}

/** Returns whether the app around the handler may respond to `target`, and `outcome` is a harmless error of the app. */
function mayBeApps({ scope, prefix = '' }: Host, target: string, outcome: Outcome): boolean {
  if (scope === 'all' || outcome instanceof Error) return false
  const { status, headers, body } = outcome
  const [path = ''] = target.split('?', 1)
  // Some frameworks reject such a path themselves.
  const isMalformed = !isDecodable(path)
  const isPassedOn = scope === 'own' || isMalformed || !path.startsWith(`${prefix}/api/`)
  const isHarmless =
    !/\bat .+:\d+:\d+/.test(body) &&
    headers['access-control-allow-origin'] === undefined &&
    !/public|max-age/.test(headers['cache-control'] ?? '')
  return isPassedOn && isHarmless && (status === 404 || (status === 400 && isMalformed))
}

function isDecodable(path: string): boolean {
  try {
    return decodeURIComponent(path) !== undefined
  } catch {
    return false
  }
}

function toText(outcome: Outcome): string {
  if (outcome instanceof Error) return String(outcome)
  const headers = Object.entries(outcome.headers)
    .filter(([name]) => !CONNECTION_HEADERS.test(name))
    .map(([name, value]) => `${name}: ${value}`)
  return (
    [outcome.status, ...headers.sort(), '', outcome.body]
      .join('\n')
      // The order of requests differs.
      .replace(/rates; (?:fwd=miss|hit; ttl=\d+)/, 'rates')
      .replace(/("nextAttemptAt":)\d+/g, '$1…')
  )
}
