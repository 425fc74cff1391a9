import type { DataSet } from '../../faults/fault.ts'
import type { Period } from '../../oracle.ts'
import { DAY, MINUTE, SECOND } from '../../virtual-runtime.ts'
import { textOf } from '../invariants/response-watch.ts'
import type { SentRequest } from '../invariants/response-watch.ts'
import { isWithdrawn } from '../invariants/tables.ts'
import type { Watches } from '../invariants/watches.ts'
import type { Fleet, Scene, Server } from './fleet.ts'
import type { Random } from './random.ts'
import { LATEST_CODES, REFERENCE_CODES } from './truth.ts'
import type { Truth } from './truth.ts'

export type Clients = ReturnType<typeof createClients>

export function createClients(
  scene: Scene & Truth,
  fleet: Fleet,
  { responses, bounds }: Pick<Watches, 'responses' | 'bounds'>,
) {
  const { loop, random, feed, banks, hosts, requests, startsAt, calmFrom, duration } = scene
  const { trace, violate } = scene
  const pending = new Set<SentRequest>()
  const isOver = (): boolean => loop.now() >= duration
  let count = 0

  function send(server: Server, request: ClientRequest, signal?: AbortSignal): SentRequest {
    count += 1
    const sent = responses.onRequest(server.process, request)
    void track(sent, async () => {
      const { status, body, ...response } = await exchange(server, sent, signal)
      trace.record(loop.now(), server.process.host, request.target, status, textOf(body))
      responses.onBody(sent, { status, body, ...response })
    })
    return sent
  }

  /** Resolves to the result of `work`, for which the client of `sent` waits; undefined if it rejects. */
  async function track<Result>(sent: SentRequest, work: () => Promise<Result>) {
    pending.add(sent)
    try {
      return await work()
    } catch (error) {
      violate('I1', `the handler rejects ${sent.request.target}: ${String(error)}`)
      return undefined
    } finally {
      pending.delete(sent)
    }
  }

  async function exchange({ handler }: Server, sent: SentRequest, signal?: AbortSignal) {
    const { method, target, ifNoneMatch } = sent.request
    const headers = new Headers(ifNoneMatch === undefined ? {} : { 'if-none-match': ifNoneMatch })
    const header = (name: string): string | null => headers.get(name)
    const response = await handler.answer({ method, target, header, signal })
    if (signal) bounds.onResponse(signal)
    return response
  }

  function deliver({ process }: Server, work: () => void): void {
    if (process.pausedUntil > loop.now()) loop.after(0, work, process)
    else work()
  }

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
      if (isOver()) return
      const server = fleet.servers[host]
      if (server) deliver(server, () => sendAnything(server))
      keepSending(host)
    })
  }

  function burst(): void {
    const due = feed.at(startsAt + loop.now()).nextUpdateAt - startsAt
    const at = Math.max(due - 10 * SECOND, loop.now()) + random.between(0, 6 * MINUTE)
    loop.after(at - loop.now(), () => {
      if (isOver()) return
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
    track,
    sendToAll,
  }
}

export interface ClientRequest {
  method: 'GET' | 'HEAD' | 'OPTIONS' | 'POST'
  target: string
  /** The data that the response needs; 502 without them. */
  dataSet?: DataSet
  statuses: readonly number[]
  /** Codes that the response needs: 502 without the rate of one, 400 for a code that the feed never had. */
  codes?: readonly string[]
  record?: RequestedRecord | undefined
  ifNoneMatch?: string
  /** Whether it may take long, without data that it needs. */
  mayWait?: boolean
  /** Whether every response is compared with the truth, not only a sample. */
  isDecisive?: boolean
}

export type RequestedRecord =
  | { kind: 'latest'; base: string; symbols?: readonly string[] }
  | { kind: 'conversion'; from: string; to: string; amount: number }
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
  [6, (random) => table(random.chance(0.4) ? 'USD' : anyCode(random))],
  [
    10,
    (random) =>
      table(
        anyCode(random),
        Array.from('123', () => anyCode(random)),
      ),
  ],
  [10, anyHistory],
  [4, hopeless],
  [2, unanswerable],
  [1, (random) => ({ ...conversion(random), method: 'HEAD', record: undefined })],
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
  const request = dataSet === 'latest' ? table('USD') : history(random, 'EUR', 'JPY')
  return { ...request, isDecisive: true }
}

function get(dataSet: DataSet, target: string, more: Partial<ClientRequest>): ClientRequest {
  return { ...VALID, target, dataSet, ...more }
}

function conversion(random: Random): ClientRequest {
  const [from, to] = [anyCode(random), anyCode(random)]
  const amount = random.pick([1, 100, 0.1, 12.34, 1e6])
  const written = random.chance(0.1) ? from.toLowerCase() : from
  const record = { kind: 'conversion', from, to, amount } as const
  const target = `/api/v1/convert?from=${written}&to=${to}&amount=${amount}`
  return get('latest', target, { codes: [from, to], record })
}

function table(base: string, symbols?: string[]): ClientRequest {
  const selected = symbols ? `&symbols=${symbols.join()}` : ''
  const record = { kind: 'latest', base, ...(symbols && { symbols }) } as const
  // A withdrawn currency is left out of a list.
  const codes = [base, ...(symbols ?? []).filter((code) => !isWithdrawn(code))]
  return get('latest', `/api/v1/latest?base=${base}${selected}`, { codes, record })
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

function hopeless(random: Random): ClientRequest {
  const target = random.pick([
    '/api/v1/convert?from=US&to=EUR',
    '/api/v1/latest?BASE=EUR',
    '/api/v1/history?from=USD&to=GBP&period=1m',
    '/api/v1/nothing',
  ])
  return { method: 'GET', target, statuses: [target.includes('?') ? 400 : 404] }
}

function unanswerable(random: Random): ClientRequest {
  return random.chance(0.5)
    ? get('latest', '/api/v1/convert?from=XTS&to=USD', { statuses: [400] })
    : get('history', '/api/v1/history?from=THB&to=USD', { statuses: [400] })
}

function revalidation(random: Random): ClientRequest {
  const { record: _, ...request } = table(anyCode(random))
  return { ...request, statuses: [304], ifNoneMatch: '*' }
}

function preflight(random: Random): ClientRequest {
  return random.chance(0.5)
    ? { method: 'OPTIONS', target: '/api/v1/latest', statuses: [204] }
    : { method: 'POST', target: '/api/v1/latest', statuses: [405] }
}
