import { findCurrency, findWithdrawn, currencies, withdrawnCurrencies } from '../currencies.ts'
import { adviceOnPart, createCurrencySearch } from '../currency-search.ts'
import type { CurrencySearch } from '../currency-search.ts'
import { toAlternatives } from '../known-options.ts'
import { findDigits } from '../money/minor-units.ts'
import { readTypedAmount } from '../typed-amount.ts'
import { takeDay } from './days.ts'
import { UsageError } from './usage.ts'

/** Currencies as typed. Codes that are unknown here are as typed: a provider may have them. */
interface TypedPair {
  from: string
  /** Comma-separated codes. */
  to: string
  /** Words that several currencies share, with the one that was taken: `rupees: INR`; one note, or none. */
  notes: string[]
}

// Blanks separate groups of three digits only.
const AMOUNT =
  /(?:\.?\d)[\d.,'’_]*(?:[\s\u00a0\u202f]\d{3}(?!\d)[\d.,]*)*(?:e[+-]?\d+(?![\d.,]))?(?:\s?(?:k|m|mio|bn)(?![\p{L}]))?/iu

const CONNECTED = /^(.*?\S)(?:\s+(?:to|in|into)\s+|\s*(?:→|->|=>|=|\/)\s*)(\S.*)$/i

const CONNECTOR = /^(?:to|in|into|→|->|=>|=|\/)$/i

const LEADING_CONNECTOR = /^(?:(?:to|in|into)\s|→|->|=>|=|\/)\s*/i

/**
 * Reads `100 usd to eur`, `€50 in yen`, `1k usd/eur,gbp`, `usdeur`; undefined for words that are not two currencies with an
 * optional amount in the form of the API, which is of the targets if `isReverse`.
 *
 * @throws {UsageError} for an amount without a clear meaning, and for a word that names several currencies
 */
export function readConversion(
  words: readonly string[],
  isReverse = false,
): (TypedPair & { amount: string | undefined }) | undefined {
  const text = words.join(' ').trim()
  const found = AMOUNT.exec(text)
  const [typed] = found ?? ['']
  const before = text.slice(0, found?.index ?? 0).trim()
  const after = text.slice((found?.index ?? 0) + typed.length).trim()
  // An amount at the end could be a day: `3m` is three months ago.
  const pair =
    before === '' ? readPair(after) : after && pairOf(before, after.replace(LEADING_CONNECTOR, ''))
  if (!pair || !found) return pair ? { ...pair, amount: undefined } : undefined
  const codes = isReverse ? pair.to.split(',') : [pair.from]
  const digits = Math.min(...codes.map((code) => findDigits(code.toUpperCase()) ?? Infinity))
  const { amount, problem } = readTypedAmount(typed, { digits })
  if (amount === undefined) throw new UsageError(problem)
  return { ...pair, amount }
}

/**
 * Reads `usd eur`, `usd to eur,gbp`, `usd eur gbp`, `usd/eur`, `usdeur`, `swiss franc yen`; undefined for anything but two
 * currencies, or more codes.
 *
 * @throws {UsageError} for a word that names several currencies
 */
export function readPair(text: string): TypedPair | undefined {
  const [, left, right] = CONNECTED.exec(text) ?? []
  if (left !== undefined && right !== undefined) return pairOf(left, right)
  const list = text.split(',').map((item) => item.trim())
  const parts = list.join().split(/\s+/)
  const [first = '', second] = parts
  if (second === undefined) {
    const glued = [first.slice(0, 3), first.slice(3)] as const
    return glued.every(isKnownCode) ? pairOf(...glued) : undefined
  }
  if (parts.some((part) => CONNECTOR.test(part))) return undefined
  if (parts.length === 2) return pairOf(first, second)
  const splits = parts.slice(1).map((_, index) => {
    return [parts.slice(0, index + 1).join(' '), parts.slice(index + 1).join(' ')] as const
  })
  const pairs = splits.filter((split) => split.every((word) => findCode(word) !== undefined))
  const [pair = areCodes(parts) ? splits[0] : undefined] = pairs
  return pair && pairs.length < 2 ? pairOf(...pair) : undefined
}

function pairOf(left: string, right: string): TypedPair | undefined {
  const [from, to] = [readCode(left), readCodes(right)]
  const notes = noteOn([left, ...splitList(right)])
  return /\s/.test(from + to) ? undefined : { from, to, notes }
}

function areCodes(words: readonly string[]): boolean {
  return words.every((word) => /^[a-z]{3}$/i.test(word) || findCode(word) !== undefined)
}

/** Splits `yen, swiss franc`, `yen and euro` and `eur gbp`. */
export function splitList(list: string): string[] {
  const words = list.split(/,|\sand\s/).map((word) => word.trim())
  const parts = list.split(' ')
  return words.length === 1 && findCode(list) === undefined && areCodes(parts) ? parts : words
}

/** Returns `rupees: INR, $: USD` for words that several currencies share and that mean one of them; empty without such words. */
export function noteOn(words: readonly string[]): string[] {
  const notes = words.flatMap((word) => {
    // The search takes longer than the rest of a conversion.
    const code = isKnownCode(word) ? undefined : findCode(word)
    if (code === undefined) return []
    // Units of account, such as the WIR Euro, have no country.
    const rivals = candidates(word).filter((each) => findCurrency(each)?.countries.length)
    return rivals.length > 1 ? [`${word}: ${code}`] : []
  })
  return notes.length > 0 ? [notes.join(', ')] : []
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
  return splitList(list).map(readCode).join(',')
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
  const [exact] = searches().flatMap((search) => search.exact(word) ?? [])
  const [only, other] = candidates(word)
  return exact ?? (other === undefined ? only : undefined)
}

let created: CurrencySearch[] | undefined

function searches(): CurrencySearch[] {
  created ??= [createCurrencySearch(currencies), createCurrencySearch(withdrawnCurrencies)]
  return created
}

/** Returns the codes that share a noun, symbol, country or word, such as `krone`; empty for a word of none. */
function candidates(word: string): string[] {
  if (isCryptocurrency(word)) return []
  const codes = searches().flatMap((search) => search.sharing(word))
  // A successor that kept the name replaces its predecessor.
  return codes.filter((code) => !codes.includes(findWithdrawn(code)?.successor ?? ''))
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
  if (/^-?\.?\d|^\p{Sc}/u.test(args[0] ?? '')) return true
  const end = args.findIndex((arg) => arg.startsWith('-') && arg !== '->')
  try {
    const typed = readConversion(takeDay(end < 0 ? args : args.slice(0, end), 0).words)
    if (!typed) return false
    const areKnown = typed.to.split(',').every(findCode)
    return findCode(typed.from) !== undefined || (areKnown && /^[a-z]{3}$/i.test(typed.from))
  } catch (error) {
    // Several currencies share the word: `convert` names them.
    return error instanceof UsageError
  }
}
