import {
  assertExpand,
  codeIn,
  convert,
  createConverter,
  invalidRounding,
  withConversionRates,
} from '../api/convert.ts'
import type {
  Conversion,
  ConversionListParams,
  ConversionParams,
  Rounding,
  toConversion,
} from '../api/convert.ts'
import { conversionCsv } from '../api/csv.ts'
import { MISTAKEN_CONVERSION_NAMES } from '../api/mistaken-names.ts'
import { assertDated, originOf } from '../api/resolve-code.ts'
import type { Instant } from '../async.ts'
import { invalidParameter } from '../errors.ts'
import { createQueryParser } from '../http/query.ts'
import type { Failures } from '../http/query.ts'
import { ONLY_REPEATED } from '../http/response-cache.ts'
import type { ResponseCache } from '../http/response-cache.ts'
import { bodyHeaders, byteLength, represent, viaLink } from '../http/response.ts'
import type { DataResult, Endpoint, Representation, RequestContext } from '../http/response.ts'
import { isAmount } from '../rates/arithmetic.ts'
import { CODE_FORM } from '../rates/currency-code.ts'
import type { UppercaseCode } from '../rates/currency-code.ts'
import { oldestPublication } from '../rates/rate-table.ts'
import type { Amount, Derivation, Rate } from '../rates/rate-table.ts'
import type { LatestSnapshot } from '../sources/latest-source.ts'
import type { CacheResult, RateSources } from '../sources/rate-sources.ts'
import {
  MAX_SYMBOLS,
  MAX_SYMBOLS_CHARACTERS,
  currency,
  date,
  failures,
  format,
  maxAge,
  rule,
  source,
  splitSymbols,
} from './parameters.ts'
import type { Format, Optional } from './parameters.ts'
import * as z from 'zod/mini'

/** A decimal number that is finite as a double, and 0 as a double only if it is 0. */
const amount: Optional<string> = z.optional(z.string().check(z.refine(isAmount, 'amount')))

const conversionFailures: Failures = {
  ...failures,
  truth: (parameter) => invalidParameter(parameter, 'must be true or false'),
  rounding: invalidRounding,
  expansion: (parameter) => invalidParameter(parameter, 'must be sources'),
}

/** One target currency, or a list of at least one with commas, in the format of `symbols`. */
export const targets: z.ZodMiniType<string | string[], string> = z.pipe(
  z.string('missing').check(({ value, issues }) => {
    const failure = failureOf(value)
    if (failure) issues.push({ code: 'custom', ...failure })
  }),
  z.transform((text) => (isList(text) ? splitSymbols(text) : text)),
)

const booleanFlag: z.ZodMiniType<boolean | undefined, string | undefined> = z.optional(
  z.pipe(
    z.string().check(z.refine((text) => text === 'true' || text === 'false', 'truth')),
    z.transform((text) => text === 'true'),
  ),
)

const round: Optional<Rounding> = z.optional(
  z.custom<Rounding>((text) => text === 'minor' || text === 'cash', 'rounding'),
)

const expand: Optional<'sources'> = z.optional(
  z.custom<'sources'>((text) => text === 'sources', 'expansion'),
)

function isList(text: string): boolean {
  return text.includes(',')
}

function failureOf(text: string): { message: string; input: string } | undefined {
  if (!isList(text)) return CODE_FORM.test(text) ? undefined : { message: 'currency', input: text }
  if (text.length > MAX_SYMBOLS_CHARACTERS) return { message: 'overlong', input: text }
  const codes = splitSymbols(text)
  if (codes.length > MAX_SYMBOLS) return { message: 'overlong', input: text }
  if (codes.length === 0) return { message: 'currency', input: text }
  const input = codes.find((code) => !CODE_FORM.test(code))
  return input === undefined ? undefined : { message: 'currency', input }
}

interface ParsedConversion {
  params: ConversionListParams
  amountSent: string | undefined
  format?: Format | undefined
  /** Cache key of one conversion at latest rates, equal for all queries that request it; undefined for any other. */
  pairKey: string | undefined
}

const parseVersioned = createQueryParser({
  parameters: {
    from: currency,
    to: targets,
    amount,
    date,
    rule,
    maxAge,
    source,
    reverse: booleanFlag,
    round,
    expand,
    format,
  },
  failures: conversionFailures,
  mistaken: MISTAKEN_CONVERSION_NAMES.advice,
  toParams: withAmount,
  isRecurring: true,
})

const parseUnversioned = createQueryParser({
  parameters: { from: currency, to: currency, amount },
  failures,
  mistaken: MISTAKEN_CONVERSION_NAMES.advice,
  toParams: withAmount,
  isRecurring: true,
})

function withAmount({
  from,
  to,
  amount: amountSent,
  date: on,
  rule: by,
  maxAge: age,
  source: only,
  reverse,
  round: rounding,
  expand: added,
  format: form,
}: Omit<ConversionListParams, 'amount'> & {
  amount?: string | undefined
  format?: Format | undefined
}): ParsedConversion {
  const value = amountSent === undefined ? undefined : Number(amountSent)
  const params = {
    from,
    to,
    amount: value,
    date: on,
    rule: by,
    maxAge: age,
    source: only,
    reverse,
    round: rounding,
    expand: added,
  }
  if ((by ?? age ?? only) !== undefined) assertDated(params)
  if (added) assertExpand(params)
  if (added && form === 'csv') throw invalidParameter('expand', 'not supported in CSV')
  const isPair =
    typeof to === 'string' && (on ?? reverse ?? rounding ?? added ?? form) === undefined
  const pairKey = isPair ? `${from} ${to} ${value ?? 1}`.toUpperCase() : undefined
  return { params, amountSent, format: form, pairKey }
}

export function versionedConvert(
  sources: RateSources,
  responseCache: ResponseCache,
  now: () => number,
): Endpoint {
  return conversionEndpoint(sources, responseCache, now, parseVersioned, originOf)
}

/** Response of `/convert`. */
export interface UnversionedConversion {
  /** Source currency code. */
  from: UppercaseCode
  /** Target currency code. */
  to: UppercaseCode
  /** Requested amount, in `from`. */
  amount: Amount
  /** Units of `to` per unit of `from`, as published or derived to 10 significant digits. */
  rate: Rate
  /** Exact decimal product of `amount` and `rate`, rounded once to the nearest double. */
  result: Amount
  /** When the provider published the rates, in ms since the Unix epoch. */
  updatedAt: Instant
  /** Where the rate comes from, if it is not in the publication of the source; otherwise absent. */
  derived?: Derivation
  /** Source of the rates: its name, and its URL in parentheses. */
  provider: string
}

export function unversionedConvert(
  sources: RateSources,
  responseCache: ResponseCache,
  now: () => number,
): Endpoint {
  return conversionEndpoint(sources, responseCache, now, parseUnversioned, (rates, codes) => {
    const { source, derived } = originOf(rates, codes)
    return { ...(derived && { derived }), provider: providerText(source) }
  })
}

export function providerText({ name, url }: { name: string; url: string }): string {
  return `${name} (${url})`
}

type OriginOf = (
  rates: LatestSnapshot,
  codes: readonly string[],
) => Pick<Conversion, 'source'> | Pick<UnversionedConversion, 'provider'>

/** `originFields` returns the last fields of the body of one conversion at latest rates. */
function conversionEndpoint(
  sources: RateSources,
  responseCache: ResponseCache,
  now: () => number,
  parse: (query: string) => ParsedConversion,
  originFields: OriginOf,
): Endpoint {
  const respondPair = createPairResponder(sources, responseCache, originFields)

  function respondAny(parsed: ParsedConversion, request: RequestContext): ReturnType<Endpoint> {
    const { params, amountSent } = parsed
    const respond = (toResult: typeof toConversion): ReturnType<Endpoint> =>
      withConversionRates(sources, params, now, request, (freshness) => {
        const record = toResult(freshness.value, params, amountSent)
        return { representation: representAny(record, parsed, now()), freshness }
      })
    if (params.expand) return respondExpanded(parsed, request)
    const toResult = createConverter([params])
    return toResult instanceof Promise ? toResult.then(respond) : respond(toResult)
  }

  async function respondExpanded(
    parsed: ParsedConversion,
    request: RequestContext,
  ): Promise<DataResult> {
    const { params, amountSent } = parsed
    const toResult = await createConverter([params])
    const { ratesBySource } = await import('../api/sources.ts')
    const { record, freshness } = await withConversionRates(
      sources,
      params,
      now,
      request,
      (found) => {
        return { record: toResult(found.value, params, amountSent), freshness: found }
      },
    )
    const rates = await ratesBySource(sources, params, record, now, request)
    const whole = { ...record, sources: rates }
    return { representation: representAny(whole, parsed, now()), freshness }
  }

  return (query, request) => {
    const parsed = parse(query)
    const { pairKey } = parsed
    return pairKey === undefined
      ? respondAny(parsed, request)
      : respondPair(parsed, pairKey, request)
  }
}

function createPairResponder(
  sources: RateSources,
  responseCache: ResponseCache,
  originFields: OriginOf,
): (parsed: ParsedConversion, key: string, request: RequestContext) => ReturnType<Endpoint> {
  const write = createPairWriter(originFields)
  return ({ params, amountSent }, key, request) => {
    const { from, to, amount: value } = params
    const respond = (freshness: CacheResult<LatestSnapshot>): DataResult => {
      const make = (): Representation =>
        write(freshness.value, { from, to: String(to), amount: value }, amountSent)
      const representation = responseCache.getOrCreate(freshness.value, key, make, ONLY_REPEATED)
      return { representation, freshness }
    }
    const found = sources.latest(request, () => [from, String(to)])
    return found instanceof Promise ? found.then(respond) : respond(found)
  }
}

function createPairWriter(
  originFields: OriginOf,
): (rates: LatestSnapshot, params: ConversionParams, amountSent?: string) => Representation {
  let last: { rates: LatestSnapshot; end: ReturnType<typeof endOf> } | undefined

  function endOf(rates: LatestSnapshot, codes: readonly string[] = []) {
    const { updatedAt, publishedAt } = oldestPublication(rates.table, codes)
    const text = JSON.stringify({ updatedAt, ...originFields(rates, codes) }).slice(1)
    const headers = bodyHeaders({ lifetime: 'minute', lastModified: publishedAt })
    // Only the end of a body can have non-ASCII characters.
    return { text, headers, moreBytes: byteLength(text) - text.length }
  }

  return (rates, params, amountSent) => {
    const { amount: value = 1 } = params
    const from = codeIn(rates, 'from', params.from)
    const to = codeIn(rates, 'to', params.to)
    const { rate, result } = convert(rates, { from, to, amount: value, reverse: false }, amountSent)
    const { table } = rates
    if (last?.rates !== rates) last = { rates, end: endOf(rates) }
    const isSpecific = table.older !== undefined || table.derived !== undefined
    const { text, headers, moreBytes } = isSpecific ? endOf(rates, [from, to]) : last.end
    const body = `{"from":"${from}","to":"${to}","amount":${value},"rate":${rate},"result":${result},${text}`
    return represent(body, headers, body.length + moreBytes)
  }
}

function representAny(
  record: ReturnType<typeof toConversion>,
  { format: form = 'json' }: ParsedConversion,
  now: number,
): Representation {
  const lastModified = Math.min(record.updatedAt, now)
  const headers = bodyHeaders({ form, lifetime: 'minute', lastModified })
  return form === 'csv'
    ? represent(conversionCsv(record), [...headers, ...viaLink(record.source)])
    : represent(JSON.stringify(record), headers)
}
