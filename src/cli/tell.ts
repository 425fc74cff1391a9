import { setTimeout as sleep } from 'node:timers/promises'

import type { Attribution, DataSet, RatesErrorCode } from '../index.ts'
import { didYouMean } from './nearest.ts'
import { noticeLines, openOutput, toNotice } from './output.ts'
import type { Output } from './output.ts'
import type { RatesFlags } from './rates-flags.ts'
import { openSession } from './rates-session.ts'
import type { RatesSession, SessionAnswer } from './rates-session.ts'
import { suggestCodes } from './suggest-codes.ts'
import { toAge } from './terminal/age.ts'
import { withSpinner } from './terminal/spinner.ts'
import { wrapped } from './terminal/layout.ts'
import { styled } from './terminal/style.ts'
import type { Terminal } from './terminal/terminal.ts'

/** A question to the API, and how its answer is told. */
export interface Question<Answered> {
  /** The path behind `/api`, with the query. */
  target: string
  /** What answers it. */
  dataSet: DataSet
  /** The codes in it, in the order in which they are checked. */
  codes: string[]
  /** What else an error with this code may have meant. */
  suggest?: (code: RatesErrorCode) => string[]
  /** When what is in the record was published, in ms since the Unix epoch. */
  publishedAt(record: Answered): number
  /** For a person at a terminal. */
  show(record: Answered, terminal: Terminal): string[]
  /** For a pipe: one line an item. */
  list(record: Answered): string[]
}

/** What exits with 1: nobody could have asked better. */
const UNANSWERED: ReadonlySet<string> = new Set<RatesErrorCode>([
  'no_data',
  'provider_unavailable',
  'internal_error',
])

/** Asks `question` and tells the answer; resolves to the exit code. */
export async function tell<Answered extends { source: Attribution }>(
  question: Question<Answered>,
  flags: RatesFlags,
): Promise<number> {
  const output = openOutput()
  const session = await openSession(flags)
  try {
    const asked = session.get(question.target)
    const answer = await withSpinner(process.stderr, 'asking for rates', asked)
    if (flags.json) output.print([answer.body])
    if (answer.status !== 200) return await tellFailure(answer, question, { session, output })
    const record: Answered = JSON.parse(answer.body)
    const age = toAge(Date.now() - question.publishedAt(record))
    const reason = session.trouble() || 'no answer in time'
    const offline = answer.isOverdue ? `offline: rates of ${age} (${reason})` : undefined
    const isShown = output.terminal.isTTY && !flags.json
    if (isShown) output.print(shown(record, question, { output, offline }))
    else if (offline !== undefined) output.note(`ratesmith: ${offline}`)
    if (!isShown && !flags.json) {
      output.print(question.list(record))
      for (const line of toNotice(record.source)) output.note(line)
    }
    return 0
  } finally {
    session.close()
  }
}

function shown<Answered extends { source: Attribution }>(
  record: Answered,
  { show }: Question<Answered>,
  { output: { terminal }, offline }: { output: Output; offline: string | undefined },
): string[] {
  return [
    ...show(record, terminal),
    ...wrapped(offline ?? '', terminal.width).map((line) => styled('bad', line, terminal)),
    ...noticeLines(record.source, terminal),
  ]
}

async function tellFailure(
  { body }: SessionAnswer,
  { codes, dataSet, suggest }: Question<never>,
  { session, output }: { session: RatesSession; output: Output },
): Promise<number> {
  const { error }: { error: { code: RatesErrorCode; message: string } } = JSON.parse(body)
  const { code, message } = error
  const isCode = code === 'invalid_currency' || code === 'unsupported_currency'
  const meant = isCode
    ? suggestCodes(codes, await soon(coveredCodes(session, dataSet)))
    : suggest?.(code)
  const trouble = [session.trouble(), 'ratesmith doctor says more'].filter(Boolean).join('; ')
  const reason = code === 'provider_unavailable' ? ` (${trouble})` : ''
  output.note(`ratesmith: ${message}${reason}${didYouMean(meant ?? [])}`)
  return UNANSWERED.has(code) ? 1 : 2
}

/** What was found within two seconds: nobody waits longer to be told of a slip. */
function soon(codes: Promise<string[]>): Promise<string[]> {
  return Promise.race([codes, sleep(2_000, [], { ref: false })])
}

/** The codes that the data cover; none where there are no data. */
async function coveredCodes({ rates }: RatesSession, dataSet: DataSet): Promise<string[]> {
  try {
    // Without five years of history.
    if (dataSet === 'latest') return Object.keys((await rates.latest()).rates)
    const { currencies } = await rates.currencies()
    return currencies.filter(({ history }) => history).map(({ code }) => code)
  } catch {
    // What was asked is wrong either way.
    return []
  }
}
