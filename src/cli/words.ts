import { findCurrency, findWithdrawn, currencies, withdrawnCurrencies } from '../currencies.ts'
import { createCurrencySearch, foldText, isPartOfCurrency } from '../currency-search.ts'
import type { CurrencySearch, NamedCurrency } from '../currency-search.ts'
import { toAlternatives } from '../known-options.ts'
import { findDigits } from '../money/minor-units.ts'
import { minorUnitHint } from '../rates/currency-code.ts'
import { DAY_MS, subtractMonths, toDay } from '../rates/dates.ts'
import { readTypedAmount } from '../typed-amount.ts'
import { UsageError } from './usage.ts'

/** A conversion as typed. Codes that are unknown here are as typed: a provider may have them. */
interface TypedConversion {
  /** In the form of the API; undefined if none was typed. */
  amount: string | undefined
  from: string
  /** Comma-separated codes. */
  to: string
}

type TypedPair = Omit<TypedConversion, 'amount'>

// Blanks separate groups of three digits only.
const AMOUNT =
  /(?:\.?\d)[\d.,'’_]*(?:[\s\u00a0\u202f]\d{3}(?!\d)[\d.,]*)*(?:e[+-]?\d+(?![\d.,]))?(?:\s?(?:k|m|mio|bn)(?![\p{L}]))?/iu

const CONNECTED = /^(.*?\S)(?:\s+(?:to|in|into)\s+|\s*(?:→|->|=>|=|\/)\s*)(\S.*)$/i

const CONNECTOR = /^(?:to|in|into|→|->|=>|=|\/)$/i

const LEADING_CONNECTOR = /^(?:(?:to|in|into)\s|→|->|=>|=|\/)\s*/i

/**
 * Reads `100 usd to eur`, `€50 in yen`, `1k usd/eur,gbp`, `usdeur`; undefined for words that are not two currencies with an
 * optional amount, which is of the targets if `isReverse`.
 *
 * @throws {UsageError} for an amount without a clear meaning, and for a word that names several currencies
 */
export function readConversion(
  words: readonly string[],
  isReverse = false,
): TypedConversion | undefined {
  const text = words.join(' ').trim()
  const found = AMOUNT.exec(text)
  if (!found) {
    const pair = readPair([text])
    return pair && { amount: undefined, ...pair }
  }
  const before = text.slice(0, found.index).trim()
  const after = text.slice(found.index + found[0].length).trim()
  const pair =
    before === '' ? readPair([after]) : connect(before, after.replace(LEADING_CONNECTOR, ''))
  if (!pair) return undefined
  const codes = isReverse ? pair.to.split(',') : [pair.from]
  const digits = Math.min(...codes.map((code) => findDigits(code.toUpperCase()) ?? Infinity))
  const { amount, problem } = readTypedAmount(found[0], { digits })
  if (amount === undefined) throw new UsageError(problem)
  return { amount, ...pair }
}

/**
 * Reads `usd eur`, `usd to eur,gbp`, `usd eur gbp`, `usd/eur`, `usdeur`, `swiss franc yen`; undefined for anything but two
 * currencies, or more codes.
 *
 * @throws {UsageError} for a word that names several currencies
 */
export function readPair(words: readonly string[]): TypedPair | undefined {
  const text = words.join(' ').trim().replace(/,\s+/g, ',')
  const [, left, right] = CONNECTED.exec(text) ?? []
  if (left !== undefined && right !== undefined) return connect(left, right)
  const parts = text.split(/\s+/)
  const [first = '', second] = parts
  if (second === undefined) return splitGlued(first)
  if (parts.some((part) => CONNECTOR.test(part))) return undefined
  if (parts.length === 2) return { from: readCode(first), to: readCodes(second) }
  const pairs = parts.slice(1).flatMap((_, index) => {
    const from = findCode(parts.slice(0, index + 1).join(' '))
    const to = findCode(parts.slice(index + 1).join(' '))
    return from !== undefined && to !== undefined ? [{ from, to }] : []
  })
  if (pairs.length > 0) return pairs.length === 1 ? pairs[0] : undefined
  const [from, ...to] = parts.every((part) => /^[a-z]{3}$/i.test(part)) ? parts : []
  return from === undefined ? undefined : { from: readCode(from), to: readCodes(to.join(',')) }
}

/** Reads two currencies; undefined if one of them is several words that name none. */
function connect(left: string, right: string): TypedPair | undefined {
  if (left === '' || right === '') return undefined
  const from = readCode(left)
  const parts = right.split(' ')
  const areCodes = !right.includes(',') && findCode(right) === undefined && parts.every(findCode)
  const to = readCodes(areCodes ? parts.join(',') : right)
  return /\s/.test(from + to) ? undefined : { from, to }
}

/** Reads `usdeur`, two codes without a separator. */
function splitGlued(word: string): TypedPair | undefined {
  const [from, to] = [word.slice(0, 3), word.slice(3)]
  return isKnownCode(from) && isKnownCode(to)
    ? { from: readCode(from), to: readCode(to) }
    : undefined
}

function isKnownCode(code: string): boolean {
  const upper = code.toUpperCase()
  return findCurrency(upper) !== undefined || findWithdrawn(upper) !== undefined
}

/**
 * Returns comma-separated codes for names such as `yen, swiss franc`; other words as typed.
 *
 * @throws {UsageError} for a word that names several currencies
 */
export function readCodes(list: string): string {
  return list
    .split(/,|\sand\s/)
    .map((word) => readCode(word.trim()))
    .join(',')
}

/**
 * Returns the code of the currency that `word` names: a code, symbol, name or country; other words as typed.
 *
 * @throws {UsageError} for a word that names several currencies, or a part of one
 */
export function readCode(word: string): string {
  const advice = adviceOnPart(word)
  if (advice !== undefined) throw new UsageError(advice)
  const code = findCode(word)
  if (code !== undefined) return code
  const several = candidates(word)
  if (several.length < 2) return word
  const shown = several.slice(0, 5)
  const more = several.length > shown.length ? ` (and ${several.length - shown.length} more)` : ''
  throw new UsageError(`${word} names several currencies: ${toAlternatives(shown)}${more}`)
}

/** Returns the code that `word` names; a code as typed; undefined for none or several. */
function findCode(word: string): string | undefined {
  if (word === '' || isKnownCode(word)) return word || undefined
  if (isCryptocurrency(word)) return undefined
  for (const search of searches()) {
    const code = search.exact(word)
    if (code !== undefined) return code
  }
  const only = candidates(word)
  return only.length === 1 ? only[0] : undefined
}

/** Returns what to type instead of a part of a currency, such as `GBp`, `GBX` and `pence`; undefined for other words. */
export function adviceOnPart(word: string): string | undefined {
  if (!isPartOfCurrency(word)) return undefined
  const hint = minorUnitHint(word)
  if (hint !== undefined) return `${word}: ${hint}`
  return `${word} is a part of a currency: type the amount in whole units, and the currency`
}

let created: CurrencySearch[] | undefined

function searches(): CurrencySearch[] {
  created ??= [createCurrencySearch(currencies), createCurrencySearch(withdrawnCurrencies)]
  return created
}

/** Returns the codes that share a noun, symbol, country or word, such as `krone`; empty for a word of none. */
function candidates(word: string): string[] {
  if (isCryptocurrency(word)) return []
  const singular = word.replace(/(?<=\p{L}{2})s$/iu, '')
  const all = [...new Set([word, singular])].flatMap((name) => [
    ...(searches()[0]?.find(name) ?? []).filter((code) => isNamed(code, name)),
    ...withdrawnCurrencies.filter(isCalled(name)).map(({ code }) => code),
  ])
  const codes = [...new Set(all)]
  // A successor that kept the name replaces its predecessor.
  return codes.filter((code) => !codes.includes(findWithdrawn(code)?.successor ?? ''))
}

function isNamed(code: string, name: string): boolean {
  const currency: NamedCurrency = findCurrency(code) ?? { code }
  return isCalled(name)(currency) || createCurrencySearch([currency]).exact(name) !== undefined
}

function isCalled(noun: string): (currency: Pick<NamedCurrency, 'name'>) => boolean {
  return ({ name }) =>
    foldText(name ?? '')
      .split(' ')
      .at(-1) === foldText(noun)
}

const CRYPTOCURRENCIES = new Set(
  `BTC XBT ETH DOGE XRP LTC BCH ADA SOL BNB DOT XMR USDT USDC SHIB AVAX TRX LINK MATIC XLM BITCOIN ETHEREUM ETHER DOGECOIN
  LITECOIN RIPPLE CARDANO SOLANA MONERO TETHER`.split(/\s+/),
)

export function isCryptocurrency(word: string): boolean {
  return CRYPTOCURRENCIES.has(word.toUpperCase())
}

/** Returns what to type instead of the name of a currency in the place of a command; undefined for other words. */
export function adviceOnWord(word: string): string | undefined {
  if (isCryptocurrency(word)) {
    return `${word} is not an ISO 4217 currency: ratesmith has no cryptocurrencies`
  }
  const advice = adviceOnPart(word)
  if (advice !== undefined) return advice
  const code = findCode(word)?.toUpperCase()
  if (code === undefined) return undefined
  const other = code === 'EUR' ? 'USD' : 'EUR'
  return `${word} is not a command; try ratesmith latest ${code}, or ratesmith 100 ${code} ${other}`
}

/** Returns whether the words of a command line that begins with no command are a conversion, perhaps with a misspelt code. */
export function isConversion(args: readonly string[]): boolean {
  const [first = ''] = args
  if (/^-?\.?\d/.test(first) || /^\p{Sc}/u.test(first)) return true
  const end = args.findIndex((arg) => arg.startsWith('-') && arg !== '->')
  try {
    const { words } = takeDay(joinLists(end < 0 ? args : args.slice(0, end)), 0)
    const typed = readConversion(words)
    if (!typed) return false
    const isFrom = findCode(typed.from) !== undefined
    const isTo = typed.to.split(',').every(findCode)
    return isFrom || (isTo && /^[a-z]{3}$/i.test(typed.from))
  } catch (error) {
    // Several currencies share the word: `convert` names them.
    return error instanceof UsageError
  }
}

const DAY_FLAGS = new Set(['--date', '--start', '--end', '-d'])

/** Lists in one argument (`USD, GBP`); words for a day after `--date`, `--start` and `--end` as `YYYY-MM-DD`. */
export function spellOut(args: readonly string[], now: number): string[] {
  const spelled: string[] = []
  for (let index = 0; index < args.length; index += 1) {
    const arg = args[index] ?? ''
    const [, flag = '', value = ''] = /^(--(?:date|start|end))=(.*)$/s.exec(arg) ?? []
    if (flag !== '') {
      spelled.push(`${flag}=${readDay(value, now) ?? value}`)
      continue
    }
    // An option for the parser of arguments.
    spelled.push(arg === '->' ? 'to' : arg)
    if (!DAY_FLAGS.has(arg)) continue
    // The longest words first: `2 weeks ago`, `last friday`.
    for (const count of [3, 2, 1]) {
      const words = args.slice(index + 1, index + 1 + count)
      const day = words.length === count ? readDay(words.join(' '), now) : undefined
      if (day === undefined) continue
      spelled.push(day)
      index += count
      break
    }
  }
  return joinLists(spelled)
}

/** Joins arguments around commas: `USD, GBP` and `USD ,GBP`. */
function joinLists(args: readonly string[]): string[] {
  const joined: string[] = []
  for (const [index, arg] of args.entries()) {
    const last = joined.at(-1)
    const continues = last !== undefined && !arg.startsWith('-')
    const isFollowed = index + 1 < args.length && !args[index + 1]?.startsWith('-')
    const isPart = last?.endsWith(',') || (arg.startsWith(',') && (arg !== ',' || isFollowed))
    if (continues && isPart && !last.startsWith('-')) joined[joined.length - 1] = last + arg
    else joined.push(arg)
  }
  return joined
}

const WEEKDAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday']

/** Takes the day at the end of words, if there is one: `yesterday`, `on 2020-02-28`, `2 weeks ago`. */
export function takeDay(
  words: readonly string[],
  now: number,
): { words: string[]; day: string | undefined } {
  const all = words.join(' ').trim().split(/\s+/)
  for (const count of [3, 2, 1]) {
    const text = all.slice(-count).join(' ')
    const day = /^\d{4}-\d\d-\d\d$/.test(text) ? text : readDay(text, now)
    if (day === undefined || all.length <= count) continue
    const before = all.slice(0, -count)
    return { words: before.at(-1)?.toLowerCase() === 'on' ? before.slice(0, -1) : before, day }
  }
  const last = all.at(-1) ?? ''
  if (all.length > 2 && OTHER_DAY.test(last)) {
    throw new UsageError(`a day must be YYYY-MM-DD, or a word such as yesterday, got ${last}`)
  }
  return { words: all, day: undefined }
}

/** `28.02.2020`, `2020-2-8`, `2020-02`, `2020`. */
const OTHER_DAY = /^(?:\d{1,4}([-./])\d{1,2}\1\d{1,4}|(?:19|20)\d\d(?:-\d{1,2})?)$/

/**
 * Returns the day that `text` names in UTC, `YYYY-MM-DD`: `today`, `yesterday`, `30d`, `-30d`, `30 days ago`, also with weeks,
 * months and years, and `friday` or `last friday`, the last one before today. Undefined for other texts.
 */
function readDay(text: string, now: number): string | undefined {
  const word = text.trim().toLowerCase()
  if (word === 'today') return toDay(now)
  if (word === 'yesterday') return toDay(now - DAY_MS)
  const name = word.replace(/^last\s+/, '')
  const weekday = WEEKDAYS.findIndex((each) => each === name || each.slice(0, 3) === name)
  if (weekday >= 0) {
    const ago = (new Date(now).getUTCDay() - weekday + 7) % 7
    return toDay(now - (ago || 7) * DAY_MS)
  }
  const [, digits, unit] =
    /^(?:-\s?(?=\S+$))?(\d{1,5})\s?(d|w|m|y|(?:day|week|month|year)s?\sago)$/.exec(word) ?? []
  if (digits === undefined || unit === undefined) return undefined
  return daysAgo(Number(digits), unit.charAt(0), now)
}

function daysAgo(count: number, unit: string, now: number): string {
  if (unit === 'd') return toDay(now - count * DAY_MS)
  if (unit === 'w') return toDay(now - count * 7 * DAY_MS)
  return subtractMonths(toDay(now), unit === 'y' ? 12 * count : count)
}
