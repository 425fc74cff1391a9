import { setTimeout as sleep } from 'node:timers/promises'

import type { Attribution, DataSet, RatesErrorCode } from '../index.ts'
import type { CommandContext } from './context.ts'
import { didYouMean } from '../nearest.ts'
import { noticeLines, openOutput, toNotice } from './output.ts'
import type { Output } from './output.ts'
import type { RatesFlags } from './rates-flags.ts'
import { openSession } from './rates-session.ts'
import type { RatesSession, SessionResponse } from './rates-session.ts'
import { suggestCodes } from './suggest-codes.ts'
import { withSpinner } from './terminal/spinner.ts'
import { wrapped } from './terminal/layout.ts'
import { styled } from './terminal/style.ts'
import type { Terminal } from './terminal/terminal.ts'

/** What an error of the API says. */
interface ApiError {
  code: RatesErrorCode
  message: string
}

/** A question to the API, and how its answer is told. */
export interface RatesQuery<Answered> {
  /** The path behind `/api`, with the query. */
  target: string
  /** What answers it. */
  dataSet: Exclude<DataSet, 'archive'>
  /** The codes in it, in the order in which they are checked. */
  codes: string[]
  /** The first day whose reference rates are asked for, as it was sent; `undefined` where that is left to the API. */
  day: string | undefined
  /** What else the question that ended with this error may have meant. */
  suggest?: (error: ApiError) => string[]
  /** Whether no newer data could change the record. */
  isSettled(record: Answered): boolean
  /** When what is in the record was published, as in `rates of 3 days ago`. */
  publishedWhen(record: Answered): string
  /** For a person at a terminal. */
  show(record: Answered, terminal: Terminal): string[]
  /** For a pipe: one line an item. */
  list(record: Answered): string[]
}

/** What exits with 1: nobody could have asked better. */
const FAILURE_CODES: ReadonlySet<string> = new Set<RatesErrorCode>([
  'no_data',
  'provider_unavailable',
  'overloaded',
  'internal_error',
])

/** Asks `question` and tells the answer; resolves to the exit code. */
export async function printRates<Answered extends { source: Attribution }>(
  query: RatesQuery<Answered>,
  flags: RatesFlags,
  context: CommandContext,
): Promise<number> {
  const output = openOutput(context)
  const hasArchive = query.day !== undefined
  const session = await openSession({ ...flags, hasArchive }, context)
  try {
    const isSettled = (body: string): boolean => query.isSettled(JSON.parse(body))
    const asked = session.get(query.target, isSettled)
    const answer = await withSpinner(context, 'asking for rates', asked)
    if (flags.json) output.print([answer.body])
    if (answer.status !== 200) return await printFailure(answer, query, { session, output })
    const record: Answered = JSON.parse(answer.body)
    const reason = session.trouble() || 'no answer in time'
    const offline = answer.isOverdue
      ? `offline: rates of ${query.publishedWhen(record)} (${reason})`
      : undefined
    const isShown = output.terminal.isTTY && !flags.json
    if (isShown) output.print(linesFor(record, query, { output, offline }))
    else if (offline !== undefined) output.note(`ratesmith: ${offline}`)
    if (!isShown && !flags.json) {
      output.print(query.list(record))
      for (const line of toNotice(record.source)) output.note(line)
    }
    return 0
  } finally {
    session.close()
  }
}

function linesFor<Answered extends { source: Attribution }>(
  record: Answered,
  { show }: RatesQuery<Answered>,
  { output: { terminal }, offline }: { output: Output; offline: string | undefined },
): string[] {
  return [
    ...show(record, terminal),
    ...wrapped(offline ?? '', terminal.width).map((line) => styled('bad', line, terminal)),
    ...noticeLines(record.source, terminal),
  ]
}

async function printFailure(
  { body }: SessionResponse,
  query: RatesQuery<never>,
  { session, output }: { session: RatesSession; output: Output },
): Promise<number> {
  const { error }: { error: ApiError } = JSON.parse(body)
  const { code, message } = error
  const isCode = code === 'invalid_currency' || code === 'unsupported_currency'
  const meant = isCode
    ? suggestCodes(query.codes, await withinTwoSeconds(coveredCodes(session, query)))
    : query.suggest?.(error)
  const trouble = [session.trouble(), 'ratesmith doctor says more'].filter(Boolean).join('; ')
  const reason = code === 'provider_unavailable' ? ` (${trouble})` : ''
  output.note(`ratesmith: ${message}${reason}${didYouMean(meant ?? [])}`)
  return FAILURE_CODES.has(code) ? 1 : 2
}

/** What was found within two seconds: nobody waits longer to be told of a slip. */
function withinTwoSeconds(codes: Promise<string[]>): Promise<string[]> {
  return Promise.race([codes, sleep(2_000, [], { ref: false })])
}

/** The codes that the data cover; none where there are no data. */
async function coveredCodes(
  { rates }: RatesSession,
  { dataSet, day }: RatesQuery<never>,
): Promise<string[]> {
  try {
    // Without five years of history.
    if (day === undefined && dataSet === 'latest') return Object.keys((await rates.latest()).rates)
    const { currencies } = await rates.currencies()
    const covered = currencies.filter(({ history }) => history).map(({ code }) => code)
    if (day === undefined) return covered
    return [...new Set([...covered, ...Object.keys((await rates.latest({ date: day })).rates)])]
  } catch {
    // What was asked is wrong either way.
    return []
  }
}
