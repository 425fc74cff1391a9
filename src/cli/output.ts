import { setTimeout as sleep } from 'node:timers/promises'

import { OPERATIONS } from '../api/parameters.ts'
import { findCurrency, findWithdrawn } from '../currencies.ts'
import type { Attribution, DateRule, Derivation, RatesErrorCode } from '../index.ts'
import { didYouMean, nearest } from '../known-options.ts'
import type { CommandContext } from './context.ts'
import { inFlags, valuesOf } from './flags.ts'
import { openSession } from './session.ts'
import type { RatesFlags, RatesSession, SessionResponse } from './session.ts'
import { describeTerminal, styledLines, toAge, toMinute, withSpinner } from './terminal.ts'
import type { Terminal } from './terminal.ts'
import { isCryptocurrency } from './words.ts'
import { parametersOf } from '../api/check.ts'
import { splitCodes } from '../api/parameter-kinds.ts'

export interface Output {
  terminal: Terminal
  print(lines: readonly string[]): void
  note(line: string): void
}

/** Opens the outputs of a command. If a reader such as `head` closes the pipe, the process ends silently. */
export function openOutput(context: CommandContext): Output {
  const { stdout, stderr } = context
  const leave = (): never => process.exit()
  for (const stream of [stdout, stderr]) stream.on('error', leave)
  return {
    terminal: describeTerminal(context),
    print: (lines) => void stdout.write(lines.map((line) => `${line}\n`).join('')),
    note: (line) => void stderr.write(`${line}\n`),
  }
}

interface ApiError {
  code: RatesErrorCode
  message: string
}

interface RatesBody {
  /** Absent where `RatesQuery.sources` finds the sources. */
  source?: Attribution
  /** Derivations of a table by code, or that of a pair, which the name of its source has. */
  derived?: Derivation | Record<string, Derivation>
  results?: Record<string, { derived?: Derivation }>
}

export interface Substitute<Body> {
  params: RatesQuery<Body>['params']
  notes: readonly string[]
  /** Returns the response to the original request. */
  restore(body: Body): Body
}

export interface RatesQuery<Body> {
  operation: 'convert' | 'history' | 'latest'
  params: Readonly<Record<string, string>>
  /** Further parameters of the request for CSV. */
  csvParams?: Readonly<Record<string, string>>
  /** Completes the body for people. */
  enrich?: (body: Body, session: RatesSession) => Promise<void>
  /** Resolves to the request to send if the API has no rates for a code; undefined for none. */
  substitute?: () => Promise<Substitute<Body> | undefined>
  /** Returns the age of the rates, for `offline: rates of 3 days ago`. */
  age(body: Body, now: number): string
  /** Returns the sources of the rates, with or without duplicates (default `source`). */
  sources?: (body: Body) => Attribution[]
  show(body: Body, terminal: Terminal, now: number): string[]
  /** Returns the lines for a pipe, one per item. */
  list(body: Body): string[]
}

export async function printRates<Body extends object>(
  query: RatesQuery<Body>,
  flags: RatesFlags,
  context: CommandContext,
): Promise<number> {
  const quieter = flags.quiet ? { ...context, stderr: muted(context.stderr) } : context
  const session = await openSession(flags, context, {
    hasArchive: firstDayOf(query) !== undefined,
    codes: codesOf(query),
  })
  try {
    return await printOnce(query, flags, { session, output: openOutput(context), context: quieter })
  } finally {
    session.close()
  }
}

/** Returns the requested codes, in the order in which the API checks them. */
function codesOf({ params }: Pick<FailedQuery, 'params'>): string[] {
  const { base = 'USD', symbols = '', from = base, to = symbols } = params
  return splitCodes(`${from},${to}`)
}

/** Returns the first requested day of reference rates; undefined for the API's default. */
function firstDayOf({ params }: Pick<FailedQuery, 'params'>): string | undefined {
  return params['start'] ?? params['date']
}

/** Resolves to the response to `query`, or to its substitute if that succeeds. */
async function respond<Body>(
  session: RatesSession,
  query: RatesQuery<Body>,
  { note, canSubstitute }: { note: Output['note']; canSubstitute: boolean },
): Promise<SessionResponse> {
  const get = (params: RatesQuery<Body>['params']): Promise<SessionResponse> =>
    session.get(toTarget({ ...query, params }))
  const response = await get(query.params)
  if (response.status === 200 || !canSubstitute || !isCodeError(response)) return response
  const substitute = await query.substitute?.()
  if (!substitute) return response
  const other = await get(substitute.params)
  if (other.status !== 200) return response
  const body: Body = JSON.parse(other.body)
  for (const line of substitute.notes) note(`ratesmith: ${line}`)
  return { ...other, body: JSON.stringify(substitute.restore(body)) }
}

function isCodeError({ body }: SessionResponse): boolean {
  const { error }: { error: ApiError } = JSON.parse(body)
  return error.code === 'invalid_currency' || error.code === 'unsupported_currency'
}

function muted(stderr: CommandContext['stderr']): CommandContext['stderr'] {
  return {
    isTTY: false,
    write: (text) => stderr.write(text),
    on: (event, listener) => stderr.on(event, listener),
  }
}

async function printOnce<Body extends object>(
  query: RatesQuery<Body>,
  flags: RatesFlags,
  { session, output, context }: { session: RatesSession; output: Output; context: CommandContext },
): Promise<number> {
  const { now } = context
  const isMachine = flags.json || flags.csv
  const note = flags.quiet ? () => {} : output.note
  // The API has no CSV of a substitute.
  const canSubstitute = !flags.csv
  const responding = respond(session, query, { note, canSubstitute })
  const response = await withSpinner(context, 'fetching rates', responding)
  if (flags.json) output.print([response.body])
  if (response.status !== 200) return printFailure(response, query, { session, output })
  const body: Body = JSON.parse(response.body)
  const rates = `rates of ${query.age(body, now())}`
  const overdue = response.isOverdue ? session.whyOverdue(rates) : ''
  const isShown = output.terminal.isTTY && !isMachine
  if (overdue !== '' && !isShown && !flags.quiet) output.note(`ratesmith: ${overdue}`)
  if (flags.csv) output.print(await csvLines(query, session))
  if (isMachine) return 0
  await query.enrich?.(body, session)
  printBody(body, query, { output, overdue, now: now(), isQuiet: flags.quiet })
  return 0
}

type CsvQuery = Pick<RatesQuery<never>, 'operation' | 'params' | 'csvParams'>

async function csvLines(query: CsvQuery, session: RatesSession): Promise<string[]> {
  const params = { ...query.params, ...query.csvParams, format: 'csv' }
  const { body } = await session.get(toTarget({ ...query, params }), false)
  return body.trimEnd().split('\r\n')
}

/** Returns the day of the rates: of reference rates, or on which latest rates were published. */
export function dayOf({ date, updatedAt }: { date?: string; updatedAt: number }): string {
  return date ?? new Date(updatedAt).toISOString().slice(0, 10)
}

export const DISCLAIMER = 'For information only, not an offer to exchange currency.'

function printBody<Body extends object>(
  body: Body,
  { show, list, sources = sourceOf }: RatesQuery<Body>,
  {
    output,
    overdue,
    now,
    isQuiet,
  }: { output: Output; overdue: string; now: number; isQuiet: boolean },
): void {
  const { terminal, print, note } = output
  // Attribution and disclaimer must accompany the rates.
  const named = new Set(sources(body).map(({ name, url }) => `${name}, ${url}`))
  const notice = [...named, ...derivedNotes(body), DISCLAIMER]
  if (!terminal.isTTY) {
    print(list(body))
    for (const line of isQuiet ? [] : notice) note(line)
    return
  }
  print([
    ...show(body, terminal, now),
    ...styledLines('bad', overdue, terminal),
    ...notice.flatMap((text) => styledLines('aside', text, terminal)),
  ])
}

function derivedNotes({ derived, results = {} }: RatesBody): string[] {
  const byCode = typeof derived === 'object' ? Object.entries(derived) : []
  const ofResults = Object.entries(results).map(([code, each]) => [code, each.derived] as const)
  const codes = new Map<string, string[]>()
  for (const [code, kind] of [...byCode, ...ofResults]) {
    if (kind) codes.set(kind, [...(codes.get(kind) ?? []), code])
  }
  return Array.from(
    codes,
    ([kind, list]) => `not published by the source (${kind}): ${list.join(', ')}`,
  )
}

function sourceOf({ source }: RatesBody): Attribution[] {
  return source ? [source] : []
}

function toTarget({ operation, params }: Pick<CsvQuery, 'operation' | 'params'>): string {
  return `${OPERATIONS[operation].path}?${new URLSearchParams(params)}`
}

/** Errors that exit with 1; all others are invalid usage, which exits with 2. */
const FAILURE_CODES: ReadonlySet<string> = new Set<RatesErrorCode>([
  'no_data',
  'provider_unavailable',
  'overloaded',
  'internal_error',
])

type FailedQuery = Omit<RatesQuery<never>, 'substitute'>

async function printFailure(
  { body }: SessionResponse,
  query: FailedQuery,
  { session, output }: { session: RatesSession; output: Output },
): Promise<number> {
  const { error }: { error: ApiError } = JSON.parse(body)
  const { code, message } = error
  const codes = codesOf(query)
  const isCode = code === 'invalid_currency' || code === 'unsupported_currency'
  const suggestions = isCode
    ? suggestCodes(codes, await withinTwoSeconds(coveredCodes(session, query)))
    : suggestValues(query, message)
  const details = [session.failures(), 'run ratesmith doctor for advice'].filter(Boolean).join('; ')
  const reason = code === 'provider_unavailable' ? ` (${details})` : ''
  const coin = suggestions.length === 0 ? codes.find(isCryptocurrency) : undefined
  const text =
    isCode && coin !== undefined
      ? `${coin} is not an ISO 4217 currency: ratesmith has no cryptocurrencies`
      : inFlags(OPERATIONS[query.operation], message, query.params)
  output.note(`ratesmith: ${text}${reason}${didYouMean(suggestions)}`)
  return FAILURE_CODES.has(code) ? 1 : 2
}

/** Suggests 1Y for `1y`, `1yr` and `1 year`, week for `weekly`, average for `averge`. */
function suggestValues({ operation, params }: FailedQuery, message: string): string[] {
  const [, name = ''] =
    /^Invalid (?:parameter: )?(\w+).* \((?:must be|one of) /s.exec(message) ?? []
  const values = valuesOf(parametersOf(OPERATIONS[operation])[name])
  const sent = (params[name] ?? '').replace(/\s/g, '').toUpperCase()
  const begins = values.filter((value) => sent.startsWith(value.toUpperCase()))
  return begins.length > 0 || /\d/.test(sent) ? begins : nearest(sent, values, 2)
}

/** A suggestion is not worth a longer wait. */
function withinTwoSeconds(codes: Promise<string[]>): Promise<string[]> {
  return Promise.race([codes, sleep(2_000, [], { ref: false })])
}

async function coveredCodes({ rates }: RatesSession, query: FailedQuery): Promise<string[]> {
  const date = firstDayOf(query)
  try {
    // Avoids loading five years of history.
    if (date === undefined && query.operation !== 'history')
      return Object.keys((await rates.latest()).rates)
    const { currencies } = await rates.currencies()
    const covered = currencies.filter(({ history }) => history).map(({ code }) => code)
    if (date === undefined) return covered
    return [...new Set([...covered, ...Object.keys((await rates.latest({ date })).rates)])]
  } catch {
    // Without data, the error is printed without a suggestion.
    return []
  }
}

/** By currency name or similar letters; nothing for a cryptocurrency, an existing currency or a withdrawn one. */
export function suggestCodes(sent: readonly string[], covered: readonly string[]): string[] {
  const wrong = sent.find((code) => !covered.includes(code.toUpperCase()))
  if (wrong === undefined || isCryptocurrency(wrong)) return []
  const code = wrong.toUpperCase()
  // The user named an existing currency: another one would be wrong.
  if (findWithdrawn(code) || findCurrency(code)) return []
  const word = wrong.toLowerCase()
  const named = covered.filter((code) => nameOf(code).toLowerCase() === word)
  if (named.length > 0) return named
  // With two letters wrong, almost any code would match.
  const similar = nearest(wrong, covered, 1)
  if (similar.length > 0) return similar
  return covered.filter((code) => nameOf(code).toLowerCase().split(' ').includes(word))
}

export function nameOf(code: string): string {
  return findCurrency(code)?.name ?? ''
}

interface Dated {
  updatedAt: number
  date?: string
  rule?: DateRule | undefined
}

export function ageOf({ updatedAt, date }: Dated, now: number): string {
  return date ?? toAge(now - updatedAt)
}

/** Returns `2026-11-20 19:00 UTC, 3 hours ago`, or for the rates of a day `2020-02-28, the last before 2020-02-29`. */
export function publicationText(
  { updatedAt, date, rule }: Dated,
  requestedDay: string | undefined,
  now: number,
): string {
  if (date === undefined) return `${toMinute(updatedAt)}, ${toAge(now - updatedAt)}`
  if (requestedDay === undefined || requestedDay === date) return date
  const month = requestedDay.slice(0, 7)
  if (rule === 'period-end')
    return `${date}, the last of ${date.startsWith(month) ? month : 'its quarter'}`
  return `${date}, the ${rule === 'next' ? 'next after' : 'last before'} ${requestedDay}`
}
