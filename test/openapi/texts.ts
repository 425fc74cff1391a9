import * as fc from 'fast-check'

import type { Schema } from './document.ts'

/** Texts that match the schema of a parameter. */
export function acceptedTexts({
  type,
  enum: values,
  items,
  minItems = 0,
  maxItems = 100,
  anyOf = [],
  format,
  pattern,
  minLength = 0,
  maxLength = 100,
  minimum: min = 0,
  maximum: max = 1e6,
}: Schema): fc.Arbitrary<string> {
  if (anyOf.length > 0) return fc.oneof(...anyOf.map(acceptedTexts))
  if (items) {
    const list = fc.array(acceptedTexts(items), { minLength: minItems, maxLength: maxItems })
    const separator = fc.constantFrom(',', ', ', ' ,', ' , ,')
    return fc.tuple(list, separator).map(([codes, between]) => codes.join(between))
  }
  if (values) return fc.constantFrom(...values)
  if (type === 'number')
    return fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }).map(String)
  if (type === 'integer') return fc.integer({ min, max }).map(String)
  if (type === 'boolean') return fc.constantFrom('true', 'false')
  if (format === 'date') return fc.oneof(days(YEAR_0, YEAR_9999), days('1998-06-01', '2027-06-01'))
  if (pattern === undefined) return fc.string({ minLength, maxLength })
  const form = new RegExp(pattern)
  // The generator knows no lookaheads.
  const wider = new RegExp(pattern.replace(/\(\?!.*?\)/g, ''))
  return fc.stringMatching(wider).filter((text) => form.test(text) && text.length <= maxLength)
}

/** First and last day with a year of four digits. */
const YEAR_0 = '0000-01-01'
const YEAR_9999 = '9999-12-31'

/** Days from `first` to `last`. */
export function days(first: string, last: string): fc.Arbitrary<string> {
  return fc
    .date({ min: new Date(first), max: new Date(last), noInvalidDate: true })
    .map((date) => date.toISOString().slice(0, 10))
}

/** Days and impossible dates around the ends of months. */
const daysOrNot = fc
  .tuple(fc.constantFrom(1900, 2000, 2023, 2024), fc.nat(13), fc.integer({ min: 27, max: 32 }))
  .map(([year, month, day]) => `${year}-${String(month).padStart(2, '0')}-${day}`)

/** Includes characters that resemble letters, spaces and digits, or become ASCII letters in another case. */
const CHARACTERS = Array.from('azAZ019.,-+eE \t\r\n\0%&=#ſKİı٣０\u00a0\u2028\ufeff€🙂')

const anyCharacter = fc.string({ minLength: 1, maxLength: 1 })
const character = fc.oneof(fc.constantFrom(...CHARACTERS), anyCharacter)

/** Texts with one character inserted, removed or replaced. */
function edited(texts: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc
    .tuple(texts, fc.nat(), fc.constantFrom(0, 1), fc.option(character, { nil: '' }))
    .map(([text, place, removed, added]) => {
      const at = place % (text.length + 1)
      return text.slice(0, at) + added + text.slice(at + removed)
    })
}

/** Texts around the maximum lengths of parameters. */
const long = fc.oneof(
  fc.integer({ min: 245, max: 255 }).map((codes) => Array(codes).fill('EUR').join()),
  fc.integer({ min: 2_040, max: 2_056 }).map((length) => `${','.repeat(length - 3)}EUR`),
  fc.integer({ min: 60, max: 68 }).map((length) => '1'.repeat(length)),
  fc.integer({ min: 250, max: 262 }).map((length) => 'x'.repeat(length)),
  fc.integer({ min: 1_018, max: 1_030 }).map((length) => `a.b.${'c'.repeat(length - 4)}`),
  fc.integer({ min: 290, max: 330 }).chain((power) => fc.constantFrom(`1e${power}`, `1e-${power}`)),
)

/** Texts that `schema` just accepts or just rejects, and some very different ones. */
export function nearTexts(schema: Schema): fc.Arbitrary<string> {
  const accepted = acceptedTexts(schema)
  return fc.oneof(
    accepted,
    edited(accepted),
    edited(edited(accepted)),
    edited(fc.constantFrom('', 'EUR', 'eur,usd', '1.5e3', '.5', '1M', 'json', 'true')),
    daysOrNot,
    long,
    fc.string({ unit: 'binary' }),
  )
}
