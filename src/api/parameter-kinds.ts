import { invalidAmount, invalidCurrency, invalidParameter } from '../errors.ts'
import type { RatesError } from '../errors.ts'
import { toAlternatives } from '../known-options.ts'
import { MAX_AMOUNT_CHARACTERS, isAmount } from '../rates/arithmetic.ts'
import { CODE_FORM, minorUnitHint } from '../rates/currency-code.ts'
import { isDay } from '../rates/dates.ts'
import * as z from 'zod/mini'

/** A schema of zod, in a form whose declaration does not need the package. */
interface Schema {
  safeParse(value: unknown): { readonly success: boolean }
}

/** A parameter: of a function, a query, a row, a cell, a flag of the command, and in the OpenAPI document. */
export interface Parameter {
  /** Accepts typed values. */
  readonly schema: Schema
  /** Returns the typed value of a text; a text without one stays as it is, and the schema refuses it. */
  fromText(text: string): unknown
  /** Creates the error of a value that the schema refuses. */
  error(name: string, value: unknown): RatesError
  readonly description: string
  /** Names that other services and endpoints use for it, in lower case without `_` and `-`, separated by spaces. */
  readonly aliases: string
}

export const MAX_CODES = 250
export const MAX_CODES_CHARACTERS = 2_048

export function same(text: string): string {
  return text
}

export function mustBe(what: string): Parameter['error'] {
  return (name) => invalidParameter(name, `must be ${what}`)
}

/** Returns the value as text; the text of an object could be anything, or throw. */
export function textOf(value: unknown): string {
  return Object(value) === value ? `[${typeof value}]` : String(value)
}

const CODE = z.string().check(z.regex(CODE_FORM))

function invalidCode(name: string, value: unknown): RatesError {
  const sent = textOf(value)
  return invalidCurrency(name, sent, minorUnitHint(sent) ?? 'must be three letters, such as EUR')
}

export function code(description: string, aliases: string): Parameter {
  return { schema: CODE, fromText: same, error: invalidCode, description, aliases }
}

/** Returns the codes of a comma-separated list, with spaces around them and empty items removed. */
export function splitCodes(text: string): string[] {
  return text
    .split(',')
    .map(trimSpaces)
    .filter((item) => item !== '')
}

/** Unlike `trim`, leaves other white space; unlike a pattern, takes linear time. */
function trimSpaces(text: string): string {
  let start = 0
  let end = text.length
  while (text[start] === ' ') start += 1
  while (text[end - 1] === ' ') end -= 1
  return text.slice(start, end)
}

export function tooManyCodes(name: string, max: number = MAX_CODES): RatesError {
  const limits = `${max} codes and ${MAX_CODES_CHARACTERS} characters`
  return invalidParameter(name, `must have at most ${limits}`)
}

function invalidCodes(max: number): Parameter['error'] {
  return (name, value) => {
    if (!Array.isArray(value)) {
      const isLong = typeof value === 'string' && value.length > MAX_CODES_CHARACTERS
      return isLong && value.includes(',') ? tooManyCodes(name, max) : invalidCode(name, value)
    }
    if (value.length > max) return tooManyCodes(name, max)
    const items: readonly unknown[] = value
    return invalidCode(name, items.length === 0 ? '' : items.find((item) => !isCode(item)))
  }
}

function isCode(value: unknown): boolean {
  return typeof value === 'string' && CODE_FORM.test(value)
}

function codes(max: number): z.ZodMiniType<string[]> {
  return z.array(CODE).check(z.maxLength(max))
}

/** Codes to select: an array, or a text with commas, which may be empty. */
export function selection(description: string, aliases: string): Parameter {
  return {
    schema: codes(MAX_CODES),
    fromText: (text) => (text.length > MAX_CODES_CHARACTERS ? text : splitCodes(text)),
    error(name, value) {
      if (Array.isArray(value)) return invalidCodes(MAX_CODES)(name, value)
      const isLong = typeof value === 'string' && value.length > MAX_CODES_CHARACTERS
      return isLong ? tooManyCodes(name) : invalidParameter(name, 'must be an array of codes')
    },
    description,
    aliases,
  }
}

/** One target, or a list: a text with a comma. */
export function targets(max: number, aliases: string): Parameter {
  return {
    schema: z.union([CODE, codes(max).check(z.minLength(1))]),
    fromText(text) {
      if (!text.includes(',') || text.length > MAX_CODES_CHARACTERS) return text
      const items = splitCodes(text)
      return items.length > 0 ? items : text
    },
    error: invalidCodes(max),
    description: `Target currency, or a list of at most ${max}, in queries separated by commas.`,
    aliases,
  }
}

export function text(description: string): Parameter {
  return {
    schema: z.string().check(z.minLength(1), z.maxLength(256)),
    fromText: same,
    error: mustBe('1 to 256 characters'),
    description,
    aliases: '',
  }
}

export function oneOf(values: readonly string[], description: string, aliases = ''): Parameter {
  return {
    schema: z.enum(values),
    fromText: same,
    error: mustBe(toAlternatives(values)),
    description,
    aliases,
  }
}

/** The form of a day; `z.iso.date` is larger in a bundle than all other kinds. */
export const DAY_FORM: RegExp = /^\d{4}-\d\d-\d\d$/

const DAY = z.string().check(z.regex(DAY_FORM), z.refine(isDay))

export function day(description: string, aliases: string): Parameter {
  return {
    schema: DAY,
    fromText: same,
    error: mustBe('YYYY-MM-DD'),
    description,
    aliases,
  }
}

export function dayOr(values: readonly string[], description: string, aliases: string): Parameter {
  return {
    schema: z.union([z.enum(values), DAY]),
    fromText: same,
    error: mustBe(toAlternatives([...values, 'YYYY-MM-DD'])),
    description,
    aliases,
  }
}

export function wholeNumber(
  max: number,
  unit: string,
  description: string,
  aliases = '',
): Parameter {
  return {
    schema: z.int().check(z.minimum(0), z.maximum(max)),
    fromText: (text) => (/^(?:0|[1-9]\d*)$/.test(text) ? Number(text) : text),
    error: mustBe(`a whole number of ${unit}, 0 to ${max}`),
    description,
    aliases,
  }
}

export function flag(description: string, aliases: string): Parameter {
  return {
    schema: z.boolean(),
    fromText: (text) => (text === 'true' ? true : text === 'false' ? false : text),
    error: mustBe('true or false'),
    description,
    aliases,
  }
}

/** A finite number, or a decimal text, which keeps its digits. */
export function amount(isSigned: boolean): Parameter {
  const number = isSigned ? z.number() : z.number().check(z.minimum(0))
  const text = z.string().check(
    z.maxLength(MAX_AMOUNT_CHARACTERS),
    z.regex(isSigned ? SIGNED_AMOUNT : AMOUNT),
    z.refine((sent) => isAmount(sent.replace(/^-/, ''))),
  )
  return {
    schema: z.union([text, number]),
    fromText: same,
    error(_name, value) {
      const sent = textOf(value)
      const isNegative = !isSigned && /^-[\d.]/.test(sent)
      return invalidAmount(
        sent,
        isNegative ? 'must not be negative' : 'must be digits and a point, such as 1000.50',
      )
    },
    description: 'Amount of `from`, a plain decimal of at most 64 characters (default 1).',
    aliases: 'amt q qty quantity sourceamount sum value',
  }
}

const AMOUNT = /^(\d+(\.\d+)?|\.\d+)([eE][+-]?\d+)?$/
const SIGNED_AMOUNT = /^-?(\d+(\.\d+)?|\.\d+)([eE][+-]?\d+)?$/
