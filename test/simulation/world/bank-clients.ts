import type { RawResponse } from '../../../src/index.ts'
import { addDays } from '../../fixtures/dates.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../../virtual-runtime.ts'
import { textOf } from '../invariants/response-watch.ts'
import type { SentRequest } from '../invariants/response-watch.ts'
import type { Watches } from '../invariants/watches.ts'
import type { Bank, Banks, Trouble } from './banks.ts'
import type { Clients } from './clients.ts'
import type { Fleet, Scene, Server } from './fleet.ts'
import type { Process } from './machine.ts'
import type { Random } from './random.ts'
import type { SimStore } from './store.ts'

/** A request for old rates of a bank: of one day, of all currencies of a day, or of a range. */
interface BankQuestion {
  kind: 'day' | 'table' | 'history'
  bank: Bank
  from: string
  to: string
  start: string
  end: string
  isSourced: boolean
  isHopeless?: boolean
}

const QUESTIONS = 10

/** Clients that ask old dates, long histories and many rows of banks, and strangers that ask failing pieces and many days. */
export function createBankClients(
  scene: Scene,
  { banks, fleet, simStore }: { banks: Banks; fleet: Fleet; simStore: SimStore },
  { track }: Clients,
  responses: Watches['responses'],
) {
  const { loop, random, hosts, trace } = scene
  const watch = createBankWatch(scene, banks, simStore)
  const isOver = (): boolean => loop.now() >= scene.duration

  function serverNow(): Server | undefined {
    const server = fleet.servers[random.whole(0, hosts - 1)]
    return server && server.process.pausedUntil <= loop.now() ? server : undefined
  }

  /** Returns when to ask again, in ms of virtual time; `undefined` after an answer. */
  async function ask(server: Server, question: BankQuestion): Promise<number | undefined> {
    const request = { method: 'GET', target: targetOf(question), header: () => null } as const
    const statuses = [200, 404, 502, ...(question.isHopeless ? [400] : [])]
    const sent = responses.onRequest(server.process, { ...request, statuses, mayWait: true })
    const response = await track(sent, async () => server.handler.answer(request))
    if (!response) return undefined
    const { status, headers } = response
    trace.record(loop.now(), server.process.host, request.target, status)
    responses.onBody(sent, response)
    watch.onResponse(sent, question, response)
    const retryAfter = headers.find(([name]) => name === 'retry-after')?.[1]
    return status === 502 ? Number(retryAfter) * SECOND : undefined
  }

  async function askRows(server: Server, questions: readonly BankQuestion[]): Promise<void> {
    const rows = questions.map(({ from, to, end, bank, isSourced }) => {
      return { from, to, date: end, ...(isSourced && { source: bank.id }) }
    })
    const target = 'POST /api/v1/convert'
    const sent = responses.onRequest(server.process, { method: 'POST', target, statuses: [200] })
    const results = await track(sent, () => server.handler.rates.convertMany(rows))
    if (!results) return
    trace.record(loop.now(), server.process.host, 'rows', rows.length, JSON.stringify(results))
    for (const [index, question] of questions.entries()) {
      watch.onRow(sent, question, results[index])
    }
  }

  function askPatiently(bank: Bank): void {
    const server = serverNow()
    const question = draw(random, bank, true)
    if (!server || !watch.isServedWell(question, loop.now())) return
    const startedAt = loop.now()
    const again = async (): Promise<void> => {
      const wait = await ask(server, question)
      const isDecided = watch.onPatience({
        server,
        question,
        startedAt,
        isAnswered: wait === undefined,
      })
      if (wait !== undefined && !isDecided && !isOver()) {
        loop.after(wait, () => void again(), server.process)
      }
    }
    void again()
  }

  function askAnything(bank: Bank): void {
    const server = serverNow()
    if (!server) return
    if (random.chance(0.15)) {
      const count = Math.round(random.magnitude(2, 30))
      const any = (): BankQuestion =>
        draw(random, random.chance(0.8) ? bank : random.pick(banks.all), random.chance(0.7), 'day')
      void askRows(server, Array.from({ length: count }, any))
    } else void ask(server, draw(random, bank, random.chance(0.7)))
  }

  function keepAsking(bank: Bank): void {
    loop.after(random.wait(DAY / QUESTIONS), () => {
      if (isOver()) return
      if (random.chance(0.3)) askPatiently(bank)
      else askAnything(bank)
      keepAsking(bank)
    })
  }

  /** A stranger asks for minutes what fails, what the bank does not have, and a different day each time. */
  function keepDisturbing(bank: Bank): void {
    loop.after(random.wait(4 * DAY), () => {
      if (isOver()) return
      const until = loop.now() + random.magnitude(MINUTE, 10 * MINUTE)
      const pause = random.magnitude(SECOND / 2, 20 * SECOND)
      const disturb = (): void => {
        const server = serverNow()
        if (server) void ask(server, disturbing(random, bank))
        if (loop.now() < until && !isOver()) loop.after(random.wait(pause), disturb)
      }
      disturb()
      for (let patient = 0; patient < 4; patient += 1) {
        loop.after(random.between(SECOND, until + HOUR / 4 - loop.now()), () => {
          if (!isOver()) askPatiently(bank)
        })
      }
      keepDisturbing(bank)
    })
  }

  for (const bank of banks.all) {
    keepAsking(bank)
    keepDisturbing(bank)
  }
}

function draw(
  random: Random,
  bank: Bank,
  isSourced: boolean,
  kind: BankQuestion['kind'] = random.pick(['day', 'day', 'day', 'table', 'history', 'history']),
): BankQuestion {
  const from = random.pick(bank.all)
  const to = random.pick(bank.all.filter((code) => code !== from))
  const day = addDays(random.pick(bank.oldDays()), random.whole(0, 3))
  const length = kind === 'history' ? Math.round(random.magnitude(5, 1_000)) : 0
  const start = addDays(day, -length) < bank.since ? bank.since : addDays(day, -length)
  return { kind, bank, from, to, isSourced, start: length === 0 ? day : start, end: day }
}

function disturbing(random: Random, bank: Bank): BankQuestion {
  const question = draw(random, bank, true, bank.form === 'tables' ? 'table' : 'day')
  const failing = bank.failing()
  if (failing && random.chance(0.6)) {
    const of = bank.oldDays().filter((day) => day.startsWith(failing.year))
    const date = of.length > 0 ? random.pick(of) : question.end
    const from = question.to === failing.code ? bank.base : failing.code
    return { ...question, from, start: date, end: date }
  }
  return random.chance(0.2) ? { ...question, kind: 'day', from: 'THB', isHopeless: true } : question
}

function targetOf({ kind, bank, from, to, start, end, isSourced }: BankQuestion): string {
  const source = isSourced ? `&source=${bank.id}` : ''
  if (kind === 'table') return `/api/v1/latest?base=${from}&date=${end}${source}`
  const pair = `from=${from}&to=${to}`
  return kind === 'day'
    ? `/api/v1/convert?${pair}&date=${end}${source}`
    : `/api/v1/history?${pair}&start=${start}&end=${end}${source}`
}

/** The longest wait of a question with all its retries, in ms. */
const PATIENCE = 60 * SECOND

/** How long a fault excuses errors after its last response, in ms: providers may ask for a pause. */
const AFTERMATH = 2 * HOUR

/** How long a piece that lacks days may be served after the last response without them, in ms. */
const RELOAD = 3 * HOUR

/** A rate further from the true one is wrongly scaled. By less, pieces cannot be distinguished. */
const MAX_FACTOR = 3

/** How many days before a date its rates may be, at the least. */
const DAYS_BACK = { daily: 10, monthly: 31, quarterly: 92 }

type Json = Record<string, unknown>

/**
 * Checks the rates of banks. I19: no wrongly scaled rate is served once the process knows the newest days, and no piece
 * without some of its days after a restart, or for hours, once the bank has them again. I20: a question whose pieces the bank
 * serves is answered within a minute, under any load by others.
 */
function createBankWatch({ loop, violate }: Scene, banks: Banks, store: SimStore) {
  const now = loop.now
  const incomplete = new WeakMap<Process, Map<Bank, number[]>>()

  function troublesOf({ bank, from, to, kind }: BankQuestion, start: string, end: string) {
    const isAbout = ({ code }: Trouble): boolean =>
      code === '' || kind === 'table' || code === from || code === to
    return bank.troubles.filter((each) => each.start <= end && each.end >= start && isAbout(each))
  }

  function requireRate(
    { process, request }: SentRequest,
    question: BankQuestion,
    { day, from, to, rate }: { day: string; from: string; to: string; rate: unknown },
  ): void {
    const { bank } = question
    const expected = bank.isPublished(day)
      ? bank
          .published(day, to)
          .flatMap((one) => bank.published(day, from).map((other) => one / other))
      : []
    if (typeof rate !== 'number' || expected.length === 0) {
      return violate('I3', `${request.target}: ${bank.name} has no rate ${String(rate)} on ${day}`)
    }
    if (expected.some((each) => Math.abs(rate - each) <= 1e-8 * each)) return
    const [truth = NaN] = expected
    const wrong = `${request.target} of ${bank.name}: ${from} was ${truth} ${to} on ${day}, not ${rate}`
    const cause = troublesOf({ ...question, from, to }, day, day).findLast(
      ({ kind }) => kind === 'scales',
    )
    if (!cause) return violate('I3', wrong)
    if (Math.max(rate / truth, truth / rate) <= MAX_FACTOR) return
    if (cause.at < process.startedAt) violate('I19', `${wrong}, after a restart`)
    if (bank.knownSince(process) < now()) violate('I19', `${wrong}, though newer days are known`)
  }

  function requireWhole(
    { process, request }: SentRequest,
    question: BankQuestion,
    days: readonly string[],
  ): void {
    const [first, last = first] = [days[0], days.at(-1)]
    if (first === undefined || last === undefined) return
    const { bank } = question
    const what = `${describe(question)}: ${days.length} days from ${first} to ${last} are missing`
    const about = `${request.target} of ${what}`
    const troubles = troublesOf(question, first, last)
    const cause = troubles.findLast(({ kind }) => kind === 'loses' || kind === 'scales')
    if (!cause) return violate('I19', about)
    const isOfThisRun = cause.at >= process.startedAt
    const since = now() - cause.at
    // Without another answer of the bank, the days that are left are served.
    if (isTroubled(question, Math.max(now() - AFTERMATH, process.startedAt))) return
    if (!isOfThisRun) return violate('I19', `${about} after a restart`)
    if (since < RELOAD) return
    const all = incomplete.get(process) ?? new Map<Bank, number[]>()
    incomplete.set(process, all)
    const times = all.get(bank)?.filter((time) => time > cause.at + RELOAD) ?? []
    if (now() - (times.at(-1) ?? -Infinity) > 10 * MINUTE) times.push(now())
    all.set(bank, times)
    if (times.length > 2) violate('I19', `${about} ${Math.round(since / HOUR)} h after the fault`)
  }

  /** Returns whether a fault since `time` concerns the newest days of the bank, or the days of `question` and around. */
  function isTroubled(question: BankQuestion, time: number): boolean {
    const { bank, start, end } = question
    const [first, last] = [`${addDays(start, -200).slice(0, 4)}-01-01`, `${end.slice(0, 4)}-12-31`]
    const isRecent = ({ at }: Trouble): boolean => at >= time
    return (
      troublesOf(question, first, last).some(isRecent) ||
      bank.troubles.some((each) => each.isOfAll && isRecent(each))
    )
  }

  function checkRecord(sent: SentRequest, question: BankQuestion, body: Json): void {
    const { kind, from, to, start, end } = question
    const bank = banks.named(Object(body['source']).name)
    if (!bank || (question.isSourced && bank !== question.bank)) {
      return violate('I3', `${sent.request.target}: the source is missing or wrong`)
    }
    const asked = { ...question, bank }
    if (kind === 'history') {
      const points = Array.isArray(body['points']) ? body['points'] : []
      for (const { d, r } of points) requireRate(sent, asked, { day: d, from, to, rate: r })
      const days = new Set(points.map(({ d }) => String(d)))
      return requireWhole(
        sent,
        asked,
        bank.oldDays().filter((day) => day >= start && day <= end && !days.has(day)),
      )
    }
    const day = String(body['date'])
    if (day > end) return violate('I3', `${sent.request.target}: the rates are of ${day}`)
    const rates: [string, unknown][] =
      kind === 'day' ? [[to, body['rate']]] : Object.entries(Object(body['rates']))
    for (const [code, rate] of rates) {
      if (code !== from) requireRate(sent, asked, { day, from, to: code, rate })
    }
    requireWhole(
      sent,
      asked,
      bank.oldDays().filter((each) => each > day && each <= end),
    )
  }

  function checkAbsence(sent: SentRequest, question: BankQuestion): void {
    const { bank, kind, start, end, isSourced, isHopeless } = question
    // Another bank with these currencies may have been closed.
    if (isHopeless || (!isSourced && banks.all.length > 1)) return
    const first = kind === 'history' ? start : addDays(end, -DAYS_BACK[bank.pace.frequency])
    requireWhole(
      sent,
      question,
      bank.oldDays().filter((day) => day >= first && day <= end),
    )
  }

  return {
    onResponse(sent: SentRequest, question: BankQuestion, { status, body }: RawResponse) {
      if (status === 200) checkRecord(sent, question, JSON.parse(textOf(body)))
      if (status === 404) checkAbsence(sent, question)
    },
    onRow(sent: SentRequest, question: BankQuestion, row: unknown) {
      const { error, ...record } = Object(row)
      if (!error) checkRecord(sent, question, record)
      else if (error.code === 'no_data') checkAbsence(sent, question)
      else if (error.code !== 'provider_unavailable') {
        violate('I1', `a row is answered with ${String(error.code)}: ${String(error.message)}`)
      }
    },
    /** Returns whether no fault has concerned `question` for a while before `time`. */
    isServedWell: (question: BankQuestion, time: number) => !isTroubled(question, time - AFTERMATH),
    onPatience({ server, question, startedAt, isAnswered }: Patience): boolean {
      const { process } = server
      const waited = now() - startedAt
      if (waited <= PATIENCE) return false
      const isExcused =
        process.isClosed ||
        process.pausedUntil > startedAt - AFTERMATH ||
        process.clock.jumps() > 0 ||
        store.troubledAt() > startedAt - AFTERMATH ||
        isTroubled(question, startedAt - AFTERMATH)
      if (!isExcused) {
        const state = isAnswered ? 'is answered' : 'has no answer'
        violate('I20', `${describe(question)} ${state} after ${Math.round(waited / SECOND)} s`)
      }
      return true
    },
  }
}

function describe({ bank, kind, from, to, start, end }: BankQuestion): string {
  return `${bank.name}, ${kind} ${from} ${to} ${start === end ? end : `${start} to ${end}`}`
}

interface Patience {
  server: Server
  question: BankQuestion
  startedAt: number
  isAnswered: boolean
}
