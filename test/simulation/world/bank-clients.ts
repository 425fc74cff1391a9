import type { BankWatch } from '../invariants/bank-watch.ts'
import type { SentRequest } from '../invariants/response-watch.ts'
import type { Watches } from '../invariants/watches.ts'
import { addDays } from '../../fixtures/dates.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../../virtual-runtime.ts'
import type { Bank, Banks } from './banks.ts'
import type { Fleet, Scene, Server } from './fleet.ts'
import type { Random } from './random.ts'

/** A request for old rates of a bank: of one day, of all currencies of a day, or of a range. */
export interface BankQuestion {
  kind: 'day' | 'table' | 'history'
  bank: Bank
  from: string
  to: string
  start: string
  end: string
  /** Whether only this bank may answer. */
  isSourced: boolean
  /** Whether the bank has no such currency. */
  isHopeless?: boolean
}

/** Questions of all clients to a bank, in a day. */
const QUESTIONS = 10

/** Clients that ask old dates, long histories and many rows of banks, and strangers that ask failing pieces and many days. */
export function createBankClients(
  { loop, random, hosts, trace, violate }: Scene,
  { banks, fleet }: { banks: Banks; fleet: Fleet },
  { responses, banks: watch }: Pick<Watches, 'responses'> & { banks: BankWatch },
) {
  const pending = new Set<SentRequest>()
  let isOver = false

  function serverNow(): Server | undefined {
    const server = fleet.servers[random.whole(0, hosts - 1)]
    return server && server.process.pausedUntil <= loop.now() ? server : undefined
  }

  async function track<Result>(
    { process }: Server,
    target: string,
    work: () => Promise<Result>,
  ): Promise<{ sent: SentRequest; result: Result } | undefined> {
    const sent = responses.onRequest(process, { method: 'GET', target, statuses: [200] })
    pending.add(sent)
    try {
      return { sent, result: await work() }
    } catch (error) {
      violate('I1', `the handler rejects ${target}: ${String(error)}`)
      return undefined
    } finally {
      pending.delete(sent)
    }
  }

  /** Returns when to ask again, in ms of virtual time; `undefined` after an answer. */
  async function ask(server: Server, question: BankQuestion): Promise<number | undefined> {
    const target = targetOf(question)
    const header = (): null => null
    const done = await track(server, target, async () =>
      server.handler.answer({ method: 'GET', target, header }),
    )
    if (!done) return undefined
    const { status, headers } = done.result
    trace.record(loop.now(), server.process.host, target, status)
    watch.onResponse(done.sent, question, done.result)
    const retryAfter = headers.find(([name]) => name === 'retry-after')?.[1]
    return status === 502 ? Number(retryAfter) * SECOND : undefined
  }

  async function askRows(server: Server, questions: readonly BankQuestion[]): Promise<void> {
    const rows = questions.map(({ from, to, end, bank, isSourced }) => {
      return { from, to, date: end, ...(isSourced && { source: bank.id }) }
    })
    const done = await track(server, 'POST /api/v1/convert', () =>
      server.handler.rates.convertMany(rows),
    )
    if (!done) return
    trace.record(loop.now(), server.process.host, 'rows', rows.length, JSON.stringify(done.result))
    for (const [index, question] of questions.entries()) {
      watch.onRow(done.sent, question, done.result[index])
    }
  }

  /** Asks until there is an answer, as a client that respects `Retry-After`. */
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
      if (wait !== undefined && !isDecided && !isOver) {
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
      if (isOver) return
      if (random.chance(0.3)) askPatiently(bank)
      else askAnything(bank)
      keepAsking(bank)
    })
  }

  /** A stranger asks for minutes what fails, what the bank does not have, and a different day each time. */
  function keepDisturbing(bank: Bank): void {
    loop.after(random.wait(4 * DAY), () => {
      if (isOver) return
      const until = loop.now() + random.magnitude(MINUTE, 10 * MINUTE)
      const pause = random.magnitude(SECOND / 2, 20 * SECOND)
      const disturb = (): void => {
        const server = serverNow()
        if (server) void ask(server, disturbing(random, bank))
        if (loop.now() < until && !isOver) loop.after(random.wait(pause), disturb)
      }
      disturb()
      for (let patient = 0; patient < 4; patient += 1) {
        loop.after(random.between(SECOND, until + HOUR / 4 - loop.now()), () => {
          if (!isOver) askPatiently(bank)
        })
      }
      keepDisturbing(bank)
    })
  }

  for (const bank of banks.all) {
    keepAsking(bank)
    keepDisturbing(bank)
  }
  return {
    pending: () => [...pending].filter(({ process }) => !process.isGone),
    stop() {
      isOver = true
    },
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
