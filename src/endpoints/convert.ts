import {
  codeIn,
  convert,
  createConverter,
  invalidRounding,
  withConversionRates,
} from '../api/convert.ts'
import type {
  Conversion,
  ConversionListParams,
  ConversionRates,
  Rounding,
  toConversion,
} from '../api/convert.ts'
import { conversionCsv } from '../api/csv.ts'
import { MISTAKEN_CONVERSION_NAMES } from '../api/mistaken-names.ts'
import { assertDated, toSource } from '../api/resolve-code.ts'
import type { Instant } from '../async.ts'
import { invalidParameter } from '../errors.ts'
import { createQueryParser } from '../http/query.ts'
import type { Failures } from '../http/query.ts'
import { bodyHeaders, byteLength, represent, viaLink } from '../http/response.ts'
import type { DataResult, Endpoint, Representation } from '../http/response.ts'
import { isAmount } from '../rates/arithmetic.ts'
import { CODE_FORM } from '../rates/currency-code.ts'
import type { UppercaseCode } from '../rates/currency-code.ts'
import { oldestPublication } from '../rates/rate-table.ts'
import type { Amount, Rate } from '../rates/rate-table.ts'
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
  splitSymbols,
} from './parameters.ts'
import type { Format, Optional } from './parameters.ts'
import * as z from 'zod/mini'

/** A decimal number that is finite as a double, and 0 as a double only if it is 0. */
const amount: Optional<string> = z.optional(z.string().check(z.refine(isAmount, 'amount')))

/** Errors by message of the conversion schemas. */
const conversionFailures: Failures = {
  ...failures,
  truth: (parameter) => invalidParameter(parameter, 'must be true or false'),
  rounding: invalidRounding,
}

/** One target currency, or a list of at least one with commas, in the format of `symbols`. */
export const targets: z.ZodMiniType<string | string[], string> = z.pipe(
  z.string('missing').check(({ value, issues }) => {
    const failure = failureOf(value)
    if (failure) issues.push({ code: 'custom', ...failure })
  }),
  z.transform((text) => (isList(text) ? splitSymbols(text) : text)),
)

/** Exactly `true` or `false`; optional. */
const booleanFlag: z.ZodMiniType<boolean | undefined, string | undefined> = z.optional(
  z.pipe(
    z.string().check(z.refine((text) => text === 'true' || text === 'false', 'truth')),
    z.transform((text) => text === 'true'),
  ),
)

/** Exactly `minor` or `cash`; optional. */
const round: Optional<Rounding> = z.optional(
  z.custom<Rounding>((text) => text === 'minor' || text === 'cash', 'rounding'),
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

/** The conversion that a query requests. */
interface ParsedConversion {
  params: ConversionListParams
  /** The raw amount, for error messages. */
  amountSent: string | undefined
  format?: Format | undefined
}

const parseVersioned = createQueryParser({
  parameters: {
    from: currency,
    to: targets,
    amount,
    date,
    rule,
    maxAge,
    reverse: booleanFlag,
    round,
    format,
  },
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
  from,
  to,
  amount: amountSent,
  date: on,
  rule: by,
  maxAge: age,
  reverse,
  round: rounding,
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
    reverse,
    round: rounding,
  }
  if ((by ?? age) !== undefined) assertDated(params)
  return { params, amountSent, format: form }
}

/** Creates `GET /api/v1/convert`. */
export function versionedConvert(sources: RateSources, now: () => number): Endpoint {
  return conversionEndpoint(sources, now, parseVersioned, ({ attribution }) => ({
    source: toSource(attribution),
  }))
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
  /** Source of the rates: its name, and its URL in parentheses. */
  provider: string
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

type SourceOf = (
  rates: ConversionRates,
) => Pick<Conversion, 'source'> | Pick<UnversionedConversion, 'provider'>

/** `sourceOf` returns the last field of the body of one conversion at latest rates. */
function conversionEndpoint(
  sources: RateSources,
  now: () => number,
  parse: (query: string) => ParsedConversion,
  sourceOf: SourceOf,
): Endpoint {
  const representPair = createPairWriter(sourceOf)
  const respond = (
    freshness: CacheResult<ConversionRates>,
    parsed: ParsedConversion,
    toResult: typeof toConversion,
  ): DataResult => ({
    representation:
      representPair(freshness.value, parsed) ??
      representAny(toResult(freshness.value, parsed.params, parsed.amountSent), parsed, now()),
    freshness,
  })
  return (query, request) => {
    const parsed = parse(query)
    const answer = (toResult: typeof toConversion): ReturnType<Endpoint> =>
      withConversionRates(sources, parsed.params, now, request, (found) =>
        respond(found, parsed, toResult),
      )
    const toResult = createConverter([parsed.params])
    return toResult instanceof Promise ? toResult.then(answer) : answer(toResult)
  }
}

/**
 * Creates a writer of one conversion at latest rates, which is not cached: finding it by its amount would take about as long.
 * The writer returns undefined for any other conversion.
 */
function createPairWriter(
  sourceOf: SourceOf,
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
    const other = on ?? reverse ?? params.round ?? form
    if (typeof target !== 'string' || other !== undefined) return undefined
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
