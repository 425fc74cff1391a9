import { digestOf } from '../digest.ts'
import { assertKnownOptions } from '../known-options.ts'
import { amountNeeded, exactProduct } from '../rates/arithmetic.ts'
import { isCode } from '../rates/currency-code.ts'
import { isDay, toDay } from '../rates/dates.ts'
import type { Day } from '../rates/dates.ts'
import { OFFICIAL_PEGS } from '../rates/pegs.ts'
import type { Derivation, Derivations } from '../rates/rate-table.ts'
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
} from '../upstream/provider.ts'

export { OFFICIAL_PEGS }
export type { OfficialPeg } from '../rates/pegs.ts'
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
 * Adds the currencies that `provider` lacks and that have an official peg, from the rate of their anchor and the ratio of
 * `OFFICIAL_PEGS` on the day. Pegs with a band have no ratio and are not added. Responses with such a rate have
 * `derived: "peg"`, and the name of their source ends with `(peg)`.
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
  return derive(provider, { kind: 'peg', ratios: officialRatios() })
}

/**
 * Adds the currencies of `ratios` that `provider` lacks, from the rates of their anchors. Responses with such a rate have
 * `derived: "fixed"`, and the name of their source ends with `(fixed)`.
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
  return derive(provider, { kind: 'fixed', ratios: ratios.map(requireRatio) })
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
  return derive(provider, { kind: 'overlay', ratios, own })
}

/** What a wrapped provider is: of latest rates, of history, or of both. */
export type Derived<Wrapped extends Provider> = (Wrapped extends LatestProvider
  ? LatestProvider
  : unknown) &
  (Wrapped extends HistoryProvider ? HistoryProvider : unknown)

function officialRatios(): FixedRatio[] {
  return OFFICIAL_PEGS.flatMap(({ currency, anchor, ratio, since, until }) =>
    ratio === null ? [] : [{ currency, anchor, ratio, since, until: until ?? undefined }],
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

interface Addition {
  kind: Derivation
  ratios: readonly FixedRatio[]
  /** Source of rates that replace those of the provider (default none are replaced). */
  own?: Attribution
}

function derive<Wrapped extends Provider>(provider: Wrapped, addition: Addition): Derived<Wrapped>
function derive(provider: Provider, addition: Addition): Partial<LatestProvider & HistoryProvider> {
  const isLatest = 'fetchLatest' in Object(provider)
  requireProvider('provider', isLatest ? 'fetchLatest' : 'fetchHistory', provider)
  return {
    attribution: derivedAttribution(provider.attribution, addition),
    ...('fetchLatest' in provider && derivedLatest(provider, addition)),
    ...('fetchHistory' in provider && derivedHistory(provider, addition)),
  }
}

function derivedAttribution(
  attribution: DerivedAttribution,
  { kind, ratios, own }: Addition,
): DerivedAttribution {
  const { revision = '' } = attribution
  // Responses name the source of rates on top, which must be a single one.
  if (own && attribution.overlay) throw new TypeError('provider must have no other overlay')
  return {
    ...attribution,
    ...(own && { overlay: own }),
    revision: digestOf(JSON.stringify([revision, kind, ratios])),
  }
}

function derivedLatest(
  provider: LatestProvider,
  addition: Addition,
): Pick<LatestProvider, 'fetchLatest' | 'validateStored'> {
  return {
    async fetchLatest(context) {
      const { previous } = context
      const published = await provider.fetchLatest({
        ...context,
        ...(previous && { previous: withoutDerived(previous) }),
      })
      return withAdded(published, addition)
    },
    ...(provider.validateStored && {
      validateStored(table, previous, references) {
        const own = previous && withoutDerived(previous)
        const checked = provider.validateStored?.(withoutDerived(table), own, references)
        return withAdded(checked ?? table, addition)
      },
    }),
  }
}

function withoutDerived({ derived, ...table }: LatestTable): LatestTable {
  if (!derived) return table
  const codes = Object.keys(derived)
  const { rates, prices } = table
  return {
    ...table,
    rates: without(rates, codes),
    ...(prices && { prices: without(prices, codes) }),
  }
}

function withAdded(table: LatestTable, addition: Addition): LatestTable {
  const { added, codes } = addedTo(table, toDay(table.updatedAt), addition, publishedIn([table]))
  if (codes.length === 0) return table
  const inverses = Object.entries(added.prices).map(([code, price]) => [code, 1 / price])
  const prices = { ...without(table.prices, codes), ...added.prices }
  return {
    ...table,
    rates: { ...table.rates, ...added.rates, ...Object.fromEntries(inverses) },
    ...(Object.keys(prices).length > 0 && { prices }),
    derived: derivationsOf(table.derived, codes, addition),
  }
}

function without(
  quotes: Readonly<Record<string, number>> | undefined,
  codes: readonly string[],
): Record<string, number> {
  return Object.fromEntries(Object.entries(quotes ?? {}).filter(([code]) => !codes.includes(code)))
}

function derivationsOf(
  known: Derivations | undefined,
  codes: readonly string[],
  { kind }: Addition,
): Derivations {
  return { ...known, ...Object.fromEntries(codes.map((code) => [code, kind])) }
}

interface Quotes {
  rates: Readonly<Record<string, number>>
  prices?: Readonly<Record<string, number>> | undefined
}

type Added = Record<'rates' | 'prices', Record<string, number>>

interface Published {
  rates: ReadonlySet<string>
  prices: ReadonlySet<string>
}

function publishedIn(all: readonly Quotes[]): Published {
  const prices = new Set(all.flatMap((each) => Object.keys(each.prices ?? {})))
  return { rates: new Set(all.flatMap(({ rates }) => Object.keys(rates))), prices }
}

/** Returns the quotes to add on `day`, each in the direction of others of its currency, or else of its anchor. */
function addedTo(
  quotes: Quotes & { base: string },
  day: Day,
  { ratios, own }: Addition,
  published: Published,
): { added: Added; codes: string[] } {
  const added: Added = { rates: {}, prices: {} }
  const { base, rates, prices = {} } = quotes
  for (const { currency, anchor, ratio, since = '', until = '9999' } of ratios) {
    if (day < since || day > until) continue
    const isPublished = published.rates.has(currency) || published.prices.has(currency)
    if (isPublished && !own) continue
    if (currency === base) {
      if (own) throw new RejectedError(`own rates must not include ${base}, the provider's base`)
      continue
    }
    const price = anchor === base ? undefined : prices[anchor]
    const rate = anchor === base ? 1 : rates[anchor]
    const isPriced = isPublished ? published.prices.has(currency) : price !== undefined
    const quote = quoteOf({ price, rate }, ratio, isPriced)
    if (quote !== undefined) added[isPriced ? 'prices' : 'rates'][currency] = quote
  }
  return { added, codes: Object.keys({ ...added.rates, ...added.prices }) }
}

/** Returns the quote of a currency at `ratio` for one unit of its anchor; undefined without a quote of the anchor. */
function quoteOf(
  { price, rate }: { price: number | undefined; rate: number | undefined },
  ratio: number,
  isPriced: boolean,
): number | undefined {
  if (price !== undefined) return isPriced ? amountNeeded(price, ratio) : amountNeeded(ratio, price)
  if (rate === undefined) return undefined
  const units = exactProduct(rate, ratio)
  return isPriced ? amountNeeded(1, units) : units
}

function derivedHistory(
  provider: HistoryProvider,
  addition: Addition,
): Omit<HistoryProvider, 'attribution'> {
  const { terms, sanityChecks, publication, maxDays } = provider
  return {
    ...(terms !== undefined && { terms }),
    ...(sanityChecks !== undefined && { sanityChecks }),
    ...(publication && { publication }),
    ...(maxDays !== undefined && { maxDays }),
    fetchHistory: async (range, context) =>
      withAddedDays(await provider.fetchHistory(range, context), addition),
    ...(provider.fetchSeries && {
      async fetchSeries(range, context) {
        const { code, ...days } = range
        const seriesOf = async (one: string): Promise<HistoryDays> =>
          (await provider.fetchSeries?.({ ...days, code: one }, context)) ?? { base: '', days: [] }
        const published = await seriesOf(code)
        const ratio = addition.ratios.find(({ currency }) => currency === code)
        const isEnough = published.days.length > 0 && !addition.own
        if (!ratio || isEnough || code === published.base) return published
        // Any other currency has the days of the base.
        const others = ['USD', 'EUR'].filter((each) => each !== published.base)
        const [anchor = ''] = ratio.anchor === published.base ? others : [ratio.anchor]
        const added = withAddedDays(joined(published, await seriesOf(anchor)), addition)
        return onlyCode(added, code)
      },
    }),
  }
}

function withAddedDays(published: HistoryDays, addition: Addition): HistoryDays {
  const { base, days } = published
  const quoted = publishedIn(days)
  const all = new Set<string>()
  const changed = days.map((day): HistoryDay => {
    const { added, codes } = addedTo({ ...day, base }, day.date, addition, quoted)
    for (const code of codes) all.add(code)
    return {
      ...day,
      rates: { ...day.rates, ...added.rates },
      ...(day.prices && { prices: { ...day.prices, ...added.prices } }),
    }
  })
  if (all.size === 0) return published
  return { base, days: changed, derived: derivationsOf(published.derived, [...all], addition) }
}

function joined(one: HistoryDays, other: HistoryDays): HistoryDays {
  const days = new Map(other.days.map((day) => [day.date, day]))
  for (const day of one.days) {
    const { rates, prices } = days.get(day.date) ?? { rates: {} }
    const both = (prices ?? day.prices) && { ...prices, ...day.prices }
    days.set(day.date, { ...day, rates: { ...rates, ...day.rates }, ...(both && { prices: both }) })
  }
  return { ...other, days: [...days.values()].toSorted((a, b) => (a.date < b.date ? -1 : 1)) }
}

function onlyCode({ days, derived = {}, ...history }: HistoryDays, code: string): HistoryDays {
  const only = (quotes: Record<string, number>): Record<string, number> => {
    const quote = quotes[code]
    return quote === undefined ? {} : { [code]: quote }
  }
  const found = derived[code]
  return {
    ...history,
    days: days
      .filter(({ rates, prices }) => code in { ...rates, ...prices })
      .map(({ rates, prices, ...day }) => {
        return { ...day, rates: only(rates), ...(prices && { prices: only(prices) }) }
      }),
    ...(found && { derived: { [code]: found } }),
  }
}
