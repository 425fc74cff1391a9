import { codeIn, convert, loadConversionRates, toConversion } from '../api/convert.ts'
import type { ConversionListParams, ConversionRates } from '../api/convert.ts'
import { conversionCsv } from '../api/csv.ts'
import { MISTAKEN_CONVERSION_NAMES } from '../api/mistaken-names.ts'
import { toSource } from '../api/resolve-code.ts'
import { createQueryParser } from '../http/query.ts'
import { bodyHeaders, byteLength, represent, viaLink } from '../http/response.ts'
import type { DataResult, Endpoint, Representation } from '../http/response.ts'
import { oldestPublication } from '../rates/rate-table.ts'
import type { CacheResult, RateSources } from '../sources/rate-sources.ts'
import {
  amount,
  booleanFlag,
  conversionFailures,
  currency,
  date,
  failures,
  format,
  targets,
} from './parameters.ts'
import type { Format } from './parameters.ts'

/** The conversion that a query requests. */
interface ParsedConversion {
  params: ConversionListParams
  /** The raw amount, for error messages. */
  amountSent: string | undefined
  format?: Format | undefined
}

const parseVersioned = createQueryParser({
  parameters: { from: currency, to: targets, amount, date, reverse: booleanFlag, format },
  failures: conversionFailures,
  mistaken: MISTAKEN_CONVERSION_NAMES.advice,
  toParams: withAmount,
})

const parseUnversioned = createQueryParser({
  parameters: { from: currency, to: currency, amount },
  failures,
  mistaken: MISTAKEN_CONVERSION_NAMES.advice,
  toParams: withAmount,
})

function withAmount({
  amount: amountSent,
  format: form,
  ...params
}: Omit<ConversionListParams, 'amount'> & {
  amount?: string | undefined
  format?: Format | undefined
}): ParsedConversion {
  const value = amountSent === undefined ? undefined : Number(amountSent)
  return { params: { ...params, amount: value }, amountSent, format: form }
}

/** Creates `GET /api/v1/convert`. */
export function versionedConvert(sources: RateSources, now: () => number): Endpoint {
  return conversionEndpoint(sources, now, parseVersioned, ({ attribution }) => ({
    source: toSource(attribution),
  }))
}

/** Creates `GET /api/convert`. */
export function unversionedConvert(sources: RateSources, now: () => number): Endpoint {
  return conversionEndpoint(sources, now, parseUnversioned, ({ attribution }) => ({
    provider: providerText(attribution),
  }))
}

/** Returns the attribution as one string, the format of the unversioned endpoints. */
export function providerText({ name, url }: { name: string; url: string }): string {
  return `${name} (${url})`
}

/** `sourceOf` returns the last field of the body of one conversion at latest rates. */
function conversionEndpoint(
  sources: RateSources,
  now: () => number,
  parse: (query: string) => ParsedConversion,
  sourceOf: (rates: ConversionRates) => object,
): Endpoint {
  const representPair = createPairWriter(sourceOf)
  return (query, request) => {
    const parsed = parse(query)
    const found = loadConversionRates(sources, parsed.params, now, request)
    const respond = (freshness: CacheResult<ConversionRates>): DataResult => {
      const representation =
        representPair(freshness.value, parsed) ?? representAny(freshness.value, parsed, now())
      return { representation, freshness }
    }
    return found instanceof Promise ? found.then(respond) : respond(found)
  }
}

/**
 * Creates a writer of one conversion at latest rates, which is not cached: finding it by its amount would take about as long.
 * The writer returns undefined for any other conversion.
 */
function createPairWriter(
  sourceOf: (rates: ConversionRates) => object,
): (rates: ConversionRates, parsed: ParsedConversion) => Representation | undefined {
  let last: { rates: ConversionRates; end: ReturnType<typeof endOf> } | undefined

  function endOf(rates: ConversionRates, { updatedAt, publishedAt }: Publication) {
    const text = JSON.stringify({ updatedAt, ...sourceOf(rates) }).slice(1)
    const headers = bodyHeaders({ lifetime: 'minute', lastModified: publishedAt })
    // Only the end of a body can have non-ASCII characters.
    return { text, headers, moreBytes: byteLength(text) - text.length }
  }

  return (rates, { params, amountSent, format: form }) => {
    const { to: target, amount: value = 1, date: on, reverse } = params
    if (typeof target !== 'string' || (on ?? reverse ?? form) !== undefined) return undefined
    const from = codeIn(rates, 'from', params.from)
    const to = codeIn(rates, 'to', target)
    const { rate, result } = convert(rates, { from, to, amount: value, reverse: false }, amountSent)
    const { table } = rates
    if (last?.rates !== rates) last = { rates, end: endOf(rates, table) }
    const { text, headers, moreBytes } = table.older
      ? endOf(rates, oldestPublication(table, [from, to]))
      : last.end
    const body = `{"from":"${from}","to":"${to}","amount":${value},"rate":${rate},"result":${result},${text}`
    return represent(body, headers, body.length + moreBytes)
  }
}

type Publication = Pick<ConversionRates['table'], 'updatedAt' | 'publishedAt'>

function representAny(
  rates: ConversionRates,
  { params, amountSent, format: form = 'json' }: ParsedConversion,
  now: number,
): Representation {
  const record = toConversion(rates, params, amountSent)
  const lastModified = Math.min(record.updatedAt, now)
  const headers = bodyHeaders({ form, lifetime: 'minute', lastModified })
  return form === 'csv'
    ? represent(conversionCsv(record), [...headers, ...viaLink(record.source)])
    : represent(JSON.stringify(record), headers)
}
