// Asks servers so many questions a second, whether they keep up or not, and checks every answer. Prints a `LoadLine` every
// quarter of a second.
import { Pool } from 'undici'

import { fakeProviders } from '../../src/testing/index.ts'
import { entries, expand } from '../../test/catalogue/catalogue.ts'
import { settingsFromParent, tellParent } from '../../test/system/child.ts'
import { pick } from '../../test/system/pick.ts'
import { START } from './turning-clock.ts'

/** The load. */
export interface LoadSettings {
  /** Asked in turns. */
  urls: string[]
  /** Questions a second. */
  rate: number
  /** Share of questions whose client leaves before the answer (default 0). */
  aborted?: number
  /** Share of questions from the catalogue of bad inputs (default 0). */
  hostile?: number
}

/** What came of the answers of the last quarter of a second. */
export interface LoadLine {
  /** When each question was to be asked, in ms since the Unix epoch, and after how many ms its answer was there. */
  answers: [at: number, latency: number][]
  /** Answers by status. */
  statuses: Record<string, number>
  /** What was wrong, the first few. */
  wrong: string[]
}

/** Any answer, as far as it is looked at. */
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

interface Question {
  method: 'GET' | 'HEAD' | 'OPTIONS' | 'POST' | 'PUT' | 'DELETE' | 'PATCH'
  path: string
  /** What is wrong with an answer, if anything. Absent where any answer will do that is no failure of the server. */
  fault?(body: Body): string | undefined
}

const CODES =
  'USD EUR GBP JPY CHF AUD CAD SEK NOK DKK PLN CZK HUF RON TRY ZAR INR CNY KRW BRL MXN NZD SGD HKD'.split(
    ' ',
  )
const CONNECTIONS = 64
const LINE_EVERY = 250
/** In the catalogue are requests longer than a server reads. */
const LONGEST_PATH = 4_000
const DAY = 86_400_000
/** Upstream's table moves by less, to differ from one turn to the next. */
const TOLERANCE = 1e-3

const settings: LoadSettings = JSON.parse(settingsFromParent())
const { urls, rate, aborted = 0, hostile = 0 } = settings
const pools = urls.map((url) => new Pool(url, { connections: CONNECTIONS }))
/** The rates of both upstreams, of days far beyond the end of a load. */
const market = fakeProviders({ seed: 1 })
const context = (now: number) => ({ fetch, signal: new AbortController().signal, now: () => now })
const end = START + 400 * DAY
const { rates: table } = await market.latest.fetchLatest(context(START))
const { days } = await market.history.fetchHistory(
  { start: dayOf(START - 60 * DAY), end: dayOf(end) },
  context(end),
)
const referenceRates = new Map(days.map(({ date, rates }) => [date, { EUR: 1, ...rates }]))
const badInputs = catalogueQuestions()

let line = emptyLine()
setInterval(() => {
  tellParent(line)
  line = emptyLine()
}, LINE_EVERY)

const startedAt = performance.now()
const startedOn = Date.now()
let asked = 0
// On an interval that fires late more questions are due at once: a slow server is not spared.
setInterval(() => {
  const due = ((performance.now() - startedAt) * rate) / 1_000
  for (; asked < due; asked += 1) void ask(asked)
}, 1)

function emptyLine(): LoadLine {
  return { answers: [], statuses: {}, wrong: [] }
}

async function ask(number: number): Promise<void> {
  const dueAt = startedAt + (number * 1_000) / rate
  const question = Math.random() < hostile ? pick(badInputs) : goodQuestion(number)
  const leaving = Math.random() < aborted ? leaveSoon() : undefined
  try {
    const pool = pick(pools, number)
    const { method, path } = question
    const { statusCode, body } = await pool.request({ method, path, signal: leaving ?? null })
    const text = await body.text()
    const latency = performance.now() - dueAt
    line.answers.push([Math.round(startedOn + dueAt - startedAt), Math.round(latency * 100) / 100])
    line.statuses[statusCode] = (line.statuses[statusCode] ?? 0) + 1
    const fault = faultOf(question, statusCode, text)
    if (fault !== undefined) tell(`${path}: ${fault}`)
  } catch (error) {
    if (!leaving?.aborted) tell(`${question.path}: ${String(error)}`)
  }
}

function faultOf(question: Question, status: number, text: string): string | undefined {
  if (!question.fault) return status >= 500 ? `status ${status}` : undefined
  if (status !== 200) return `status ${status}: ${text.slice(0, 200)}`
  const body: Body = JSON.parse(text)
  const fault = question.fault(body)
  return fault === undefined ? undefined : `${fault}: ${text.slice(0, 200)}`
}

function tell(fault: string): void {
  if (line.wrong.length < 10) line.wrong.push(fault)
}

function leaveSoon(): AbortSignal {
  const controller = new AbortController()
  setTimeout(() => controller.abort(), Math.random() * 3)
  return controller.signal
}

function goodQuestion(number: number): Question {
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

function latest(path: string, base: string, symbols: string[] = ['USD', 'EUR', base]): Question {
  return {
    method: 'GET',
    path,
    fault(body) {
      if (body.base !== base) return 'another base'
      const { rates = {} } = body
      if (!symbols.every((code) => isRate(table, [base, code], rates[code]))) return 'another rate'
      return undefined
    },
  }
}

function conversion(path: string, [from, to]: [string, string], amount: number): Question {
  return {
    method: 'GET',
    path,
    fault(body) {
      if (body.from !== from || body.to !== to || body.amount !== amount) return 'another question'
      if (!isRate(table, [from, to], body.rate)) return 'another rate'
      const result = amount * Number(body.rate)
      const isProduct = Math.abs(Number(body.result) - result) <= 1e-12 * result
      return isProduct ? undefined : 'not the product'
    },
  }
}

function history(path: string, from: string, to: string): Question {
  return {
    method: 'GET',
    path,
    fault(body) {
      const { points = [], stats } = body
      if (body.from !== from || body.to !== to) return 'another question'
      const last = points.at(-1)
      if (!last || points.length < 15 || last.r !== stats?.close) return 'no whole month'
      const rates: Record<string, number> = referenceRates.get(last.d) ?? {}
      return isRate(rates, [from, to], last.r) ? undefined : 'another rate'
    },
  }
}

/** Whether `rate` is what `rates` make of a pair. */
function isRate(rates: Record<string, number>, [from, to]: [string, string], rate = NaN): boolean {
  const truth = Number(rates[to]) / Number(rates[from])
  return Math.abs(rate / truth - 1) < TOLERANCE
}

function dayOf(instant: number): string {
  return new Date(instant).toISOString().slice(0, 10)
}

function catalogueQuestions(): Question[] {
  const questions: Question[] = []
  for (const { method, target, headers, door } of entries) {
    const path = expand(target)
    const isSent = door === undefined && isMethod(method) && path.length < LONGEST_PATH
    if (!isSent || headers || !/^\/[!-~]*$/.test(path)) continue
    questions.push({ method, path })
  }
  return questions
}

function isMethod(method: string): method is Question['method'] {
  return ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'DELETE', 'PATCH'].includes(method)
}
