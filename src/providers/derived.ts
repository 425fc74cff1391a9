import { runInSlices, yieldToEventLoop } from '../async.ts'
import type { Slices } from '../async.ts'
import { digestOf } from '../digest.ts'
import { assertKnownOptions } from '../known-options.ts'
import { amountNeeded, exactProduct } from '../rates/arithmetic.ts'
import { isCode } from '../rates/currency-code.ts'
import { isDay, toDay } from '../rates/dates.ts'
import type { Day, DaySpan } from '../rates/dates.ts'
import { pegs } from '../rates/pegs.ts'
import { DERIVATIONS } from '../rates/rate-table.ts'
import type { Derivation } from '../rates/rate-table.ts'
import { RejectedError, isObject } from '../rates/validate.ts'
import { requireProvider } from '../upstream/provider.ts'
import type {
  Attribution,
  HistoryDay,
  HistoryDays,
  HistoryProvider,
  LatestProvider,
  LatestTable,
  DerivedAttribution,
  ProviderContext,
} from '../upstream/provider.ts'

export type { Derivation }

/** A currency at a fixed ratio of another. */
export interface FixedRatio {
  /** Upper-case ISO 4217 code. */
  currency: string
  /** Upper-case code of the currency that it is fixed to. */
  anchor: string
  /** Units of the currency for one unit of the anchor; above 0. */
  ratio: number
  /** First day, `YYYY-MM-DD` (default none). */
  since?: string | undefined
  /** Last day, `YYYY-MM-DD` (default none). */
  until?: string | undefined
}

/** Rates of your own for some days. */
export interface OwnRates {
  /** Upper-case code against which `rates` are quoted. */
  base: string
  /** Units of each currency for one unit of `base`, by upper-case code. */
  rates: Readonly<Record<string, number>>
  /** First day, `YYYY-MM-DD` (default none). */
  since?: string | undefined
  /** Last day, `YYYY-MM-DD` (default none). */
  until?: string | undefined
}

/** Options of `overlay`. */
export interface OverlayOptions {
  /** Your rates; of several tables for a day, the last one with a currency counts. */
  rates: OwnRates | readonly OwnRates[]
  /** Source of your rates, shown with them. */
  name: string
  /** Page about your rates: an absolute http or https URL. */
  url: string
}

type Provider = LatestProvider | HistoryProvider

/**
 * Adds, on each day, the currencies that `provider` lacks and that have an official peg, from the rate of their anchor and the
 * ratio of `OFFICIAL_PEGS`. Pegs with a band have no ratio and are not added. Responses with such a rate have `derived: "peg"`,
 * or that of the anchor, and the name of their source ends with `(peg)`.
 *
 * @throws {TypeError} if `provider` is not a provider
 * @example
 * ```ts
 * import { createRatesHandler } from 'ratesmith'
 * import { createEcbProvider, pegged } from 'ratesmith/providers'
 *
 * const handler = createRatesHandler({ providers: { history: pegged(createEcbProvider()) } })
 * const { rate, derived } = await handler.rates.convert({ from: 'EUR', to: 'XOF', date: '2026-01-02' })
 * console.log(rate, derived) // 655.957 peg
 * ```
 */
export function pegged<Wrapped extends Provider>(provider: Wrapped): Derived<Wrapped> {
  return derive(provider, officialRatios())
}

/**
 * Adds, on each day, the currencies of `ratios` that `provider` lacks, from the rates of their anchors. Responses with such a
 * rate have `derived: "fixed"`, and the name of their source ends with `(fixed)`. Of several ratios for a day, the last counts.
 *
 * @throws {TypeError} if `provider` is not a provider, or a ratio is invalid
 * @example
 * ```ts
 * import { createExchangeRateApiProvider, createRatesHandler } from 'ratesmith'
 * import { fixed } from 'ratesmith/providers'
 *
 * const points = { currency: 'PTS', anchor: 'EUR', ratio: 100 }
 * const latest = fixed(createExchangeRateApiProvider(), [points])
 * const handler = createRatesHandler({ providers: { latest } })
 * ```
 */
export function fixed<Wrapped extends Provider>(
  provider: Wrapped,
  ratios: readonly FixedRatio[],
): Derived<Wrapped> {
  if (!Array.isArray(ratios)) throw new TypeError('ratios must be an array')
  const kind = 'fixed'
  return derive(
    provider,
    ratios.map((ratio): Ratio => ({ ...requireRatio(ratio), kind })).toReversed(),
  )
}

/**
 * Puts rates of your own on top of those of `provider`: a currency of yours has your rate on every day that it is for.
 * Responses with such a rate have `derived: "overlay"`, and name you as their source.
 *
 * @throws {TypeError} if `provider` is not a provider or has an overlay, or an option is invalid
 * @example
 * ```ts
 * import { createFrankfurterProvider, createRatesHandler } from 'ratesmith'
 * import { overlay } from 'ratesmith/providers'
 *
 * const history = overlay(createFrankfurterProvider(), {
 *   rates: { base: 'EUR', rates: { USD: 1.1, GBP: 0.85 }, since: '2026-01-01', until: '2026-01-31' },
 *   name: 'Treasury of Example Ltd',
 *   url: 'https://example.com/rates',
 * })
 * const handler = createRatesHandler({ providers: { history } })
 * ```
 */
export function overlay<Wrapped extends Provider>(
  provider: Wrapped,
  options: OverlayOptions,
): Derived<Wrapped> {
  const { rates, name, url } = options
  assertKnownOptions(options, { rates, name, url })
  if (!isObject(rates)) throw new TypeError('rates must be a table or an array of tables')
  const own: Attribution = { name, url }
  requireProvider('options', 'fetchLatest', { fetchLatest: () => undefined, attribution: own })
  const tables: readonly OwnRates[] = 'base' in rates ? [rates] : rates
  const ratios = tables.flatMap(({ base: anchor, rates: byCode, since, until }) =>
    Object.entries(byCode).map(([currency, ratio]) =>
      requireRatio({ currency, anchor, ratio, since, until }),
    ),
  )
  const kind = 'overlay'
  return derive(provider, ratios.map((ratio): Ratio => ({ ...ratio, kind })).toReversed(), own)
}

/** What a wrapped provider is: of latest rates, of history, or of both. */
export type Derived<Wrapped extends Provider> = (Wrapped extends LatestProvider
  ? LatestProvider
  : unknown) &
  (Wrapped extends HistoryProvider ? HistoryProvider : unknown)

function officialRatios(): Ratio[] {
  return [...pegs.values()].flatMap(({ currency, anchor, ratio, price, since, until }) =>
    ratio === null ? [] : [{ kind: 'peg', currency, anchor, ratio, price, since, until }],
  )
}

function requireRatio(given: FixedRatio): FixedRatio {
  const { currency, anchor, ratio, since, until } = given
  assertKnownOptions(given, { currency, anchor, ratio, since, until })
  if (!isCode(currency) || !isCode(anchor) || currency === anchor) {
    throw new TypeError(`${String(currency)} and ${String(anchor)} must be two upper-case codes`)
  }
  if (!(typeof ratio === 'number' && ratio > 0 && ratio < Infinity)) {
    throw new TypeError(`the ratio of ${currency} must be above 0, got ${String(ratio)}`)
  }
  for (const day of [since, until]) {
    if (day === undefined || isDay(day)) continue
    throw new TypeError(`the days of ${currency} must be YYYY-MM-DD, got ${String(day)}`)
  }
  return given
}

interface Ratio extends Omit<FixedRatio, 'until'> {
  kind: Derivation
  /** Units of the anchor for one unit of the currency, if that is declared instead of `ratio`. */
  price?: number | null
  until?: string | null | undefined
}

interface Wrapping {
  provider: Provider
  ratios: readonly Ratio[]
}

/** What the wrapped providers consist of: another wrapping adds to the ratios, so that its place does not matter. */
const wrappings = new WeakMap<object, Wrapping>()

function derive<Wrapped extends Provider>(
  given: Wrapped,
  added: readonly Ratio[],
  own?: Attribution,
): Derived<Wrapped> {
  const isLatest = 'fetchLatest' in Object(given)
  requireProvider('provider', isLatest ? 'fetchLatest' : 'fetchHistory', given)
  // Responses name the source of rates on top, which must be a single one.
  const { overlay: top = own } = given.attribution as DerivedAttribution
  if (own && top !== own) throw new TypeError('provider must have no other overlay')
  const known: Wrapping = wrappings.get(given) ?? { provider: given, ratios: [] }
  const { provider, ratios: before } = known
  const ratios = DERIVATIONS.flatMap((kind) =>
    [...before, ...added].filter((ratio) => ratio.kind === kind),
  )
  const { revision = '', ...attribution } = provider.attribution as DerivedAttribution
  const byCode = new Map(
    ratios.map(({ currency }) => [currency, ratios.filter((each) => each.currency === currency)]),
  )
  const wrapped = {
    attribution: {
      ...attribution,
      ...(top && { overlay: top }),
      revision: digestOf(JSON.stringify([revision, ratios])),
    },
    ...('fetchLatest' in provider && derivedLatest(provider, byCode)),
    ...('fetchHistory' in provider && derivedHistory(provider, byCode)),
  }
  wrappings.set(wrapped, { provider, ratios })
  return Object(wrapped)
}

/** By currency, the strongest first. */
type Ratios = ReadonlyMap<string, readonly Ratio[]>

function derivedLatest(
  provider: LatestProvider,
  ratios: Ratios,
): Pick<LatestProvider, 'fetchLatest' | 'validateStored'> {
  return {
    async fetchLatest(context) {
      const { previous } = context
      const published = await provider.fetchLatest({
        ...context,
        ...(previous && { previous: withoutDerived(previous) }),
      })
      return withDerived(published, ratios)
    },
    ...(provider.validateStored && {
      async validateStored(table, previous, references) {
        const own = previous && withoutDerived(previous)
        const checked = await provider.validateStored?.(withoutDerived(table), own, references)
        return withDerived(checked ?? table, ratios)
      },
    }),
  }
}

function withoutDerived({ derived, ...table }: LatestTable): LatestTable {
  if (!derived) return table
  const isPublished = (code: string): boolean => !derived[code]
  const { rates, prices } = table
  return {
    ...table,
    rates: pick(rates, isPublished),
    ...(prices && { prices: pick(prices, isPublished) }),
  }
}

function pick<Value>(
  byCode: Readonly<Record<string, Value>>,
  isPicked: (code: string) => boolean,
): Record<string, Value> {
  return Object.fromEntries(Object.entries(byCode).filter(([code]) => isPicked(code)))
}

function withDerived(table: LatestTable, ratios: Ratios): LatestTable {
  const { prices, ...found } = derivedQuotes(table, toDay(table.updatedAt), ratios)
  const inverses = Object.entries(prices).map(([code, price]) => [code, 1 / price])
  const rates = { ...found.rates, ...Object.fromEntries(inverses) }
  return { ...table, ...found, rates, ...(inverses.length > 0 && { prices }) }
}

/** Whether a currency is priced; undefined if that does not matter. */
type Directions = ReadonlyMap<string, boolean | undefined>

/**
 * A currency has the direction of its anchor, so that it does not depend on the days of a response whether the provider quotes
 * it on one of them; with own rates on top, it has that of the provider.
 */
function directionsIn({ base, days }: HistoryDays, ratios: Ratios): Directions {
  const published = new Map([[base, false]])
  for (const { rates, prices } of days) {
    for (const code in rates) published.set(code, false)
    for (const code in prices) published.set(code, true)
  }
  const directionOf = (code: string, seen: readonly string[] = []): boolean | undefined => {
    const own = published.get(code)
    const [first] = ratios.get(code) ?? []
    const isOwn = code === base || (first?.kind === 'overlay' && own !== undefined)
    if (!first || isOwn || seen.includes(code)) return own
    return directionOf(first.anchor, [...seen, code]) ?? own
  }
  return new Map([...ratios.keys()].map((code) => [code, directionOf(code)]))
}

interface Quote {
  value: number
  isPriced: boolean
  derived?: Derivation | undefined
}

/** Returns the published and the derived quotes of `day`. */
function derivedQuotes(
  { base, rates, prices = {}, derived }: Pick<LatestTable, 'base' | 'rates' | 'prices' | 'derived'>,
  day: Day,
  ratios: Ratios,
  directions?: Directions,
) {
  const isOn = (ratio: Ratio): boolean => isWithin(ratio, { start: day, end: day })
  if (ratios.get(base)?.some((ratio) => ratio.kind === 'overlay' && isOn(ratio))) {
    throw new RejectedError(`own rates must not include ${base}, the provider's base`)
  }
  const known = new Map<string, Quote | undefined>([[base, { value: 1, isPriced: false }]])
  const quoteOf = (code: string): Quote | undefined => {
    if (known.has(code)) return known.get(code)
    const value = prices[code] ?? rates[code]
    const published = value && { value, isPriced: code in prices, derived: derived?.[code] }
    // What depends on a currency that depends on it follows its published quote.
    known.set(code, published || undefined)
    for (const ratio of ratios.get(code) ?? []) {
      if (!isOn(ratio) || (published && ratio.kind !== 'overlay')) continue
      const anchor = quoteOf(ratio.anchor)
      if (!anchor) continue
      known.set(code, atRatio(anchor, ratio))
      break
    }
    return known.get(code)
  }
  const found = { rates: { ...rates }, prices: { ...prices }, derived: { ...derived } }
  for (const code of ratios.keys()) {
    const quote = code === base ? undefined : quoteOf(code)
    const isPriced = directions?.get(code) ?? quote?.isPriced
    if (!quote || (!quote.derived && isPriced === quote.isPriced)) continue
    const [own, other] = isPriced ? [found.prices, found.rates] : [found.rates, found.prices]
    own[code] = isPriced === quote.isPriced ? quote.value : amountNeeded(1, quote.value)
    if (code in other) delete other[code]
    if (quote.derived) found.derived[code] = quote.derived
  }
  return found
}

function atRatio({ value, isPriced, derived }: Quote, { ratio, price, kind }: Ratio): Quote {
  const combine = isPriced === Boolean(price) ? exactProduct : amountNeeded
  return {
    value: combine(value, price ?? ratio),
    isPriced,
    derived: DERIVATIONS.find((each) => each === kind || each === derived),
  }
}

function isWithin({ since = '', until }: Ratio, { start, end }: DaySpan): boolean {
  return since <= end && (until ?? '9999') >= start
}

function derivedHistory(
  provider: HistoryProvider,
  ratios: Ratios,
): Omit<HistoryProvider, 'attribution'> {
  const { terms, sanityChecks, publication, maxDays } = provider
  const inSlices = async (
    work: Slices<HistoryDays>,
    { signal }: ProviderContext,
  ): Promise<HistoryDays> => runInSlices(work, yieldToEventLoop, signal)
  return {
    ...(terms !== undefined && { terms }),
    ...(sanityChecks !== undefined && { sanityChecks }),
    ...(publication && { publication }),
    ...(maxDays !== undefined && { maxDays }),
    fetchHistory: async (range, context) =>
      inSlices(derivedDays(await provider.fetchHistory(range, context), ratios), context),
    ...(provider.fetchSeries && {
      async fetchSeries(range, context) {
        const { code, ...days } = range
        const seriesOf = async (one: string): Promise<HistoryDays> =>
          (await provider.fetchSeries?.({ ...days, code: one }, context)) ?? { base: '', days: [] }
        const published = await seriesOf(code)
        const { base } = published
        const needed = new Set([code])
        // A set may grow while it is read.
        for (const each of needed) {
          const found = ratios.get(each)?.filter((ratio) => isWithin(ratio, days)) ?? []
          for (const { anchor } of found) needed.add(anchor)
        }
        if (needed.size === 1 || code === base) return published
        // Any other currency has the days of the base.
        if (needed.delete(base)) needed.add(base === 'USD' ? 'EUR' : 'USD')
        needed.delete(code)
        let all = published
        for (const each of needed) all = joined(all, await seriesOf(each))
        return onlyCode(await inSlices(derivedDays(all, ratios), context), code)
      },
    }),
  }
}

/** About 5 ms. */
const DAYS_PER_SLICE = 100

function* derivedDays(published: HistoryDays, ratios: Ratios): Slices<HistoryDays> {
  const { base } = published
  const directions = directionsIn(published, ratios)
  const days: HistoryDay[] = []
  for (const day of published.days) {
    if (days.length % DAYS_PER_SLICE === DAYS_PER_SLICE - 1) yield
    const { prices, ...found } = derivedQuotes({ base, ...day }, day.date, ratios, directions)
    days.push({ ...day, ...found, ...(day.prices && { prices }) })
  }
  return { ...published, days }
}

function joined(one: HistoryDays, other: HistoryDays): HistoryDays {
  const days = new Map(other.days.map((day) => [day.date, day]))
  for (const day of one.days) {
    const { rates, prices } = days.get(day.date) ?? { rates: {} }
    const both = (prices ?? day.prices) && { ...prices, ...day.prices }
    days.set(day.date, { ...day, rates: { ...rates, ...day.rates }, ...(both && { prices: both }) })
  }
  return { ...one, days: [...days.values()].toSorted((a, b) => (a.date < b.date ? -1 : 1)) }
}

function onlyCode(history: HistoryDays, code: string): HistoryDays {
  const isIt = (each: string): boolean => each === code
  const days = history.days.map(({ rates, prices, derived, ...day }) => ({
    ...day,
    rates: pick(rates, isIt),
    ...(prices && { prices: pick(prices, isIt) }),
    ...(derived && { derived: pick(derived, isIt) }),
  }))
  return { ...history, days: days.filter((day) => code in { ...day.rates, ...day.prices }) }
}
