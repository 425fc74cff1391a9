import { setTimeout as sleep } from 'node:timers/promises'

import type { Attribution, DataSet, RatesErrorCode } from '../index.ts'
import { didYouMean } from '../nearest.ts'
import type { CommandContext } from './context.ts'
import { noticeLines, openOutput, toNotice } from './output.ts'
import type { Output } from './output.ts'
import type { RatesFlags } from './rates-flags.ts'
import { openSession } from './rates-session.ts'
import type { RatesSession, SessionResponse } from './rates-session.ts'
import { suggestCodes } from './suggest-codes.ts'
import { wrapped } from './terminal/layout.ts'
import { withSpinner } from './terminal/spinner.ts'
import { styled } from './terminal/style.ts'
import type { Terminal } from './terminal/terminal.ts'

interface ApiError {
  code: RatesErrorCode
  message: string
}

/** A request to the API and the output for its response. */
export interface RatesQuery<Body> {
  /** The path after `/api`, with the query. */
  target: string
  /** The data set of the response. */
  dataSet: Exclude<DataSet, 'archive'>
  /** The requested codes, in the order in which the API checks them. */
  codes: string[]
  /** The first requested day of reference rates, as typed; `undefined` for the API's default. */
  day: string | undefined
  /** Returns corrections of the parameter that caused `error`. */
  suggest?: (error: ApiError) => string[]
  /** Returns whether newer data cannot change the response. */
  isSettled(body: Body): boolean
  /** Returns the publication time for `offline: rates of 3 days ago`. */
  publishedWhen(body: Body): string
  /** Returns the lines for a terminal. */
  show(body: Body, terminal: Terminal): string[]
  /** Returns the lines for a pipe, one per item. */
  list(body: Body): string[]
}

/** Errors that exit with 1; all others are invalid usage, which exits with 2. */
const FAILURE_CODES: ReadonlySet<string> = new Set<RatesErrorCode>([
  'no_data',
  'provider_unavailable',
  'overloaded',
  'internal_error',
])

/** Sends `query` and prints the response; resolves to the exit code. */
export async function printRates<Body extends { source: Attribution }>(
  query: RatesQuery<Body>,
  flags: RatesFlags,
  context: CommandContext,
): Promise<number> {
  const output = openOutput(context)
  const hasArchive = query.day !== undefined
  const session = await openSession({ ...flags, hasArchive }, context)
  try {
    const isSettled = (body: string): boolean => query.isSettled(JSON.parse(body))
    const responding = session.get(query.target, isSettled)
    const response = await withSpinner(context, 'fetching rates', responding)
    if (flags.json) output.print([response.body])
    if (response.status !== 200) return await printFailure(response, query, { session, output })
    const body: Body = JSON.parse(response.body)
    const reason = session.failures() || 'no response in time'
    const offline = response.isOverdue
      ? `offline: rates of ${query.publishedWhen(body)} (${reason})`
      : undefined
    const isShown = output.terminal.isTTY && !flags.json
    if (isShown) output.print(linesFor(body, query, { output, offline }))
    else if (offline !== undefined) output.note(`ratesmith: ${offline}`)
    if (!isShown && !flags.json) {
      output.print(query.list(body))
      for (const line of toNotice(body.source)) output.note(line)
    }
    return 0
  } finally {
    session.close()
  }
}

function linesFor<Body extends { source: Attribution }>(
  body: Body,
  { show }: RatesQuery<Body>,
  { output: { terminal }, offline }: { output: Output; offline: string | undefined },
): string[] {
  return [
    ...show(body, terminal),
    ...wrapped(offline ?? '', terminal.width).map((line) => styled('bad', line, terminal)),
    ...noticeLines(body.source, terminal),
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
  const suggestions = isCode
    ? suggestCodes(query.codes, await withinTwoSeconds(coveredCodes(session, query)))
    : query.suggest?.(error)
  const details = [session.failures(), 'run ratesmith doctor for advice'].filter(Boolean).join('; ')
  const reason = code === 'provider_unavailable' ? ` (${details})` : ''
  output.note(`ratesmith: ${message}${reason}${didYouMean(suggestions ?? [])}`)
  return FAILURE_CODES.has(code) ? 1 : 2
}

/** A suggestion is not worth a longer wait. */
function withinTwoSeconds(codes: Promise<string[]>): Promise<string[]> {
  return Promise.race([codes, sleep(2_000, [], { ref: false })])
}

async function coveredCodes(
  { rates }: RatesSession,
  { dataSet, day }: RatesQuery<never>,
): Promise<string[]> {
  try {
    // Avoids loading five years of history.
    if (day === undefined && dataSet === 'latest') return Object.keys((await rates.latest()).rates)
    const { currencies } = await rates.currencies()
    const covered = currencies.filter(({ history }) => history).map(({ code }) => code)
    if (day === undefined) return covered
    return [...new Set([...covered, ...Object.keys((await rates.latest({ date: day })).rates)])]
  } catch {
    // Without data, the error is printed without a suggestion.
    return []
  }
}
