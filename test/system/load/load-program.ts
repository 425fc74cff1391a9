// Sends a fixed number of requests per second, regardless of the servers' speed, and checks every response.
import { Pool } from 'undici'

import { fakeProviders } from '../../../src/testing/index.ts'
import { entries, expand } from '../../catalogue/catalogue.ts'
import { toDay } from '../../fixtures/dates.ts'
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

const METHODS = ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'DELETE', 'PATCH'] as const

interface CheckedRequest {
  method: (typeof METHODS)[number]
  path: string
  /** Returns what is wrong with a response. Absent if every response except a server error is fine. */
  problem?(body: Body): string | undefined
}

const CODES = 'USD EUR GBP JPY CHF AUD CAD SEK NOK DKK PLN CZK HUF RON TRY ZAR INR CNY KRW'.split(
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
const { rates: table } = await market.latest.fetchLatest(context(START))
const { days } = await market.history.fetchHistory(
  { start: toDay(START - 60 * DAY), end: toDay(START + 400 * DAY) },
  context(START + 400 * DAY),
)
const referenceRates = new Map(days.map(({ date, rates }) => [date, { EUR: 1, ...rates }]))
const badInputs = catalogueRequests()

const emptyLine = (): LoadLine => ({ responses: [], statuses: {}, wrong: [] })
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

async function send(number: number): Promise<void> {
  const dueAt = startedAt + (number * 1_000) / rate
  const request = Math.random() < hostile ? pick(badInputs) : goodRequest(number)
  const abortSignal =
    Math.random() < aborted ? AbortSignal.timeout(Math.floor(4 * Math.random())) : undefined
  try {
    const pool = pick(pools, number)
    const { method, path } = request
    const { statusCode, body } = await pool.request({ method, path, signal: abortSignal ?? null })
    const text = await body.text()
    line.responses.push([startedOn + dueAt - startedAt, performance.now() - dueAt])
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

function goodRequest(number: number): CheckedRequest {
  const from = pick(CODES, number)
  const to = pick(CODES, number * 5 + 7)
  const other = pick(CODES, number * 7 + 11)
  const kind = number % 8
  if (kind === 0) return latest(`/api/v1/latest?base=${from}`, from)
  if (kind === 1) return latest(`/api/rates?base=${from}`, from)
  if (kind === 2)
    return latest(`/api/v1/latest?base=${from}&symbols=${to},${other}`, from, [to, other])
  return kind < 5 ? history(from, to) : conversion(from, to, (number % 1_000) + 0.25)
}

function latest(path: string, base: string, symbols = ['USD', 'EUR', base]): CheckedRequest {
  const problem = ({ base: found, rates = {} }: Body): string | undefined => {
    if (found !== base) return 'another base'
    const isRight = symbols.every((code) => isRate(table, [base, code], rates[code]))
    return isRight ? undefined : 'another rate'
  }
  return { method: 'GET', path, problem }
}

function conversion(from: string, to: string, amount: number): CheckedRequest {
  const problem = (body: Body): string | undefined => {
    if (body.from !== from || body.to !== to || body.amount !== amount) return 'another request'
    if (!isRate(table, [from, to], body.rate)) return 'another rate'
    const result = amount * Number(body.rate)
    const isProduct = Math.abs(Number(body.result) - result) <= 1e-12 * result
    return isProduct ? undefined : 'result is not amount × rate'
  }
  const path = `/api/v1/convert?from=${from}&to=${to}&amount=${amount}`
  return { method: 'GET', path, problem }
}

function history(from: string, to: string): CheckedRequest {
  const problem = ({ points = [], stats, ...body }: Body): string | undefined => {
    if (body.from !== from || body.to !== to) return 'another request'
    const last = points.at(-1)
    if (!last || points.length < 15 || last.r !== stats?.close) return 'not a whole month'
    const rates: Record<string, number> = referenceRates.get(last.d) ?? {}
    return isRate(rates, [from, to], last.r) ? undefined : 'another rate'
  }
  return { method: 'GET', path: `/api/v1/history?from=${from}&to=${to}&period=1M`, problem }
}

function isRate(rates: Record<string, number>, [from, to]: [string, string], rate = NaN): boolean {
  const truth = Number(rates[to]) / Number(rates[from])
  return Math.abs(rate / truth - 1) < TOLERANCE
}

function catalogueRequests(): CheckedRequest[] {
  return entries.flatMap(({ method: name, target, headers, door }) => {
    const method = METHODS.find((each) => each === name)
    const path = expand(target)
    const isSent = door === undefined && !headers && path.length < MAX_PATH_LENGTH
    return method && isSent && /^\/[!-~]*$/.test(path) ? [{ method, path }] : []
  })
}
