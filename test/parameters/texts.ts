import * as fc from 'fast-check'

import type { Schema } from '../openapi/document.ts'

export function acceptedTexts(schema: Schema): fc.Arbitrary<string> {
  const { type, enum: values, items, minItems = 0, maxItems = 100, anyOf = [] } = schema
  const { format, pattern, minLength = 0, maxLength = 100, minimum = 0, maximum = 1e6 } = schema
  if (anyOf.length > 0) return fc.oneof(...anyOf.map(acceptedTexts))
  if (items) {
    const size = { minLength: minItems, maxLength: Math.min(maxItems, 9) }
    const separator = fc.constantFrom(',', ', ', ' ,', ' , ,')
    const list = fc.tuple(fc.array(acceptedTexts(items), size), separator)
    return list.map(([codes, between]) => codes.join(between))
  }
  if (values) return fc.constantFrom(...values)
  if (type === 'number')
    return fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }).map(String)
  if (type === 'integer') return fc.integer({ min: minimum, max: maximum }).map(String)
  if (type === 'boolean') return fc.constantFrom('true', 'false')
  if (format === 'date') return fc.oneof(days('0000-01-01', '9999-12-31'), days('1998', '2028'))
  if (pattern === undefined) return fc.string({ minLength, maxLength })
  const form = new RegExp(pattern)
  // The generator knows no lookaheads.
  const wider = new RegExp(pattern.replace(/\(\?!.*?\)/g, ''))
  return fc.stringMatching(wider).filter((text) => form.test(text) && text.length <= maxLength)
}

export function days(first: string, last: string): fc.Arbitrary<string> {
  return fc
    .date({ min: new Date(first), max: new Date(last), noInvalidDate: true })
    .map((date) => date.toISOString().slice(0, 10))
}

/** Includes characters that resemble letters, spaces and digits, or become ASCII letters in another case. */
const CHARACTERS = Array.from('azAZ019.,-+eE \t\r\n\0%&=#ſKİı٣0\u00a0\u2028\ufeff€🙂')

function edited(texts: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc
    .tuple(texts, fc.nat(), fc.constantFrom(0, 1), fc.constantFrom('', ...CHARACTERS))
    .map(([text, place, removed, added]) => {
      const at = place % (text.length + 1)
      return text.slice(0, at) + added + text.slice(at + removed)
    })
}

/** Texts that `schema` just accepts or just rejects, and some very different ones. */
function nearTexts(schema: Schema): fc.Arbitrary<string> {
  const accepted = acceptedTexts(schema)
  const others = fc.string({ unit: 'binary' })
  return fc.oneof(accepted, edited(accepted), edited(edited(accepted)), others)
}

/** Texts that are near the forms of some parameter, and texts without a meaning. */
const FORMS = `
  EUR eur Eur GBp GBX US EURO usd,eur USD,,EUR, EUR, ,EUR , ECB ecb null undefined true TRUE false 1 yes
  0 00 01 1.0 +1 -1 -0.5 .5 5. 1e3 1E+3 1e 0x10 1,5 1,000 1_000 Infinity NaN 1e308 1e309 1e-400 5e-324 0e999
  2024-02-29 2023-02-29 1900-02-29 2000-02-29 2026-11-31 2026-02-30 2026-13-01 2026-00-10 2026-11-00 2026-12-32
  2026-11-9 2026-1-05 26-11-19 20261119 2026-11-19T00:00 2026/11/19 19-11-2026 2026-W47-4 -2026-11-19 +02026-11-19
  0000-01-01 9999-12-31 10000-01-01 1D 1d 1M 2W 5Y 10Y json JSON Next week WEEK a.b.c a.b a.b.c.d __proto__
  constructor ~ ~EUR EUR~ a~~b,EUR USD\0 ２０２６-01-01 ſek \u212aRW 1\u00a0000 2026-01-01~ 1\t`
  .trim()
  .split(/[ \n]+/)
  .map((text) => text.replaceAll('~', ' '))

function limitsOf({
  anyOf = [],
  minLength,
  maxLength,
  minimum,
  maximum,
  ...schema
}: Schema): string[] {
  const around = (limit: number | undefined, write: (size: number) => string): string[] =>
    limit === undefined ? [] : [limit - 1, limit, limit + 1].map((size) => write(Math.max(size, 0)))
  return [
    ...anyOf.flatMap(limitsOf),
    ...[minLength, maxLength].flatMap((length) => [
      ...around(length, (size) => '1'.repeat(size)),
      ...around(length, (size) => 'x'.repeat(size)),
      ...around(length, (size) => `a.b.${'c'.repeat(Math.max(size - 4, 0))}`),
    ]),
    ...[minimum, maximum].flatMap((limit) => around(limit, String)),
    ...around(schema.maxItems, (size) => Array(size).fill('EUR').join()),
    // Of all lists of codes, in characters.
    ...around(schema.items && 2_048, (size) => `${','.repeat(size - 3)}EUR`),
    ...(schema.enum ?? []).flatMap((value) => [
      value,
      value.toUpperCase(),
      `${value} `,
      value.slice(1),
    ]),
    ...around(/\{1,64\}/.test(schema.pattern ?? '') ? 64 : undefined, (size) => 'x'.repeat(size)),
  ]
}

export function textsFor(schema: Schema): string[] {
  const random = fc.sample(nearTexts(schema), { seed: 20_261_122, numRuns: 100 })
  const all = [...new Set(['', ...FORMS, ...limitsOf(schema), ...random])]
  return all.filter((text) => text.isWellFormed())
}
