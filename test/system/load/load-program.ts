// Sends a fixed number of requests per second, regardless of the servers' speed, and checks every response. Prints a
// `LoadLine` every quarter of a second.
import { Pool } from 'undici'

import { fakeProviders } from '../../../src/testing/index.ts'
import { entries, expand } from '../../catalogue/catalogue.ts'
import { reportToParent, settingsFromParent } from '../child.ts'
import { pick } from '../pick.ts'
import type { LoadLine, LoadSettings } from './load.ts'
import { START } from './loopback-upstream.ts'

interface Body {
  base?: string
  from?: string
  to?: string
  amount?: number
  rate?: number
  result?: number
  rates?: Record<string, number>
  points?: { d: string; r: number }[]
  stats?: { close: number }
}

interface CheckedRequest {
  method: 'GET' | 'HEAD' | 'OPTIONS' | 'POST' | 'PUT' | 'DELETE' | 'PATCH'
  path: string
  /** Returns what is wrong with a response. Absent if every response except a server error is fine. */
  problem?(body: Body): string | undefined
}

const CODES =
  'USD EUR GBP JPY CHF AUD CAD SEK NOK DKK PLN CZK HUF RON TRY ZAR INR CNY KRW BRL MXN NZD SGD HKD'.split(
    ' ',
  )
const CONNECTIONS = 64
const LINE_INTERVAL_MS = 250
/** The catalogue contains requests that are longer than a server reads. */
const MAX_PATH_LENGTH = 4_000
const DAY = 86_400_000
/** More than the difference between two tables of the upstream. */
const TOLERANCE = 1e-3

const settings: LoadSettings = JSON.parse(settingsFromParent())
const { urls, rate, aborted = 0, hostile = 0 } = settings
const pools = urls.map((url) => new Pool(url, { connections: CONNECTIONS }))
/** The rates of both upstreams, for days far beyond the end of a load. */
const market = fakeProviders({ seed: 1 })
const context = (now: number) => ({ fetch, signal: new AbortController().signal, now: () => now })
const end = START + 400 * DAY
const { rates: table } = await market.latest.fetchLatest(context(START))
const { days } = await market.history.fetchHistory(
  { start: dayOf(START - 60 * DAY), end: dayOf(end) },
  context(end),
)
const referenceRates = new Map(days.map(({ date, rates }) => [date, { EUR: 1, ...rates }]))
const badInputs = catalogueRequests()

let line = emptyLine()
setInterval(() => {
  reportToParent(line)
  line = emptyLine()
}, LINE_INTERVAL_MS)

const startedAt = performance.now()
const startedOn = Date.now()
let sent = 0
// A late interval sends all requests that are due: a slow server gets no less load.
setInterval(() => {
  const due = ((performance.now() - startedAt) * rate) / 1_000
  for (; sent < due; sent += 1) void send(sent)
}, 1)

function emptyLine(): LoadLine {
  return { responses: [], statuses: {}, wrong: [] }
}

async function send(number: number): Promise<void> {
  const dueAt = startedAt + (number * 1_000) / rate
  const request = Math.random() < hostile ? pick(badInputs) : goodRequest(number)
  const abortSignal = Math.random() < aborted ? abortSoon() : undefined
  try {
    const pool = pick(pools, number)
    const { method, path } = request
    const { statusCode, body } = await pool.request({ method, path, signal: abortSignal ?? null })
    const text = await body.text()
    const latency = performance.now() - dueAt
    line.responses.push([
      Math.round(startedOn + dueAt - startedAt),
      Math.round(latency * 100) / 100,
    ])
    line.statuses[statusCode] = (line.statuses[statusCode] ?? 0) + 1
    const problem = problemOf(request, statusCode, text)
    if (problem !== undefined) reportProblem(`${path}: ${problem}`)
  } catch (error) {
    if (!abortSignal?.aborted) reportProblem(`${request.path}: ${String(error)}`)
  }
}

function problemOf(request: CheckedRequest, status: number, text: string): string | undefined {
  if (!request.problem) return status >= 500 ? `status ${status}` : undefined
  if (status !== 200) return `status ${status}: ${text.slice(0, 200)}`
  const body: Body = JSON.parse(text)
  const problem = request.problem(body)
  return problem === undefined ? undefined : `${problem}: ${text.slice(0, 200)}`
}

function reportProblem(problem: string): void {
  if (line.wrong.length < 10) line.wrong.push(problem)
}

function abortSoon(): AbortSignal {
  const controller = new AbortController()
  setTimeout(() => controller.abort(), Math.random() * 3)
  return controller.signal
}

function goodRequest(number: number): CheckedRequest {
  const from = pick(CODES, number)
  const to = pick(CODES, number * 5 + 7)
  const other = pick(CODES, number * 7 + 11)
  const amount = (number % 1_000) + 0.25
  switch (number % 8) {
    case 0:
      return latest(`/api/v1/latest?base=${from}`, from)
    case 1:
      return latest(`/api/rates?base=${from}`, from)
    case 2:
    case 3:
      return history(`/api/v1/history?from=${from}&to=${to}&period=1M`, from, to)
    case 4:
      return latest(`/api/v1/latest?base=${from}&symbols=${to},${other}`, from, [to, other])
    default:
      return conversion(
        `/api/v1/convert?from=${from}&to=${to}&amount=${amount}`,
        [from, to],
        amount,
      )
  }
}

function latest(
  path: string,
  base: string,
  symbols: string[] = ['USD', 'EUR', base],
): CheckedRequest {
  return {
    method: 'GET',
    path,
    problem(body) {
      if (body.base !== base) return 'another base'
      const { rates = {} } = body
      if (!symbols.every((code) => isRate(table, [base, code], rates[code]))) return 'another rate'
      return undefined
    },
  }
}

function conversion(path: string, [from, to]: [string, string], amount: number): CheckedRequest {
  return {
    method: 'GET',
    path,
    problem(body) {
      if (body.from !== from || body.to !== to || body.amount !== amount) return 'another request'
      if (!isRate(table, [from, to], body.rate)) return 'another rate'
      const result = amount * Number(body.rate)
      const isProduct = Math.abs(Number(body.result) - result) <= 1e-12 * result
      return isProduct ? undefined : 'result is not amount × rate'
    },
  }
}

function history(path: string, from: string, to: string): CheckedRequest {
  return {
    method: 'GET',
    path,
    problem(body) {
      const { points = [], stats } = body
      if (body.from !== from || body.to !== to) return 'another request'
      const last = points.at(-1)
      if (!last || points.length < 15 || last.r !== stats?.close) return 'not a whole month'
      const rates: Record<string, number> = referenceRates.get(last.d) ?? {}
      return isRate(rates, [from, to], last.r) ? undefined : 'another rate'
    },
  }
}

function isRate(rates: Record<string, number>, [from, to]: [string, string], rate = NaN): boolean {
  const truth = Number(rates[to]) / Number(rates[from])
  return Math.abs(rate / truth - 1) < TOLERANCE
}

function dayOf(instant: number): string {
  return new Date(instant).toISOString().slice(0, 10)
}

function catalogueRequests(): CheckedRequest[] {
  const requests: CheckedRequest[] = []
  for (const { method, target, headers, door } of entries) {
    const path = expand(target)
    const isSent = door === undefined && isMethod(method) && path.length < MAX_PATH_LENGTH
    if (!isSent || headers || !/^\/[!-~]*$/.test(path)) continue
    requests.push({ method, path })
  }
  return requests
}

function isMethod(method: string): method is CheckedRequest['method'] {
  return ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'DELETE', 'PATCH'].includes(method)
}
