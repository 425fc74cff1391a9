import type { RawResponse } from '../../../src/index.ts'
import { SECRET } from '../../faults/fault.ts'
import { addDays } from '../../fixtures/dates.ts'
import { HOUR, MINUTE, SECOND } from '../../virtual-runtime.ts'
import type { BankQuestion } from '../world/bank-clients.ts'
import type { Bank, Banks, Trouble } from '../world/banks.ts'
import type { Scene, Server } from '../world/fleet.ts'
import type { Process } from '../world/machine.ts'
import type { SimStore } from '../world/store.ts'
import type { SentRequest } from './response-watch.ts'
import { bodyInOnePart } from '../../whole-body.ts'

export type BankWatch = ReturnType<typeof createBankWatch>

/** The longest wait of a client, and of a question with all its retries, in ms. */
const WAITING_LIMIT = 5 * SECOND
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
export function createBankWatch({ loop, violate }: Scene, banks: Banks, store: SimStore) {
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

  /** Checks that an answer lacks none of `days`, which are old. */
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

  /** Checks that there are no rates, as an answer says. */
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
    onResponse(sent: SentRequest, question: BankQuestion, { status, body, headers }: RawResponse) {
      const { process, request, at } = sent
      const text =
        body instanceof Uint8Array ? new TextDecoder().decode(body) : String(bodyInOnePart(body))
      if (text.includes(SECRET)) violate('I11', `${request.target} is answered with a secret`)
      if (now() > Math.max(at + WAITING_LIMIT, process.pausedUntil) + 1) {
        violate('I6', `${request.target} is answered after ${Math.round(now() - at)} ms`)
      }
      const isExpected = [200, 404, 502].includes(status) || (question.isHopeless && status === 400)
      if (!isExpected) violate('I1', `${request.target} is answered with ${status}: ${text}`)
      const isStored = headers.every(
        ([name, value]) => name !== 'cache-control' || value !== 'no-store',
      )
      if (status >= 400 && isStored) violate('I10', `${status} may be cached`)
      if (status === 200) checkRecord(sent, question, JSON.parse(text))
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
    /** Returns whether the time of a patient client is over. */
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
