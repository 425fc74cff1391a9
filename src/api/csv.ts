import type { ConversionResult } from './convert.ts'
import type { LatestRates } from './latest.ts'
import { toSource } from './resolve-code.ts'

/** Writes CSV by RFC 4180: `,` between cells, CR LF after every line, quotes where a cell needs them. */
export function toCsv(lines: Iterable<readonly (string | number)[]>): string {
  let text = ''
  for (const cells of lines) text += `${toLine(cells)}\r\n`
  return text
}

export function toLine(cells: readonly (string | number)[], separator = ','): string {
  const quoted = separator === ',' ? /[",\r\n]/ : /[",;\t\r\n]/
  return cells.map((cell) => toCell(cell, quoted)).join(separator)
}

function toCell(value: string | number, quoted: RegExp): string {
  const text = String(value)
  return quoted.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Returns `record` as CSV: one line per rate, each with the attribution, so that copied lines keep it. */
export function latestCsv(record: LatestRates): string {
  const { base, rates, updatedAt, nextUpdateAt, source, derived = {}, older = {}, change } = record
  const rest = {
    ...dayColumns(record),
    updatedAt,
    nextUpdateAt,
    source: source.name,
    sourceUrl: source.url,
  }
  const lines = Object.entries(rates).map(([code, rate]) => [
    base,
    code,
    rate,
    ...(change ? [change.percent[code] ?? ''] : []),
    ...Object.values({
      ...rest,
      updatedAt: older[code] ?? updatedAt,
      source: toSource(source, derived[code]).name,
    }),
  ])
  const head = ['base', 'code', 'rate', ...(change ? ['changePct'] : []), ...Object.keys(rest)]
  return toCsv([head, ...lines])
}

function dayColumns({
  date,
  asked,
  rule,
}: Pick<LatestRates, 'date' | 'asked' | 'rule'>): Record<string, string> {
  return {
    ...(date !== undefined && { date }),
    ...(asked !== undefined && { asked }),
    ...(rule !== undefined && { rule }),
  }
}

export function conversionCsv(record: ConversionResult): string {
  const { from, amount, reverse, updatedAt, source } = record
  const rest = {
    ...(reverse && { reverse: String(reverse) }),
    ...dayColumns(record),
    updatedAt,
    source: source.name,
    sourceUrl: source.url,
  }
  const results = 'results' in record ? record.results : { [record.to]: record }
  const isList = 'results' in record
  const lines = Object.entries(results).map(([to, { rate, result, rounded, derived }]) => {
    const amounts = rounded === undefined ? [result] : [result, rounded]
    const origin = { ...rest, ...(isList && { source: toSource(source, derived).name }) }
    return [from, to, amount, rate, ...amounts, ...Object.values(origin)]
  })
  const isRounded = Object.values(results).some(({ rounded }) => rounded !== undefined)
  const amounts = isRounded ? ['result', 'rounded'] : ['result']
  return toCsv([['from', 'to', 'amount', 'rate', ...amounts, ...Object.keys(rest)], ...lines])
}
