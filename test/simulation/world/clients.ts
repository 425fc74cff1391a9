import type { DataSet } from '../../faults/fault.ts'
import type { Period } from '../../oracle.ts'
import { DAY, MINUTE, SECOND } from '../../virtual-runtime.ts'
import type { SentRequest } from '../invariants/response-watch.ts'
import { isWithdrawn } from '../invariants/tables.ts'
import type { Watches } from '../invariants/watches.ts'
import type { Fleet, Scene, Server } from './fleet.ts'
import type { Random } from './random.ts'
import { LATEST_CODES, REFERENCE_CODES } from './truth.ts'
import type { Truth } from './truth.ts'
import { bodyInOnePart } from '../../whole-body.ts'

/** Clients that send requests at random times, and in bursts when a refresh is due. */
export function createClients(
  scene: Scene & Truth,
  fleet: Fleet,
  { responses, bounds }: Pick<Watches, 'responses' | 'bounds'>,
) {
  const { loop, random, feed, banks, hosts, requests, startsAt, calmFrom, trace, violate } = scene
  const pending = new Set<SentRequest>()
  let [count, isOver] = [0, false]

  function send(server: Server, request: ClientRequest, signal?: AbortSignal): SentRequest {
    count += 1
    const sent = responses.onRequest(server.process, request)
    pending.add(sent)
    void awaitResponse(server, sent, signal)
    return sent
  }

  async function awaitResponse(server: Server, sent: SentRequest, signal?: AbortSignal) {
    try {
      const response = await exchange(server, sent, signal)
      const { target } = sent.request
      trace.record(
        loop.now(),
        server.process.host,
        target,
        response.status,
        String(bodyInOnePart(response.body)),
      )
      responses.onBody(sent, response)
    } catch (error) {
      violate('I1', `the handler rejects ${sent.request.target}: ${String(error)}`)
    }
    pending.delete(sent)
  }

  async function exchange({ handler }: Server, sent: SentRequest, signal?: AbortSignal) {
    const { method, target, ifNoneMatch } = sent.request
    const headers = new Headers(ifNoneMatch === undefined ? {} : { 'if-none-match': ifNoneMatch })
    if (random.chance(0.95)) {
      const header = (name: string): string | null => headers.get(name)
      const response = await handler.answer({ method, target, header, signal })
      responses.onResponse(sent)
      if (signal) bounds.onResponse(signal)
      return response
    }
    const init = { method, headers, signal: signal ?? null }
    const fetched = await handler(new Request(`http://localhost${target}`, init))
    responses.onResponse(sent)
    const body = fetched.body ? await fetched.text() : null
    return { status: fetched.status, headers: [...fetched.headers], body, matched: true }
  }

  function deliver({ process }: Server, work: () => void): void {
    if (process.pausedUntil > loop.now()) loop.after(0, work, process)
    else work()
  }

  /** Sends a request and aborts it: before, while waiting, or after the response. */
  function sendAndAbort(server: Server, request: ClientRequest): void {
    const controller = new AbortController()
    const wait = random.pick([0, random.between(0, 300), random.between(0, 7 * SECOND)])
    if (wait === 0) controller.abort()
    const sent = send(server, request, controller.signal)
    const giveUp = (): void => {
      sent.abortedAt = loop.now()
      controller.abort()
    }
    if (wait === 0) giveUp()
    else loop.after(wait, giveUp)
  }

  /** Names the first source, in whose place banks would answer. */
  function withSource(request: ClientRequest): ClientRequest {
    if (banks.length === 0 || request.dataSet !== 'history') return request
    return { ...request, target: `${request.target}&source=ecb` }
  }

  function sendAnything(server: Server): void {
    const request = withSource(drawRequest(random))
    if (random.chance(0.04)) sendAndAbort(server, request)
    else send(server, request)
  }

  function keepSending(host: number): void {
    loop.after(random.wait(DAY / requests), () => {
      if (isOver) return
      const server = fleet.servers[host]
      if (server) deliver(server, () => sendAnything(server))
      keepSending(host)
    })
  }

  function burst(): void {
    const due = feed.at(startsAt + loop.now()).nextUpdateAt - startsAt
    const at = Math.max(due - 10 * SECOND, loop.now()) + random.between(0, 6 * MINUTE)
    loop.after(at - loop.now(), () => {
      if (isOver) return
      const server = fleet.servers[random.whole(0, hosts - 1)]
      const requests = Array.from({ length: Math.round(random.magnitude(2, 100)) })
      if (server) deliver(server, () => requests.forEach(() => sendAnything(server)))
      loop.after(random.wait(DAY), burst)
    })
  }

  /** Sends requests after the last fault, often enough to see the recovery. */
  function keepTrying(until: number): void {
    sendToAll()
    if (loop.now() < until) loop.after(MINUTE, () => keepTrying(until))
  }

  function sendToAll(): void {
    for (const server of fleet.servers) {
      if (!server) continue
      deliver(server, () => {
        send(server, plainRequest('latest', random))
        send(server, withSource(plainRequest('history', random)))
      })
    }
  }

  for (const host of fleet.clocks.keys()) keepSending(host)
  burst()
  loop.after(calmFrom, () => keepTrying(calmFrom + 40 * MINUTE))
  return {
    count: () => count,
    pending: () => [...pending].filter(({ process }) => !process.isGone),
    sendToAll,
    stop() {
      isOver = true
    },
  }
}

/** A request, and the permitted responses. */
export interface ClientRequest {
  method: 'GET' | 'HEAD' | 'OPTIONS' | 'POST'
  target: string
  /** The data that the response needs; 502 without them. */
  dataSet?: DataSet
  /** The correct statuses if the data are there. */
  statuses: readonly number[]
  /** Codes that the response needs: 502 without the rate of one, 400 for a code that the feed never had. */
  codes?: readonly string[]
  record?: RequestedRecord
  ifNoneMatch?: string
  /** Whether every response is compared with the truth, not only a sample. */
  isDecisive?: boolean
}

/** The record that a client expects, by upper-case codes. */
export type RequestedRecord =
  | { kind: 'latest'; base: string; symbols?: readonly string[]; isVersioned: boolean }
  | { kind: 'conversion'; from: string; to: string; amount: number; isVersioned: boolean }
  | { kind: 'history'; from: string; to: string; period: Period }
  | { kind: 'status' }

const DOUBTFUL_CODES = ['AED', 'BGN', 'CZK', 'EGP', 'EUR', 'GBP', 'JPY', 'TRY', 'UAH']

function anyCode(random: Random): string {
  return random.pick(random.chance(0.4) ? DOUBTFUL_CODES : LATEST_CODES)
}

const HISTORY_CODES = ['EUR', ...REFERENCE_CODES]
const PERIODS: readonly Period[] = ['1W', '1W', '1W', '1W', '1W', '1M', '1M', '3M', '1Y', '5Y']

const KINDS: readonly [share: number, draw: (random: Random) => ClientRequest][] = [
  [60, conversion],
  [4, (random) => table('/api/v1/latest', random.chance(0.4) ? 'USD' : anyCode(random))],
  [
    10,
    (random) =>
      table(
        '/api/v1/latest',
        anyCode(random),
        [1, 2, 3].map(() => anyCode(random)),
      ),
  ],
  [2, (random) => table('/api/rates', anyCode(random))],
  [10, anyHistory],
  [4, hopeless],
  [2, unanswerable],
  [1, earlierHead],
  [2, revalidation],
  [1, preflight],
  [1, () => ({ ...VALID, target: '/api/v1/status', record: { kind: 'status' } })],
]

const VALID = { method: 'GET', statuses: [200] } as const

function drawRequest(random: Random): ClientRequest {
  const total = KINDS.reduce((sum, [share]) => sum + share, 0)
  let left = random.next() * total
  const [, draw = conversion] = KINDS.find(([share]) => (left -= share) < 0) ?? []
  return draw(random)
}

function plainRequest(dataSet: DataSet, random: Random): ClientRequest {
  const request =
    dataSet === 'latest' ? table('/api/v1/latest', 'USD') : history(random, 'EUR', 'JPY')
  return { ...request, isDecisive: true }
}

function get(dataSet: DataSet, target: string, more: Partial<ClientRequest>): ClientRequest {
  return { ...VALID, target, dataSet, ...more }
}

function conversion(random: Random): ClientRequest {
  const [from, to] = [anyCode(random), anyCode(random)]
  const amount = random.pick([1, 100, 0.1, 12.34, 1e6])
  const isVersioned = random.chance(0.85)
  const path = isVersioned ? '/api/v1/convert' : '/api/convert'
  const written = random.chance(0.1) ? from.toLowerCase() : from
  const record = { kind: 'conversion', from, to, amount, isVersioned } as const
  const target = `${path}?from=${written}&to=${to}&amount=${amount}`
  return get('latest', target, { codes: [from, to], record })
}

function table(path: string, base: string, symbols?: string[]): ClientRequest {
  const isVersioned = path.includes('v1')
  const selected = symbols ? `&symbols=${symbols.join()}` : ''
  const record = { kind: 'latest', base, isVersioned, ...(symbols && { symbols }) } as const
  // A withdrawn currency is left out of a list.
  const codes = [base, ...(symbols ?? []).filter((code) => !isWithdrawn(code))]
  return get('latest', `${path}?base=${base}${selected}`, { codes, record })
}

function anyHistory(random: Random): ClientRequest {
  const from = random.pick(HISTORY_CODES)
  return history(random, from, random.pick(HISTORY_CODES.filter((code) => code !== from)))
}

function history(random: Random, from: string, to: string): ClientRequest {
  const period = random.pick(PERIODS)
  const record = { kind: 'history', from, to, period } as const
  return get('history', `/api/v1/history?from=${from}&to=${to}&period=${period}`, { record })
}

/** Returns a request that is invalid for any data: 400 for its parameters, 404 for its path. */
function hopeless(random: Random): ClientRequest {
  const target = random.pick([
    '/api/v1/convert?from=USD',
    '/api/v1/convert?from=US&to=EUR',
    '/api/v1/convert?from=USD&to=GBP&amount=-1',
    '/api/v1/convert?from=USD&from=EUR&to=GBP',
    '/api/v1/latest?base=',
    '/api/v1/latest?BASE=EUR',
    '/api/v1/latest?symbols=USD,%00%E2%80%AE',
    '/api/v1/history?from=USD&to=GBP&period=1m',
    '/api/v1/nothing',
    '/api/v1/latest/',
    '/elsewhere',
  ])
  return { method: 'GET', target, statuses: [target.includes('?') ? 400 : 404] }
}

/** Returns a well-formed request for a code that the data lack. */
function unanswerable(random: Random): ClientRequest {
  return random.chance(0.5)
    ? get('latest', '/api/v1/convert?from=XTS&to=USD', { statuses: [400] })
    : get('history', '/api/v1/history?from=THB&to=USD', { statuses: [400] })
}

function earlierHead(random: Random): ClientRequest {
  const codes = ['USD', anyCode(random)]
  return { ...get('latest', `/api/convert?from=USD&to=${codes[1]}`, { codes }), method: 'HEAD' }
}

function revalidation(random: Random): ClientRequest {
  const { record: _, ...request } = table('/api/v1/latest', anyCode(random))
  return { ...request, statuses: [304], ifNoneMatch: '*' }
}

function preflight(random: Random): ClientRequest {
  return random.chance(0.5)
    ? { method: 'OPTIONS', target: '/api/v1/latest', statuses: [204] }
    : { method: 'POST', target: '/api/v1/latest', statuses: [405] }
}
