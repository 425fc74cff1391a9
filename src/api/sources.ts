import { RatesError } from '../errors.ts'
import { percentChange } from '../rates/arithmetic.ts'
import { groupsOf } from '../rates/calendar.ts'
import type { UppercaseCode } from '../rates/currency-code.ts'
import { FIRST_REFERENCE_DAY, toDay } from '../rates/dates.ts'
import type { Day } from '../rates/dates.ts'
import { newestDay } from '../rates/market-history.ts'
import type { PublicationState, RateSources, RequestOptions } from '../sources/rate-sources.ts'
import type { Attribution, HistoryProvider } from '../upstream/provider.ts'
import { codeIn, convert } from './convert.ts'
import type { Conversion, ConversionResult, SourceRate } from './convert.ts'
import { originOf, sourceOf, toSource, withRates } from './resolve-code.ts'
import type { ConversionParams } from './parameter-types.ts'

/** A source of reference rates. */
export interface ReferenceSource {
  /** Selects the source in `source` of histories and dated rates. */
  id: string
  /** Source of the rates; show it next to them. */
  source: Attribution
  /** Page with the terms of use of the rates; null if the provider names none. */
  terms: string | null
  /** Currency that the source quotes others against; null until rates are loaded. */
  base: UppercaseCode | null
  /** How often rates are published. */
  frequency: 'daily' | 'weekly' | 'monthly' | 'quarterly'
  /** First day with rates, `YYYY-MM-DD`. */
  from: Day
  /** Newest published day, `YYYY-MM-DD`; null until rates are loaded. */
  lastDay: Day | null
  /** Whether rates that should have been published are missing for longer than the lag of the source. */
  late: boolean
}

/** The sources of reference rates, in order of preference. */
export interface SourceList {
  sources: ReferenceSource[]
}

export async function sourceList(sources: RateSources, now: () => number): Promise<SourceList> {
  await sources.loadPublications()
  const { publications } = sources.state()
  const groups = groupsOf(sources.historyProviders)
  return {
    sources: publications.map((state, index) => {
      const { id = '', providers = [] } = groups[index] ?? {}
      return describe(id, providers, state, now())
    }),
  }
}

function describe(
  id: string,
  providers: readonly HistoryProvider[],
  { newest: { value, isLate } }: PublicationState,
  now: number,
): ReferenceSource {
  const [first] = providers
  const { name, url } = (value && sourceOf(value)) ?? first?.attribution ?? { name: '', url: '' }
  const used = providers.find(({ attribution }) => attribution === value?.attribution) ?? first
  const { frequency = 'daily', since = FIRST_REFERENCE_DAY } = first?.publication ?? {}
  const last = value && (value.newest ?? newestDay(value.history, toDay(now)))
  return {
    id,
    source: { name, url },
    terms: used?.terms ?? null,
    base: value?.history.base ?? null,
    frequency,
    from: since,
    lastDay: last ?? null,
    late: isLate,
  }
}

/** Adds the rate of every source to a conversion. */
export async function withSources(
  sources: RateSources,
  params: ConversionParams,
  { record }: { record: ConversionResult },
  now: () => number,
  request?: RequestOptions,
): Promise<ConversionResult> {
  return { ...record, sources: await ratesBySource(sources, params, record, now, request) }
}

/** On the day of the conversion by its rule; without one, the newest up to today. */
async function ratesBySource(
  sources: RateSources,
  params: ConversionParams,
  record: ConversionResult,
  now: () => number,
  request?: RequestOptions,
): Promise<SourceRate[]> {
  if (!('to' in record)) return []
  return Promise.all(
    groupsOf(sources.historyProviders).map(async ({ id, providers }): Promise<SourceRate> => {
      const source = toSource(providers[0]?.attribution ?? { name: '', url: '' })
      try {
        return await rateFrom(sources, params, { id, record }, now, request)
      } catch (error) {
        const { code } = error instanceof RatesError ? error : { code: 'internal_error' as const }
        const isKnown =
          code === 'unsupported_currency' || code === 'no_data' || code === 'provider_unavailable'
        if (!isKnown) throw error
        return { id, source, date: null, rate: null, deviation: null, error: code }
      }
    }),
  )
}

async function rateFrom(
  sources: RateSources,
  { date = '', ...choice }: ConversionParams,
  { id, record }: { id: string; record: Conversion },
  now: () => number,
  request?: RequestOptions,
): Promise<SourceRate> {
  const { from, to, rate: converted } = record
  const day = { ...choice, date: date === '' ? toDay(now()) : date, source: id }
  return withRates(sources, day, { codes: () => [from, to] }, now, request, ({ value }) => {
    const codes = { from: codeIn(value, 'from', from), to: codeIn(value, 'to', to) }
    const { rate } = convert(value, codes.to, { from: codes.from, amount: 1 })
    const deviation = percentChange(converted, rate)
    const date = 'date' in value ? value.date : null
    return { id, ...originOf(value, [from, to]), date, rate, deviation }
  })
}
