import { currenciesCsv, loadCurrencyData, toCurrencyList } from '../api/currencies.ts'
import { OPERATIONS } from '../api/parameters.ts'
import { createQueryParser } from '../http/query.ts'
import { bodyHeaders, represent, uncachedText } from '../http/response.ts'
import type { Endpoint, Representation } from '../http/response.ts'
import { toDay } from '../rates/dates.ts'
import type { EndpointContext, Format } from './context.ts'

interface CurrenciesQuery {
  symbols?: readonly string[] | undefined
  format?: Format
}

export function currencies({ sources, now, keyNames }: EndpointContext): Endpoint {
  const parse = createQueryParser<CurrenciesQuery>(OPERATIONS.currencies, keyNames)
  let last: { data: readonly unknown[]; made: Record<string, Representation> } = {
    data: [],
    made: {},
  }

  return async (query, request) => {
    const { params, key } = parse(query)
    const { format: form = 'json', symbols } = params
    const both = await loadCurrencyData(sources, request)
    const write = (): string => {
      const list = toCurrencyList(both, toDay(now()), symbols)
      return form === 'csv' ? currenciesCsv(list) : JSON.stringify(list)
    }
    const results = [both.latest, both.history].filter((result) => result !== null)
    const known = results.filter((result) => result !== undefined)
    // Unknown coverage may be known at the next request.
    if (known.length < results.length) return uncachedText(write(), form)
    const freshness = {
      hit: known.every(({ hit }) => hit),
      ttl: Math.min(...known.map(({ ttl }) => ttl)),
    }
    const data = [both.latest?.value, both.history?.value]
    // The covered codes change with the data, and hardly ever with the day; those of a fallback table expire separately.
    const isCached = !both.latest?.value.fallback && !both.publications && !symbols
    if (data.some((value, position) => value !== last.data[position])) last = { data, made: {} }
    const made = isCached ? last.made : {}
    const headers = bodyHeaders({ form, lifetime: 'minute' })
    const representation = (made[key] ??= represent(write(), headers))
    return { representation, freshness }
  }
}
