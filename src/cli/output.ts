import { findCurrency, findWithdrawn } from '../currencies.ts'
import type { Attribution, DataSet, RatesErrorCode } from '../index.ts'
import { didYouMean, nearest } from '../known-options.ts'
import type { RatesFlags } from './args.ts'
import type { CommandContext } from './context.ts'
import { openSession } from './session.ts'
import type { RatesSession, SessionResponse } from './session.ts'
import { describeTerminal, styled, withSpinner, wrapped } from './terminal.ts'
import type { Terminal } from './terminal.ts'
import { setTimeout as sleep } from 'node:timers/promises'

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

/** The outputs of a command. */
export interface Output {
  /** The capabilities of stdout. */
  terminal: Terminal
  /** Writes lines to stdout. */
  print(lines: readonly string[]): void
  /** Writes a line to stderr. */
  note(line: string): void
}

/** Opens the outputs of a command. If a reader such as `head` closes the pipe, the process ends silently. */
export function openOutput({ stdout, stderr, env, platform }: CommandContext): Output {
  const leave = (): never => process.exit()
  for (const stream of [stdout, stderr]) stream.on('error', leave)
  return {
    terminal: describeTerminal(stdout, env, platform),
    print: (lines) => void stdout.write(lines.map((line) => `${line}\n`).join('')),
    note: (line) => void stderr.write(`${line}\n`),
  }
}

const DISCLAIMER = 'For information only, not an offer to exchange currency.'

/** Returns the attribution of `source` and the disclaimer, which must accompany its rates. */
function toNotice(source: Attribution): string[] {
  return [`${source.name}, ${source.url}`, DISCLAIMER]
}

/** Returns the notice in lines that fit the terminal. */
function noticeLines(source: Attribution, terminal: Terminal): string[] {
  return toNotice(source)
    .flatMap((text) => wrapped(text, terminal.width))
    .map((line) => styled('aside', line, terminal))
}

const DAY_MS = 86_400_000

/** Overdue reference rates are served for at most this time, so the rates of an older day are already complete. */
const MAX_UNKNOWN_MS = 30 * DAY_MS

/** Returns whether newer data cannot change the rates of `requestedDay`, given that they were published on `published`. */
export function isSettledOn(
  requestedDay: string | undefined,
  published: string | undefined,
  now: number,
): boolean {
  if (requestedDay === undefined) return false
  return requestedDay === published || Date.parse(requestedDay) < now - MAX_UNKNOWN_MS
}

/** Returns `2020-02-28, the last before 2020-02-29`, or only the day if it is the requested one. */
export function daySentence(published: string, requestedDay: string | undefined): string {
  if (requestedDay === undefined || requestedDay === published) return published
  return `${published}, the last before ${requestedDay}`
}

/**
 * Suggests codes of `covered` for the first of `sent` that is not covered: by currency name, or by similar letters. Suggests
 * nothing for a withdrawn currency, because the API's message names its successor.
 */
export function suggestCodes(sent: readonly string[], covered: readonly string[]): string[] {
  const wrong = sent.find((code) => !covered.includes(code.toUpperCase()))
  if (wrong === undefined || findWithdrawn(wrong.toUpperCase())) return []
  const named = covered.filter((code) => nameOf(code) === wrong.toLowerCase())
  if (named.length > 0) return named
  // With two of three letters wrong, almost any code would match.
  const similar = nearest(wrong, covered, wrong.length > 3 ? 2 : 1)
  if (similar.length > 0) return similar
  return covered.filter((code) => nameOf(code).split(' ').includes(wrong.toLowerCase()))
}

function nameOf(code: string): string {
  return findCurrency(code)?.name.toLowerCase() ?? ''
}
