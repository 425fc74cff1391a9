import type { RawResponse } from '../../../src/index.ts'
import type { DataSet } from '../../faults/fault.ts'
import type { Period } from '../../oracle.ts'
import { DAY, MINUTE, SECOND } from '../../virtual-runtime.ts'
import { isWithdrawn } from '../invariants/tables.ts'
import type { Asked } from '../invariants/answer-watch.ts'
import type { Watches } from '../invariants/watches.ts'
import type { Fleet, Scene, Server } from './fleet.ts'
import type { Random } from './random.ts'
import { LATEST_CODES, REFERENCE_CODES } from './truth.ts'
import type { Truth } from './truth.ts'

/** Clients that ask at random times all the time, and in bursts when a refresh is due. */
export function createClients(
  scene: Scene & Truth,
  fleet: Fleet,
  { answers, bounds }: Pick<Watches, 'answers' | 'bounds'>,
) {
  const { loop, random, feed, hosts, requests, startsAt, calmFrom, trace, violate } = scene
  const pending = new Set<Asked>()
  let [count, isOver] = [0, false]

  function ask(server: Server, question: Question, signal?: AbortSignal): Asked {
    count += 1
    const asked = answers.ask(server.process, question)
    pending.add(asked)
    void awaitAnswer(server, asked, signal)
    return asked
  }

  async function awaitAnswer(server: Server, asked: Asked, signal?: AbortSignal): Promise<void> {
    try {
      const answer = await send(server, asked, signal)
      const { target } = asked.question
      trace.record(loop.now(), server.process.host, target, answer.status, String(answer.body))
      answers.answered(asked, answer)
    } catch (error) {
      violate('I1', `${asked.question.target} makes the handler reject: ${String(error)}`)
    }
    pending.delete(asked)
  }

  async function send(
    { handler }: Server,
    asked: Asked,
    signal?: AbortSignal,
  ): Promise<RawResponse> {
    const { method, target, ifNoneMatch } = asked.question
    const headers = new Headers(ifNoneMatch === undefined ? {} : { 'if-none-match': ifNoneMatch })
    if (random.chance(0.95)) {
      const header = (name: string): string | null => headers.get(name)
      const answer = await handler.answer({ method, target, header, signal })
      answers.given(asked)
      if (signal) bounds.answered(signal)
      return answer
    }
    const init = { method, headers, signal: signal ?? null }
    const response = await handler(new Request(`http://localhost${target}`, init))
    answers.given(asked)
    const body = response.body ? await response.text() : null
    return { status: response.status, headers: [...response.headers], body, matched: true }
  }

  /** What comes to a paused process waits until it goes on. */
  function deliver({ process }: Server, work: () => void): void {
    if (process.pausedUntil > loop.now()) loop.after(0, work, process)
    else work()
  }

  /** Asks and gives up: before, while waiting, or after the answer. */
  function askAndAbort(server: Server, question: Question): void {
    const controller = new AbortController()
    const wait = random.pick([0, random.between(0, 300), random.between(0, 7 * SECOND)])
    if (wait === 0) controller.abort()
    const asked = ask(server, question, controller.signal)
    const giveUp = (): void => {
      asked.abortedAt = loop.now()
      controller.abort()
    }
    if (wait === 0) giveUp()
    else loop.after(wait, giveUp)
  }

  function askAnything(server: Server): void {
    const question = drawQuestion(random)
    if (random.chance(0.04)) askAndAbort(server, question)
    else ask(server, question)
  }

  /** At one host, as a Poisson process. */
  function keepAsking(host: number): void {
    loop.after(random.wait(DAY / requests), () => {
      if (isOver) return
      const server = fleet.servers[host]
      if (server) deliver(server, () => askAnything(server))
      keepAsking(host)
    })
  }

  /** Many at once when the next table is due. */
  function burst(): void {
    const due = feed.nextAnnounced(startsAt + loop.now()) - startsAt
    const at = Math.max(due - 10 * SECOND, loop.now()) + random.between(0, 6 * MINUTE)
    loop.after(at - loop.now(), () => {
      if (isOver) return
      const server = fleet.servers[random.whole(0, hosts - 1)]
      const size = Math.round(random.magnitude(2, 100))
      const askOften = (server: Server): void => {
        for (let asked = 0; asked < size; asked += 1) askAnything(server)
      }
      if (server) deliver(server, () => askOften(server))
      loop.after(random.wait(DAY), burst)
    })
  }

  /** When the faults have ended, often enough to see that all is well soon. */
  function keepTrying(until: number): void {
    askEverybody()
    if (loop.now() < until) loop.after(MINUTE, () => keepTrying(until))
  }

  /** Puts a question for each data set to every server. */
  function askEverybody(): void {
    for (const server of fleet.servers) {
      if (!server) continue
      deliver(server, () => {
        ask(server, plainQuestion('latest', random))
        ask(server, plainQuestion('history', random))
      })
    }
  }

  for (const host of fleet.clocks.keys()) keepAsking(host)
  burst()
  loop.after(calmFrom, () => keepTrying(calmFrom + 40 * MINUTE))
  return {
    count: () => count,
    /** The questions that have not been answered yet, by processes that still are. */
    pending: () => [...pending].filter(({ process }) => !process.isGone),
    askEverybody,
    stop() {
      isOver = true
    },
  }
}

/** What a client asks, and what may be answered. */
export interface Question {
  method: 'GET' | 'HEAD' | 'OPTIONS' | 'POST'
  /** Path and query. */
  target: string
  /** The data that it takes to answer; without them it is 502. */
  dataSet?: DataSet
  /** The statuses that are right where there are data. */
  statuses: readonly number[]
  /** The codes whose latest rates the answer needs: 502 without one of them, or 400 where the feed never had it. */
  codes?: readonly string[]
  record?: RecordAsked
  ifNoneMatch?: string
  /** Whether the answer is always compared with the truth, not only in samples. */
  isDecisive?: boolean
}

/** A record that a client asks for, by upper-case codes. */
export type RecordAsked =
  | { kind: 'latest'; base: string; symbols?: readonly string[]; isVersioned: boolean }
  | { kind: 'conversion'; from: string; to: string; amount: number; isVersioned: boolean }
  | { kind: 'history'; from: string; to: string; period: Period }
  | { kind: 'status' }

/** Codes that faults are about. */
const DOUBTFUL_CODES = ['AED', 'BGN', 'CZK', 'EGP', 'EUR', 'GBP', 'JPY', 'TRY', 'UAH']

function anyCode(random: Random): string {
  return random.pick(random.chance(0.4) ? DOUBTFUL_CODES : LATEST_CODES)
}

const HISTORY_CODES = ['EUR', ...REFERENCE_CODES]
const PERIODS: readonly Period[] = ['1W', '1W', '1W', '1W', '1W', '1M', '1M', '3M', '1Y', '5Y']

/** Questions with their shares. */
const KINDS: readonly [share: number, draw: (random: Random) => Question][] = [
  [60, conversion],
  [4, latest],
  [10, selection],
  [2, earlierTable],
  [10, anyHistory],
  [4, hopeless],
  [2, unanswerable],
  [1, earlierHead],
  [2, revalidation],
  [1, preflight],
  [1, status],
]

function drawQuestion(random: Random): Question {
  const total = KINDS.reduce((sum, [share]) => sum + share, 0)
  let left = random.next() * total
  const [, draw = conversion] = KINDS.find(([share]) => (left -= share) < 0) ?? []
  return draw(random)
}

/** A question that takes the data of `latest` or `history`, and is sure to be answered where they are there. */
function plainQuestion(dataSet: 'latest' | 'history', random: Random): Question {
  const question =
    dataSet === 'latest' ? table('/api/v1/latest', 'USD') : history(random, 'EUR', 'JPY')
  return { ...question, isDecisive: true }
}

function get(dataSet: DataSet, target: string, more: Partial<Question>): Question {
  return { method: 'GET', target, dataSet, statuses: [200], ...more }
}

function conversion(random: Random): Question {
  const [from, to] = [anyCode(random), anyCode(random)]
  const amount = random.pick([1, 100, 0.1, 12.34, 1e6])
  const isVersioned = random.chance(0.85)
  const path = isVersioned ? '/api/v1/convert' : '/api/convert'
  const written = random.chance(0.1) ? from.toLowerCase() : from
  const record = { kind: 'conversion', from, to, amount, isVersioned } as const
  const target = `${path}?from=${written}&to=${to}&amount=${amount}`
  return get('latest', target, { codes: [from, to], record })
}

function latest(random: Random): Question {
  return table('/api/v1/latest', random.chance(0.4) ? 'USD' : anyCode(random))
}

function earlierTable(random: Random): Question {
  return table('/api/rates', anyCode(random))
}

function selection(random: Random): Question {
  return table(
    '/api/v1/latest',
    anyCode(random),
    [1, 2, 3].map(() => anyCode(random)),
  )
}

function table(path: string, base: string, symbols?: string[]): Question {
  const isVersioned = path.includes('v1')
  const selected = symbols ? `&symbols=${symbols.join()}` : ''
  const record = { kind: 'latest', base, isVersioned, ...(symbols && { symbols }) } as const
  // A withdrawn currency is left out of a list.
  const codes = [base, ...(symbols ?? []).filter((code) => !isWithdrawn(code))]
  return get('latest', `${path}?base=${base}${selected}`, { codes, record })
}

function anyHistory(random: Random): Question {
  const from = random.pick(HISTORY_CODES)
  return history(random, from, random.pick(HISTORY_CODES.filter((code) => code !== from)))
}

function history(random: Random, from: string, to: string): Question {
  const period = random.pick(PERIODS)
  const record = { kind: 'history', from, to, period } as const
  return get('history', `/api/v1/history?from=${from}&to=${to}&period=${period}`, { record })
}

/** Wrong for any data: parameters are refused with 400, paths that nobody knows with 404. */
function hopeless(random: Random): Question {
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

/** Well-formed, but not in the data. */
function unanswerable(random: Random): Question {
  return random.chance(0.5)
    ? get('latest', '/api/v1/convert?from=XTS&to=USD', { statuses: [400] })
    : get('history', '/api/v1/history?from=THB&to=USD', { statuses: [400] })
}

function earlierHead(random: Random): Question {
  const to = anyCode(random)
  return {
    ...get('latest', `/api/convert?from=USD&to=${to}`, { codes: ['USD', to] }),
    method: 'HEAD',
  }
}

function revalidation(random: Random): Question {
  const base = anyCode(random)
  const target = `/api/v1/latest?base=${base}`
  return get('latest', target, { codes: [base], statuses: [304], ifNoneMatch: '*' })
}

function preflight(random: Random): Question {
  return random.chance(0.5)
    ? { method: 'OPTIONS', target: '/api/v1/latest', statuses: [204] }
    : { method: 'POST', target: '/api/v1/latest', statuses: [405] }
}

function status(): Question {
  const record = { kind: 'status' } as const
  return { method: 'GET', target: '/api/v1/status', statuses: [200], record }
}
