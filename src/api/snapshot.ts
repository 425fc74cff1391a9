import type { Instant } from '../async.ts'
import { digestOf } from '../digest.ts'
import { invalidParameter } from '../errors.ts'
import { quoteOf } from '../rates/arithmetic.ts'
import type { UppercaseCode } from '../rates/currency-code.ts'
import type { DateRule, Day } from '../rates/dates.ts'
import { toPlainText } from '../rates/decimal.ts'
import type { Derivation, RateTable } from '../rates/rate-table.ts'
import type { RateSources } from '../sources/rate-sources.ts'
import type { Attribution, DerivedAttribution } from '../upstream/provider.ts'
import { check } from './check.ts'
import { selectRates, withLatest } from './latest.ts'
import { OPERATIONS } from './parameters.ts'
import type { SnapshotParams } from './parameter-types.ts'
import type { Operation } from './parameters.ts'
import type { Rates } from './resolve-code.ts'

/** Rates of one publication as plain JSON, with all that `convertAt` needs to repeat their conversions. */
export interface RatesSnapshot {
  /** Version of this form. */
  readonly version: 1
  /** Base currency code of the publication. */
  readonly base: UppercaseCode
  /** Units of each currency per unit of `base`, as published: decimals without an exponent. */
  readonly rates: Readonly<Record<UppercaseCode, string>>
  /** Units of `base` per unit of each currency that is published so, such as `"11.2345"`; absent if none is. */
  readonly prices?: Readonly<Record<UppercaseCode, string>>
  /** Day on which the rates were published, `YYYY-MM-DD`; absent for latest rates. */
  readonly date?: Day
  /** Requested day, `YYYY-MM-DD`; absent unless a rule was requested. */
  readonly asked?: Day
  /** Requested rule; absent if none was requested. */
  readonly rule?: DateRule
  /** When the provider published the rates, in ms since the Unix epoch. */
  readonly updatedAt: Instant
  /** Publication times of rates from an earlier publication, in ms since the Unix epoch; absent if none is. */
  readonly older?: Readonly<Record<UppercaseCode, Instant>>
  /** Number of the bank's table, such as `041/A/NBP/2026`; absent if it has none. */
  readonly tableNumber?: string
  /** Where rates come from that are not in the publication of the source; absent if all are. */
  readonly derived?: Readonly<Record<UppercaseCode, Derivation>>
  /** Source of the rates; show it next to them. The id is that of a source of reference rates, as in `/v1/sources`. */
  readonly source: Readonly<Attribution & { id?: string }>
  /** Source of the rates that are derived by `overlay`; absent if none is. */
  readonly overlay?: Readonly<Attribution>
  /** Digest of everything else, by which damage is found. */
  readonly check: string
}

const { change: _change, ...parameters } = OPERATIONS.latest.parameters
const SNAPSHOT: Operation = { ...OPERATIONS.latest, path: 'snapshot()', parameters }

/** @throws {RatesError} as `latest` does */
export async function takeSnapshot(
  sources: RateSources,
  params: SnapshotParams,
  now: () => number,
): Promise<RatesSnapshot> {
  check(SNAPSHOT, params)
  return withLatest(sources, params, now, undefined, ({ value }) => {
    const { from, selected } = selectRates(value, params)
    // Without what is undefined.
    const kept = JSON.parse(JSON.stringify(toFields(value, new Set([from, ...selected]))))
    const snapshot: RatesSnapshot = { ...kept, check: digestOf(canonical(kept)) }
    for (const part of Object.values(snapshot)) Object.freeze(part)
    return Object.freeze(snapshot)
  })
}

function toFields(rates: Rates, codes: ReadonlySet<string>): object {
  const { table, attribution } = rates
  const { base, updatedAt, older = {}, tableNumber, derived = {} } = table
  const { name, url, overlay }: DerivedAttribution = attribution
  const some = (valueOf: (code: string) => unknown): object | undefined => {
    const found = [...codes].map((code) => [code, valueOf(code)] as const)
    const defined = found.filter(([, value]) => value !== undefined)
    return defined.length > 0 ? Object.fromEntries(defined) : undefined
  }
  const textIf = (isPriced: boolean) => (code: string) => {
    const quote = quoteOf(table, code)
    return quote.value && quote.isPriced === isPriced ? toPlainText(quote.value) : undefined
  }
  const isOverlaid = [...codes].some((code) => derived[code] === 'overlay')
  const dated = 'date' in rates ? { date: rates.date, ...rates.byRule } : {}
  return {
    version: 1,
    base,
    rates: some(textIf(false)) ?? {},
    prices: some(textIf(true)),
    ...dated,
    updatedAt,
    older: some((code) => older[code]?.updatedAt),
    tableNumber,
    derived: some((code) => derived[code]),
    source: { id: 'id' in rates ? rates.id : undefined, name, url },
    overlay: isOverlaid && overlay ? { name: overlay.name, url: overlay.url } : undefined,
  }
}

/** @throws {RatesError} `invalid_parameter` for another version, or with damage */
export function readSnapshot(snapshot: RatesSnapshot): Rates {
  const { check: digest, ...kept }: RatesSnapshot = Object(snapshot)
  if (kept.version !== 1) throw invalidParameter('snapshot', 'must be a snapshot of version 1')
  if (digest !== digestOf(canonical(kept))) throw invalidParameter('snapshot', 'damaged')
  return toRates(kept)
}

/** A snapshot that needs no digest, because it is part of what has a signature. */
export type SignedSnapshot = Omit<RatesSnapshot, 'check'>

export function toRates(snapshot: SignedSnapshot): Rates {
  const { base, rates, prices, older = {}, updatedAt, tableNumber, derived } = snapshot
  const numbers = Object.entries({ ...rates, ...prices }).map(([code, text]) => {
    return [code, Number(text)] as const
  })
  const times = Object.entries(older).map(([code, time]) => [code, { updatedAt: time }])
  const table: RateTable = Object({
    base,
    rates: new Map([[base, 1], ...numbers]),
    priced: prices && new Set(Object.keys(prices)),
    updatedAt,
    older: Object.fromEntries(times),
    tableNumber,
    derived,
  })
  const { date, asked, rule, source, overlay } = snapshot
  const attribution = { ...source, ...(overlay && { overlay }) }
  if (date === undefined) return { table, attribution }
  const history = { base, dates: [], columns: new Map() }
  const dated = { table, attribution, date, history, id: source.id ?? '' }
  return rule && asked !== undefined ? { ...dated, byRule: { asked, rule } } : dated
}

/** The same for names in another order, which databases may change. */
function canonical(value: object): string {
  return JSON.stringify(value, (_name, part: unknown) => {
    if (typeof part !== 'object' || part === null) return part
    const names = Object.keys(part).toSorted()
    return Object.fromEntries(names.map((name) => [name, Object(part)[name]]))
  })
}
