import { meantBy, parametersOf, read } from '../api/check.ts'
import type { Parameter } from '../api/parameter-kinds.ts'
import { OPERATIONS, ROW } from '../api/parameters.ts'
import type { ConversionRow } from '../api/parameter-types.ts'
import type { Operation } from '../api/parameters.ts'
import { escapeForMessage, isRatesError } from '../errors.ts'
import { didYouMean, toAlternatives } from '../known-options.ts'
import { UsageError, parseArguments, text, toggle } from './usage.ts'
import type { Flag } from './usage.ts'
import * as z from 'zod/mini'

export const RATES_OPTIONS = {
  json: toggle('print one line of JSON', { short: 'j' }),
  quiet: toggle('print no notes on stderr, only errors', { short: 'q' }),
  latest: text('<names>', 'providers of latest rates, in order, comma-separated'),
  history: text('<names>', 'providers of reference rates, in order, comma-separated'),
  pegs: toggle('add currencies with an official peg'),
  demo: toggle('use synthetic rates, without network'),
  'no-cache': toggle('do not read or write the cache folder'),
}

const WORDS: readonly string[] = ['from', 'to', 'amount']

/** `--csv` and `--json` are the formats; expanded sources are in JSON alone. */
const WITHOUT_FLAG: readonly string[] = [...WORDS, 'format', 'expand']

/** Their first letter is a short flag. */
const WITH_LETTER: readonly string[] = ['base', 'date', 'period', 'symbols']

/** The value of a flag in the help, where it is not the name. */
const SHOWN: Readonly<Record<string, string>> = {
  base: 'code',
  symbols: 'codes',
  date: 'day',
  start: 'day',
  end: 'day',
  interval: 'length',
  maxAge: 'days',
  source: 'id',
}

/** What the command accepts or lists besides the API, by the value in the help. */
const ACCEPTED: Readonly<Record<string, string>> = {
  day: 'YYYY-MM-DD, or words such as yesterday, 30d and last friday',
  id: 'an id of ratesmith sources',
}

function flagOf(parameter: string): string {
  return parameter.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

/** Returns all values of a parameter; empty if they are not a list. */
export function valuesOf(parameter: Parameter | undefined): string[] {
  const schema = parameter?.schema
  return schema instanceof z.ZodMiniEnum ? schema.options.map(String) : []
}

function parametersWithFlag(operation: Operation): Operation['parameters'] {
  const all = Object.entries(parametersOf(operation))
  return Object.fromEntries(all.filter(([name]) => !WITHOUT_FLAG.includes(name)))
}

function flagsOf(operation: Operation): Record<string, Flag> {
  const flags = Object.entries(parametersWithFlag(operation)).map(([name, parameter]) => {
    const flag = flagOf(name)
    const values = valuesOf(parameter)
    const about = parameter.description
      .replace(/^./, (letter) => letter.toLowerCase())
      .replace(/`([^`]+)`/g, (_, word: string) => shownName(operation, word) ?? word)
      .replace(/( \(default false\))?\.$/, '')
    const details = WITH_LETTER.includes(name) ? { short: name.charAt(0) } : {}
    if (parameter.fromText('true') === true) return [flag, toggle(about, details)]
    if (values.length === 1) return [flag, text(String(values[0]), about, details)]
    const shown = SHOWN[name] ?? flag
    const accepted = ACCEPTED[shown] ?? toAlternatives(values)
    return [flag, text(`<${shown}>`, accepted === '' ? about : `${about}: ${accepted}`, details)]
  })
  return Object.fromEntries(flags)
}

/** Returns `--max-age`, or `<from>` for a word of the command; undefined for other words than parameters. */
function shownName(operation: Operation, word: string): string | undefined {
  if (!Object.hasOwn(parametersOf(operation), word)) return undefined
  return WITHOUT_FLAG.includes(word) ? `<${word}>` : `--${flagOf(word)}`
}

const DIRECTIVES = {
  format: text(
    '<program>',
    'beancount or ledger: print price directives (ledger: for hledger, too)',
  ),
}

const PRINTED = { csv: toggle('print CSV with a header, as the API does') }

/** Flags that need `--file`. */
export const LEDGER = {
  to: text('<code>', 'target of the rows of --file without their own'),
  columns: text('<names>', 'columns of --file with other names: from=Currency,date="Booking date"'),
  decimal: text('<mark>', 'comma or point: amounts of --file such as 1.234,50 or 1,234.50'),
  'date-format': text('<order>', 'DMY, MDY or YMD: days of --file such as 31/01/2026'),
  'time-zone': text('<name>', 'zone for the day of times with an offset, such as Europe/Warsaw'),
  prefix: text(
    '<text>',
    'prefix of the added columns (default fx_ if one of their names is taken)',
  ),
}

export const CONVERT_OPTIONS = {
  ...flagsOf(OPERATIONS.convert),
  file: text('<file>', 'convert the rows of this CSV file (- for stdin), with flags as defaults'),
  ...LEDGER,
  ...PRINTED,
  ...RATES_OPTIONS,
}

export const LATEST_OPTIONS = {
  ...flagsOf(OPERATIONS.latest),
  all: toggle('show all currencies on a terminal, not only the major ones'),
  sort: text(
    '<order>',
    'code, rate, or change since the previous day, which it adds, largest first',
  ),
  ...DIRECTIVES,
  ...PRINTED,
  ...RATES_OPTIONS,
}

export const HISTORY_OPTIONS = {
  ...flagsOf(OPERATIONS.history),
  ...DIRECTIVES,
  ...PRINTED,
  ...RATES_OPTIONS,
}

export const EXPORT_OPTIONS = {
  since: text('<day>', `first day (default all): ${ACCEPTED['day']}`),
  allow: {
    ...text('<names>', 'export these providers although their terms forbid passing rates on'),
    multiple: true as const,
  },
  ...RATES_OPTIONS,
}

const { json: _json, quiet: _quiet, ...chosen } = RATES_OPTIONS

export const MCP_OPTIONS = chosen

export const SERVE_OPTIONS = {
  port: text('<number>', 'port to listen on; 0 picks a free one (default 8787)'),
  host: text('<address>', 'address to listen on (default 127.0.0.1)'),
  'base-path': text('<path>', 'prefix of every path (default /api)'),
  demo: RATES_OPTIONS.demo,
  latest: RATES_OPTIONS.latest,
  history: RATES_OPTIONS.history,
  pegs: RATES_OPTIONS.pegs,
  store: text(
    '<place>',
    'keep rates in this Redis (redis://...), folder or SQLite file (.db, .sqlite)',
  ),
  log: text('<format>', 'json or text (default: text on a terminal, json elsewhere)'),
}

export const KEYS_OPTIONS = {
  keys: text('<file>', 'JSON file with the keys (default: RATESMITH_KEYS)'),
  plan: text('<plan>', 'plan of the key, a name from the plans of createAccess'),
  name: text('<name>', 'owner of the key'),
  expires: text('<end>', 'number of days (90d) or last day in UTC (YYYY-MM-DD) (default never)'),
  origin: {
    ...text('<origin>', 'origin of web pages that may use the key, repeatable (default all)'),
    multiple: true as const,
  },
  json: RATES_OPTIONS.json,
}

export const SYNC_OPTIONS = {
  table: text(
    '<name>',
    'table, with its schema as needed (default rates, or demo_rates with --demo)',
  ),
  since: text('<day>', 'first day: YYYY-MM-DD, or words such as 30d and 2020 (default 1999-01-04)'),
  symbols: text('<codes>', 'currencies to include, comma-separated (default all)', { short: 's' }),
  sources: text(
    '<ids>',
    'ids of ratesmith sources, each with all its rates (default: the first that has a rate)',
  ),
  ...RATES_OPTIONS,
}

export const DOCTOR_OPTIONS = {
  all: toggle('check every built-in provider at its own address, instead of the chosen ones'),
  store: text('<place>', 'also check this store of serve (default: RATESMITH_STORE)'),
  ...RATES_OPTIONS,
}

/**
 * Parses the arguments of a command that sends an operation; `params` has the parameters whose flags were given, as text.
 *
 * @throws {UsageError} of one sentence
 */
export function parseFlags<Options extends Readonly<Record<string, Flag>>>(
  args: string[],
  options: Options,
  operation: Operation,
) {
  const config = { args, options, allowPositionals: true as const }
  const { values, positionals } = parseArguments(config, (flag) => {
    return adviceOn(operation, flag, args)
  })
  return { values, positionals, params: paramsOf(operation, values) }
}

function paramsOf(operation: Operation, values: object): Record<string, string> {
  const given = new Map<string, unknown>(Object.entries(values))
  const names = Object.keys(parametersWithFlag(operation)).filter((name) => given.has(flagOf(name)))
  return Object.fromEntries(names.map((name) => [name, String(given.get(flagOf(name)))]))
}

/** Returns the parameters of flags with those of words; throws if both have one. */
export function withWords(
  params: Readonly<Record<string, string>>,
  words: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const all = { ...params }
  for (const [name, word] of Object.entries(words)) {
    if (word === undefined) continue
    if (all[name] !== undefined)
      throw new UsageError(`--${flagOf(name)} is given twice: ${word} and ${all[name]}`)
    all[name] = word
  }
  return all
}

/** Returns advice on an unknown flag that means a parameter. */
function adviceOn(operation: Operation, flag: string, args: readonly string[]): string | undefined {
  const flags = { path: operation.path, parameters: parametersWithFlag(operation) }
  const word = meantBy(operation, flag)
  const isWord = word && !word.isNear && WORDS.includes(word.parameter)
  // Of a history, `--from 2020` is the first day, and `--from usd` a word.
  const [, value = ''] = args.join(' ').split(`--${flag}`, 2)
  const isDay = /^[ =]\S*\d/.test(value)
  for (const name of isWord && !isDay ? [] : [flag, `${flag}date`]) {
    const found = meantBy(flags, name)
    if (found && !found.isNear) return didYouMean([`--${flagOf(found.parameter)}`])
  }
  const span = meantBy(OPERATIONS.history, flag)
  if (!isWord && /^(?:start|end)$/.test(span?.parameter ?? '') && !span?.isNear)
    return `. ratesmith history has --${span?.parameter}`
  if (!isWord) return undefined
  const example = operation === OPERATIONS.history ? 'history usd eur' : '100 usd eur'
  return `. Write it as a word, without a flag: ratesmith ${example}`
}

/** Returns the values of flags for rows without their own; throws for an invalid one. */
export function rowDefaults(values: object): Partial<ConversionRow> {
  const { path, parameters } = ROW
  const params = paramsOf(ROW, values)
  try {
    return Object(read({ path, parameters }, params))
  } catch (error) {
    if (!isRatesError(error)) throw error
    throw new UsageError(inFlags(ROW, error.message, params), { cause: error })
  }
}

/** Returns a message of the API with flags instead of parameters: `--max-age requires --date`. */
export function inFlags(
  operation: Operation,
  message: string,
  params: Readonly<Record<string, string>> = {},
): string {
  const [, name = '', hint = ''] =
    /^Invalid parameter: (\w+) \((.*)\)$/s.exec(
      message
        .replace(/^Missing required parameter: (\w+)$/, 'Invalid parameter: $1 (is missing)')
        .replace(/^Invalid period: .* \((?=one of)/s, 'Invalid parameter: period (must be '),
    ) ?? []
  const shown = shownName(operation, name)
  const text = (shown === undefined ? message : `${shown} ${hint}`)
    .replace('see /v1/currencies', 'see ratesmith currencies')
    .replace(/must be YYYY-MM-DD$/, '$&, or a word such as yesterday')
    .replace(
      /(?<=\b(?:requires|needs|with|or|after|than) )\w+(?![\w-])/g,
      (word) => shownName(operation, word) ?? word,
    )
  const sent = hint.startsWith('must be ') ? params[name] : undefined
  return sent === undefined ? text : `${text}, got ${escapeForMessage(sent) || '""'}`
}
