import { setTimeout as sleep } from 'node:timers/promises'

import { parametersOf, read } from '../api/check.ts'
import { splitCodes } from '../api/parameter-kinds.ts'
import { OPERATIONS } from '../api/parameters.ts'
import type { Values } from '../api/parameters.ts'
import { findCurrency, findWithdrawn } from '../currencies.ts'
import { isRatesError } from '../errors.ts'
import type { RatesError } from '../errors.ts'
import type {
  Attribution,
  Conversion,
  ConversionList,
  HistoryList,
  LatestRates,
  RateHistory,
  RatesOperations,
} from '../index.ts'
import { didYouMean, nearest } from '../known-options.ts'
import type { Quote } from '../quotes/index.ts'
import type { CommandContext } from './context.ts'
import { inFlags, valuesOf } from './flags.ts'
import { openSession } from './session.ts'
import type { RatesFlags, RatesSession } from './session.ts'
import { describeTerminal, styledLines, toAge, toMinute, withSpinner } from './terminal.ts'
import type { Terminal } from './terminal.ts'
import { UsageError } from './usage.ts'
import { isCryptocurrency } from './words.ts'

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

export interface RatesQuery<Body> {
  operation: 'convert' | 'history' | 'latest'
  /** As texts, in flags and words. */
  params: Readonly<Record<string, string>>
  /** Notes for stderr on what words mean; a request may add others. */
  notes: Set<string>
  /** Makes the request with the typed parameters. */
  request(rates: RatesOperations, params: Values): Promise<Body>
  /** Returns the CSV of the API. */
  csv(record: Body): string
  /** Returns the lines for a terminal, or for a pipe, one per item. */
  lines(
    record: Body,
    shown: { terminal: Terminal; now: number; session: RatesSession },
  ): string[] | Promise<string[]>
}

type RatesRecord = Conversion | ConversionList | Quote | LatestRates | RateHistory | HistoryList

export const DISCLAIMER = 'For information only, not an offer to exchange currency.'

export async function printRates<Body extends RatesRecord>(
  query: RatesQuery<Body>,
  flags: RatesFlags,
  context: CommandContext,
): Promise<number> {
  const { operation, params, notes } = query
  const { json, csv, quiet } = flags
  const { terminal, print, note } = openOutput(context)
  const now = context.now()
  const session = await openSession(flags, context)
  try {
    const asking = session.get(async (rates) =>
      query.request(rates, read(OPERATIONS[operation], params)),
    )
    const record = await (quiet ? asking : withSpinner(context, 'fetching rates', asking))
    const overdue = session.whyOverdue(`rates of ${ageOf(record, now)}`) ?? ''
    const isShown = terminal.isTTY && !json && !csv
    const warnings = [...notes, ...(isShown || overdue === '' ? [] : [overdue])]
    for (const line of quiet ? [] : warnings) note(`ratesmith: ${line}`)
    if (json) print([JSON.stringify(record)])
    else if (csv) context.stdout.write(query.csv(record).replaceAll('\r\n', '\n'))
    const code = 'expiresAt' in record && record.expiresAt <= now ? 1 : 0
    if (json || csv) return code
    const lines = await query.lines(record, { terminal, now, session })
    // Attribution and disclaimer must accompany the rates.
    const notice = [...sourcesOf(pairsOf(record)), ...derivedNotes(record), DISCLAIMER]
    const below = notice.flatMap((text) => styledLines('aside', text, terminal))
    print(isShown ? [...lines, ...styledLines('bad', overdue, terminal), ...below] : lines)
    for (const line of isShown || quiet ? [] : notice) note(line)
    return code
  } catch (error) {
    if (!isRatesError(error)) throw error
    if (json) print([JSON.stringify({ error: { code: error.code, message: error.message } })])
    const text = await describe(error, query, session)
    const isUsage = error.status < 500 && error.code !== 'no_data'
    // The message of a code names the way itself.
    if (isUsage && !isCodeError(error)) throw new UsageError(text)
    note(`ratesmith: ${text}`)
    return isUsage ? 2 : 1
  } finally {
    session.close()
  }
}

/** Returns the histories of a list, and another record as it is. */
export function pairsOf<Single extends { source: Attribution }>(
  record: Single | HistoryList,
): (Single | RateHistory)[] {
  return 'series' in record ? Object.values(record.series) : [record]
}

export function sourcesOf(records: readonly { source: Attribution }[]): string[] {
  return [...new Set(records.map(({ source: { name, url } }) => `${name}, ${url}`))]
}

/** Returns the age of the rates, for `offline: rates of 3 days ago`, or their day. */
function ageOf(record: RatesRecord, now: number): string {
  if ('updatedAt' in record) return record.date ?? toAge(now - record.updatedAt)
  const points = pairsOf(record).flatMap(
    (pair) => pair.points.findLast(({ filled }) => !filled) ?? [],
  )
  return toAge(now - Math.max(...points.map(({ d }) => Date.parse(d))))
}

/** Derivations of a table by code, or those of results; the source of a pair has its own in its name. */
function derivedNotes(record: RatesRecord): string[] {
  const { derived, results = {} }: { derived?: object; results?: object } = Object(record)
  const found: [string, string | undefined][] =
    'results' in record
      ? Object.entries(results).map(([code, each]) => [code, each.derived])
      : Object.entries(typeof derived === 'object' ? derived : {})
  const kinds = new Set(found.flatMap(([, kind]) => kind ?? []))
  return Array.from(kinds, (kind) => {
    const codes = found.flatMap(([code, own]) => (own === kind ? [code] : []))
    return `not published by the source (${kind}): ${codes.join(', ')}`
  })
}

/** Returns the day of the rates: of reference rates, or on which latest rates were published. */
export function dayOf({ date, updatedAt }: { date?: string; updatedAt: number }): string {
  return date ?? new Date(updatedAt).toISOString().slice(0, 10)
}

type Texts = RatesQuery<never>['params']

/** Returns the requested codes, in the order in which the API checks them. */
function codesOf({ base = 'USD', symbols = '', from = base, to = symbols }: Texts): string[] {
  return splitCodes(`${from},${to}`)
}

export function isCodeError({ code }: RatesError): boolean {
  return code === 'invalid_currency' || code === 'unsupported_currency'
}

async function describe(
  failure: RatesError,
  { operation, params }: Pick<RatesQuery<never>, 'operation' | 'params'>,
  session: RatesSession,
): Promise<string> {
  const text = inFlags(OPERATIONS[operation], failure.message, params)
  if (failure.code === 'provider_unavailable') {
    const details = [session.failures(), 'run ratesmith doctor for advice'].filter(Boolean)
    return `${text} (${details.join('; ')})`
  }
  if (!isCodeError(failure)) {
    const { parameter = '' } = failure
    const { [parameter]: given = '' } = params
    const values = valuesOf(parametersOf(OPERATIONS[operation])[parameter])
    // `weekly` is a week, `averge` an average.
    const near = nearest(given, values, Math.min(2, given.length / 2))
    return text + didYouMean(values.includes(given) ? [] : near)
  }
  const codes = codesOf(params)
  const covering = coveredCodes(session, params['date'], operation === 'history')
  // A suggestion is not worth a longer wait, or another error.
  const covered = await Promise.race([covering.catch(() => []), sleep(2_000, [], { ref: false })])
  const suggestions = suggestCodes(codes, covered)
  const coin = suggestions.length === 0 ? codes.find(isCryptocurrency) : undefined
  if (coin === undefined) return text + didYouMean(suggestions)
  return `${coin} is not an ISO 4217 currency: ratesmith has no cryptocurrencies`
}

async function coveredCodes(
  { rates }: RatesSession,
  date: string | undefined,
  isHistory: boolean,
): Promise<string[]> {
  // A list of currencies loads five years of history.
  if (!isHistory) return Object.keys((await rates.latest(date ? { date } : {})).rates)
  const { currencies } = await rates.currencies()
  return currencies.flatMap(({ code, history }) => (history ? [code] : []))
}

/** By currency name or similar letters; nothing for a cryptocurrency, an existing currency or a withdrawn one. */
export function suggestCodes(sent: readonly string[], covered: readonly string[]): string[] {
  const wrong = sent.find((code) => !covered.includes(code.toUpperCase()))
  if (wrong === undefined || isCryptocurrency(wrong)) return []
  const code = wrong.toUpperCase()
  // The user named an existing currency: another one would be wrong.
  if (findWithdrawn(code) || findCurrency(code)) return []
  // With two letters wrong, almost any code would match.
  const similar = nearest(wrong, covered, 1)
  if (similar.length > 0) return similar
  return covered.filter((code) =>
    nameOf(code).toLowerCase().split(' ').includes(wrong.toLowerCase()),
  )
}

export function lineOf({ result, rounded, reverse, from, to }: Conversion): string {
  return `${rounded ?? result} ${reverse ? from : to}`
}

export function toPercent(percent: number | string): string {
  return `${Number(percent) > 0 ? '+' : ''}${percent} %`
}

export function nameOf(code: string): string {
  return findCurrency(code)?.name ?? ''
}

/** Returns `2026-11-20 19:00 UTC, 3 hours ago`, or for the rates of a day `2020-02-28, the last before 2020-02-29`. */
export function publicationText(
  { updatedAt, date, rule }: Pick<LatestRates, 'updatedAt' | 'date' | 'rule'>,
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
