import * as z from 'zod/mini'

import {
  MOST_AMOUNT_CHARACTERS,
  MOST_SYMBOLS,
  MOST_SYMBOLS_CHARACTERS,
  amount,
  base,
  currency,
  format,
  period,
  symbols,
} from '../endpoints/parameters.ts'
import type { Format } from '../endpoints/parameters.ts'
import { PERIODS } from '../rates/period.ts'

/** What JSON Schema has in the place of checks that are functions. */
const forms = z.registry<Record<string, unknown>>()
forms.add(currency, { pattern: '^[A-Za-z]{3}$' })
forms.add(symbols, {
  pattern: `^[ ,]*([A-Za-z]{3}( *,[ ,]*[A-Za-z]{3}){0,${MOST_SYMBOLS - 1}}[ ,]*)?$`,
  maxLength: MOST_SYMBOLS_CHARACTERS,
})
forms.add(amount, {
  pattern: '^([0-9]+(\\.[0-9]+)?|\\.[0-9]+)([eE][+-]?[0-9]+)?$',
  maxLength: MOST_AMOUNT_CHARACTERS,
})
forms.add(period, { type: 'string', enum: PERIODS })
forms.add(format, { type: 'string', enum: ['json', 'csv'] satisfies Format[] })

/** The schemas by which queries are checked, by the names of the parameters. */
export const parameterSchemas = {
  base,
  symbols,
  from: currency,
  to: currency,
  amount,
  period,
  format,
}

/** A parameter of any operation. */
export type ParameterName = keyof typeof parameterSchemas

/** The form that a parameter is to have as a text, in JSON Schema, and whether it may be left out. */
export interface ParameterForm {
  schema: object
  required: boolean
}

/** The form of every parameter. That an amount must be finite as a double, and not become 0, is more than a pattern says. */
export function parameterForms(): Record<ParameterName, ParameterForm> {
  const { properties = {}, required = [] } = z.toJSONSchema(z.object(parameterSchemas), {
    io: 'input',
    unrepresentable: 'any',
    metadata: forms,
  })
  const form = (name: ParameterName): ParameterForm => ({
    schema: Object(properties[name]),
    required: required.includes(name),
  })
  return {
    base: form('base'),
    symbols: form('symbols'),
    from: form('from'),
    to: form('to'),
    amount: form('amount'),
    period: form('period'),
    format: form('format'),
  }
}
